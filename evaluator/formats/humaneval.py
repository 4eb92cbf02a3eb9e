"""HumanEval, and HumanEval+ as it is on the Hugging Face Hub: tasks with `prompt`, `entry_point`, `test`; samples with
`completion`.

HumanEval runs `prompt + completion`, and the `suffix` after them if the row has one (infilling). The part of the prompt
before the requested function (imports, helpers) is the preamble, so that a completion that is a whole program has it.
A `completion` is a program or the rest of the prompt; its text shows which. The `passed` and `result` of result files
become the source's grade.
"""

from __future__ import annotations

from evaluator.formats import fields as field
from evaluator.formats._code_fields import before_function, mode_of_test, required_name
from evaluator.formats._samples import read_sample
from evaluator.formats.registry import Claim, Fields, Format, one_per_row
from evaluator.model import Task

_TAKEN = {"task_id", "prompt", "entry_point", "canonical_solution", "test", "suffix"}


def claim_task(fields: Fields) -> Claim | None:
    if not {"task_id", "prompt", "entry_point"} <= fields.keys() or "mode" in fields or "is_solved" in fields:
        return None
    marks = [name for name in ("canonical_solution", "test") if name in fields]
    return Claim(1 + len(marks), ", ".join(["task_id, prompt, entry_point", *marks])) if marks else None


def claim_rollout(fields: Fields) -> Claim | None:
    if not {"task_id", "completion"} <= fields.keys():
        return None
    if "passed" in fields and "result" in fields:
        return Claim(3, "task_id, completion, passed, result")
    task_id = fields["task_id"]
    ours = isinstance(task_id, str) and task_id.startswith("HumanEval/")
    return Claim(2, f"task_id {task_id!r}, completion") if ours else None


def read_task(fields: Fields) -> Task:
    """One task, of mode unittest if its `test` has such classes. Without `test` it can't be graded."""
    prompt = field.text(fields, "prompt")
    entry_point = required_name(fields, "entry_point")
    canonical, suffix = field.text(fields, "canonical_solution"), field.text(fields, "suffix")
    test = field.text(fields, "test")
    return Task(
        task_id=field.identifier(fields, "task_id"),
        mode=mode_of_test(test),
        prompt=prompt,
        suffix=suffix,
        entry_point=entry_point,
        test=test or None,
        preamble=before_function(prompt, entry_point),
        reference=prompt + canonical + suffix if canonical else None,
        source="HumanEval",
        metadata=field.without(fields, _TAKEN),
    )


FORMAT = Format(
    name="humaneval",
    title="HumanEval, HumanEval+: prompt, entry_point, test; samples with completion",
    claim_task=claim_task,
    read_task=read_task,
    claim_rollout=claim_rollout,
    read_rollouts=one_per_row(read_sample),
)
