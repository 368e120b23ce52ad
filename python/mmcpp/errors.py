"""The exceptions of failures that lie in the data.

Every error that the core reports has two attributes: ``code``, a stable name such as
``"corrupt_input"``, and ``item``, the index of the picture at fault in the call, or ``None``. A bad
argument stays a plain ``ValueError`` (code ``"invalid_argument"``) or ``TypeError``; exhausted
memory is a ``MemoryError`` (``"out_of_memory"``), a bug of this library a ``RuntimeError``
(``"internal"``).
"""

from __future__ import annotations

__all__ = [
    "CancelledError",
    "DeadlineError",
    "DecodeError",
    "FetchError",
    "LimitError",
    "MmError",
    "UnsupportedError",
]


class MmError(ValueError):
    """A picture or a source could not be used. Base of the errors below.

    Branch on the class or on ``code``, never on the text.
    """

    # Shown in tracebacks and stored in pickles: the name that users import.
    __module__ = "mmcpp"

    code: str = "invalid_argument"
    """The core's error code."""
    item: int | None = None
    """Index of the picture at fault; None when no single one is."""


class DecodeError(MmError):
    """The bytes are not a valid picture: damaged, cut short, or no picture at all."""

    __module__ = "mmcpp"
    code = "corrupt_input"


class UnsupportedError(MmError):
    """Valid, but out of scope: another format, which the message names, or too many bits."""

    __module__ = "mmcpp"
    code = "unsupported"


class LimitError(MmError):
    """A limit said no; the message gives the limit and the value."""

    __module__ = "mmcpp"
    code = "limit_exceeded"


class FetchError(MmError):
    """A source could not be read: malformed, unreachable, or refused by the policy."""

    __module__ = "mmcpp"
    code = "fetch_failed"


class DeadlineError(MmError, TimeoutError):
    """The call was not done within its ``timeout``; the message says at which stage it ended."""

    __module__ = "mmcpp"
    code = "deadline_exceeded"


class CancelledError(MmError):
    """The call's ``CancelFlag`` was set; the message says at which stage it ended."""

    __module__ = "mmcpp"
    code = "cancelled"
