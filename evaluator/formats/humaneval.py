"""HumanEval and EvalPlus: tasks with `prompt`, `entry_point`, `test`; samples with `completion` or
`solution`.

HumanEval runs `prompt + completion`. What a prompt has before the function that is asked for (imports, helper
functions) becomes the task's preamble, so that a completion that is a whole program also has it. A sample's
`solution` (EvalPlus) is a program; its `completion` is one or the rest of the prompt, told from the text. The
`passed` and `base_status`/`plus_status` of result files are kept as the source's grade.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from evaluator import syntax
from evaluator.formats import fields as field
from evaluator.formats import native
from evaluator.formats.registry import Claim, Fields, Format
from evaluator.model import Kind, Mode, RecordError, Rollout, Task

_TAKEN = {"task_id", "prompt", "entry_point", "canonical_solution", "test"}
_TASK_IDS = ("HumanEval/", "Mbpp/")


def claim_task(fields: Fields) -> Claim | None:
    if not {"task_id", "prompt", "entry_point"} <= fields.keys() or "mode" in fields:
        return None
    if "canonical_solution" in fields:
        return Claim(3, "task_id, prompt, entry_point, canonical_solution")
    return Claim(2, "task_id, prompt, entry_point, test") if "test" in fields else None


def claim_rollout(fields: Fields) -> Claim | None:
    if "task_id" not in fields:
        return None
    if "solution" in fields and "prompt" not in fields:
        return Claim(3, "task_id, solution")
    if "completion" not in fields:
        return None
    if "passed" in fields and "result" in fields:
        return Claim(3, "task_id, completion, passed, result")
    task_id = fields["task_id"]
    named = isinstance(task_id, str) and task_id.startswith(_TASK_IDS)
    return Claim(2, f"task_id {task_id!r}, completion") if named else None


def read_task(fields: Fields) -> Task:
    """One task of mode assert. EvalPlus rows without `test` load without test cases."""
    prompt = field.text(fields, "prompt")
    entry_point = field.text(fields, "entry_point")
    if not entry_point:
        raise RecordError("entry_point is missing: name the function that the tests call")
    canonical = field.text(fields, "canonical_solution")
    return Task(
        task_id=field.identifier(fields, "task_id"),
        mode=Mode.ASSERT,
        prompt=prompt,
        entry_point=entry_point,
        test=field.text(fields, "test") or None,
        preamble=_before_function(prompt, entry_point),
        reference=prompt + canonical if canonical else None,
        source="HumanEval",
        metadata={name: value for name, value in fields.items() if name not in _TAKEN},
    )


def read_rollouts(fields: Fields) -> Iterator[Rollout]:
    """The sample of one row."""
    row = dict(fields)
    if isinstance(row.get("solution"), str):
        row.update(completion=row.pop("solution"), kind=Kind.FULL)
    rollout = native.read_rollout(row)
    if rollout.expected_pass is None:
        rollout.expected_pass = _passed(fields)
    yield rollout


def _passed(fields: Fields) -> bool | None:
    if isinstance(fields.get("passed"), bool):
        return bool(fields["passed"])
    statuses = [fields[name] for name in ("base_status", "plus_status") if fields.get(name) is not None]
    return all(status == "pass" for status in statuses) if statuses else None


def _before_function(prompt: str, entry_point: str) -> str:
    found = re.search(rf"^(?:async[ \t]+)?def[ \t]+{re.escape(entry_point)}\b", prompt, re.MULTILINE)
    before = prompt[: found.start()] if found else ""
    if not before.strip():
        return ""
    try:
        syntax.parse(before)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    return before


FORMAT = Format(
    name="humaneval",
    title="HumanEval, EvalPlus: prompt, entry_point, test; samples with completion or solution",
    claim_task=claim_task,
    read_task=read_task,
    claim_rollout=claim_rollout,
    read_rollouts=read_rollouts,
)
