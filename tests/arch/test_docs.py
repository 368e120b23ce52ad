"""What the documents say is so: named files exist. That their code runs is in tests/python/test_pages.py."""

import re
import subprocess
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


def test_an_unknown_job_is_refused() -> None:
    result = subprocess.run([ROOT / "dev", "tset"], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "tset" in result.stderr


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 150
