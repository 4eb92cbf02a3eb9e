"""The fields of a task from a row of the native format: each is valid, or `RecordError` names it and the fix."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, cast

from evaluator.tasks import long_numbers, stated_limits
from evaluator.tasks.given_tests import About, cases_from, entry_point_of
from evaluator.tasks.parts import JsonValue, Mode, RecordError, brief, limits_from

_GREATEST_WEIGHT = 1e15

TASK_FIELDS = {
    "task_id", "prompt", "suffix", "mode", "entry_point", "in_outs", "test", "answer", "preamble", "reference",
    "checker", "checker_code", "grader", "exit_code", "weights", "limits", "time_limit", "memory_limit", "source",
    "licence",
}  # fmt: skip


def task_fields(row: Mapping[str, JsonValue]) -> dict[str, Any]:
    """The arguments of `Task`, by field. Raises `RecordError` that names the wrong field."""
    task_id = row.get("task_id")
    if not isinstance(task_id, str | int) or isinstance(task_id, bool) or task_id == "":
        raise RecordError("task_id is missing: give each task a unique one")
    in_outs = _decoded_in_outs(row.get("in_outs"))
    mode = _mode(row, in_outs)
    entry_point = _optional_text(row, "entry_point") or _optional_text(in_outs, "fn_name")
    test, preamble = _optional_text(row, "test"), _optional_text(row, "preamble") or ""
    if mode is Mode.ASSERT and entry_point is None and test:
        entry_point = entry_point_of(test, preamble)
    if mode in (Mode.CALL, Mode.ASSERT) and entry_point is None:
        raise RecordError(f"entry_point is missing: a task of mode {mode} must name the function to call")
    if "\n" in str(row.get("checker") or ""):
        raise RecordError(
            "checker is a program: give a checker's name, or a Python program as checker_code; C++ is not supported"
        )
    if row.get("checker") and row.get("checker_code"):
        raise RecordError("checker and checker_code are both given: a checker's name, or a checker's source")
    weights = row.get("weights")
    prompt, reference = _optional_text(row, "prompt") or "", _optional_text(row, "reference")
    about = About(entry_point, reference or "", prompt)
    cases = cases_from(in_outs, mode, about) if mode in (Mode.CALL, Mode.STDIN) else ()
    return {
        "task_id": task_id if isinstance(task_id, str) else long_numbers.digits_of(task_id),
        "mode": mode,
        "prompt": prompt,
        "suffix": _optional_text(row, "suffix") or "",
        "entry_point": None if mode is Mode.STDIN else entry_point,
        "cases": cases,
        "test": test,
        "preamble": preamble,
        "reference": reference,
        "checker": _optional_text(row, "checker"),
        "checker_code": _optional_text(row, "checker_code") or None,
        "answer": row.get("answer"),
        "grader": _grader(row.get("grader")),
        "exit_code": _exit_code(row),
        "weights": _weights(weights),
        "limits": own_limits(row.get("limits")),
        "time_limit": stated_limits.seconds(row.get("time_limit")),
        "memory_limit": stated_limits.mebibytes(row.get("memory_limit")),
        "source": _optional_text(row, "source") or "",
        "licence": _optional_text(row, "licence") or "",
        "metadata": {key: value for key, value in row.items() if key not in TASK_FIELDS},
    }


def own_limits(value: JsonValue) -> dict[str, Any] | None:
    """A row's own limits, valid, or None; Arrow makes null of a field that only other rows have."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise RecordError('limits must be an object, for example {"wall_s": 2}')
    limits = {name: limit for name, limit in value.items() if limit is not None}
    limits_from(limits)
    return limits or None


def _decoded_in_outs(value: JsonValue) -> dict[str, JsonValue]:
    """`in_outs` as an object, from an object or from its JSON text. Raises `RecordError`."""
    if value is None:
        return {}
    if isinstance(value, str):
        try:
            value = long_numbers.loads(value)  # not msgspec: Python's writer leaves NaN and lone surrogates in JSON
        except ValueError as error:
            raise RecordError(f"in_outs is text that is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise RecordError('in_outs must be an object: {"inputs": [...], "outputs": [...], "fn_name": ...}')
    return value


def _mode(row: Mapping[str, JsonValue], in_outs: Mapping[str, JsonValue]) -> Mode:
    mode = row.get("mode")
    if mode is not None:
        try:
            return Mode(mode)
        except ValueError:
            raise RecordError(f"mode is {brief(mode)}: give one of {', '.join(Mode)}") from None
    if row.get("test"):
        return Mode.ASSERT
    if row.get("answer") is not None and not in_outs:
        return Mode.ANSWER
    return Mode.CALL if row.get("entry_point") or in_outs.get("fn_name") else Mode.STDIN


def _grader(value: JsonValue) -> str | None:
    """The grader as one text; the row may have a text, or an object with options."""
    if isinstance(value, dict):
        return json.dumps(value, sort_keys=True)
    if value is None or isinstance(value, str):
        return value
    raise RecordError(f'grader is {type(value).__name__}: give a name, or an object such as {{"name": "tests"}}')


def _exit_code(row: Mapping[str, JsonValue]) -> Literal["ignore", "strict"]:
    value = row.get("exit_code", "ignore")
    if value not in ("ignore", "strict"):
        raise RecordError(f"exit_code is {brief(value)}: give ignore or strict")
    return cast("Literal['ignore', 'strict']", value)


def _weights(value: JsonValue) -> tuple[float, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list) or not all(_is_weight(weight) for weight in value):
        raise RecordError("weights must be a list of numbers, 0 or more")
    return tuple(float(w) for w in value)


def _is_weight(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _GREATEST_WEIGHT


def _optional_text(row: Mapping[str, JsonValue], name: str) -> str | None:
    value = row.get(name)
    if value is None or isinstance(value, str):
        return value
    raise RecordError(f"{name} is {type(value).__name__}, not text")
