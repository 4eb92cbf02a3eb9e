"""Unpacks base64-encoded zlib, as datasets pack their test cases, up to a size that fits in memory."""

from __future__ import annotations

import base64
import binascii
import zlib

from evaluator.model import RecordError

MAX_UNPACKED_BYTES = 256 * 1024 * 1024


def decompressed(value: str, name: str, fix: str) -> bytes:
    """The bytes that a field holds. Raises `RecordError`, with the `fix`, for other text and above the limit."""
    try:
        unpacker = zlib.decompressobj()
        data = unpacker.decompress(base64.b64decode(value, validate=True), MAX_UNPACKED_BYTES)
    except (binascii.Error, ValueError, zlib.error):
        raise RecordError(f"{name} is neither JSON nor base64-encoded zlib: {fix}") from None
    if unpacker.unconsumed_tail:
        raise RecordError(f"{name} unpacks to more than {MAX_UNPACKED_BYTES // (1024 * 1024)} MiB: {fix}")
    return data
