"""Unpacks base64 of zlib, as datasets pack their test cases, to a size that can be held and no further."""

from __future__ import annotations

import base64
import binascii
import zlib

from evaluator.model import RecordError

MAX_UNPACKED_BYTES = 256 * 1024 * 1024


def inflated(value: str, name: str, mend: str) -> bytes:
    """The bytes that a field holds. Raises `RecordError` for any other text, and for more than the limit."""
    try:
        unpacker = zlib.decompressobj()
        data = unpacker.decompress(base64.b64decode(value, validate=True), MAX_UNPACKED_BYTES)
    except (binascii.Error, ValueError, zlib.error):
        raise RecordError(f"{name} is neither JSON nor base64 of zlib: {mend}") from None
    if unpacker.unconsumed_tail:
        raise RecordError(f"{name} unpacks to more than {MAX_UNPACKED_BYTES // (1024 * 1024)} MiB: {mend}")
    return data
