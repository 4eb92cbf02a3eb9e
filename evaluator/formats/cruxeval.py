"""CRUXEval, output prediction: `code` (a function `f`), `input` (its arguments), `output`, `id`.

A task asks for what `f` returns. A completion is that value as Python, which is the rest of the prompt
(`def answer(): return `), or a program with such an `answer`. `f` is not in a completion's process: it can't be called.
The same rows for input prediction are the format `cruxeval_input`.
"""

from __future__ import annotations

from evaluator.formats import fields as field
from evaluator.formats._cruxeval_rows import ENTRY_POINT, TAKEN, fits, parts_of, task_of
from evaluator.formats.registry import Claim, Fields, Format
from evaluator.model import Task


def claim_task(fields: Fields) -> Claim | None:
    return Claim(3, "code with f, input, output, id: output prediction") if fits(fields) else None


def read_task(fields: Fields) -> Task:
    """One task, of mode assert with one test case."""
    row = parts_of(fields)
    return task_of(
        row,
        f"What does {row.call} return?",
        test=f"def check(candidate):\n    assert candidate() == ({row.output})\n",
        reference=f"def {ENTRY_POINT}():\n    return ({row.output})\n",
        source="CRUXEval",
        metadata=field.without(fields, TAKEN) | {"code": fields["code"], "input": fields["input"]},
    )


FORMAT = Format(
    name="cruxeval",
    title="CRUXEval: code, input, output, id, read as output prediction",
    claim_task=claim_task,
    read_task=read_task,
)
