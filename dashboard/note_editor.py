"""Tags and a note on one rollout, kept in the run's side file."""

from __future__ import annotations

from dashboard.controls import Screen
from dashboard.queries.records import RolloutRecord


def offer(screen: Screen, rollout: RolloutRecord) -> None:
    """The button that opens the editor, with the tags that the rollout has."""
    del screen, rollout
