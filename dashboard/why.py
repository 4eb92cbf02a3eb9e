"""The Why tab: the last steps of a failing test case, replayed with line tracing."""

from __future__ import annotations

from dashboard import facts
from dashboard.controls import Screen
from dashboard.queries.records import CaseRecord, RolloutRecord


def show(screen: Screen, rollout: RolloutRecord, test: CaseRecord | None) -> None:
    """Replay the test case and show its steps."""
    del screen, rollout, test
    facts.note("Nothing to replay.")
