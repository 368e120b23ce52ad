"""The exact list of files that installing the package brings."""

import importlib.metadata
import sysconfig

from source_tree import ROOT

EXTENSION = "mmcpp/_mmcpp" + sysconfig.get_config_var("EXT_SUFFIX")


def package_files(names: list[str]) -> list[str]:
    """Of a wheel's files, those of the package itself."""
    return sorted(n for n in names if n.startswith("mmcpp/") and "__pycache__" not in n)


def expected_files() -> list[str]:
    sources = [p.relative_to(ROOT / "python").as_posix() for p in (ROOT / "python/mmcpp").rglob("*") if p.is_file()]
    return package_files([*sources, EXTENSION])


def test_the_wheel_holds_the_package_and_nothing_else() -> None:
    # scikit-build-core succeeds, without the extension, when a CMake option is misread
    names = [str(name) for name in importlib.metadata.files("mmcpp") or []]
    assert package_files(names) == expected_files()
    elsewhere = {n for n in names if not n.startswith("mmcpp/")}
    assert {n for n in elsewhere if ".dist-info/" not in n} == {"../../../bin/mmcpp"}
    assert any(n.endswith("/licenses/LICENSE") for n in elsewhere)


def test_a_wheel_without_extension_or_with_more_would_be_found() -> None:
    files = expected_files()
    assert {"mmcpp/__init__.py", "mmcpp/py.typed", "mmcpp/_mmcpp.pyi", EXTENSION} <= set(files)
    assert package_files([n for n in files if n != EXTENSION]) != files
    assert package_files([*files, "mmcpp/libmmcpp.a"]) != files
