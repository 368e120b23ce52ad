"""Files of named tensors: safetensors and npz."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mmcpp.cli.files import replacing
from mmcpp.pipeline import DType

__all__ = ["WRITERS", "write"]

Tensors = Mapping[str, npt.NDArray[Any]]


def _write_safetensors(path: Path, tensors: Tensors, dtype: DType, metadata: Mapping[str, str]) -> None:
    from safetensors import SafetensorError, TensorSpec, serialize_file

    # By hand and not through safetensors.numpy, which has no bfloat16. Specs point into the arrays.
    arrays = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    entries = {
        name: TensorSpec(
            dtype=dtype if dtype == "bfloat16" and array.dtype == np.uint16 else array.dtype.name,
            shape=array.shape,
            data_ptr=array.ctypes.data,
            data_len=array.nbytes,
        )
        for name, array in arrays.items()
    }
    try:
        serialize_file(entries, str(path), metadata=dict(metadata))
    except SafetensorError as error:  # the disk is full, for one
        raise OSError(str(error)) from None


def _write_npz(path: Path, tensors: Tensors, dtype: DType, metadata: Mapping[str, str]) -> None:
    del dtype  # numpy has no bfloat16; the bits are uint16
    entries: dict[str, Any] = {**tensors, **{name: np.array(text) for name, text in metadata.items()}}
    np.savez(path, **entries)


WRITERS: Mapping[str, Callable[[Path, Tensors, DType, Mapping[str, str]], None]] = {
    ".safetensors": _write_safetensors,
    ".npz": _write_npz,
}
"""By the file's suffix."""


def write(path: Path, tensors: Tensors, dtype: DType, metadata: Mapping[str, str]) -> None:
    """Write the file whole or not at all, in the format of its suffix.

    Raises:
        OSError: it cannot be written; what was there stays.
    """
    with replacing(path) as temporary:
        WRITERS[path.suffix](temporary, tensors, dtype, metadata)
