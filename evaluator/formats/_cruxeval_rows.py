"""What the two tasks that a row of CRUXEval makes have in common."""

from __future__ import annotations

import textwrap
from typing import Any, NamedTuple

from evaluator import syntax
from evaluator.formats import fields as field
from evaluator.formats.fields import Fields
from evaluator.model import Mode, RecordError, Task

ENTRY_POINT = "answer"
TAKEN = {"task_id", "id", "code", "input", "output"}
_ROW = {"id", "code", "input", "output"}


class Parts(NamedTuple):
    """A row's own, each valid Python: the function `f`, a call of it, and what that returns."""

    task_id: str
    code: str
    call: str
    output: str


def fits(fields: Fields) -> bool:
    """Whether it is a row of CRUXEval."""
    if not fields.keys() >= _ROW or not all(isinstance(fields[name], str) for name in ("code", "input", "output")):
        return False
    return str(fields["id"]).startswith("sample_") or "def f(" in fields["code"]


def parts_of(fields: Fields) -> Parts:
    """Raises `RecordError` if one is not Python."""
    task_id = field.optional_identifier(fields, "task_id") or field.identifier(fields, "id")
    code, output = field.text(fields, "code").rstrip(), field.text(fields, "output").strip()
    call = f"f({field.text(fields, 'input').strip()})"
    for name, source in (("code", code), ("input", call), ("output", f"({output})")):
        if syntax.tree_of(source) is None:
            raise RecordError(
                f"{name} is not valid Python: give source code, such as (1, 2) for an input of two arguments"
            )
    return Parts(task_id, code, call, output)


def task_of(row: Parts, question: str, **own: Any) -> Task:
    """A task of mode assert with one test case, that asks for an expression. `own`: its other fields."""
    return Task(
        task_id=row.task_id,
        mode=Mode.ASSERT,
        prompt=f"{_as_comment(row.code)}\n\n{_as_comment(question)}\ndef {ENTRY_POINT}():\n    return ",
        entry_point=ENTRY_POINT,
        **own,
    )


def _as_comment(text: str) -> str:
    """The text as lines of a Python comment."""
    return textwrap.indent(text, "# ", lambda _: True)
