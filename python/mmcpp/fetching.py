"""Sources from outside: URLs, files and text to bytes, under a policy that decides first."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mmcpp import _mmcpp

__all__ = ["FetchPolicy", "fetch", "fetch_all"]


@dataclass(frozen=True)
class FetchPolicy:
    """What may be fetched. The default is for sources that strangers send.

    That is: public web addresses and sources in memory; no files, and no address of a private
    network, of this machine or of a cloud's metadata service.

    Raises:
        TypeError: a field of another type; a lone string where several are expected.
        ValueError: a scheme, host, network or folder that cannot be meant, named.
    """

    schemes: Sequence[str] = ("http", "https", "file", "data", "base64")
    """A redirect must keep to them. ``"file"`` needs ``file_roots`` too."""
    allowed_hosts: Sequence[str] | None = None
    """Hosts of http(s) URLs; None allows all, an empty list none. ``"example.org"`` is that host,
    ``"*.example.org"`` its subdomains, ``"example.org:8443"`` the host on that port. A host on the
    list must still have an allowed address."""
    allowed_networks: Sequence[str] = ()
    """Networks such as ``"10.1.0.0/16"`` or ``"::1"`` that are allowed although they are not public."""
    file_roots: Sequence[str | os.PathLike[str]] = ()
    """Folders below which files may be read, as absolute paths; symbolic links are followed first."""
    max_bytes: int = 64 << 20
    """Of one source, decoded; exactly as many are taken."""
    max_redirects: int = 5
    """Of one source; one more is an error."""
    timeout: float | None = None
    """Seconds for one source in all. None: whole seconds from the environment variable
    ``REQUEST_TIMEOUT``, else 3."""
    environment_proxies: bool = True
    """Proxies from ``HTTP_PROXY``, ``HTTPS_PROXY``, ``ALL_PROXY`` and ``NO_PROXY``, in either case,
    chosen as the package requests does. The address of a host behind a proxy cannot be checked:
    there, literal addresses are checked, and names that only a private network knows are refused
    unless ``allowed_hosts`` names them."""
    url_safe_base64: bool = False
    """base64 may use ``-`` and ``_``."""
    ca_file: str | os.PathLike[str] = ""
    """PEM file of trusted certificates; empty: the system's."""

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        for name in ("schemes", "allowed_networks"):
            object.__setattr__(self, name, _strings(name, getattr(self, name)))
        if self.allowed_hosts is not None:
            object.__setattr__(self, "allowed_hosts", _strings("allowed_hosts", self.allowed_hosts))
        if isinstance(self.file_roots, (str, os.PathLike)):
            raise TypeError("file_roots: expected several folders, got one; put it in a list")
        roots = tuple(os.fspath(root) for root in self.file_roots)
        object.__setattr__(self, "file_roots", _strings("file_roots", roots))
        object.__setattr__(self, "ca_file", os.fspath(self.ca_file))
        _check_int("max_bytes", self.max_bytes, 2**63 - 1)
        _check_int("max_redirects", self.max_redirects, 1000)
        if isinstance(self.timeout, bool) or not isinstance(self.timeout, (int, float, type(None))):
            raise TypeError(f"timeout: expected seconds or None, got {type(self.timeout).__name__}")
        for name in ("environment_proxies", "url_safe_base64"):
            if not isinstance(getattr(self, name), bool):
                raise TypeError(f"{name}: expected a bool, got {type(getattr(self, name)).__name__}")
        _mmcpp.check_fetch_policy(self)


def fetch(source: str, *, policy: FetchPolicy | None = None) -> bytes:
    """Give the bytes of a source: an http(s) URL, a file, a data: URL, or base64.

    Waits for the network without the GIL; in an event loop, use
    ``await asyncio.to_thread(mmcpp.fetch, source)``.

    Args:
        source: ``http://...``, ``https://...``, ``file:///path`` or ``/path``, ``data:...``, or base64.
            Letter case of the scheme and blanks around the source do not matter.
        policy: what may be fetched; ``FetchPolicy()`` by default, which reads no file.

    Returns:
        The body of the answer, the file or the decoded text, whole.

    Raises:
        FetchError: ``code`` is ``"bad_source"`` for text that is no source, ``"forbidden"`` where
            the policy says no, ``"fetch_failed"`` for the network, a file or a status.
        LimitError: more bytes than ``policy.max_bytes``.
        UnsupportedError: http needs libcurl, which is not installed.
        TypeError: ``source`` is no string, or ``policy`` no FetchPolicy.

    >>> fetch("data:;base64,aGVsbG8=")
    b'hello'
    """
    return _mmcpp.fetch(_source(source), _policy(policy))


def fetch_all(
    sources: Iterable[str],
    *,
    policy: FetchPolicy | None = None,
    max_total_bytes: int = 256 << 20,
    max_concurrent: int = 16,
) -> list[bytes]:
    """Give the bytes of several sources, fetched at the same time; all, or the error of the first failure.

    Args:
        sources: as for ``fetch``.
        policy: for every one of them.
        max_total_bytes: of all sources together, in bytes.
        max_concurrent: transfers at a time, 1 or more.

    Returns:
        The bytes in the order of ``sources``.

    Raises:
        FetchError: as ``fetch``; ``item`` is the index of the source. The others are ended.
        LimitError: a source, or all together, are too large.
        UnsupportedError: as ``fetch``.
        ValueError: a limit below 0, or no transfer at a time.
        TypeError: a source that is no string, one string in place of several, or a limit that is no int.

    >>> fetch_all(["data:,a", "data:,b"])
    [b'a', b'b']
    """
    if isinstance(sources, str):
        raise TypeError("sources: expected several strings, got one; use fetch")
    _check_int("max_total_bytes", max_total_bytes, 2**63 - 1)
    _check_int("max_concurrent", max_concurrent, 2**31 - 1, least=1)
    return _mmcpp.fetch_all([_source(source) for source in sources], _policy(policy), max_total_bytes, max_concurrent)


def _source(source: str) -> str:
    if not isinstance(source, str):
        raise TypeError(f"source: expected a str, got {type(source).__name__}")
    return source


def _policy(policy: FetchPolicy | None) -> FetchPolicy:
    if policy is None:
        return _DEFAULT
    if not isinstance(policy, FetchPolicy):
        raise TypeError(f"policy: expected a FetchPolicy, got {type(policy).__name__}")
    return policy


def _strings(name: str, values: Sequence[str]) -> tuple[str, ...]:
    if isinstance(values, str):
        raise TypeError(f"{name}: expected several strings, got one; put it in a list")
    strings = tuple(values)
    for value in strings:
        if not isinstance(value, str):
            raise TypeError(f"{name}: expected strings, got {type(value).__name__}")
    return strings


def _check_int(name: str, value: int, most: int, *, least: int = 0) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name}: expected an int, got {type(value).__name__}")
    if not least <= value <= most:
        raise ValueError(f"{name}: expected {least} to {most}, got {value}")


_DEFAULT = FetchPolicy()
