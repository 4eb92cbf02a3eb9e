"""The files that NeMo Gym's collection writes next to its rollouts: the inputs, the failures, the figures.

For `out.jsonl` they are `out_materialized_inputs.jsonl`, `out_failures.jsonl` and `out_aggregate_metrics.json`.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec

from evaluator.formats.containers import open_container
from evaluator.formats.fields import Fields
from evaluator.formats.nemo_gym import ROLLOUT_INDEX, TASK_INDEX, index_of
from evaluator.formats.problems import Problem
from evaluator.formats.rows import read_rows
from evaluator.model import JsonValue

_PACKINGS = (".gz", ".zst")
_LONGEST_MESSAGE = 200


class Failure(msgspec.Struct, frozen=True):
    """The last attempt at a rollout that failed. `kind` is `_ng_failure_class`."""

    task_index: int | None
    rollout_index: int | None
    kind: str
    message: str
    terminal: bool
    """Whether NeMo Gym will not try again."""


class Failures(msgspec.Struct, frozen=True):
    """The rollouts that failed, each with its last attempt; how many attempts; how many lines can't be read."""

    rollouts: tuple[Failure, ...]
    attempts: int
    unreadable: int = 0

    @property
    def kinds(self) -> dict[str, int]:
        """How many rollouts failed for each reason, most first."""
        return dict(Counter(failure.kind for failure in self.rollouts).most_common())


def materialized_inputs_path(rollouts: Path) -> Path:
    """The inputs of a file of rollouts: the existing file, compressed or not; else where it would be."""
    return _sidecar(rollouts, "_materialized_inputs.jsonl")


def failures_path(rollouts: Path) -> Path:
    """Its failed rollouts."""
    return _sidecar(rollouts, "_failures.jsonl")


def aggregate_metrics_path(rollouts: Path) -> Path:
    """Its figures."""
    return _sidecar(rollouts, "_aggregate_metrics.json")


def read_failures(path: Path) -> Failures:
    """The failures in a file, none if it is empty. Raises `FormatError` for a file that can't be opened."""
    if path.is_file() and path.stat().st_size == 0:
        return Failures((), 0)
    last: dict[tuple[JsonValue, ...], Failure] = {}
    attempts = unreadable = 0
    for row in read_rows(open_container(path)):
        if isinstance(row, Problem):
            unreadable += 1
            continue
        failure = _failure(row.fields)
        known = failure.task_index is not None and failure.rollout_index is not None
        attempts += 1
        last[(failure.task_index, failure.rollout_index, "" if known else str(row.line))] = failure
    return Failures(tuple(last.values()), attempts, unreadable)


def _sidecar(rollouts: Path, ending: str) -> Path:
    name = rollouts.name
    for packing in _PACKINGS:
        name = name.removesuffix(packing)
    plain = rollouts.with_name(Path(name).stem + ending)
    packed = (plain.with_name(plain.name + packing) for packing in _PACKINGS)
    return next((path for path in (plain, *packed) if path.is_file()), plain)


def _failure(row: Fields) -> Failure:
    kind = row.get("_ng_failure_class") or row.get("failure_kind")
    message = row.get("_ng_failure_message") or row.get("failure_reason")
    return Failure(
        task_index=index_of(row, TASK_INDEX),
        rollout_index=index_of(row, ROLLOUT_INDEX),
        kind=kind if isinstance(kind, str) else "not reported",
        message=str(message)[:_LONGEST_MESSAGE] if message else "",
        terminal=row.get("_ng_failure_terminal") is True,
    )
