"""How deeply JSON that others wrote may be nested.

The bound is ours: Python's own is a thousand levels in one version and what fits on the stack in another, tens of
thousands, while what is done with a value afterwards (pickling it, writing it, drawing it) has room for far fewer.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import Final

MOST: Final = 200
"""Levels, as of the values that leave the sandbox."""
_STEPS: Final = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_OTHERS: Final = bytes(set(range(256)) - _STEPS.keys())
_STRING: Final = re.compile(rb'(?s)"(?:[^"\\]+|\\.?)*+(?:"|\Z)')


class NestedError(ValueError):
    """JSON is nested too deeply to be read."""


def require_shallow(text: str | bytes | bytearray, most: int = MOST) -> None:
    """Raises `NestedError` for JSON that is nested in more than `most` levels."""
    if isinstance(text, str):
        if text.count("[") + text.count("{") <= most:  # nearly always
            return
        text = text.encode("utf-8", "surrogatepass")
    elif text.count(b"[") + text.count(b"{") <= most:
        return
    brackets = _STRING.sub(b"", text).translate(None, _OTHERS)
    if max(accumulate(map(_STEPS.__getitem__, brackets)), default=0) > most:
        raise NestedError(f"nested too deeply: in more than {most} levels")
