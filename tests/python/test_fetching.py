import asyncio
import dataclasses
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import mmcpp
from web_server import WebServer

LOOPBACK = mmcpp.FetchPolicy(allowed_networks=["127.0.0.0/8"])


def failure(source, policy=LOOPBACK):
    with pytest.raises(mmcpp.MmError) as caught:
        mmcpp.fetch(source, policy=policy)
    return caught.value


def test_every_form_of_source(tmp_path, web_server):
    path = tmp_path / "a b.png"
    path.write_bytes(b"hello")
    policy = dataclasses.replace(LOOPBACK, file_roots=[tmp_path])
    for source in ("aGVsbG8=", "aGVs bG8", "data:,hell%6f", "DATA:image/png;Base64,aGVsbG8", str(path), path.as_uri()):
        assert mmcpp.fetch(source, policy=policy) == b"hello"
    assert mmcpp.fetch(web_server.url("/hello"), policy=policy) == b"/hello"
    assert mmcpp.fetch(f"  {web_server.url('/hello')}\n".replace("http", "HTTP"), policy=policy) == b"/hello"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/chunked", b"hello"),
        ("/gzip/hello", b"hello"),
        ("/redirect/5", b"end"),
        ("/status/204", b""),
        ("/size/0", b""),
    ],
)
def test_bodies(web_server, path, expected):
    assert mmcpp.fetch(web_server.url(path), policy=LOOPBACK) == expected


@pytest.mark.parametrize(
    ("path", "code", "text"),
    [
        ("/status/404", "fetch_failed", "status code 404"),
        ("/status/503", "fetch_failed", "status code 503"),
        ("/redirect/6", "fetch_failed", "more than 5 redirects"),
        ("/short", "fetch_failed", ""),
        ("/loop", "fetch_failed", "more than 5 redirects"),
        ("/to?file:///etc/passwd", "forbidden", "leaves http and https"),
        ("/to?http://10.0.0.1/", "forbidden", "(private)"),
        ("/to?http://169.254.169.254/latest/", "forbidden", "(metadata)"),
        ("/to?http://[::1]/", "forbidden", "(loopback)"),
        ("/to?http://2852039166/", "forbidden", "(metadata)"),
        ("/to?http://localhost%5C@10.0.0.1/", "bad_source", "backslash"),
    ],
)
def test_what_a_server_may_not_do(web_server, path, code, text):
    error = failure(web_server.url(path))
    assert type(error) is mmcpp.FetchError
    assert (error.code, error.item) == (code, None)
    assert text in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.code) == (str(error), code)


def test_the_default_policy_reaches_nothing_private(web_server):
    for host in (
        "127.0.0.1",
        "127.1",
        "0x7f.1",
        "2130706433",
        "0",
        "localhost",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "a@127.0.0.1",
    ):
        error = failure(f"http://{host}:{web_server.port}/", None)
        assert (type(error), error.code) == (mmcpp.FetchError, "forbidden"), host
    for source in ("/etc/hostname", "file:///etc/hostname", "FILE://localhost/etc/hostname"):
        assert failure(source, None).code == "forbidden"
    assert web_server.seen == []


@pytest.mark.parametrize(
    "source",
    [
        "data:",
        "data:image/png;base64",
        "data:;base64,@@@@",
        "data:,%zz",
        "a",
        "a===",
        "ftp://example.com/x",
        "picture.png",
        "http://",
        "http://exam ple.com/",
        "http://a\\@b/",
        "http://a@b@c/",
        "http://a:b/",
        "http://\u00e9.com/",
    ],
)
def test_text_that_is_no_source(source):
    error = failure(source)
    assert (type(error), error.code) == (mmcpp.FetchError, "bad_source")


def test_limits_are_exact(web_server):
    policy = dataclasses.replace(LOOPBACK, max_bytes=100_000)
    assert len(mmcpp.fetch(web_server.url("/size/100000"), policy=policy)) == 100_000
    error = failure(web_server.url("/size/100001"), policy)
    assert (type(error), error.code) == (mmcpp.LimitError, "limit_exceeded")
    assert type(failure("data:," + "x" * 100_001, policy)) is mmcpp.LimitError


def test_a_gzip_bomb_is_cut_where_the_limit_is(web_server):
    # A gigabyte from a megabyte, of which no more than the limit is ever decoded.
    assert len(mmcpp.fetch(web_server.url("/bomb/1"), policy=LOOPBACK)) == 1 << 20
    policy = dataclasses.replace(LOOPBACK, max_bytes=(1 << 20) - 1)
    assert type(failure(web_server.url("/bomb/1"), policy)) is mmcpp.LimitError


