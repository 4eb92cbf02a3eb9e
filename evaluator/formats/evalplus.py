"""EvalPlus (HumanEval+ and MBPP+) in its own releases: tasks with `base_input` and `plus_input`; samples with
`solution`, and the results of its runs.

Such a task has no expected outputs. Its test code runs `prompt + canonical_solution` to get them, outside of the
completion's process. A row's `test`, which has only the original's inputs, is ignored. The part of the prompt before
the function becomes the preamble, as in `humaneval`.

JSON has no tuples, sets and complex numbers, so for MBPP+ the task decides which lists and texts of an input stand for
them (`_OF_TASK`).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from evaluator.formats import fields as field
from evaluator.formats._code_rows import before_function, is_result, read_samples, required_name
from evaluator.formats._evalplus_check import write_check
from evaluator.formats.registry import Claim, Fields, Format, claim_by
from evaluator.model import JsonValue, Mode, RecordError, Task

_TAKEN = {
    "task_id", "prompt", "entry_point", "canonical_solution", "test", "base_input", "plus_input", "atol",
}  # fmt: skip
_TASK_IDS = ("HumanEval/", "Mbpp/")


def _claim_rollout(fields: Fields) -> Claim | None:
    if is_result(fields, "base_status"):
        return Claim(3, "eval, base_status: the results of a run")
    first = next(iter(field.inner(fields, "eval").values()), None)
    if isinstance(first, dict) and "base" in first and first.keys() & {"nfiles", "files"}:  # of an early EvalPlus
        return Claim(3, "eval, base, plus: the results of a run, without its solutions")
    if "task_id" not in fields or "prompt" in fields:
        return None
    task_id = str(fields["task_id"])
    if "solution" in fields:
        own = "base_status" in fields or task_id.startswith(_TASK_IDS)
        return Claim(3 if own else 2, "task_id, solution")
    ours = task_id.startswith("Mbpp/") and "completion" in fields
    return Claim(2, f"task_id {task_id!r}, completion") if ours else None


def _read_task(fields: Fields) -> Task:
    """One task of mode assert. It has no test if the row has no inputs or no solution."""
    task_id = field.identifier(fields, "task_id")
    prompt = field.text(fields, "prompt")
    entry_point = required_name(fields, "entry_point")
    canonical = field.text(fields, "canonical_solution")
    base = _written_inputs(fields.get("base_input"), "base_input", task_id)
    plus = _written_inputs(fields.get("plus_input"), "plus_input", task_id)
    reference = prompt + canonical if canonical else None
    return Task(
        task_id=task_id,
        mode=Mode.ASSERT,
        prompt=prompt,
        entry_point=entry_point,
        test=write_check(task_id, entry_point, reference, base, plus, _tolerance(fields)) if reference else None,
        preamble=before_function(prompt, entry_point),
        reference=reference,
        source="MBPP+" if task_id.startswith("Mbpp/") else "HumanEval+",
        metadata=field.without(fields, _TAKEN),
    )


def _tolerance(fields: Fields) -> float:
    tolerance = field.optional_number(fields, "atol") or 0.0
    if not 0 <= tolerance < math.inf:
        raise RecordError(f"atol must be a number that is 0 or more, not {tolerance}")
    return tolerance


class _Written(str):
    """The source of a value. `repr` shows it unchanged inside a list or a tuple."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _written_inputs(value: JsonValue, name: str, task_id: str) -> list[str]:
    """Each input's list of arguments as source text. Raises `RecordError` for anything else."""
    if value is None or value == {}:  # MBPP+ has such an object where there are none
        return []
    if not isinstance(value, list) or not all(isinstance(arguments, list) for arguments in value):
        raise RecordError(f"{name} must be a list of argument lists, for example [[1, 2], [3, 4]]")
    number = task_id.removeprefix("Mbpp/")
    convert = _OF_TASK.get(int(number)) if number != task_id and number.isdecimal() else None
    if convert is None:
        return [repr(arguments) for arguments in value]
    written = []
    for place, arguments in enumerate(value):
        try:
            written.append(repr(convert(arguments)))
        except (TypeError, ValueError, IndexError, AttributeError):
            raise RecordError(f"{name}[{place}] does not fit the arguments of {task_id}") from None
    return written


Arguments = list[JsonValue]


def _each(convert: Callable[[JsonValue], JsonValue]) -> Callable[[Arguments], Arguments]:
    return lambda arguments: [convert(argument) for argument in arguments]


def _one(place: int, convert: Callable[[JsonValue], JsonValue]) -> Callable[[Arguments], Arguments]:
    return lambda arguments: [*arguments[:place], convert(arguments[place]), *arguments[place + 1 :]]


def _tuples_in(value: JsonValue) -> JsonValue:
    return [tuple(item) for item in value]


def _tuple_of_tuples(value: JsonValue) -> JsonValue:
    return tuple(tuple(item) if isinstance(item, list) else item for item in value)


def _tuples_throughout(value: JsonValue) -> JsonValue:
    return tuple(map(_tuples_throughout, value)) if isinstance(value, list) else value


def _sets_in(value: JsonValue) -> JsonValue:
    """An empty list means an empty dict, as in MBPP. A set is written as its list, because its own order may change."""
    return [_Written(f"set({item!r})") if item and isinstance(item, list) else {} for item in value]


def _complex(value: JsonValue) -> JsonValue:
    return _Written(f"complex({str(complex(value))!r})")  # a call, because `infj` and `nanj` are not Python


_CONVERSIONS: tuple[tuple[Callable[[Arguments], Arguments], tuple[int, ...]], ...] = (
    (_each(tuple), (2, 116, 132, 143, 222, 261, 273, 394, 399, 421, 424, 429, 470, 560, 579, 596, 616, 630, 726, 740,
                    744, 809)),
    (_each(_tuples_in), (63, 64, 70, 94, 120, 237, 272, 299, 400, 409, 417, 438, 473, 614, 780)),
    (_each(_tuple_of_tuples), (259, 278, 401, 445)),
    (_each(_tuples_throughout), (580, 615, 791)),
    (_one(0, tuple), (250, 307, 405, 446, 617, 720, 763, 808)),
    (_one(1, tuple), (106, 750)),
    (_one(0, _tuples_in), (75, 413, 444, 753)),
    (_one(0, lambda value: {key: tuple(item) for key, item in value.items()}), (722,)),
    (lambda arguments: [_sets_in(arguments[0])], (115,)),
    (lambda arguments: [_complex(arguments[0])], (252,)),
    (lambda arguments: [float(arguments[0]), _complex(arguments[1])], (124,)),
)  # fmt: skip
"""How the inputs of a task of MBPP are converted, by its number."""
_OF_TASK = {number: convert for convert, numbers in _CONVERSIONS for number in numbers}


FORMAT = Format(
    name="evalplus",
    title="EvalPlus: base_input, plus_input, canonical_solution; samples with solution, results of a run",
    claim_task=claim_by(3, "task_id, prompt, entry_point", "base_input, plus_input"),
    read_task=_read_task,
    claim_rollout=_claim_rollout,
    read_rollouts=read_samples,
)
