import pytest

from web_server import WebServer

pytest.register_assert_rewrite("hf.dropin")


@pytest.fixture
def web_server():
    """A server on loopback, and no proxy between it and the test."""
    with pytest.MonkeyPatch.context() as patch, WebServer() as server:
        for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
            patch.delenv(name, raising=False)
            patch.delenv(name.upper(), raising=False)
        patch.setenv("REQUEST_TIMEOUT", "30")
        yield server
