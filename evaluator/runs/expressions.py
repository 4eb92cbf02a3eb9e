"""SQL expressions over a run's `rollouts` that the report and the dashboard share."""

from __future__ import annotations

from typing import Final

GRADED: Final = "(verdict NOT IN ('unknown', 'sandbox_error') OR (verdict = 'unknown' AND disagreement IS NOT NULL))"
"""What rates count. A disagreement (docs/checks.md) counts as not passed."""

# Digits, quoted text and addresses differ between similar failures, so a cluster's name leaves them out. An apostrophe
# after a letter opens no quotation: "can't".
_MESSAGE: Final = r"""left(regexp_replace(regexp_replace(regexp_replace(split_part(error_message, chr(10), 1),
    '0x[0-9a-fA-F]+', '0x…', 'g'), '(^|\W)(''[^'']*''|"[^"]*")', '\1''…''', 'g'), '-?\d+(\.\d+)?', 'N', 'g'), 100)"""
CLUSTER: Final = f"""CASE WHEN verdict = 'passed' THEN NULL
    WHEN verdict IN ('wrong_answer', 'time_limit', 'memory_limit', 'output_limit', 'not_run') THEN verdict
    WHEN error_type IS NULL AND coalesce(error_message, '') = '' THEN verdict
    ELSE coalesce(error_type, verdict) || CASE WHEN coalesce(error_message, '') = '' THEN ''
         ELSE ': ' || {_MESSAGE} END END"""
"""The name of the error cluster of a rollout: similar failures have the same one."""
