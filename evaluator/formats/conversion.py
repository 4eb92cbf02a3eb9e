"""What the writers of other formats are given, and how they refuse what their format can't hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from evaluator.formats.native import METADATA_JSON
from evaluator.model import Grade, JsonValue, Kind, Rollout, Task

Row = dict[str, JsonValue]


class Unheld(ValueError):  # noqa: N818 - a format's limit, no error of anybody's
    """A record that a format can't hold. The message is why, in the same words for all of its kind: it is counted."""


class Sample(NamedTuple):
    """A rollout with what is known about it. Its rewards and verdicts are those to be written."""

    rollout: Rollout
    task: Task | None = None
    grade: Grade | None = None
    """Ours; None for a rollout that was not graded here."""
    program: str | None = None
    """The whole program that the completion is, or becomes after its prompt; None if that is not known."""
    kind: Kind | None = None
    """The completion's, given or detected."""


def unheld_fields(row: Row, held: frozenset[str]) -> Iterator[str]:
    """Which fields of a native row a format has no place for."""
    for name, value in row.items():
        if name == METADATA_JSON:
            yield from value
        elif name not in held:
            yield name
