"""`{id: task}`: one object whose values are tasks of a known format and whose keys are their ids."""

from __future__ import annotations

from collections.abc import Iterator

from evaluator.formats.registry import Fields, Role, known_formats
from evaluator.model import JsonValue, RecordError

_ID_FIELDS = ("task_id", "question_id", "id", "name")


def tasks_by_id(fields: Fields) -> Iterator[dict[str, JsonValue]] | None:
    """The tasks in such an object, in its order; None if it is something else.

    A task without an id gets its key, in the field from which its format reads the id. Raises `RecordError` at the end
    for values that are not tasks.
    """
    first = next(iter(fields.items()), None)
    if first is None or not isinstance(first[1], dict) or not first[1]:
        return None
    rows = ({name: first[0], **first[1]} for name in _ID_FIELDS)
    chosen = next((name for name, row in zip(_ID_FIELDS, rows, strict=True) if _is_read(row, first[0])), None)
    return None if chosen is None else _rows(fields, chosen)


def _rows(fields: Fields, name: str) -> Iterator[dict[str, JsonValue]]:
    wrong: list[str] = []
    for key, value in fields.items():
        if isinstance(value, dict):
            yield value if value.get(name) not in (None, "") else {**value, name: key}
        else:
            wrong.append(key)
    if wrong:
        raise RecordError(f"{wrong[0]!r} is not a task: give an object, as the first id has")


def _is_read(row: Fields, key: str) -> bool:
    """Whether the format that claims the row most strongly reads a task, of this id if the row has no other."""
    claims = [(f.claim(Role.TASKS, row), f) for f in known_formats().values()]
    strongest = max(((claim.strength, f) for claim, f in claims if claim is not None), default=None, key=lambda c: c[0])
    if strongest is None or strongest[1].read_task is None:
        return False
    try:
        return strongest[1].read_task(row).task_id in (key, *(str(row.get(name)) for name in _ID_FIELDS))
    except RecordError:
        return False


UNWRAP = tasks_by_id
