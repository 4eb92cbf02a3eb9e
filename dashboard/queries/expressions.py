"""SQL expressions that several queries share."""

from __future__ import annotations

from evaluator.model import NO_REASON, Verdict

INFINITY = "'inf'::DOUBLE"
FILE_ORDER = '"row"'
LETTER = "CASE verdict " + " ".join(f"WHEN '{v.value}' THEN '{v.letter}'" for v in Verdict) + " ELSE '?' END"
GRADED = "(verdict NOT IN ('unknown', 'sandbox_error') OR (verdict = 'unknown' AND disagreement IS NOT NULL))"
"""What rates count. A disagreement (docs/checks.md) counts as not passed."""
RAN = "verdict NOT IN ('not_run', 'unknown', 'sandbox_error')"
"""Whether a test case of a completion was run to its end or to a limit."""
MOMENT = "CASE WHEN abs(reward) <= 1e100 THEN reward END"
"""A reward whose square is a number too, for variances."""
REASON = f"coalesce(unverified_reason, '{NO_REASON}')"
"""Why a grade is not verified. Runs of older versions have no reason."""

# Digits, quoted text and addresses differ between similar failures, so a cluster's name leaves them out. An apostrophe
# after a letter opens no quotation: "can't".
_MESSAGE = r"""left(regexp_replace(regexp_replace(regexp_replace(split_part(error_message, chr(10), 1),
    '0x[0-9a-fA-F]+', '0x…', 'g'), '(^|\W)(''[^'']*''|"[^"]*")', '\1''…''', 'g'), '-?\d+(\.\d+)?', 'N', 'g'), 100)"""
CLUSTER = f"""CASE WHEN verdict = 'passed' THEN NULL
    WHEN verdict = 'wrong_answer' THEN concat_ws(': ', verdict, difference_kind)
    WHEN verdict IN ('time_limit', 'memory_limit', 'output_limit', 'not_run') THEN verdict
    WHEN error_type IS NULL AND coalesce(error_message, '') = '' THEN verdict
    ELSE coalesce(error_type, verdict) || CASE WHEN coalesce(error_message, '') = '' THEN ''
         ELSE ': ' || {_MESSAGE} END END"""


def natural(column: str) -> str:
    """A key that orders the numbers in texts by value: 2 before 10. Longer numbers count by their last 20 digits."""
    padded = f"regexp_replace({column}, '([0-9]+)', '{'0' * 20}\\1', 'g')"
    return f"regexp_replace({padded}, '[0-9]+([0-9]{{20}})', '\\1', 'g')"
