"""Reads HTTP's `Retry-After`."""

from __future__ import annotations

import time
from email.utils import parsedate_to_datetime


def seconds_of(header: str | None) -> float | None:
    """How long a server asks to wait, from a header with seconds or a date; None if it is neither."""
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(header).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError):
            return None
    return max(seconds, 0.0) if seconds == seconds else None  # noqa: PLR0124 - excludes NaN
