"""SQL expressions that several queries share."""

from __future__ import annotations

from evaluator.model import NO_REASON, Verdict
from evaluator.runs.expressions import CLUSTER, GRADED

__all__ = ["CLUSTER", "FILE_ORDER", "GRADED", "INFINITY", "LETTER", "REASON"]

INFINITY = "'inf'::DOUBLE"
FILE_ORDER = '"row"'
LETTER = "CASE verdict " + " ".join(f"WHEN '{v.value}' THEN '{v.letter}'" for v in Verdict) + " ELSE '?' END"
REASON = f"coalesce(unverified_reason, '{NO_REASON}')"
"""Why a grade is not verified. Runs of older versions have no reason."""
