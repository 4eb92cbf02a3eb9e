"""The rows to collect as NeMo Gym materialises them: one per repeat, with the indices of the rollout."""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from evaluator.formats import FormatError, Problem
from evaluator.formats.nemo_gym_files import DEFAULT_AGENT, task_row
from evaluator.formats.reading.containers import open_container, read_rows
from evaluator.formats.reading.registry import Row
from evaluator.interop.nemo_gym.collecting.service import CollectError, encoded
from evaluator.interop.nemo_gym.wire import AGENT_REF, ROLLOUT_INDEX, TASK_INDEX, JsonObject
from evaluator.model import RecordError, Task
from evaluator.tasks.rows import task_fields

_AGENT_TYPE: Final = "responses_api_agents"
_DROPPED: Final = ("stream", "stream_options", "background")
"""Each answer comes whole, in one reply."""


def materialized(
    rows: Path, repeats: int, limit: int | None, overrides: JsonObject, tell: Callable[[Problem], None]
) -> Iterator[bytes]:
    """A line for each rollout, with the repeats of a row in succession. `tell` gets the rows that are skipped.

    `limit`: only so many of the first rows. `overrides`: fields that replace the rows' own in
    `responses_create_params`, such as the model. Equal rows are one task, whose repeats are numbered on, as in NeMo
    Gym. Raises `FormatError` if no row is usable, `CollectError` if neither a row nor an override names a model.
    """
    numbers: dict[bytes, int] = {}
    made: Counter[int] = Counter()
    for line, row in itertools.islice(_usable(rows, tell), limit):
        digest = hashlib.blake2b(encoded(row), digest_size=16).digest()
        given = row.get(TASK_INDEX)
        is_index = isinstance(given, int) and not isinstance(given, bool) and given >= 0
        task = given if is_index else numbers.setdefault(digest, len(numbers))
        assert isinstance(task, int)
        asked = _prepared(row, overrides, f"{rows}:{line}")
        for _ in range(repeats):
            yield encoded(asked | {TASK_INDEX: task, ROLLOUT_INDEX: made[task]}) + b"\n"
            made[task] += 1
    if not made:
        raise FormatError(f"{rows}: no row can be collected: give responses_create_params with an input in each")


def _usable(rows: Path, tell: Callable[[Problem], None]) -> Iterator[tuple[int, JsonObject]]:
    with open_container(rows) as container:
        for row in read_rows(container):
            if isinstance(row, Problem):
                tell(row)
                continue
            try:
                yield row.line, _checked(row)
            except RecordError as error:
                tell(Problem(container.path, row.line, str(error)))


def _checked(row: Row) -> JsonObject:
    """The row, or a native task as NeMo Gym's row. Raises `RecordError`."""
    fields = row.fields
    if "responses_create_params" not in fields and isinstance(fields.get("prompt"), str):
        return task_row(Task(**task_fields(fields)))
    params = fields.get("responses_create_params")
    if not isinstance(params, dict):
        raise RecordError('responses_create_params is missing: give {"input": [{"role": "user", "content": "..."}]}')
    given = params.get("input")
    is_list = isinstance(given, list) and bool(given) and all(isinstance(item, dict) for item in given)
    if not is_list and not (isinstance(given, str) and given):
        raise RecordError("responses_create_params.input must be text or a list of messages: give the prompt")
    reference = fields.get(AGENT_REF)
    if reference is not None and not (isinstance(reference, dict) and isinstance(reference.get("name"), str)):
        raise RecordError('agent_ref has no name: give {"name": "..."}, or leave it out')
    return fields


def _prepared(row: JsonObject, overrides: JsonObject, place: str) -> JsonObject:
    given = row["responses_create_params"]
    assert isinstance(given, dict)
    params = {name: value for name, value in given.items() if name not in _DROPPED} | overrides
    if not isinstance(params.get("model"), str):
        raise CollectError(f"{place}: the row names no model: give --model NAME")
    source = row.get("task_source")  # of release 0.7
    agent = {"type": _AGENT_TYPE, "name": source if isinstance(source, str) and source else DEFAULT_AGENT}
    return row | {"responses_create_params": params, AGENT_REF: row.get(AGENT_REF) or {**agent}}
