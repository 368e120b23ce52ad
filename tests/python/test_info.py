import os
import subprocess
import sys
import sysconfig

import pytest

import mmcpp


def test_build_info_says_what_this_build_is():
    info = mmcpp.build_info()
    assert info.version == mmcpp.__version__
    assert info.executor in ("inline", "tbb", "chaos")
    assert info.isa in info.available_isas
    assert "scalar" in info.available_isas
    assert {"libjpeg-turbo", "libwebp"} <= set(info.codecs)
    assert all(info.codecs.values())


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this interpreter has a GIL")
def test_importing_leaves_the_gil_off():
    environment = {name: value for name, value in os.environ.items() if name != "PYTHON_GIL"}
    code = "import mmcpp, sys; sys.exit(sys._is_gil_enabled())"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, env=environment)
