from samples import encode, smooth
from user_program import run


def test_the_program_runs(tmp_path):
    path = tmp_path / "picture.png"
    path.write_bytes(encode(smooth(100, 76)))
    assert run(path) == (48, [(1, 12)], "unsupported of picture 0")
