"""The logs of Reflexion and of LLMDebugger (LDB): HumanEval's or MBPP's rows with `solution` and `is_solved`.

Each row is a task and its last solution, a program. What led to it (`implementations`, `test_feedback`, `reflections`,
...) is kept as metadata; `is_solved` is the grade of the hidden tests. Some logs leave out what was not solved.
"""

from __future__ import annotations

import re

from evaluator.formats import fields as field
from evaluator.formats import humaneval
from evaluator.formats._recorded import Recorded, record, verdict_of_truth
from evaluator.formats.registry import Claim, Fields, Format, one_per_row
from evaluator.model import Kind, RecordError, Rollout, Task

_IDS = ("task_id", "name")
_OF_TASK = {*_IDS, "prompt", "entry_point", "canonical_solution", "cannonical_solution", "test"}
_OF_SAMPLE = {
    "solution", "is_solved", "is_passing", "reflections", "implementations", "test_feedback", "seed", "given_tests",
    "generated_test", "debug_iter", "token_nums", "cur_func_impl", "visible_tests",
}  # fmt: skip
_OF_DEBUGGER = {"seed", "given_tests", "generated_test", "debug_iter", "is_passing"}
_RUST = re.compile(r"^\s*(?:pub )?fn \w+", re.MULTILINE)
_PYTHON = re.compile(r"^\s*(?:async )?def \w+", re.MULTILINE)
"""Not every log names its language."""


def claim_task(fields: Fields) -> Claim | None:
    return Claim(2, "is_solved, test") if claim_rollout(fields) and "test" in fields else None


def claim_rollout(fields: Fields) -> Claim | None:
    fits = {"prompt", "solution", "is_solved"} <= fields.keys() and not fields.keys().isdisjoint(_IDS)
    return Claim(3, "prompt, solution, is_solved") if fits else None


def read_task(fields: Fields) -> Task:
    """The task of one row, as in `humaneval`."""
    _refuse_rust(fields)
    task = humaneval.read_task({"task_id": _task_id(fields), **field.without(fields, {*_OF_SAMPLE, *_IDS})})
    task.source = task.source if task.task_id.startswith("HumanEval/") else ""
    return task


def read_rollout(fields: Fields) -> Rollout:
    """The solution of one row. Raises `RecordError` if it has none, or is a Rust program."""
    _refuse_rust(fields)
    if "solution" not in fields:
        raise RecordError("solution is missing: add the program that the model wrote")
    solved = field.optional_truth(fields, "is_solved")
    rollout = Rollout(
        task_id=_task_id(fields),
        completion=field.text(fields, "solution"),
        kind=Kind.FULL,
        model=field.optional_identifier(fields, "model"),
        expected_pass=solved,
        metadata=field.without(fields, _OF_TASK | {"solution", "is_solved", "model"}),
    )
    if solved is None:
        return rollout
    by = "reflexion" if _OF_DEBUGGER.isdisjoint(fields) else "LLMDebugger"
    return record(rollout, Recorded(verdict_of_truth(solved), f"is_solved {str(solved).lower()}", by))


def _refuse_rust(fields: Fields) -> None:
    prompt = field.text(fields, "prompt")
    if _RUST.search(prompt) and not _PYTHON.search(prompt):
        raise RecordError("the prompt is Rust: only Python is read and graded, so this row is skipped")


def _task_id(fields: Fields) -> str:
    """Its `task_id`; MBPP's rows have a `name`."""
    return field.identifier(fields, "name" if fields.get("task_id") is None and "name" in fields else "task_id")


FORMAT = Format(
    name="reflexion",
    title="Reflexion, LLMDebugger: HumanEval's rows with solution, is_solved",
    claim_task=claim_task,
    read_task=read_task,
    claim_rollout=claim_rollout,
    read_rollouts=one_per_row(read_rollout),
    repeats_tasks=True,
)
