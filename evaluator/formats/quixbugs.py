"""QuixBugs as one row per program: `name`, `buggy_program`, `docstring`, `solution`, `tests`.

A completion is the repaired program. `tests` is code with asserts that call it.
"""

from __future__ import annotations

from evaluator.formats import fields as field
from evaluator.formats._code_fields import mode_of_test, required_name, required_test
from evaluator.formats.registry import Claim, Fields, Format
from evaluator.model import Task

_TAKEN = {"task_id", "name", "buggy_program", "docstring", "solution", "tests"}


def claim_task(fields: Fields) -> Claim | None:
    if not {"name", "buggy_program", "tests"} <= fields.keys():
        return None
    return Claim(3, "name, buggy_program, tests")


def read_task(fields: Fields) -> Task:
    """One task of mode assert, whose prompt shows the program to repair."""
    name = required_name(fields, "name")
    test = required_test({"test": fields.get("tests")})
    parts = [field.text(fields, "docstring").strip(), field.text(fields, "buggy_program").strip()]
    program = "\n\n".join(part for part in parts if part)
    return Task(
        task_id=field.optional_identifier(fields, "task_id") or name,
        mode=mode_of_test(test),
        prompt=f"Repair the Python function `{name}`.\n\n{program}\n",
        entry_point=name,
        test=test,
        reference=field.text(fields, "solution") or None,
        source="QuixBugs",
        metadata=field.without(fields, _TAKEN) | {"buggy_program": fields["buggy_program"]},
    )


FORMAT = Format(
    name="quixbugs",
    title="QuixBugs: name, buggy_program, docstring, solution, tests",
    claim_task=claim_task,
    read_task=read_task,
)
