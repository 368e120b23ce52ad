"""Every source has its test where one looks for it: `cpp/src/L/F.cc` in `tests/cpp/L/F_test.cc`,
`python/mmcpp/M.py` in `tests/python/test_M.py`."""

import fnmatch
from pathlib import Path

from source_tree import ROOT

# sources -> the test that covers them instead, and why
ELSEWHERE = {
    "cpp/src/par/par_*.cc": "tests/cpp/par/par_test.cc",  # one seam, run under each executor
    "cpp/src/simd/kernels_*.cc": "tests/cpp/simd/kernels_test.cc",  # one contract, run for each table
}


def partner(source: str) -> str:
    for pattern, test in ELSEWHERE.items():
        if fnmatch.fnmatch(source, pattern):
            return test
    path = Path(source)
    if source.startswith("cpp/src/"):
        return f"tests/cpp/{path.parent.name}/{path.stem}_test.cc"
    inner = path.relative_to("python/mmcpp")
    return str(Path("tests/python") / inner.parent / f"test_{inner.stem}.py")


def without_test(root: Path) -> list[str]:
    sources = list((root / "cpp/src").glob("*/*.cc")) + list((root / "python/mmcpp").rglob("*.py"))
    names = sorted(p.relative_to(root).as_posix() for p in sources if not p.name.startswith("__"))
    return [name for name in names if not (root / partner(name)).is_file()]


def test_every_source_has_its_test() -> None:
    assert len(list((ROOT / "cpp/src").glob("*/*.cc"))) > 5  # the walk found the tree
    assert without_test(ROOT) == []


def test_no_exception_outlives_its_file() -> None:
    assert [name for name in ELSEWHERE if not list(ROOT.glob(name))] == []


def test_a_source_without_test_is_found(tmp_path: Path) -> None:
    for name in ("cpp/src/codec/jpeg.cc", "cpp/src/codec/png.cc", "python/mmcpp/image.py", "python/mmcpp/cli/main.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "tests/cpp/codec").mkdir(parents=True)
    (tmp_path / "tests/cpp/codec/png_test.cc").touch()
    assert without_test(tmp_path) == ["cpp/src/codec/jpeg.cc", "python/mmcpp/cli/main.py", "python/mmcpp/image.py"]