def test_drip_feed_and_silence_end_at_the_deadline(web_server):
    policy = dataclasses.replace(LOOPBACK, timeout=0.3)
    for path in ("/drip", "/hang"):
        assert "timed out" in str(failure(web_server.url(path), policy))


def test_the_deadline_may_come_from_the_environment(web_server, monkeypatch):
    monkeypatch.setenv("REQUEST_TIMEOUT", "0")
    assert "timed out" in str(failure(web_server.url("/hello")))
    assert mmcpp.fetch(web_server.url("/hello"), policy=dataclasses.replace(LOOPBACK, timeout=30)) == b"/hello"


def test_proxies_come_from_the_environment(web_server, monkeypatch):
    proxy = f"http://user:p%40ss@127.0.0.1:{web_server.port}"
    monkeypatch.setenv("HTTP_PROXY", proxy)
    monkeypatch.setenv("https_proxy", proxy)
    assert mmcpp.fetch("http://picture.example/a") == b"http://picture.example/a"
    line, headers = web_server.seen[-1]
    assert line == "GET http://picture.example/a HTTP/1.1"
    assert headers["Proxy-Authorization"] == "Basic dXNlcjpwQHNz"
    assert failure("https://picture.example/a", None).code == "fetch_failed"
    line, headers = web_server.seen[-1]
    assert line == "CONNECT picture.example:443 HTTP/1.1"
    assert headers["Proxy-Authorization"] == "Basic dXNlcjpwQHNz"
    assert failure("http://10.0.0.1/", None).code == "forbidden"
    monkeypatch.setenv("no_proxy", "127.0.0.0/8")
    assert mmcpp.fetch(web_server.url("/direct"), policy=LOOPBACK) == b"/direct"
    monkeypatch.delenv("no_proxy")
    off = dataclasses.replace(LOOPBACK, environment_proxies=False)
    assert mmcpp.fetch(web_server.url("/direct"), policy=off) == b"/direct"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    if shutil.which("openssl") is None:
        pytest.skip("needs the openssl command to make a certificate")
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-keyout",
            path,
            "-out",
            f"{path}.crt",
            "-days",
            "2",
            "-subj",
            "/CN=loopback",
            "-addext",
            "subjectAltName=IP:127.0.0.1",
        ],
        check=True,
        capture_output=True,
    )
    with path.open("ab") as file:
        file.write(path.with_name("both.pem.crt").read_bytes())
    return path


def test_https_checks_certificates(certificate, web_server):
    with WebServer(certificate) as secure:
        error = failure(secure.url("/hello"))
        assert error.code == "fetch_failed"
        assert "certificate" in str(error).lower()
        policy = dataclasses.replace(LOOPBACK, ca_file=certificate)
        assert mmcpp.fetch(secure.url("/hello"), policy=policy) == b"/hello"
        # From https to http and back, each hop is judged.
        assert mmcpp.fetch(web_server.url(f"/to?{secure.url('/x')}"), policy=policy) == b"/x"
        only = dataclasses.replace(policy, schemes=["https"])
        assert failure(secure.url(f"/to?{web_server.url('/x')}"), only).code == "forbidden"
    with WebServer(certificate, host="127.0.0.2") as another:  # whom the certificate does not name
        assert "certificate" in str(failure(another.url("/x"), policy)).lower()


def test_fetch_all_gives_all_in_order(web_server):
    sources = [web_server.url(f"/{i}") if i % 3 else f"data:,/{i}" for i in range(60)]
    expected = [f"/{i}".encode() for i in range(60)]
    for max_concurrent in (1, 7, 100):
        assert mmcpp.fetch_all(sources, policy=LOOPBACK, max_concurrent=max_concurrent) == expected
    assert mmcpp.fetch_all(iter(sources), policy=LOOPBACK) == expected
    assert mmcpp.fetch_all([]) == []


def test_fetch_all_ends_at_the_first_failure(web_server):
    sources = [web_server.url("/hang"), "data:,x", web_server.url("/status/404"), web_server.url("/drip")]
    began = time.monotonic()
    with pytest.raises(mmcpp.FetchError, match=r"^source 2: .*status code 404$") as caught:
        mmcpp.fetch_all(sources, policy=LOOPBACK)
    assert caught.value.item == 2
    assert time.monotonic() - began < 25  # nobody waited for the 30 seconds of the others
    with pytest.raises(mmcpp.LimitError, match="more than 9 bytes"):
        mmcpp.fetch_all(["data:,12345", "data:,12345"], max_total_bytes=9)


