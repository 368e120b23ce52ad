"""A cache level shared by the processes of a machine: one LMDB file, bounded, oldest use first out.

Needs the package ``lmdb`` (``pip install 'mmcpp[lmdb]'``). A process killed in the middle of writing
leaves the store as it was before. A machine that loses power may damage it, since nothing is
flushed; the store is emptied when it is opened after a boot. Open it after forking: a child of a
process that has it open cannot use it (its calls fail, and a cache goes on without the level).
"""

from __future__ import annotations

import fcntl
import os
import struct
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["LmdbLevel"]

_PAGE = 4096
_AGE = struct.Struct(">Q")  # big-endian: keys are sorted as bytes
_MARK = struct.Struct("<QQ")  # age, cost
_STATE = struct.Struct("<QQ")  # the youngest age, bytes in use
_MOST_TOUCHED = 10_000
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class _Dbs(NamedTuple):
    """An environment and its tables."""

    environment: Any
    entries: Any
    """Key -> entry."""
    marks: Any
    """Key -> age and cost."""
    ages: Any
    """Age -> key; a use makes a key the youngest."""
    state: Any


# LMDB forbids to open one environment twice in a process: folder -> process and environment.
_open: dict[str, tuple[int, _Dbs]] = {}
_open_lock = threading.Lock()


class LmdbLevel:
    """Entries by key in a folder. Any method may be called from any thread and process."""

    def __init__(self, folder: str | os.PathLike[str], *, max_bytes: int, name: str = "lmdb") -> None:
        """Open or make the store.

        Args:
            folder: its own; made if it does not exist. On a memory file system it is fastest.
            max_bytes: the file's size at most, at least 1 MiB; entries take three quarters of it. All
                processes should give the same.
            name: for statistics.

        Raises:
            ImportError: the package ``lmdb`` is missing.
            OSError: the folder cannot be used, or was in use when this process was forked.
            ValueError: ``max_bytes`` is too small.
        """
        if max_bytes < 1 << 20:
            raise ValueError(f"cache: an LMDB store of {max_bytes} bytes; at least 1 MiB")
        self.name = name
        self._folder = str(Path(folder).resolve())
        self._max_bytes = max_bytes
        self._budget = max_bytes * 3 // 4
        self._touched: set[bytes] = set()  # keys read since the last write, to be made young with it
        self._dbs()

    def get(self, keys: Sequence[str]) -> list[bytearray | None]:
        """Give copies of the entries of ``keys``, None for those that are not there."""
        found: list[bytearray | None] = []
        dbs = self._dbs()
        with dbs.environment.begin(db=dbs.entries, buffers=True) as transaction:
            for key in keys:
                stored = transaction.get(_name(key))
                found.append(None if stored is None else bytearray(stored))
                if stored is not None and len(self._touched) < _MOST_TOUCHED:
                    self._touched.add(_name(key))
        return found

    def put(self, entries: Sequence[tuple[str, bytes]]) -> None:
        """Take entries in, one transaction each; those too large for the store are left out."""
        for key, entry in entries:
            if _cost(len(entry)) > self._budget:
                continue
            self._put(_name(key), entry)

    def invalidate(self, keys: Sequence[str]) -> None:
        """Drop the entries of ``keys``."""
        with self._writing() as store:
            for key in keys:
                store.drop(_name(key))

    def bytes_in_use(self) -> int:
        """Give the bytes that entries take, in whole pages."""
        dbs = self._dbs()
        with dbs.environment.begin() as transaction:
            used: int = _Store(transaction, dbs).used
            return used

    def _put(self, name: bytes, entry: bytes) -> None:
        import lmdb

        budget = self._budget
        # Free pages may be scattered, and those freed in a transaction serve only later ones: a
        # large entry may need more room than its bytes.
        while budget >= _cost(len(entry)):
            self._make_room(name, budget - _cost(len(entry)))
            try:
                with self._writing() as store:
                    store.drop(name)  # others may have written meanwhile
                    store.make_room(budget - _cost(len(entry)))
                    store.add(name, entry)
                return
            except lmdb.MapFullError:
                budget //= 2

    def _make_room(self, name: bytes, budget: int) -> None:
        touched, self._touched = self._touched, set()
        with self._writing() as store:
            store.make_young(touched - {name})
            store.drop(name)
            store.make_room(budget)

    @contextmanager
    def _writing(self) -> Iterator[_Store]:
        dbs = self._dbs()
        with dbs.environment.begin(write=True) as transaction:
            store = _Store(transaction, dbs)
            yield store
            store.save()

    def _dbs(self) -> _Dbs:
        with _open_lock:
            pid, dbs = _open.get(self._folder, (os.getpid(), None))
            if pid != os.getpid():
                # LMDB has no way for a child: to close what it inherited would drop its parent's locks.
                raise OSError(f"cache: process {pid} had {self._folder} open when it forked this one")
            if dbs is not None:
                return dbs
            dbs = _open_store(Path(self._folder), self._max_bytes)
            _open[self._folder] = (os.getpid(), dbs)
            return dbs


