"""The code of the documents runs: every ```python and ```console block of a page, in order, in one process.

Pages run where there are ``picture.jpg``, ``photos/`` and ``checkpoint/``, a folder of a checkpoint that the variable
``folder`` names. A line ``print(...)  # text`` prints that text. A block that cannot run says: ```python norun="why".
C++ and CMake blocks are looked for in sources that are built and run.
"""

import ast
import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest
from PIL import Image

import checkpoints
from samples import encode, smooth

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted(ROOT.glob("*/docs/**/*.md")),
    ROOT / "cpp/examples/server/README.md",
    ROOT / "third_party/README.md",
]
RUN = {"python", "console"}
BUILT = {"cpp": ["tests/consumers/*.cc"], "cmake": ["tests/consumers/*/CMakeLists.txt"]}
OTHER = {"text", "json"}  # no code
NOT_RUN = 5
"""Blocks marked as such, of all pages: a new one has to be counted here."""
NEEDS = {
    "mmcpp.cache_lmdb": {"lmdb"},
    "mmcpp.engines.sglang": {"transformers"},
    "mmcpp.hf": {"torch", "transformers"},
    "mmcpp.processing": {"torch", "transformers"},
}
"""What modules of ours import when they are used."""
PROCESSORS = {"transformers.md": "llava"}
"""Pages whose folder has to have a whole processor of transformers: its name in hf_processors.py."""


class Block(NamedTuple):
    language: str
    reason: str
    """Why it is not run; empty if it is."""
    line: int
    code: str


def blocks(text: str) -> list[Block]:
    found = []
    for match in re.finditer(r"^```([^\n]*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        language, _, rest = match[1].partition(" ")
        reason = re.fullmatch(r'norun="(.+)"', rest)
        assert reason or not rest, f"```{match[1]}"
        found.append(Block(language, reason[1] if reason else "", text[: match.start(2)].count("\n"), match[2]))
    return found


def to_run(page: Path) -> list[Block]:
    return [block for block in blocks(page.read_text()) if block.language in RUN and not block.reason]


def modules(page: Path) -> set[str]:
    """What a page imports, and what its commands need."""
    found = set()
    for block in to_run(page):
        if block.language == "console":
            found |= {"rich", "safetensors"} | ({"transformers"} if "mmcpp bench" in block.code else set())
            continue
        for node in ast.walk(ast.parse(block.code)):
            names = [name.name for name in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [str(node.module)]
            for name in names:
                found |= {name.split(".")[0]} | NEEDS.get(name, set())
    return found


def program(page: Path) -> str:
    """The page as one program. Each block keeps its line numbers, and its output is looked at."""
    parts = ["import contextlib, io, json, os, subprocess, sys", "page = {'folder': 'checkpoint', '__name__': 'page'}"]
    for block in to_run(page):
        where = f"{page.name}:{block.line + 1}"
        if block.language == "console":
            lines = [line[2:] for line in block.code.splitlines() if line.startswith("$ ")]
            assert lines, f"{where}: no line begins with '$ '"
            parts.append(f"subprocess.run(['sh', '-euc', {chr(10).join(lines)!r}], check=True, stdout=sys.stderr)")
            continue
        code = "\n" * block.line + block.code
        expected = re.findall(r"^ *print\(.*\)  # (.+)$", block.code, re.MULTILINE)
        parts.append("out = io.StringIO()")
        parts.append(f"with contextlib.redirect_stdout(out): exec(compile({code!r}, {page.name!r}, 'exec'), page)")
        parts.append(f"lines, expected = out.getvalue().splitlines(), {expected!r}")
        parts.append(f"assert not expected or lines == expected, f'{where}: {{lines}} for {{expected}}'")
    return "\n".join(parts)


def furnish(folder: Path, page: str) -> None:
    """What pages find where they run."""
    (folder / "photos").mkdir()
    for name, kind, height, width in (
        ("picture.jpg", "JPEG", 240, 320),
        ("cat.jpg", "JPEG", 90, 120),
        ("photos/a.jpg", "JPEG", 120, 90),
        ("photos/b.png", "PNG", 64, 64),
        ("photos/c.webp", "WEBP", 100, 200),
    ):
        (folder / name).write_bytes(encode(Image.fromarray(smooth(height, width)), kind))
    (folder / "checkpoint").mkdir()
    if page in PROCESSORS:
        pytest.importorskip("transformers", minversion="5.24", reason="what the page is about")
        import hf_processors

        getattr(hf_processors, PROCESSORS[page])().save_pretrained(folder / "checkpoint")
    else:
        image = {"image_processor_type": "Qwen2VLImageProcessor"}
        model = {"model_type": "qwen2_vl", "image_token_id": 151655, "vision_start_token_id": 151652}
        checkpoints.write(folder / "checkpoint", image, model)
    (folder / "bin").mkdir()
    (folder / "bin/mmcpp").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mmcpp "$@"\n')
    (folder / "bin/mmcpp").chmod(0o755)


def run(code: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "MMCPP_THREADS": "2", "OMP_NUM_THREADS": "1", "COLUMNS": "120"}
    (folder / "page.py").write_text(code)
    command = [sys.executable, "-B", "page.py"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("page", list(filter(to_run, PAGES)), ids=lambda page: str(page.relative_to(ROOT)))
def test_the_page_runs(page, tmp_path):
    missing = sorted(name for name in modules(page) if find_spec(name) is None)
    if missing:
        pytest.skip(f"the page needs {', '.join(missing)}")
    furnish(tmp_path, page.name)
    result = run(program(page), tmp_path)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    "text, message",
    [
        ("```python\nx = 1\n```\n```python\nassert x == 2\n```\n", "AssertionError"),
        ("```python\nprint(1 + 1)  # 3\n```\n", "['2'] for ['3']"),
        ("```console\n$ mmcpp count 10x\n```\n", "10x"),
    ],
)
def test_a_page_that_is_wrong_is_found(text, message, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(text)
    furnish(tmp_path, page.name)
    result = run(program(page), tmp_path)
    assert result.returncode != 0
    assert message in result.stderr


def test_every_block_is_run_or_says_why_not():
    found = [(page.name, block) for page in PAGES for block in blocks(page.read_text())]
    assert {block.language for _, block in found} <= RUN | set(BUILT) | OTHER
    marked = [(name, block.line, block.reason) for name, block in found if block.reason]
    assert len(marked) == NOT_RUN, marked
    assert sum(block.language in RUN and not block.reason for _, block in found) >= 20


def test_the_built_examples_are_lines_of_programs_that_are_built_and_run():
    for language, patterns in BUILT.items():
        sources = [path for pattern in patterns for path in ROOT.glob(pattern)]
        lines = {line.strip() for path in sources for line in path.read_text().splitlines()}
        for page in PAGES:
            code = [line for block in blocks(page.read_text()) if block.language == language for line in
                    block.code.splitlines()]  # fmt: skip
            assert [line for line in code if line.strip() not in lines] == [], page.name


def test_the_commands_are_jobs():
    jobs = {job for page in PAGES for job in re.findall(r"\./dev (\w+)", page.read_text())}
    assert {"demo", "test", "docs"} <= jobs
    usage = subprocess.run([ROOT / "dev", "--help"], capture_output=True, text=True, check=True).stdout
    assert [job for job in jobs if not re.search(rf"^  .*\b{job}\b", usage, re.MULTILINE)] == []


def test_the_public_pages_hold_no_json_that_is_none():
    for page in PAGES:
        for block in blocks(page.read_text()):
            if block.language == "json":
                json.loads(block.code)
