"""What the source tests of this folder share: where things are, and C++ text without its comments."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CPP_SUFFIXES = {".cc", ".h"}
_COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*")', re.DOTALL)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"][^>"]+[>"])', re.MULTILINE)


def strip_comments(code: str) -> str:
    """The code with comments blanked and strings kept, so that `#include "x"` survives."""
    return _COMMENT_OR_STRING.sub(lambda match: match.group(1) or " ", code)


def includes(code: str) -> list[str]:
    """What the code includes, with its brackets: `<vector>`, `"base/half.h"`."""
    return _INCLUDE.findall(strip_comments(code))


def cpp_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in CPP_SUFFIXES)
