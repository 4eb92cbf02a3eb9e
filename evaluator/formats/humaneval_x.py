"""HumanEval's rows without `entry_point`, as HumanEval-X and MultiPL-E have them; and such rows with a `generation`.

HumanEval-X has `declaration` and `test`, MultiPL-E `name`, `tests` and `stop_tokens`. The entry point is the last
function that the declaration or the prompt defines. `HumanEval_11_string_xor` is `HumanEval/11`.
"""

from __future__ import annotations

import re

from evaluator.formats import fields as field
from evaluator.formats import humaneval
from evaluator.formats._trainer_rows import rest
from evaluator.formats.multipl_e import task_id_of
from evaluator.formats.registry import Claim, Fields, Format, one_per_row
from evaluator.model import RecordError, Rollout, Task

_DIALECTS = (("task_id", "prompt", "declaration", "test"), ("name", "prompt", "tests"), ("name", "prompt", "test"))
_OTHERS = {"is_solved", "results", "mode"}
_TEXTS = ("generation", "output")
_FUNCTION = re.compile(r"^(?:async[ \t]+)?def[ \t]+(\w+)", re.MULTILINE)
_TAKEN = {
    "task_id", "name", "prompt", "entry_point", "canonical_solution", "test", "tests", "declaration", "example_test",
    "text", "stop_tokens",
}  # fmt: skip


def claim_task(fields: Fields) -> Claim | None:
    """Weaker than the formats of other datasets, whose rows may have such fields too."""
    found = next((names for names in _DIALECTS if fields.keys() >= {*names}), None)
    if found is None or fields.keys() & _OTHERS or (found[0] == "name" and "stop_tokens" not in fields):
        return None
    return Claim(2, ", ".join(found))


def claim_rollout(fields: Fields) -> Claim | None:
    text = _text_field(fields)
    return Claim(3, f"{claim.why}, {text}") if text and (claim := claim_task(fields)) else None


def read_task(fields: Fields) -> Task:
    """The task of one row, as in `humaneval`."""
    entry_point = field.text(fields, "entry_point") or _function(fields)
    test = field.text(fields, "tests") or field.text(fields, "test")
    row = field.without(fields, {"name", "tests", *_TEXTS})
    task = humaneval.read_task({**row, "task_id": _task_id(fields), "entry_point": entry_point, "test": test})
    task.source = "HumanEval" if task.task_id.startswith(("HumanEval/", "Python/")) else ""
    return task


def read_rollout(fields: Fields) -> Rollout:
    """The answer of one row."""
    name = _text_field(fields)
    if name is None:
        raise RecordError("generation is missing: add the text that the model wrote")
    return Rollout(
        task_id=_task_id(fields),
        completion=field.text(fields, name),
        model=field.optional_identifier(fields, "model"),
        metadata=rest(fields, _TAKEN | {name, "model"}),
    )


def _text_field(fields: Fields) -> str | None:
    return next((name for name in _TEXTS if isinstance(fields.get(name), str)), None)


def _task_id(fields: Fields) -> str:
    return task_id_of(field.identifier(fields, "name" if "name" in fields else "task_id"))


def _function(fields: Fields) -> str:
    names = _FUNCTION.findall(field.text(fields, "declaration") or field.text(fields, "prompt"))
    if not names:
        raise RecordError("the prompt defines no Python function: only Python is graded, so this row is skipped")
    return str(names[-1])


FORMAT = Format(
    name="humaneval_x",
    title="HumanEval-X, MultiPL-E's prompts: HumanEval's rows without entry_point, also with generation",
    claim_task=claim_task,
    read_task=read_task,
    claim_rollout=claim_rollout,
    read_rollouts=one_per_row(read_rollout),
    repeats_tasks=True,
)
