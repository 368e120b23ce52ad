"""Files of preprocessed pictures: safetensors and npz have named tensors, Parquet and Arrow a row a picture."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mmcpp.cli.files import replacing
from mmcpp.pipeline import DType
from mmcpp.results import joined, stacked

__all__ = ["PACKAGES", "WRITERS", "Pictures", "read_metadata", "write"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Pictures:
    """What is written; all lists are as long as there are pictures."""

    names: list[str]
    hashes: list[str]
    tokens: list[int]
    feature_name: str
    """Of a picture's one feature, where there are no pictures to see it from."""
    features: list[dict[str, Array]]
    """Those of a picture by name, of which not every picture need have each; to be put behind each other along
    ``pack_axis``."""
    aux: dict[str, list[Array]]
    """By name; stacked, with zeros where one is smaller, but for those below."""
    pack_axis: int = 0
    joined_aux: Sequence[str] = ()
    """Those that are put behind each other too."""
    ones_aux: Sequence[str] = ()
    """Those that have ones where one is smaller."""

    def feature_names(self) -> list[str]:
        """Give the names of the features that any picture has."""
        return list(dict.fromkeys(name for own in self.features for name in own)) or [self.feature_name]

    def tensors(self) -> dict[str, Array]:
        """Give the model's named tensors of all pictures, in C order."""
        values: dict[str, Array] = {}
        if self.features:
            for name in self.feature_names():
                values[name] = joined([own[name] for own in self.features if name in own], self.pack_axis)
        for name, arrays in self.aux.items():
            if arrays:
                fill = int(name in self.ones_aux)
                values[name] = np.concatenate(arrays) if name in self.joined_aux else stacked(arrays, fill)
        return {name: np.ascontiguousarray(value) for name, value in values.items()}


def _write_safetensors(path: Path, pictures: Pictures, dtype: DType, metadata: Mapping[str, str]) -> None:
    from safetensors import SafetensorError, TensorSpec, serialize_file

    # By hand and not through safetensors.numpy, which has no bfloat16. Specs point into the arrays.
    arrays = pictures.tensors()
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


def _write_npz(path: Path, pictures: Pictures, dtype: DType, metadata: Mapping[str, str]) -> None:
    del dtype  # numpy has no bfloat16; the bits are uint16
    entries: dict[str, Any] = {**pictures.tensors(), **{name: np.array(text) for name, text in metadata.items()}}
    np.savez(path, **entries)


def _table(pictures: Pictures, dtype: DType, metadata: Mapping[str, str]) -> Any:
    """A row a picture: features as bytes in C order, beside their shape and dtype; small tensors as lists."""
    import pyarrow as pa

    columns = {
        "picture": pa.array(pictures.names, pa.string()),
        "hash": pa.array(pictures.hashes, pa.string()),
        "tokens": pa.array(pictures.tokens, pa.int64()),
    }
    for name in pictures.feature_names():
        own = [features.get(name) for features in pictures.features]
        data = [None if one is None else np.ascontiguousarray(one).data for one in own]
        columns[name] = pa.array(data, pa.large_binary())
        shapes = [None if one is None else list(one.shape) for one in own]
        columns[f"{name}_shape"] = pa.array(shapes, pa.list_(pa.int64()))
        columns[f"{name}_dtype"] = pa.array([None if one is None else dtype for one in own], pa.string())
    for aux, arrays in pictures.aux.items():
        columns[aux] = pa.array([one.ravel().tolist() for one in arrays])
    return pa.table(columns, metadata=dict(metadata))


def _write_parquet(path: Path, pictures: Pictures, dtype: DType, metadata: Mapping[str, str]) -> None:
    import pyarrow.parquet as pq

    pq.write_table(_table(pictures, dtype, metadata), path)


def _write_arrow(path: Path, pictures: Pictures, dtype: DType, metadata: Mapping[str, str]) -> None:
    import pyarrow as pa

    table = _table(pictures, dtype, metadata)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


def _safetensors_metadata(path: Path) -> Mapping[str, str]:
    with path.open("rb") as file:  # 8 bytes of length, then JSON
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(min(length, path.stat().st_size)))
    metadata: dict[str, str] = header.get("__metadata__", {})
    return metadata


def _npz_metadata(path: Path) -> Mapping[str, str]:
    with np.load(path) as file:
        return {name: str(file[name]) for name in file.files if file[name].dtype.kind == "U"}


def _arrow_metadata(path: Path) -> Mapping[str, str]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pq.read_schema(path) if path.suffix == ".parquet" else pa.ipc.open_file(str(path)).schema
    return {key.decode(): value.decode() for key, value in (schema.metadata or {}).items()}


Writer = Callable[[Path, Pictures, DType, Mapping[str, str]], None]
WRITERS: dict[str, Writer] = {
    ".safetensors": _write_safetensors,
    ".npz": _write_npz,
    ".parquet": _write_parquet,
    ".arrow": _write_arrow,
}
"""By the file's suffix."""

PACKAGES: Mapping[str, str | None] = {
    ".safetensors": "safetensors",
    ".npz": None,
    ".parquet": "pyarrow",
    ".arrow": "pyarrow",
}
"""What each needs beyond numpy."""


def write(path: Path, pictures: Pictures, dtype: DType, metadata: Mapping[str, str]) -> None:
    """Write the file whole or not at all, in the format of its suffix.

    Raises:
        OSError: it cannot be written; what was there stays.
    """
    with replacing(path) as temporary:
        WRITERS[path.suffix](temporary, pictures, dtype, metadata)


def read_metadata(path: Path) -> Mapping[str, str]:
    """Read what a file's ``metadata`` was.

    Raises:
        OSError, ValueError: it cannot be read, or is no such file.
    """
    readers = {".safetensors": _safetensors_metadata, ".npz": _npz_metadata}
    try:
        return readers.get(path.suffix, _arrow_metadata)(path)
    except (zipfile.BadZipFile, EOFError) as error:
        raise ValueError(str(error)) from None
