"""CRUXEval: `code` (a function `f`), `input` (its arguments), `output`, `id`; its scored generations; CRUXEval-X's.

Output prediction asks for what `f` returns. A completion is that value as Python, which is the rest of the prompt (`def
answer(): return `), or a program with such an `answer`. `f` is not in a completion's process: it can't be called.

Input prediction, of the same rows, asks for a call `f(...)` that returns `output`. In a completion's process `f` only
notes its arguments; the test calls the row's own `f` with them, in another process.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from evaluator import syntax
from evaluator.formats._code_samples import by_task
from evaluator.formats.reading import fields as field
from evaluator.formats.reading.fields import Fields
from evaluator.formats.reading.registry import Format
from evaluator.formats.reading.spec import Recorded, Rollouts, Tasks, claims, truth, verdict_of_error
from evaluator.model import RecordError, brief

_NOTES_ARGUMENTS = "def f(*arguments, **named):\n    return list(arguments), named\n"
_GENERATIONS, _SCORES = "raw_generations", "raw_scored_generations"


def _fits(fields: Fields) -> bool:
    return str(fields["id"]).startswith("sample_") or "def f(" in fields["code"]


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


def _prompt(fields: Fields, question: str) -> str:
    comments = [textwrap.indent(text, "# ", lambda _: True) for text in (_parts_of(fields)[0], question)]
    return "\n\n".join(comments) + "\ndef answer():\n    return "


def _output_check(fields: Fields) -> str:
    return f"def check(candidate):\n    assert candidate() == ({_parts_of(fields)[2]})\n"


def _input_check(fields: Fields) -> str:
    code, _, output = _parts_of(fields)
    return (
        f"{code}\n\n\ndef check(candidate):\n    arguments, named = candidate()\n"
        f"    assert f(*arguments, **named) == ({output})\n"
    )


FORMAT = Format(
    name="cruxeval",
    title="CRUXEval: code, input, output, id, read as output prediction",
    tasks=Tasks(
        claim=claims("3: code:text, input:text, output:text, id, (output prediction)", _fits),
        task_id="task_id|id",
        prompt=lambda fields: _prompt(fields, f"What does {_parts_of(fields)[1]} return?"),
        entry_point=lambda _: "answer",
        test=_output_check,
        reference=lambda fields: f"def answer():\n    return ({_parts_of(fields)[2]})\n",
        source="CRUXEval",
        left_out="output",
    ),
)
CRUXEVAL_INPUT = Format(
    name="cruxeval_input",
    title="CRUXEval's rows, read as input prediction: name it to use it",
    tasks=Tasks(
        claim=claims("1: code:text, input:text, output:text, id, (input prediction)", _fits),
        task_id="task_id|id",
        prompt=lambda fields: _prompt(fields, f"Which call f(...) returns {_parts_of(fields)[2]}?"),
        entry_point=lambda _: "answer",
        test=_input_check,
        preamble=_NOTES_ARGUMENTS,
        reference=lambda fields: f"def answer():\n    return {_parts_of(fields)[1]}\n",
        source="CRUXEval, input prediction",
        left_out="input",
    ),
)


def _scored(fields: Fields) -> Iterator[Fields | RecordError]:
    """The generations of each task, in the file's order."""
    scored = by_task(fields, _SCORES)
    for task_id, generations in by_task(fields, _GENERATIONS).items():
        scores = scored.get(task_id)
        if generations == []:
            yield RecordError(f"{_GENERATIONS}[{task_id!r}] is empty: the task has no sample")
        for number, generation in enumerate(generations if isinstance(generations, list) else [generations]):
            if not isinstance(generation, str):
                yield RecordError(f"{_GENERATIONS}[{task_id!r}][{number}] must be text, not {brief(generation)}")
                continue
            score = scores[number] if isinstance(scores, list) and number < len(scores) else None
            yield {"task_id": task_id, "completion": generation, "sample_index": number, "score": score}


CRUXEVAL_SCORES = Format(
    name="cruxeval_scores",
    title="CRUXEval's scored generations: raw_generations, raw_scored_generations",
    rollouts=Rollouts(
        claim=claims(f"3: {_GENERATIONS}:object, {_SCORES}:object"),
        each=_scored,
        grade=lambda sample: truth(sample["score"]) if isinstance(sample["score"], bool) else None,
        by="CRUXEval",
        left_out="score",
    ),
)


def _x_grade(fields: Fields) -> Recorded | None:
    """Its error is a traceback, of whose last line the exception decides."""
    passed, error = fields.get("res"), fields.get("error_message")
    if passed is False and isinstance(error, str) and error.strip():
        return Recorded(verdict_of_error(error), error.rstrip().rpartition("\n")[2])
    return truth(passed, "res ") if isinstance(passed, bool) else None


CRUXEVAL_X = Format(
    name="cruxeval_x",
    title="CRUXEval-X's results: id, res, error, code, answer",
    rollouts=Rollouts(
        claim=claims("3: id, res, code, answer, error|error_message"),
        completion="answer",
        prompt="",
        task_id="id",
        sample_id="",
        grade=_x_grade,
        by="CRUXEval-X",
        left_out="answer, res, error",
    ),
)
