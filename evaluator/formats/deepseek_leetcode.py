"""DeepSeek-Coder's LeetCode contest problems: `task_id`, `title`, `prompt`, `prompt_sft`, `meta`, `test`.

`test` makes a `Solution` and has asserts at its top level, each with its arguments in `test_input`. The preamble is
the header of its grader, without numpy, and the classes that come before `Solution` in `prompt` (such as `ListNode`).

Its generated rows are task rows with `output`, the text of one sample; rows of its results have `passed` too.
"""

from __future__ import annotations

import ast
import re

from evaluator import syntax
from evaluator.formats import fields as field
from evaluator.formats._code_fields import mode_of_test, required_name, required_test
from evaluator.formats._recorded import of_sample, record
from evaluator.formats.registry import Claim, Fields, Format, one_per_row
from evaluator.model import RecordError, Rollout, Task

_SAMPLE = {"output", "generation", "passed", "result", "finish"}
_TAKEN = {"task_id", "prompt", "test", "entry_point", "canonical_solution", "preamble", *_SAMPLE}
_OF_TASK = {*_TAKEN, "prompt_sft", "title", "url", "meta", "start_time", "difficulty"}
_WHOLE = "math re sys copy datetime itertools collections heapq functools hashlib string".split()
_STARRED = ("typing", "collections", "functools")
_HEADER = "".join(
    [*(f"import {name}\n" for name in _WHOLE), *(f"from {name} import *\n" for name in _STARRED)],
)
_METHOD = re.compile(r"\bmy_solution\.(\w+)\(")
_SOLUTION = re.compile(r"^class[ \t]+Solution\b", re.MULTILINE)


def claim_task(fields: Fields) -> Claim | None:
    if not {"task_id", "prompt", "prompt_sft", "test"} <= fields.keys() or "completion" in fields:
        return None
    return Claim(2 if _text_field(fields) else 3, "task_id, prompt, prompt_sft, test")


def claim_rollout(fields: Fields) -> Claim | None:
    name = _text_field(fields)
    return Claim(3, f"task_id, prompt_sft, {name}") if name and {"task_id", "prompt_sft"} <= fields.keys() else None


def read_task(fields: Fields) -> Task:
    """One task, of mode assert. Its prompt is the one that a completion can continue."""
    test = required_test(fields)
    prompt = field.text(fields, "prompt")
    canonical = field.text(fields, "canonical_solution")
    return Task(
        task_id=field.identifier(fields, "task_id"),
        mode=mode_of_test(test),
        prompt=prompt,
        entry_point=_entry_point(fields, test),
        test=test,
        preamble=field.preamble(fields, _HEADER + _before_solution(prompt)),
        reference=_program(prompt, canonical) if canonical else None,
        source="DeepSeek LeetCode",
        metadata=field.without(fields, _TAKEN),
    )


def read_rollout(fields: Fields) -> Rollout:
    """The sample of one row: what the model wrote, else the code that was taken from it."""
    name = _text_field(fields)
    if name is None:
        raise RecordError("output is missing: add the text that the model wrote")
    grade = of_sample(fields)
    rollout = Rollout(
        task_id=field.identifier(fields, "task_id"),
        completion=field.text(fields, name),
        expected_pass=field.optional_truth(fields, "passed"),
        metadata=field.without(fields, _OF_TASK),
    )
    return record(rollout, grade and grade._replace(by="DeepSeek-Coder"))


def _text_field(fields: Fields) -> str | None:
    return next((name for name in ("output", "generation") if fields.get(name) is not None), None)


def _entry_point(fields: Fields, test: str) -> str:
    if fields.get("entry_point"):
        return required_name({"entry_point": str(fields["entry_point"]).rpartition(".")[2]}, "entry_point")
    called = _METHOD.search(test)
    if called is None:
        raise RecordError("entry_point is missing, and test calls no method of my_solution: name the method to call")
    return called[1]


def _before_solution(prompt: str) -> str:
    """The code that the prompt has before the class, from its first class, function or import on; "" if none."""
    found = _SOLUTION.search(prompt)
    before = prompt[: found.start()] if found else ""
    tree = syntax.tree_of(before)
    for node in tree.body if tree else ():
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.Import | ast.ImportFrom):
            return "".join(before.splitlines(keepends=True)[node.lineno - 1 :])
    return ""


def _program(prompt: str, canonical: str) -> str:
    return canonical if _SOLUTION.search(canonical) else prompt + canonical


FORMAT = Format(
    name="deepseek_leetcode",
    title="DeepSeek-Coder's LeetCode: prompt, prompt_sft, meta, test; samples with output",
    claim_task=claim_task,
    read_task=read_task,
    claim_rollout=claim_rollout,
    read_rollouts=one_per_row(read_rollout),
)
