"""BigCodeBench, whole and hard: tasks with `complete_prompt`, `instruct_prompt`, `code_prompt`, `canonical_solution`,
`test`; samples with `completion` or `solution`, and the results of its runs.

A completion is the rest of `complete_prompt`, a program, or a chat answer to `instruct_prompt`; its text shows which.
BigCodeBench puts `code_prompt` before every solution, in a module that has `sys`, `os` and `environ`. So the preamble
imports those, followed by what comes before the function (imports, constants), and a program does not fail for
leaving its imports out. Its tests create the files they need.
"""

from __future__ import annotations

from evaluator.formats import fields as field
from evaluator.formats._code_fields import before_function, mode_of_test, required_name, required_test
from evaluator.formats._samples import is_result, read_rollouts
from evaluator.formats.registry import Claim, Fields, Format
from evaluator.model import RecordError, Task

_TAKEN = {"task_id", "complete_prompt", "code_prompt", "canonical_solution", "test", "entry_point"}
_MODULE_NAMES = "import os\nimport sys\nfrom os import environ\n"


def claim_task(fields: Fields) -> Claim | None:
    marks = [name for name in ("complete_prompt", "instruct_prompt", "code_prompt") if name in fields]
    if "task_id" not in fields or "test" not in fields or not marks:
        return None
    return Claim(3, ", ".join(["task_id", *marks, "test"]))


def claim_rollout(fields: Fields) -> Claim | None:
    if is_result(fields, "status"):
        return Claim(3, "eval, status: the results of a run")
    ours = str(fields.get("task_id")).startswith("BigCodeBench/")
    text = next((name for name in ("solution", "completion") if name in fields), None)
    if not ours or text is None or "test" in fields:
        return None
    return Claim(3, f"task_id {fields['task_id']!r}, {text}")


def read_task(fields: Fields) -> Task:
    """One task, of mode unittest. Its prompt is the one that a completion can continue."""
    entry_point = required_name(fields, "entry_point")
    code_prompt = field.text(fields, "code_prompt")
    prompt = field.text(fields, "complete_prompt") or code_prompt
    if not prompt:
        raise RecordError("complete_prompt is missing: add the start of the function, which completions may continue")
    canonical = field.text(fields, "canonical_solution")
    test = required_test(fields)
    return Task(
        task_id=field.identifier(fields, "task_id"),
        mode=mode_of_test(test),
        prompt=prompt,
        entry_point=entry_point,
        test=test,
        preamble=_MODULE_NAMES + before_function(code_prompt or prompt, entry_point),
        reference=f"{prompt}\n{canonical}" if canonical else None,
        source="BigCodeBench",
        metadata=field.without(fields, _TAKEN),
    )


FORMAT = Format(
    name="bigcodebench",
    title="BigCodeBench: complete_prompt, code_prompt, test; samples with solution or completion, results of a run",
    claim_task=claim_task,
    read_task=read_task,
    claim_rollout=claim_rollout,
    read_rollouts=read_rollouts,
)