def _open_store(folder: Path, max_bytes: int) -> _Dbs:
    import lmdb

    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "opening").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # nobody else looks at the boot or removes files meanwhile
        _empty_after_boot(folder)
        try:
            return _open_environment(folder, max_bytes)
        except (lmdb.InvalidError, lmdb.CorruptedError, lmdb.VersionMismatchError):
            _remove(folder)
            return _open_environment(folder, max_bytes)


def _open_environment(folder: Path, max_bytes: int) -> _Dbs:
    import lmdb

    environment = lmdb.open(str(folder), map_size=max_bytes, max_dbs=4, max_readers=1024, sync=False, readahead=False)
    environment.reader_check()  # readers that were killed
    return _Dbs(environment, *(environment.open_db(name) for name in (b"entries", b"marks", b"ages", b"state")))


class _Store:
    """The tables within a transaction, and the two numbers kept beside them."""

    def __init__(self, transaction: Any, dbs: _Dbs) -> None:
        self._transaction = transaction
        self._dbs = dbs
        state = transaction.get(b"state", db=dbs.state)
        self._next, self.used = _STATE.unpack(state) if state is not None else (0, 0)

    def save(self) -> None:
        self._transaction.put(b"state", _STATE.pack(self._next, self.used), db=self._dbs.state)

    def add(self, name: bytes, entry: bytes) -> None:
        self._transaction.put(name, entry, db=self._dbs.entries)
        self._mark(name, _cost(len(entry)))
        self.used += _cost(len(entry))

    def drop(self, name: bytes) -> None:
        mark = self._transaction.get(name, db=self._dbs.marks)
        if mark is None:
            return
        age, cost = _MARK.unpack(mark)
        self._transaction.delete(name, db=self._dbs.entries)
        self._transaction.delete(name, db=self._dbs.marks)
        self._transaction.delete(_AGE.pack(age), db=self._dbs.ages)
        self.used -= cost

    def make_room(self, budget: int) -> None:
        while self.used > budget:
            with self._transaction.cursor(db=self._dbs.ages) as cursor:
                if not cursor.first():
                    return
                name = bytes(cursor.value())
            self.drop(name)

    def make_young(self, names: Iterable[bytes]) -> None:
        for name in names:
            mark = self._transaction.get(name, db=self._dbs.marks)
            if mark is None:
                continue
            age, cost = _MARK.unpack(mark)
            self._transaction.delete(_AGE.pack(age), db=self._dbs.ages)
            self._mark(name, cost)

    def _mark(self, name: bytes, cost: int) -> None:
        self._next += 1
        self._transaction.put(name, _MARK.pack(self._next, cost), db=self._dbs.marks)
        self._transaction.put(_AGE.pack(self._next), name, db=self._dbs.ages)


def _name(key: str) -> bytes:
    """Give a key of LMDB, which takes 511 bytes: longer ones by their digest."""
    name = key.encode("utf-8", "surrogatepass")
    if 0 < len(name) <= 400:
        return b"k" + name
    from mmcpp.hashing import content_digest

    return b"d" + content_digest(name)


def _cost(length: int) -> int:
    """Bytes of the pages that an entry takes, with its share of the tables."""
    return -(-(length + 256) // _PAGE) * _PAGE


def _empty_after_boot(folder: Path) -> None:
    """Remove a store that a boot, and so perhaps a loss of power, lies behind."""
    try:
        boot = _BOOT_ID.read_text().strip()
    except OSError:
        return
    mark = folder / "boot_id"
    if mark.exists() and mark.read_text().strip() == boot:
        return
    _remove(folder)
    mark.write_text(boot)


def _remove(folder: Path) -> None:
    for name in ("data.mdb", "lock.mdb"):
        (folder / name).unlink(missing_ok=True)
