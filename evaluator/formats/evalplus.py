"""EvalPlus (HumanEval+ and MBPP+) in its own releases: tasks with `base_input` and `plus_input`; samples with
`solution`, and the results of its runs.

Such a task has no expected outputs. Its test code runs `prompt + canonical_solution` to get them, outside of the
completion's process. A row's `test`, which has only the original's inputs, is ignored. The part of the prompt before
the function becomes the preamble, as in `humaneval`.
"""

from __future__ import annotations

import math

from evaluator.formats import fields as field
from evaluator.formats._code_fields import before_function, required_name
from evaluator.formats._evalplus_check import write_check
from evaluator.formats._evalplus_inputs import written_inputs
from evaluator.formats._samples import is_result, read_rollouts
from evaluator.formats.registry import Claim, Fields, Format
from evaluator.model import Mode, RecordError, Task

_TAKEN = {
    "task_id", "prompt", "entry_point", "canonical_solution", "test", "base_input", "plus_input", "atol",
}  # fmt: skip
_TASK_IDS = ("HumanEval/", "Mbpp/")


def claim_task(fields: Fields) -> Claim | None:
    marks = [name for name in ("base_input", "plus_input") if name in fields]
    if not marks or not {"task_id", "prompt", "entry_point"} <= fields.keys():
        return None
    return Claim(3, ", ".join(["task_id, prompt, entry_point", *marks]))


def claim_rollout(fields: Fields) -> Claim | None:
    if is_result(fields, "base_status"):
        return Claim(3, "eval, base_status: the results of a run")
    if _is_legacy_result(fields):
        return Claim(3, "eval, base, plus: the results of a run, without its solutions")
    if "task_id" not in fields or "prompt" in fields:
        return None
    task_id = str(fields["task_id"])
    if "solution" in fields:
        own = "base_status" in fields or task_id.startswith(_TASK_IDS)
        return Claim(3 if own else 2, "task_id, solution")
    return (
        Claim(2, f"task_id {task_id!r}, completion") if task_id.startswith("Mbpp/") and "completion" in fields else None
    )


def _is_legacy_result(fields: Fields) -> bool:
    """Whether it is a result of an early EvalPlus: its tasks have `[[status, details]]` and no code."""
    tasks = fields.get("eval")
    first = next(iter(tasks.values()), None) if isinstance(tasks, dict) else None
    return isinstance(first, dict) and "base" in first and not {"nfiles", "files"}.isdisjoint(first)


def read_task(fields: Fields) -> Task:
    """One task of mode assert. It has no test if the row has no inputs or no solution."""
    task_id = field.identifier(fields, "task_id")
    prompt = field.text(fields, "prompt")
    entry_point = required_name(fields, "entry_point")
    canonical = field.text(fields, "canonical_solution")
    base = written_inputs(fields.get("base_input"), "base_input", task_id)
    plus = written_inputs(fields.get("plus_input"), "plus_input", task_id)
    reference = prompt + canonical if canonical else None
    return Task(
        task_id=task_id,
        mode=Mode.ASSERT,
        prompt=prompt,
        entry_point=entry_point,
        test=write_check(task_id, entry_point, reference, base, plus, _tolerance(fields)) if reference else None,
        preamble=before_function(prompt, entry_point),
        reference=reference,
        source="MBPP+" if task_id.startswith("Mbpp/") else "HumanEval+",
        metadata=field.without(fields, _TAKEN),
    )


def _tolerance(fields: Fields) -> float:
    tolerance = field.optional_number(fields, "atol") or 0.0
    if not 0 <= tolerance < math.inf:
        raise RecordError(f"atol must be a number that is 0 or more, not {tolerance}")
    return tolerance


FORMAT = Format(
    name="evalplus",
    title="EvalPlus: base_input, plus_input, canonical_solution; samples with solution, results of a run",
    claim_task=claim_task,
    read_task=read_task,
    claim_rollout=claim_rollout,
    read_rollouts=read_rollouts,
)
