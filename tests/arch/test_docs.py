"""What the documents say is so: named files exist, examples are code that runs, commands are jobs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from source_tree import ROOT

PAGES = [*sorted(ROOT.glob("*.md")), ROOT / "third_party/README.md", *sorted(ROOT.glob("*/docs/**/*.md"))]
README = (ROOT / "README.md").read_text()
SYSTEM = {"stddef.h", "stdint.h", "string.h"}


def missing_paths(text: str, page: Path) -> list[str]:
    """Files that the text names, by link or in backticks, and that are not there."""
    named = re.findall(r"\]\(([^)#:]+)[)#]", text)
    missing = [name for name in named if not (page.parent / name).exists()]
    for code in re.findall(r"`([\w./-]+)`", text):
        if code in SYSTEM or "NAME" in code:
            continue
        if re.search(r"[\w-]+/[\w.-]+$|\.(cc|h|py|md|cmake|txt)$", code):
            places = (ROOT / code, ROOT / "cpp/src" / code, ROOT / "cpp/include/mmcpp" / code, page.parent / code)
            deeper = [] if "/" in code else list((ROOT / "cpp").rglob(code))
            if not any(place.exists() for place in places) and not deeper:
                missing.append(code)
    return missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_named_files_exist(page: Path) -> None:
    assert missing_paths(page.read_text(), page) == []


def test_a_file_that_is_gone_is_found() -> None:
    text = "see [this](cpp/docs/gone.md), `codec/gone.cc`, `gone.h` and [that](README.md), `codec/decode.cc`"
    assert missing_paths(text, ROOT / "README.md") == ["cpp/docs/gone.md", "codec/gone.cc", "gone.h"]


def block(language: str) -> str:
    return "".join(re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE))


def absent_lines(part: str, whole: str) -> list[str]:
    """Lines of the part that the whole does not have, leading blanks aside."""
    lines = {line.strip() for line in whole.splitlines()}
    return [line for line in part.splitlines() if line.strip() not in lines]


def test_the_cpp_example_is_a_consumer_that_is_built_and_run() -> None:
    assert absent_lines(block("cpp"), (ROOT / "tests/consumers/main.cc").read_text()) == []
    assert absent_lines(block("cmake"), (ROOT / "tests/consumers/find/CMakeLists.txt").read_text()) == []
    assert len(block("cpp").splitlines()) >= 5


def test_a_changed_example_would_be_found() -> None:
    assert absent_lines("int main() {\nf(1);\n", "  int main() {\n  f(2);\n") == ["f(1);"]


def test_the_python_example_runs(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image", reason="Pillow draws the example's picture")
    image.effect_mandelbrot((320, 240), (-2, -1.2, 1, 1.2), 60).save(tmp_path / "picture.jpg")
    code = block("python")
    assert len(code.splitlines()) >= 5
    result = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_the_commands_are_jobs() -> None:
    jobs = set(re.findall(r"\./dev (\w+)", README))
    assert {"demo", "test"} <= jobs
    usage = subprocess.run([ROOT / "dev", "--help"], capture_output=True, text=True, check=True).stdout
    assert [job for job in jobs if not re.search(rf"^  .*\b{job}\b", usage, re.MULTILINE)] == []


def test_an_unknown_job_is_refused() -> None:
    result = subprocess.run([ROOT / "dev", "tset"], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "tset" in result.stderr


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 150
