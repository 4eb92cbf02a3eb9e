"""Reads a run's rollouts back with their grades, for `rollscope convert`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from evaluator.model import Flag, Grade, Kind, Rollout, Verdict

if TYPE_CHECKING:
    from evaluator.runs.reading import Run

Graded = tuple[Rollout, Grade | None]
"""A rollout as it came, with its own reward; and our grade of it, if there is one."""

_BATCH: Final = 500
_COLUMNS: Final = (
    "task_id", "sample_id", "sample_index", "group", "model", "step", "reward", "verdict", "verified", "pass_rate",
    "error_message", "flags", "code", "completion", "kind", "metadata", "expected_pass", "given_reward",
    "recorded_verdict", "recorded_word", "recorded_by",
)  # fmt: skip


def rollouts_of(run: Run) -> Iterator[Graded]:
    """The rollouts in the order of their file."""
    with run.connect() as connection:
        names = ", ".join(f'"{name}"' for name in _COLUMNS)
        found = connection.view("rollouts").order("row").project(names)
        for batch in found.to_arrow_reader(_BATCH):
            yield from map(_graded, batch.to_pylist())


def _graded(row: dict[str, Any]) -> Graded:
    kind = Kind(row["kind"]) if row["kind"] else None
    as_they_are = (
        "task_id", "sample_id", "sample_index", "model", "group", "step", "expected_pass", "given_reward",
        "recorded_word", "recorded_by",
    )  # fmt: skip
    rollout = Rollout(
        completion=row["completion"] or "",
        kind=kind,
        recorded_verdict=Verdict(row["recorded_verdict"]) if row["recorded_verdict"] else None,
        metadata=json.loads(row["metadata"]) if row["metadata"] else {},
        **{name: row[name] for name in as_they_are},
    )
    grade = Grade(
        task_id=row["task_id"],
        sample_id=row["sample_id"],
        verdict=Verdict(row["verdict"]),
        reward=row["reward"],
        verified=row["verified"],
        pass_rate=row["pass_rate"],
        flags=tuple(Flag(word, "") for word in row["flags"] or ()),
        error_message=row["error_message"],
        code=row["code"],
        kind=kind,
    )
    return rollout, grade
