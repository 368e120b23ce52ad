import json

from mmcpp import _mmcpp
from mmcpp.spec import families


def test_families(run):
    status, text, _ = run("families", "--json")
    assert status == 0
    assert json.loads(text) == families()
    assert list(families()) == list(_mmcpp.family_names())
    status, text, _ = run("families")
    assert "GotOcr2ImageProcessor" in text
    assert "\n  model types       none\n" in text
