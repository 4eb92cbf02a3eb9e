"""The files that NeMo Gym's collection writes next to its rollouts: the inputs, the failures, the figures.

For `out.jsonl` they are `out_materialized_inputs.jsonl`, `out_failures.jsonl` and `out_aggregate_metrics.json`.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from evaluator.formats.containers import open_container
from evaluator.formats.loader import sniff
from evaluator.formats.nemo_gym import ROLLOUT_INDEX, TASK_INDEX, index_of
from evaluator.formats.problems import FormatError
from evaluator.formats.registry import Role
from evaluator.formats.rows import Row, read_rows

_FORMAT = "nemo_gym"
_PACKINGS = (".gz", ".zst")
_ENDINGS = ("_materialized_inputs.jsonl", "_failures.jsonl", "_aggregate_metrics.json")


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
    """The tasks of rollouts: NeMo Gym's inputs beside them, else the rollouts where their rows have the tests."""
    roles = roles_of(rollouts, format_name)
    if Role.ROLLOUTS not in roles:
        return rollouts if _has_tests(rollouts, format_name) else None
    beside = materialized_inputs_path(rollouts)
    if beside.is_file():
        return beside
    return rollouts if Role.TASKS in roles else None


def _has_tests(rollouts: Path, format_name: str | None) -> bool:
    """Whether the rows are rollouts that have their tests with them."""
    try:
        found = sniff(rollouts)
    except FormatError:
        return False
    readings = [reading for reading in (found, *found.others) if format_name in (None, reading.format)]
    return {reading.role for reading in readings} == {Role.TASKS, Role.ROLLOUTS}


def is_sidecar(name: str) -> bool:
    """Whether a file of that name, without what says how it is packed, was written next to rollouts."""
    return name.endswith(_ENDINGS)


def materialized_inputs_path(rollouts: Path) -> Path:
    """The inputs of a file of rollouts: the existing file, compressed or not; else where it would be."""
    return _sidecar(rollouts, "_materialized_inputs.jsonl")


def failures_path(rollouts: Path) -> Path:
    """Its failed rollouts."""
    return _sidecar(rollouts, "_failures.jsonl")


def aggregate_metrics_path(rollouts: Path) -> Path:
    """Its figures."""
    return _sidecar(rollouts, "_aggregate_metrics.json")


def read_failures(path: Path) -> Counter[str]:
    """How many rollouts failed for each reason (`_ng_failure_class`), by their last attempts.

    An empty file has no failures. Raises `FormatError` for one that can't be opened.
    """
    if path.is_file() and path.stat().st_size == 0:
        return Counter()
    last: dict[tuple[int, int] | int, str] = {}
    for row in read_rows(open_container(path)):
        if isinstance(row, Row):
            task, rollout = index_of(row.fields, TASK_INDEX), index_of(row.fields, ROLLOUT_INDEX)
            kind = row.fields.get("_ng_failure_class") or row.fields.get("failure_kind")
            place = row.line if task is None or rollout is None else (task, rollout)
            last[place] = kind if isinstance(kind, str) else "not reported"
    return Counter(last.values())


def _sidecar(rollouts: Path, ending: str) -> Path:
    name = rollouts.name
    for packing in _PACKINGS:
        name = name.removesuffix(packing)
    unpacked = rollouts.with_name(Path(name).stem + ending)
    packed = (unpacked.with_name(unpacked.name + packing) for packing in _PACKINGS)
    return next((path for path in (unpacked, *packed) if path.is_file()), unpacked)
