"""APPS and TACO: `question`, `input_output` (JSON, often as text), `solutions` (JSON list, often as text),
`starter_code`.

If `input_output` has `fn_name`, the task's mode is call, and each input is the list of arguments. Many of these tasks
wrap each output in a list of one: see `evaluator.given_tests`. The preamble is a header of imports, as their graders
have.
"""

from __future__ import annotations

from evaluator.formats import fields as field
from evaluator.formats.registry import Claim, Fields, Format
from evaluator.given_tests import About, cases_from
from evaluator.import_headers import CONTEST
from evaluator.model import Mode, Task

_IDS = ("task_id", "problem_id", "id")
_TAKEN = {"question", "input_output", "solutions", "starter_code", "preamble", *_IDS}


def claim_task(fields: Fields) -> Claim | None:
    marks = [name for name in ("question", "solutions", "problem_id", "starter_code") if name in fields]
    if "input_output" not in fields or "question" not in marks or "question_content" in fields:
        return None
    return Claim(3, ", ".join(["input_output", *marks]))


def read_task(fields: Fields) -> Task:
    """One task. Without `input_output` it has no test cases."""
    in_outs = field.optional_object(fields, "input_output", field.IN_OUTS) or {}
    entry_point = field.text(in_outs, "fn_name") or None
    mode = Mode.CALL if entry_point else Mode.STDIN
    starter = field.text(fields, "starter_code")
    question = field.text(fields, "question")
    reference = _first_solution(fields)
    about = About(entry_point, reference or "", f"{starter}\n{question}")
    return Task(
        task_id=task_id(fields),
        mode=mode,
        prompt=f"{question}\n\n{starter}" if starter else question,
        entry_point=entry_point,
        cases=cases_from(in_outs, mode, about),
        preamble=field.preamble(fields, CONTEST),
        reference=reference,
        source=field.text(fields, "source") or "APPS",
        metadata=field.without(fields, _TAKEN),
    )


def task_id(fields: Fields) -> str:
    """The row's own id, else one made from the question."""
    for name in _IDS:
        if fields.get(name) is not None:
            return field.identifier(fields, name)
    return field.id_from_prompt(field.text(fields, "question"))


def _first_solution(fields: Fields) -> str | None:
    solutions = field.unpacked(fields, "solutions")
    if isinstance(solutions, list) and solutions and isinstance(solutions[0], str):
        return solutions[0]
    return None


FORMAT = Format(
    name="apps",
    title="APPS: question, input_output, solutions",
    claim_task=claim_task,
    read_task=read_task,
)
