"""SQL expressions that several queries share."""

from __future__ import annotations

from evaluator.model import NO_REASON, Verdict
from evaluator.runs.expressions import GRADED

__all__ = [
    "BOTH", "FILE_ORDER", "GRADED", "INFINITY", "IN_PARTS", "LETTER", "MOMENT", "RAN", "REASON", "SAME_END", "TEXT",
    "natural",
]  # fmt: skip

INFINITY = "'inf'::DOUBLE"
IN_PARTS = "list_contains($parts, part_file)"
"""The condition of a query over `stored_rollouts` or `stored_cases`, with the parameter `parts`."""
FILE_ORDER = '"row"'
LETTER = "CASE verdict " + " ".join(f"WHEN '{v.value}' THEN '{v.letter}'" for v in Verdict) + " ELSE '?' END"
RAN = "verdict NOT IN ('not_run', 'unknown', 'sandbox_error')"
"""Whether a test case of a completion was run to its end or to a limit."""
BOTH = f"(recorded_verdict NOT IN ('unknown', 'sandbox_error') AND {GRADED})"
"""Whether a rollout has a grade that it came with, and one of ours."""
SAME_END = "(recorded_verdict = 'passed') = (verdict = 'passed')"
"""Whether these two agree."""
MOMENT = "CASE WHEN abs(reward) <= 1e100 THEN reward END"
"""A reward whose square is a number too, for variances."""
REASON = f"coalesce(unverified_reason, '{NO_REASON}')"
"""Why a grade is not verified. Runs of older versions have no reason."""

TEXT = "lower(concat_ws(chr(10), task_id, sample_id, model, error_type, error_message))"
"""What the filter's text is looked for in. The tables have it as a column, `searched`."""


def natural(column: str) -> str:
    """A key that orders the numbers in texts by value: 2 before 10. Longer numbers count by their last 20 digits."""
    padded = f"regexp_replace({column}, '([0-9]+)', '{'0' * 20}\\1', 'g')"
    return f"regexp_replace({padded}, '[0-9]+([0-9]{{20}})', '\\1', 'g')"
