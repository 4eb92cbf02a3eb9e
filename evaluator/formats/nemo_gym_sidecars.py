"""The files that NeMo Gym's collection writes beside its rollouts: the inputs, what failed, the figures.

Of `out.jsonl` they are `out_materialized_inputs.jsonl`, `out_failures.jsonl` and `out_aggregate_metrics.json`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import msgspec

from evaluator.formats.containers import open_container
from evaluator.formats.json_text import JsonError, decode_json
from evaluator.formats.loading import sniff
from evaluator.formats.problems import FormatError, Problem
from evaluator.formats.registry import Role
from evaluator.formats.rows import read_rows
from evaluator.model import JsonValue

_FORMAT = "nemo_gym"
_PACKINGS = (".gz", ".zst")
_LONGEST_MESSAGE = 200


class Failure(msgspec.Struct, frozen=True):
    """The last attempt at a rollout that came to nothing. `kind` is `_ng_failure_class`."""

    task_index: int | None
    rollout_index: int | None
    kind: str
    message: str
    terminal: bool
    """Whether NeMo Gym will not try again."""


class Failures(msgspec.Struct, frozen=True):
    """What failed, the last attempt at each rollout alone, and how many lines could not be read."""

    rollouts: tuple[Failure, ...]
    attempts: int
    unreadable: int = 0

    @property
    def kinds(self) -> dict[str, int]:
        """How many rollouts failed for each reason, most first."""
        return dict(Counter(failure.kind for failure in self.rollouts).most_common())


class AgentMetrics(msgspec.Struct, frozen=True):
    """The figures of one agent; names such as `mean/reward` and `pass@1[avg-of-4]/accuracy`."""

    agent: str
    key_metrics: dict[str, JsonValue]
    agent_metrics: dict[str, JsonValue]
    tasks: tuple[dict[str, JsonValue], ...]
    """`group_level_metrics`: an object a task."""


def roles_of(path: Path, format_name: str | None = None) -> set[Role]:
    """What the rows of a file of NeMo Gym's can be read as; nothing where its format is another or none is known."""
    if format_name not in (None, _FORMAT):
        return set()
    try:
        found = sniff(path)
    except FormatError:
        return set()
    return {reading.role for reading in (found, *found.others) if reading.format == _FORMAT}


def tasks_file(rollouts: Path, format_name: str | None = None) -> Path | None:
    """The tasks of NeMo Gym's rollouts: the inputs beside them, else the rollouts where their rows have the tests."""
    roles = roles_of(rollouts, format_name)
    if Role.ROLLOUTS not in roles:
        return None
    beside = materialized_inputs_path(rollouts)
    if beside.is_file():
        return beside
    return rollouts if Role.TASKS in roles else None


def materialized_inputs_path(rollouts: Path) -> Path:
    """Where the inputs of a file of rollouts lie: the one that is there, packed or not; else where they would."""
    return _sidecar(rollouts, "_materialized_inputs.jsonl")


def failures_path(rollouts: Path) -> Path:
    """Where its failed rollouts lie."""
    return _sidecar(rollouts, "_failures.jsonl")


def aggregate_metrics_path(rollouts: Path) -> Path:
    """Where its figures lie."""
    return _sidecar(rollouts, "_aggregate_metrics.json")


def read_failures(path: Path) -> Failures:
    """What failed. Raises `FormatError` for a file that can't be opened; one that is empty holds no failure."""
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


def read_aggregate_metrics(path: Path) -> tuple[AgentMetrics, ...]:
    """The figures of each agent. Raises `FormatError`."""
    try:
        value = decode_json(path.read_bytes())
    except JsonError as error:
        raise FormatError(f"{path}: {error}: give what collection wrote") from None
    except OSError as error:
        raise FormatError(f"{path}: can't be read: {error.strerror}") from None
    entries = value if isinstance(value, list) else [value]
    if not all(isinstance(entry, Mapping) for entry in entries):
        raise FormatError(f"{path}: is no list of objects: give what collection wrote")
    return tuple(map(_agent_metrics, entries))


def _sidecar(rollouts: Path, ending: str) -> Path:
    name = rollouts.name
    for packing in _PACKINGS:
        name = name.removesuffix(packing)
    plain = rollouts.with_name(Path(name).stem + ending)
    packed = (plain.with_name(plain.name + packing) for packing in _PACKINGS)
    return next((path for path in (plain, *packed) if path.is_file()), plain)


def _failure(row: Mapping[str, JsonValue]) -> Failure:
    kind = row.get("_ng_failure_class") or row.get("failure_kind")
    message = row.get("_ng_failure_message") or row.get("failure_reason")
    return Failure(
        task_index=_index(row.get("_ng_task_index")),
        rollout_index=_index(row.get("_ng_rollout_index")),
        kind=kind if isinstance(kind, str) else "not told",
        message=str(message)[:_LONGEST_MESSAGE] if message else "",
        terminal=row.get("_ng_failure_terminal") is True,
    )


def _agent_metrics(entry: Mapping[str, JsonValue]) -> AgentMetrics:
    reference = entry.get("agent_ref")
    name = reference.get("name") if isinstance(reference, Mapping) else reference
    groups = entry.get("group_level_metrics")
    return AgentMetrics(
        agent=name if isinstance(name, str) else "",
        key_metrics=_object(entry.get("key_metrics")),
        agent_metrics=_object(entry.get("agent_metrics")),
        tasks=tuple(g for g in groups if isinstance(g, dict)) if isinstance(groups, list) else (),
    )


def _object(value: JsonValue) -> dict[str, JsonValue]:
    return dict(value) if isinstance(value, Mapping) else {}


def _index(value: JsonValue) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
