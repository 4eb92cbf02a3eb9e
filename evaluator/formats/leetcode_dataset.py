"""LeetCodeDataset (newfacade): `task_id`, `prompt`, `completion`, `entry_point`, `test`, and `query` with `response`.

Its `prompt` is code: the imports and the node classes that its grader puts before every completion, so it becomes the
preamble. What a model is asked is `query`. The entry point is a method, written `Solution().name`. `completion` is the
reference, so these rows are tasks although they have the fields of samples; `input_output` repeats the cases of `test`
and is left out.
"""

from __future__ import annotations

from collections.abc import Mapping

from evaluator.formats import fields as field
from evaluator.formats._code_fields import mode_of_test, required_name, required_test
from evaluator.formats.registry import Claim, Fields, Format
from evaluator.model import Task

_METHOD_OF = "Solution()."
_TAKEN = {"task_id", "prompt", "completion", "entry_point", "test", "input_output", "examples", "query", "preamble"}


def claim_task(fields: Fields) -> Claim | None:
    if not {"task_id", "prompt", "completion", "entry_point", "test"} <= fields.keys():
        return None
    method = str(fields["entry_point"]).startswith(_METHOD_OF)
    asked = {"query", "response"} <= fields.keys()
    if not method and not asked:
        return None
    return Claim(3, "prompt, completion, entry_point, test" + (", query, response" if asked else ": Solution()"))


def read_task(fields: Fields) -> Task:
    """One task, of mode assert."""
    test = required_test(fields)
    name = field.text(fields, "entry_point").removeprefix(_METHOD_OF)
    return Task(
        task_id=field.identifier(fields, "task_id"),
        mode=mode_of_test(test),
        prompt=_question(fields),
        entry_point=required_name({"entry_point": name}, "entry_point"),
        test=test,
        preamble=field.preamble(fields, field.text(fields, "prompt")),
        reference=field.text(fields, "completion") or None,
        source="LeetCodeDataset",
        metadata=field.without(fields, _TAKEN),
    )


def _question(fields: Fields) -> str:
    """`query`, which early versions have in `meta`; else the description and the code to start from."""
    meta = fields.get("meta")
    query = field.text(fields, "query") or (field.text(meta, "query") if isinstance(meta, Mapping) else "")
    parts = [field.text(fields, "problem_description"), field.text(fields, "starter_code")]
    return query or "\n\n".join(part for part in parts if part)


FORMAT = Format(
    name="leetcode_dataset",
    title="LeetCodeDataset: prompt, completion, entry_point Solution().name, test, query",
    claim_task=claim_task,
    read_task=read_task,
)
