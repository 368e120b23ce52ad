import mmcpp


def test_build_info_says_what_this_build_is():
    info = mmcpp.build_info()
    assert info.version == mmcpp.__version__
    assert info.executor in ("inline", "tbb", "chaos")
    assert info.isa in info.available_isas
    assert "scalar" in info.available_isas
    assert {"libjpeg-turbo", "libwebp"} <= set(info.codecs)
    assert all(info.codecs.values())
