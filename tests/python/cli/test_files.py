import pytest

from mmcpp.cli.files import replacing


def test_a_file_appears_with_the_rights_of_any_other(tmp_path):
    path, other = tmp_path / "a.npz", tmp_path / "other"
    other.touch()
    with replacing(path) as temporary:
        assert temporary.suffix == ".npz"
        temporary.chmod(0o600)
        temporary.write_text("new")
        assert not path.exists()
    assert path.read_text() == "new"
    assert path.stat().st_mode == other.stat().st_mode


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_what_fails_half_way_leaves_what_was_there(tmp_path, error):
    path = tmp_path / "a.npz"
    path.write_text("old")
    with pytest.raises(error), replacing(path) as temporary:
        temporary.write_text("half")
        raise error
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
