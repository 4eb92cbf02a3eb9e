"""The Siblings tab: the nearest passing sample, and what the other samples of the task answered."""

from __future__ import annotations

from dashboard import facts
from dashboard.controls import Screen
from dashboard.queries.records import CaseRecord, RolloutRecord


def show(screen: Screen, rollout: RolloutRecord, test: CaseRecord | None) -> None:
    """The nearest passing sample as a diff, and the group's answers to this test case."""
    del screen, rollout, test
    facts.note("No other sample.")
