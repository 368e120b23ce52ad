from pathlib import Path

from mmcpp.cli import pictures


def test_a_folder_is_searched_and_a_file_taken_as_it_is(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "empty").mkdir()
    for name in ("b.PNG", "a.jpg", "notes.txt", "deep/c.webp"):
        (tmp_path / name).write_bytes(b"")
    failed = []
    named = [tmp_path / "notes.txt", tmp_path, tmp_path / "empty"]
    found = [path.relative_to(tmp_path).as_posix() for path in pictures.find(named, failed)]
    assert found == ["notes.txt", "a.jpg", "b.PNG", "deep/c.webp"]
    assert failed == [{"picture": str(tmp_path / "empty"), "error": "no pictures in this folder"}]


def test_reading_ends_beyond_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "DecodeLimits", lambda: type("Limits", (), {"max_encoded_bytes": 10}))
    (tmp_path / "a").write_bytes(bytes(100))
    assert len(pictures.read(Path(tmp_path / "a"))) == 11
