"""Makes a task from tests alone: those that a trainer passes, in any of the shapes that datasets have, or test code."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from evaluator import syntax
from evaluator.formats import mbpp
from evaluator.formats.reading import fields
from evaluator.formats.reading.code import mode_of_test, syntax_error
from evaluator.formats.reading.json_text import JsonError, decode_json
from evaluator.model import JsonValue, Mode, RecordError, Task
from evaluator.tasks.import_headers import CONTEST
from evaluator.tasks.rows import own_limits, task_fields

COLUMNS: Final = ("in_outs", "verification_info", "test_cases", "tests", "ground_truth")
"""The fields of a dataset that may hold tests; the first that has some is used."""
MAY_BE_ANSWER: Final = "ground_truth"
"""The one of them that other rows have too, for the answer of a maths problem."""

SHAPES: Final = (
    'give {"inputs": [...], "outputs": [...], "fn_name": ...}, {"assert_case": [...]}, asserts (a list, or one text), '
    'a list of {"input", "output"}, or a task of the native format'
)
_ASSERT = re.compile(r"^[ \t]*(?:assert\b|self\.assert)", re.MULTILINE)

_NATIVE = {"task_id", "mode", "test", "answer"}
"""Any of these fields marks a row of the native format."""


def task_from(given: JsonValue, task_id: str) -> Task:
    """The task that `given` describes: an object, a list, JSON text of either, or test code with an assert.

    - `{inputs, outputs, fn_name?}`, also as the `in_outs` of an object, which may be JSON text;
    - `{assert_case: [...]}` or a list of asserts, all of which call one function;
    - `{language?, test_cases}`, where `test_cases` has the first shape or is a list of `{input, output, fn_name?}`,
      whose function may also be the `func_name` of their `metadata`;
    - `{functional: ...}`: test code;
    - a row of the native format: it has a `task_id`, `mode`, `test` or `answer`.

    An object may have `limits` of its own. Inputs and outputs get an import header unless they come with a `preamble`;
    a native row keeps its own or has none. `task_id` replaces the row's own. Raises `RecordError`, which says what
    can't be read.

        task_from({"inputs": ["1\\n2"], "outputs": ["3"], "fn_name": "add"}, "sums")
    """
    try:
        value = _with_lists(_decoded(given))
    except RecursionError:
        raise RecordError("the tests are nested too deeply") from None
    task = _from_value(value, task_id)
    if isinstance(value, Mapping) and task.limits is None:
        task.limits = own_limits(value.get("limits"))
    return task


def column_with_tests(row: Mapping[str, JsonValue], names: Iterable[str] = COLUMNS) -> str | None:
    """The first of these fields of a row that has tests, else the first that should have: it has something, and is not
    `ground_truth`, where that may be the answer of a maths problem. None if there is none."""
    given = [name for name in names if not _is_empty(row.get(name))]
    other = (name for name in given if name != MAY_BE_ANSWER)
    return next((name for name in given if _may_be_tests(row[name])), None) or next(other, None)


def _is_empty(given: JsonValue) -> bool:
    if isinstance(given, str):
        return given.strip() in ("", "{}", "[]", "null")
    if isinstance(given, Mapping):  # Arrow gives a struct that is missing as one whose fields are
        return all(value is None for value in given.values())
    if isinstance(given, float):  # NaN, as pandas has it
        return math.isnan(given)
    return given is None or (hasattr(given, "__len__") and len(given) == 0)


def _may_be_tests(given: JsonValue) -> bool:
    """Of what is not empty: whether it is an object, a list, text of one, or test code."""
    return _is_json(given) or _is_code(given) if isinstance(given, str) else hasattr(given, "__len__")


def _is_json(text: str) -> bool:
    return text.lstrip()[:1] in ("{", "[")


def _is_code(text: str) -> bool:
    return _ASSERT.search(text) is not None


def _from_value(value: JsonValue, task_id: str) -> Task:
    if isinstance(value, str) and _is_code(value):
        return task_of_code(value, task_id)
    if isinstance(value, list):
        return _from_list(value, task_id)
    if not isinstance(value, Mapping):
        found = "missing" if value is None else f"of type {type(value).__name__}"
        raise RecordError(f"the tests are {found}: {SHAPES}")
    if value.get("assert_case"):
        return _from_asserts(value["assert_case"], task_id)
    if isinstance(value.get("functional"), str):
        return task_of_code(value["functional"], task_id)
    if value.get("test_cases"):
        return _from_test_cases(value, task_id)
    if "inputs" in value and "outputs" in value:
        return _contest_task({"in_outs": dict(value), "preamble": value.get("preamble")}, task_id)
    if value.get("in_outs") and not value.keys() & _NATIVE:
        return _contest_task(value, task_id)
    if any(value.get(name) for name in ("in_outs", "test", "answer", "mode")):
        return Task(**task_fields({**value, "task_id": task_id}))
    raise RecordError(f"the tests have only {', '.join(map(str, value)) or 'an empty object'}: {SHAPES}")


def _decoded(given: JsonValue) -> JsonValue:
    if not isinstance(given, str) or (_is_code(given) and not _is_json(given)):
        return given
    try:
        return decode_json(given)
    except JsonError as error:
        what = f"that is {error}" if _is_json(given) else "without an assert"
        raise RecordError(f"the tests are text {what}: {SHAPES}") from None


def _with_lists(value: JsonValue) -> JsonValue:
    """The value with arrays made lists: rows read through Arrow or pandas have arrays."""
    if isinstance(value, Mapping):
        return {key: _with_lists(part) for key, part in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    return [_with_lists(part) for part in value] if isinstance(value, list | tuple) else value


def _from_test_cases(value: Mapping[str, JsonValue], task_id: str) -> Task:
    fields.refuse_others(value)
    task = task_from(value["test_cases"], task_id)
    task.preamble = fields.preamble(value, task.preamble)
    return task


def _from_list(items: list[JsonValue], task_id: str) -> Task:
    if items and all(isinstance(item, str) for item in items):
        return _from_asserts(items, task_id)
    return _contest_task({"in_outs": in_outs_from(items)}, task_id)


def in_outs_from(items: list[JsonValue]) -> dict[str, JsonValue]:
    """The `in_outs` of a native row, from a list of `{input, output, fn_name?}`. Raises `RecordError`."""
    if not items or not all(isinstance(item, Mapping) and {"input", "output"} <= item.keys() for item in items):
        raise RecordError(f"the tests are a list that can't be read: {SHAPES}")
    names = {item.get("fn_name") or fields.inner(item, "metadata").get("func_name") for item in items} - {None, ""}
    if len(names) > 1:
        raise RecordError(
            f"the tests call several functions ({', '.join(sorted(map(str, names)))}): give each function its own task"
        )
    return {
        "inputs": [item["input"] for item in items],
        "outputs": [item["output"] for item in items],
        "fn_name": next(iter(names), None),
    }


def _contest_task(row: Mapping[str, JsonValue], task_id: str) -> Task:
    return Task(**task_fields({**row, "task_id": task_id, "preamble": fields.preamble(row, CONTEST)}))


def _from_asserts(statements: JsonValue, task_id: str) -> Task:
    return mbpp.read_task({"task_id": task_id, "text": "", "test_list": statements})


def task_of_code(test: str, task_id: str, *, entry_point: str | None = None, prompt: str = "") -> Task:
    """The task of test code: asserts, `check(candidate)` with or without its call, `unittest` classes, or statements.

    `entry_point`: the function to test; None: the one that the code passes to `check`, or that its asserts call. Code
    that names none runs as it is, after the program. `prompt`: what a completion may continue, and whose helpers the
    test may use. Raises `RecordError` if the code is empty or not Python.

    >>> task_of_code("assert add(1, 2) == 3", "sums").entry_point
    'add'
    """
    if not test.strip():
        raise RecordError("the test code is empty: give what decides whether a program passes")
    try:
        body = syntax.parse(test).body
    except syntax.NOT_PYTHON as error:
        raise RecordError(f"the test code is not valid Python: {syntax_error(error)}") from None
    mode = mode_of_test(test)
    name = entry_point or next(_names_checked(body), None)
    task = _task_of_asserts(test, body, task_id) if mode is Mode.ASSERT else None
    if task is None:
        task = Task(task_id=task_id, mode=mode, test=test, entry_point=name)
    task.entry_point = name or task.entry_point
    task.prompt, task.source = prompt, ""
    return task


def _names_checked(body: list[ast.stmt]) -> Iterator[str]:
    """The names in calls `check(NAME)` at the top level, last first."""
    for node in reversed(body):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Name(id="check"), args=[ast.Name(id=name)], keywords=[])):
                yield name


def _task_of_asserts(test: str, body: list[ast.stmt], task_id: str) -> Task | None:
    """The task of imports and then asserts alone; None for anything else, or if they call no function."""
    imports = [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
    asserts = body[len(imports) :]
    if not asserts or not all(isinstance(node, ast.Assert) for node in asserts):
        return None
    fields = {
        "task_id": task_id,
        "test_imports": [ast.get_source_segment(test, node) for node in imports],
        "test_list": [ast.get_source_segment(test, node) for node in asserts],
    }
    try:
        return mbpp.read_task(fields)
    except RecordError:  # such as `assert LIMIT == 3`
        return None
