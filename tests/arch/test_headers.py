"""Every public header compiles alone, as C++17 and without a warning."""

import subprocess
from pathlib import Path

import pytest
from source_tree import ROOT

INCLUDE = ROOT / "cpp/include"
HEADERS = sorted(INCLUDE.glob("mmcpp/*.h"))


def compile_alone(header: Path) -> "subprocess.CompletedProcess[str]":
    flags = ["-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    return subprocess.run(
        ["c++", *flags, "-I", str(INCLUDE), "-include", str(header), "-x", "c++", "/dev/null"],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("header", HEADERS, ids=lambda path: path.name)
def test_header_compiles_alone(header: Path) -> None:
    result = compile_alone(header)
    assert result.returncode == 0, result.stderr


def test_the_headers_were_found() -> None:
    assert INCLUDE / "mmcpp/mmcpp.h" in HEADERS


def test_a_header_that_forgets_an_include_is_found(tmp_path: Path) -> None:
    header = tmp_path / "bad.h"
    header.write_text("#pragma once\n#include <cstdint>\nstd::vector<int> Values();\n")
    result = compile_alone(header)
    assert result.returncode != 0
    assert "vector" in result.stderr


def test_the_umbrella_includes_every_header() -> None:
    text = (INCLUDE / "mmcpp/mmcpp.h").read_text()
    missing = [h.name for h in HEADERS if h.name != "mmcpp.h" and f'"mmcpp/{h.name}"' not in text]
    # The macro needs no reader of its own; fetch is another target.
    assert set(missing) <= {"export.h", "fetch.h"}
