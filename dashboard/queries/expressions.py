"""SQL expressions that several queries share."""

from __future__ import annotations

from evaluator.model import NO_REASON, Verdict
from evaluator.runs.expressions import GRADED

__all__ = ["FILE_ORDER", "GRADED", "INFINITY", "LETTER", "MOMENT", "RAN", "REASON", "natural"]

INFINITY = "'inf'::DOUBLE"
FILE_ORDER = '"row"'
LETTER = "CASE verdict " + " ".join(f"WHEN '{v.value}' THEN '{v.letter}'" for v in Verdict) + " ELSE '?' END"
RAN = "verdict NOT IN ('not_run', 'unknown', 'sandbox_error')"
"""Whether a test case of a completion was run to its end or to a limit."""
MOMENT = "CASE WHEN abs(reward) <= 1e100 THEN reward END"
"""A reward whose square is a number too, for variances."""
REASON = f"coalesce(unverified_reason, '{NO_REASON}')"
"""Why a grade is not verified. Runs of older versions have no reason."""


def natural(column: str) -> str:
    """A key that orders the numbers in texts by value: 2 before 10. Longer numbers count by their last 20 digits."""
    padded = f"regexp_replace({column}, '([0-9]+)', '{'0' * 20}\\1', 'g')"
    return f"regexp_replace({padded}, '[0-9]+([0-9]{{20}})', '\\1', 'g')"
