"""CRUXEval, input prediction: the rows of `cruxeval`, read as tasks that ask for a call `f(...)` that returns `output`.

A completion is such a call, which is the rest of the prompt (`def answer(): return `), or a program with such an
`answer`. In a completion's process `f` only notes its arguments; the test calls the row's own `f` with them, in another
process. Any arguments that give the output are right.
"""

from __future__ import annotations

from evaluator.formats import fields as field
from evaluator.formats._cruxeval_rows import ENTRY_POINT, TAKEN, fits, parts_of, task_of
from evaluator.formats.registry import Claim, Fields, Format
from evaluator.model import Task

_NOTES_ARGUMENTS = "def f(*arguments, **named):\n    return list(arguments), named\n"


def claim_task(fields: Fields) -> Claim | None:
    return Claim(1, "code with f, input, output, id: input prediction") if fits(fields) else None


def read_task(fields: Fields) -> Task:
    """One task, of mode assert with one test case."""
    row = parts_of(fields)
    return task_of(
        row,
        f"Which call f(...) returns {row.output}?",
        test=(
            f"{row.code}\n\n\ndef check(candidate):\n    arguments, named = candidate()\n"
            f"    assert f(*arguments, **named) == ({row.output})\n"
        ),
        preamble=_NOTES_ARGUMENTS,
        reference=f"def {ENTRY_POINT}():\n    return {row.call}\n",
        source="CRUXEval, input prediction",
        metadata=field.without(fields, TAKEN) | {"code": row.code, "output": row.output},
    )


FORMAT = Format(
    name="cruxeval_input",
    title="CRUXEval's rows, read as input prediction: name it to use it",
    claim_task=claim_task,
    read_task=read_task,
)
