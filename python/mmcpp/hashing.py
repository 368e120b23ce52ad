"""Content identity: digests of encoded bytes, of any value, of items, and vLLM's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mmcpp import _mmcpp
from mmcpp.hashing_vllm import EncodedMedia, vllm_hash, vllm_item_hash
from mmcpp.identity import ItemScope, check_uuids, hash_value, name_uncached, parse_uuids

if TYPE_CHECKING:
    from mmcpp.inputs import BytesLike

__all__ = [
    "EncodedMedia",
    "ItemScope",
    "check_uuids",
    "content_digest",
    "content_hash",
    "hash_value",
    "name_uncached",
    "parse_uuids",
    "vllm_hash",
    "vllm_item_hash",
]


def content_hash(data: BytesLike) -> int:
    """Give the first 8 bytes of the BLAKE3 digest as an unsigned integer, big-endian.

    Args:
        data: any contiguous buffer, hashed as bytes.

    Returns:
        0 to 2**64 - 1.

    Raises:
        TypeError: ``data`` is no buffer.
        ValueError: the buffer is not contiguous.

    >>> hex(content_hash(b"abc"))
    '0x6437b3ac38465133'
    """
    return _mmcpp.content_hash(data)


def content_digest(data: BytesLike) -> bytes:
    """Give the 32-byte BLAKE3 digest (unkeyed).

    Args:
        data: any contiguous buffer, hashed as bytes.

    Returns:
        32 bytes, as BLAKE3's own code gives them.

    Raises:
        TypeError: ``data`` is no buffer.
        ValueError: the buffer is not contiguous.

    >>> content_digest(b"").hex()[:16]
    'af1349b9f5f9a1a6'
    """
    return _mmcpp.content_digest(data)
