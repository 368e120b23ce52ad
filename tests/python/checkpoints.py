"""Folders of checkpoints that tests write."""

import json
from pathlib import Path
from typing import Any


def write(
    folder: Path, image: dict[str, Any], model: dict[str, Any] | None = None, processor: dict[str, Any] | None = None
) -> Path:
    """Write the files of a checkpoint: of its image processor, and of its model and processor if given."""
    files = {"preprocessor_config": image, "config": model, "processor_config": processor}
    for name, value in files.items():
        if value is not None:
            (folder / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    return folder
