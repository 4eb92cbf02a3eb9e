"""The task, repeat and numbers of verified rollouts, and whether their rewards count."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final

from pydantic import JsonValue

from evaluator.interop.nemo_gym.wire import ROLLOUT_INDEX, TASK_INDEX

Row = Mapping[str, JsonValue]
Numbers = dict[str, float]

_UNDECIDED: Final = ("unknown", "sandbox_error")
_FLAG: Final = "mask_sample"
_NOT_IN_AN_ACCOUNT: Final = ("reward", "response", _FLAG)


@dataclass(frozen=True)
class Placed:
    """A rollout with a unique task and repeat."""

    task: int
    repeat: int
    row: Row


def is_measured(row: Row) -> bool:
    """Whether the reward counts: it is finite, the rollout not masked, and the verdict decided."""
    undecided = row.get(_FLAG) or row.get("verdict") in _UNDECIDED
    return not undecided and finite(row.get("reward")) is not None


def finite(value: JsonValue) -> float | None:
    """A number as a float, true and false as 1 and 0; None for NaN, for numbers beyond floats and for all else."""
    if not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def placed(rows: Sequence[Row]) -> list[Placed]:
    """The rows with their indices, sorted by task, then repeat.

    Rows without an integer task index form tasks by equal values in its place, or by equal prompts if there is none;
    these tasks come last. A missing or taken repeat becomes the task's next free one: no row is dropped.
    """
    tasks = _tasks(rows)
    repeats = _repeats(tasks, [_index(row.get(ROLLOUT_INDEX)) for row in rows])
    rollouts = map(Placed, tasks, repeats, rows)
    return sorted(rollouts, key=lambda rollout: (rollout.task, rollout.repeat))


def _tasks(rows: Sequence[Row]) -> list[int]:
    known = [_index(row.get(TASK_INDEX)) for row in rows]
    first_free = max((task + 1 for task in known if task is not None), default=0)
    found: dict[str, int] = {}
    return [
        found.setdefault(_without_index(row), first_free + len(found)) if task is None else task
        for task, row in zip(known, rows, strict=True)
    ]


def _repeats(tasks: Sequence[int], given: Sequence[int | None]) -> list[int]:
    taken: set[tuple[int, int]] = set()
    kept: list[int | None] = []
    for task, repeat in zip(tasks, given, strict=True):
        mine = repeat is not None and (task, repeat) not in taken
        kept.append(repeat if mine else None)
        if repeat is not None:
            taken.add((task, repeat))
    free = {task: _free(task, taken) for task in set(tasks)}
    return [next(free[task]) if repeat is None else repeat for task, repeat in zip(tasks, kept, strict=True)]


def _free(task: int, taken: set[tuple[int, int]]) -> Iterator[int]:
    return (repeat for repeat in count() if (task, repeat) not in taken)


def _index(value: JsonValue) -> int | None:
    whole = isinstance(value, float) and value.is_integer()
    return int(value) if whole or (isinstance(value, int) and not isinstance(value, bool)) else None  # type: ignore[arg-type]


def _without_index(row: Row) -> str:
    instead = row.get(TASK_INDEX)
    if instead is None:
        asked = row.get("responses_create_params")
        instead = asked.get("input") if isinstance(asked, dict) else None
    return json.dumps(instead, sort_keys=True, default=repr)


def numbers(row: Row) -> Numbers:
    """All numbers at the top level of the row and in its response's `usage`, except names that begin with `_`."""
    return {
        name: number
        for name, value in (*row.items(), *_usage(row).items())
        if (number := finite(value)) is not None and not name.startswith("_") and name != _FLAG
    }


def account(rollout: Placed) -> dict[str, JsonValue]:
    """A rollout's entry in its task's figures, with its numbers unchanged; true and false become 1 and 0."""
    row = rollout.row
    own = {name: value for name, value in row.items() if not name.startswith("_") and name not in _NOT_IN_AN_ACCOUNT}
    counted = {name: value for name, value in (*_usage(row).items(), *own.items()) if finite(value) is not None}
    return {
        "rollout_id": f"{rollout.task}:{rollout.repeat}",
        TASK_INDEX: rollout.task,
        ROLLOUT_INDEX: rollout.repeat,
        "reward": row.get("reward"),
        **{name: int(value) if isinstance(value, bool) else value for name, value in counted.items()},
    }


def _usage(row: Row) -> dict[str, JsonValue]:
    response = row.get("response")
    usage = response.get("usage") if isinstance(response, dict) else None
    return usage if isinstance(usage, dict) else {}
