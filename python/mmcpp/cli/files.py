"""Files that appear whole or not at all."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["replacing"]


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a file to write in, of the same suffix, that takes the place of ``path`` if all goes well."""
    temporary = path.with_name(f".mmcpp-{secrets.token_hex(8)}{path.suffix}")
    temporary.touch(exist_ok=False)
    rights = temporary.stat().st_mode & 0o777
    try:
        yield temporary
        temporary.chmod(rights)  # safetensors leaves a file that nobody else may read
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