def test_many_threads_and_event_loops(web_server):
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda i: mmcpp.fetch(web_server.url(f"/{i}"), policy=LOOPBACK), range(64)))
    assert results == [f"/{i}".encode() for i in range(64)]

    async def gather():
        calls = (asyncio.to_thread(mmcpp.fetch, web_server.url(f"/{i}"), policy=LOOPBACK) for i in range(8))
        return await asyncio.gather(*calls)

    assert asyncio.run(gather()) == [f"/{i}".encode() for i in range(8)]


@pytest.mark.parametrize("call", [mmcpp.fetch, lambda source, policy: mmcpp.fetch_all([source], policy=policy)])
def test_an_interrupt_ends_the_wait(web_server, call):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a job of the background
    main = threading.main_thread().ident
    assert threading.get_ident() == main

    def interrupt():
        while not web_server.seen:
            time.sleep(0.01)
        signal.pthread_kill(main, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        call(web_server.url("/hang"), policy=LOOPBACK)
    assert time.monotonic() - began < 25
    thread.join()
    signal.signal(signal.SIGINT, before)


def test_a_forked_child_fetches_too(web_server):
    mmcpp.fetch(web_server.url("/parent"), policy=LOOPBACK)
    child = os.fork()
    if child == 0:
        good = mmcpp.fetch(web_server.url("/child"), policy=LOOPBACK) == b"/child"
        os._exit(0 if good else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_libcurl_is_loaded_when_it_is_needed(web_server):
    program = f"""
import mmcpp
maps = open("/proc/self/maps").read()
assert "libcurl" not in maps, "libcurl is loaded by import"
assert mmcpp.fetch("aGVsbG8=") == b"hello"
assert "libcurl" not in open("/proc/self/maps").read()
policy = mmcpp.FetchPolicy(allowed_networks=["127.0.0.0/8"])
assert mmcpp.fetch({web_server.url("/x")!r}, policy=policy) == b"/x"
assert "libcurl" in open("/proc/self/maps").read()
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(
    ("fields", "error", "match"),
    [
        ({"schemes": "http"}, TypeError, "schemes: expected several strings"),
        ({"schemes": ["gopher"]}, ValueError, 'unknown scheme "gopher"'),
        ({"schemes": [1]}, TypeError, "schemes: expected strings, got int"),
        ({"allowed_hosts": "example.org"}, TypeError, "allowed_hosts: expected several"),
        ({"allowed_hosts": ["http://a/"]}, ValueError, 'allowed host "http://a/"'),
        ({"allowed_networks": ["10/8"]}, ValueError, 'allowed network "10/8"'),
        ({"file_roots": "/tmp"}, TypeError, "file_roots: expected several"),
        ({"file_roots": ["tmp"]}, ValueError, 'file root "tmp"'),
        ({"file_roots": ["/nonexistent-folder"]}, ValueError, "does not exist"),
        ({"max_bytes": -1}, ValueError, "max_bytes: expected 0 to"),
        ({"max_bytes": 1.5}, TypeError, "max_bytes: expected an int"),
        ({"max_redirects": True}, TypeError, "max_redirects: expected an int"),
        ({"timeout": -1}, ValueError, "timeout_s"),
        ({"timeout": float("nan")}, ValueError, "timeout_s"),
        ({"timeout": "3"}, TypeError, "timeout: expected seconds"),
        ({"environment_proxies": 1}, TypeError, "environment_proxies: expected a bool"),
    ],
)
def test_a_policy_that_cannot_be_meant(fields, error, match):
    with pytest.raises(error, match=match):
        mmcpp.FetchPolicy(**fields)


def test_a_policy_is_a_frozen_value():
    policy = mmcpp.FetchPolicy(schemes=["https"], allowed_hosts=["a.example"])
    assert policy == mmcpp.FetchPolicy(schemes=("https",), allowed_hosts=("a.example",))
    assert pickle.loads(pickle.dumps(policy)) == policy
    hash(policy)
    with pytest.raises(dataclasses.FrozenInstanceError):
        policy.max_bytes = 1


def test_arguments_of_other_types():
    for call in (
        lambda: mmcpp.fetch(b"aGVsbG8="),
        lambda: mmcpp.fetch(None),
        lambda: mmcpp.fetch("", policy={}),
        lambda: mmcpp.fetch_all("aGVsbG8="),
        lambda: mmcpp.fetch_all([b"x"]),
        lambda: mmcpp.fetch_all([], max_concurrent=1.0),
    ):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(ValueError):
        mmcpp.fetch_all([], max_concurrent=0)
