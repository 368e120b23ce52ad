"""The installed package, seen from outside: its files, its symbols, its threads."""

import importlib.metadata
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from source_tree import ROOT

mmcpp = pytest.importorskip("mmcpp", reason="the package is not installed; ./dev test does")

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


def exported(library: str) -> set[str]:
    command = ["nm", "-D", "--defined-only", library]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split()[-1] for line in lines}


def test_the_extension_shows_its_entry_alone() -> None:
    assert exported(mmcpp._mmcpp.__file__) == {"PyInit__mmcpp"}


def test_an_extension_that_shows_more_would_be_found(tmp_path: Path) -> None:
    source, library = tmp_path / "a.cc", tmp_path / "a.so"
    source.write_text('extern "C" void PyInit__mmcpp() {}\nvoid More() {}\n')
    subprocess.run(["c++", "-shared", "-fPIC", source, "-o", library], check=True)
    assert exported(str(library)) == {"PyInit__mmcpp", "_Z4Morev"}
    with pytest.raises(subprocess.CalledProcessError):
        exported(str(tmp_path / "absent.so"))


def threads_after(code: str) -> int:
    """Threads of a new interpreter that ran the code."""
    count = "import os; print(len(os.listdir('/proc/self/task')))"
    single = {name: "1" for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")}  # numpy's, not ours
    result = subprocess.run(
        [sys.executable, "-c", f"{code}\n{count}"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **single},
    )
    return int(result.stdout)


def test_importing_starts_no_thread() -> None:
    # a process that imports and then forks would otherwise lose them
    assert threads_after("import mmcpp") == 1


def test_a_thread_would_be_counted() -> None:
    assert threads_after("import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()") == 2
