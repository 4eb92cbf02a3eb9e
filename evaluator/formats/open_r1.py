"""open-r1 and SYNTHETIC-1: tasks with `verification_info`, `{"language", "test_cases": [{"input", "output", ...}]}`.

The prompt is `prompt`, `problem`, `problem_statement` or `question`, the id `problem_id`, `task_id` or `id`; without
one it is made from the prompt. A model's rollouts of them are TRL's files.
"""

from __future__ import annotations

import re

from evaluator.formats import _chat as chat
from evaluator.formats import _trainer_rows as trainer
from evaluator.formats import fields as field
from evaluator.formats.registry import Claim, Fields, Format
from evaluator.formats.tests_alone import task_from
from evaluator.model import RecordError, Task

_PROMPTS = ("prompt", "problem", "problem_statement", "question")
_IDS = ("task_id", "problem_id", "id")
_SOLUTION = "gold_standard_solution"
_FENCED = re.compile(r"\s*```(?:python|py)?\s*\n(.*?)\n```\s*", re.DOTALL)


def claim_task(fields: Fields) -> Claim | None:
    prompt = next((name for name in _PROMPTS if name in fields), None)
    if "verification_info" not in fields or prompt is None or "completion" in fields:
        return None
    return Claim(3, f"{prompt}, verification_info")


def read_task(fields: Fields) -> Task:
    """One task. Raises `RecordError` if its language is not Python."""
    if fields.get("verification_info") is None:
        raise RecordError("verification_info is null: add the test cases")
    name = next((name for name in _PROMPTS if fields.get(name)), "prompt")
    prompt = chat.prompt_text(chat.messages_of(fields.get(name), name, "user"))
    own = field.own_id(fields, _IDS)
    if not own and not prompt:
        raise RecordError("the row has neither an id nor a prompt: add a problem_id")
    task = task_from(fields["verification_info"], own or field.id_from_prompt(prompt))
    task.prompt, task.source = prompt, field.text(fields, "source") or "open-r1"
    solution = field.text(fields, _SOLUTION)
    fenced = _FENCED.fullmatch(solution)
    task.reference = (fenced[1] if fenced else solution) or None
    task.metadata = trainer.rest(fields, {name, "verification_info", "source", _SOLUTION, *_IDS})
    return task


FORMAT = Format(
    name="open_r1",
    title="open-r1, SYNTHETIC-1: tasks with verification_info",
    claim_task=claim_task,
    read_task=read_task,
)
