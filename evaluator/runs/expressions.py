"""SQL expressions over a run's `rollouts` that the report and the dashboard share."""

from __future__ import annotations

from typing import Final

GRADED: Final = "(verdict NOT IN ('unknown', 'sandbox_error') OR (verdict = 'unknown' AND disagreement IS NOT NULL))"
"""What rates count. A disagreement (docs/checks.md) counts as not passed."""
