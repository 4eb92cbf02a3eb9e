"""CRUXEval: `code` (a function `f`), `input` (its arguments), `output`, `id`; and its scored generations.

Output prediction asks for what `f` returns. A completion is that value as Python, which is the rest of the prompt (`def
answer(): return `), or a program with such an `answer`. `f` is not in a completion's process: it can't be called.

Input prediction, of the same rows, asks for a call `f(...)` that returns `output`. A completion is such a call, or a
program with such an `answer`. In a completion's process `f` only notes its arguments; the test calls the row's own `f`
with them, in another process. Any arguments that give the output are right.

Scored generations are one object with `raw_generations` and `raw_scored_generations`, lists by task. A generation is
the expression that the model gave as the output (or as the input) of the task's function, not a program.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from evaluator import syntax
from evaluator.formats import fields as field
from evaluator.formats._recorded import by_task, record, recorded_truth
from evaluator.formats.registry import Claim, Fields, Format
from evaluator.model import Mode, RecordError, Rollout, Task

_ENTRY_POINT = "answer"
_TAKEN = {"task_id", "id", "code", "input", "output"}
_NOTES_ARGUMENTS = "def f(*arguments, **named):\n    return list(arguments), named\n"
_GENERATIONS, _SCORES = "raw_generations", "raw_scored_generations"


def _fits(fields: Fields) -> bool:
    texts = all(isinstance(fields.get(name), str) for name in ("code", "input", "output"))
    return texts and "id" in fields and (str(fields["id"]).startswith("sample_") or "def f(" in fields["code"])


def _parts_of(fields: Fields) -> tuple[str, str, str]:
    """The function `f`, a call of it, and what that returns, each valid Python. Raises `RecordError`."""
    code, output = field.text(fields, "code").rstrip(), field.text(fields, "output").strip()
    call = f"f({field.text(fields, 'input').strip()})"
    for name, source in (("code", code), ("input", call), ("output", f"({output})")):
        if syntax.tree_of(source) is None:
            raise RecordError(
                f"{name} is not valid Python: give source code, such as (1, 2) for an input of two arguments"
            )
    return code, call, output


def _task(fields: Fields, code: str, question: str, shown: Fields, **own: Any) -> Task:
    """A task with one test case, that asks for an expression. `own`: its other fields."""
    comments = [textwrap.indent(text, "# ", lambda _: True) for text in (code, question)]
    return Task(
        task_id=field.optional_identifier(fields, "task_id") or field.identifier(fields, "id"),
        mode=Mode.ASSERT,
        prompt="\n\n".join(comments) + f"\ndef {_ENTRY_POINT}():\n    return ",
        entry_point=_ENTRY_POINT,
        metadata={**field.without(fields, _TAKEN), **shown},
        **own,
    )


def _read_output_prediction(fields: Fields) -> Task:
    code, call, output = _parts_of(fields)
    return _task(
        fields,
        code,
        f"What does {call} return?",
        {"code": fields["code"], "input": fields["input"]},
        test=f"def check(candidate):\n    assert candidate() == ({output})\n",
        reference=f"def {_ENTRY_POINT}():\n    return ({output})\n",
        source="CRUXEval",
    )


def _read_input_prediction(fields: Fields) -> Task:
    code, call, output = _parts_of(fields)
    return _task(
        fields,
        code,
        f"Which call f(...) returns {output}?",
        {"code": code, "output": output},
        test=(
            f"{code}\n\n\ndef check(candidate):\n    arguments, named = candidate()\n"
            f"    assert f(*arguments, **named) == ({output})\n"
        ),
        preamble=_NOTES_ARGUMENTS,
        reference=f"def {_ENTRY_POINT}():\n    return {call}\n",
        source="CRUXEval, input prediction",
    )


def _claim_scores(fields: Fields) -> Claim | None:
    both = isinstance(fields.get(_GENERATIONS), dict) and isinstance(fields.get(_SCORES), dict)
    return Claim(3, f"{_GENERATIONS}, {_SCORES}") if both else None


def _read_scores(fields: Fields) -> Iterator[Rollout]:
    """The generations of each task, in the file's order. Raises `RecordError` at the end if some are not text."""
    wrong: list[str] = []
    scored = by_task(fields, _SCORES)
    for task_id, generations in by_task(fields, _GENERATIONS).items():
        scores = scored.get(task_id)
        for number, generation in enumerate(generations if isinstance(generations, list) else [generations]):
            if not isinstance(generation, str):
                wrong.append(f"{_GENERATIONS}[{task_id!r}][{number}]")
                continue
            found = scores[number] if isinstance(scores, list) and number < len(scores) else None
            score = found if isinstance(found, bool) else None
            rollout = Rollout(task_id=task_id, completion=generation, sample_index=number, expected_pass=score)
            yield record(rollout, recorded_truth(score, "CRUXEval"))
    if wrong:
        raise RecordError(f"{wrong[0]} must be text, like {len(wrong)} in all: these samples are skipped")


FORMAT = Format(
    name="cruxeval",
    title="CRUXEval: code, input, output, id, read as output prediction",
    claim_task=lambda row: Claim(3, "code with f, input, output, id: output prediction") if _fits(row) else None,
    read_task=_read_output_prediction,
)
CRUXEVAL_INPUT = Format(
    name="cruxeval_input",
    title="CRUXEval's rows, read as input prediction: name it to use it",
    claim_task=lambda row: Claim(1, "code with f, input, output, id: input prediction") if _fits(row) else None,
    read_task=_read_input_prediction,
)
CRUXEVAL_SCORES = Format(
    name="cruxeval_scores",
    title="CRUXEval's scored generations: raw_generations, raw_scored_generations",
    claim_rollout=_claim_scores,
    read_rollouts=_read_scores,
)
