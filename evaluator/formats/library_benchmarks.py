"""Benchmarks of short code, often with libraries: ODEX, DS-1000, MHPP and CodeFuseEval.

DS-1000's tests run the text of the completion inside a program of their own, and MHPP keeps its tests to itself: such
tasks have none here. The grades that a file brings are shown; ours are `unknown`.
"""

from __future__ import annotations

import re

from evaluator.formats.reading import fields as field
from evaluator.formats.reading.code import after_prompt, before_prompted, test_code
from evaluator.formats.reading.fields import Fields
from evaluator.formats.reading.registry import Format
from evaluator.formats.reading.spec import Tasks, claims, taken

_CHECKED = re.compile(r"^check\((\w+)\)[ \t]*$", re.MULTILINE)
_DEFINED = re.compile(r"^\s*(?:async[ \t]+)?def[ \t]+(\w+)", re.MULTILINE)


def _odex_test(fields: Fields) -> str:
    """`test_start` opens a `check(candidate)`, whose statements are the tests."""
    return field.text(fields, "test_start") + "".join(field.strings(fields, "test"))


ODEX = Format(
    name="odex",
    title="ODEX: tasks with prompt, intent, test_start, test (a list)",
    tasks=Tasks(
        claim=claims("3: task_id, prompt, entry_point, test_start, test:list"),
        entry_point="entry_point",
        test=_odex_test,
        preamble=before_prompted,
        suffix="suffix",
        reference=after_prompt,
        source="ODEX",
        left_out="canonical_solution, test_start, test",
    ),
)


DS1000 = Format(
    name="ds1000",
    title="DS-1000, also in CodeFuseEval: tasks with prompt, code_context, reference_code; not graded",
    tasks=Tasks(
        claim=claims("3: prompt, code_context, reference_code|canonical_solution"),
        task_id=lambda fields: taken(fields, "task_id|metadata.problem_id|id"),
        reference="reference_code|canonical_solution",
        source="DS-1000",
        left_out="test",
    ),
)

MHPP = Format(
    name="mhpp",
    title="MHPP: tasks with question, prompt, function_name, parameters, without tests",
    tasks=Tasks(
        claim=claims("3: id, question, prompt, function_name, parameters"),
        task_id="task_id|id",
        entry_point="function_name",
        source="MHPP",
    ),
)


def _tested(fields: Fields) -> str:
    """The function that is passed to `check`, else the one in `func_title`, else the last one of the solution."""
    checked = _CHECKED.search(field.text(fields, "test"))
    if checked:
        return checked[1]
    names = _DEFINED.findall(field.text(fields, "func_title")) or _DEFINED.findall(
        field.text(fields, "canonical_solution")
    )
    return names[-1] if names else ""


CODEFUSE = Format(
    name="codefuse_trans",
    title="CodeFuseEval, translation to Python: tasks with prompt, canonical_solution, func_title, test",
    tasks=Tasks(
        claim=claims("3: task_id, prompt, canonical_solution, func_title, test:text, !declaration"),
        entry_point=_tested,
        test=test_code("test"),
        reference="canonical_solution",
        source="CodeFuseEval",
        left_out="canonical_solution, func_title, test",
    ),
)
