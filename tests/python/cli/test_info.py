import dataclasses
import json

import mmcpp


def test_info(run):
    status, text, _ = run("info", "--json")
    assert status == 0
    assert json.loads(text) == json.loads(json.dumps(dataclasses.asdict(mmcpp.build_info())))
    status, text, _ = run("info")
    assert mmcpp.build_info().executor in text
