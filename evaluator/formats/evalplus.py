"""EvalPlus (HumanEval+ and MBPP+) in its own releases: tasks with `base_input` and `plus_input`; samples with
`solution`, and the results of its runs.

Such a task has no expected outputs. Its test code runs `prompt + canonical_solution` to get them, outside of the
completion's process. Its functions are named so that none is the one that is tested. A row's `test`, which has only the
original's inputs, is ignored. The part of the prompt before the function becomes the preamble, as in `humaneval`.

JSON has no tuples, sets and complex numbers, so for MBPP+ the task decides which lists and texts of an input stand for
them (`_OF_TASK`).

The rule is EvalPlus's. Equal is right. If the task allows a tolerance (`atol`), or the solution returns a float or
only floats (then 1e-6), numbers may differ by it plus 1e-7 of the expected one, in values of the same type, or an
int where a float is expected. A few tasks have several right answers and a rule of their own. Unlike in EvalPlus, a
tolerance does not carry over to the next inputs, and in a list it applies only to the numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from evaluator.formats._code_samples import is_result, read_samples
from evaluator.formats.reading import fields as field
from evaluator.formats.reading.code import after_prompt, before_prompted, required_name
from evaluator.formats.reading.fields import Fields
from evaluator.formats.reading.registry import Format
from evaluator.formats.reading.spec import Rollouts, Tasks, any_of, claims
from evaluator.model import JsonValue, RecordError


def _check(fields: Fields) -> str | None:
    """None if the row has no inputs or no solution."""
    task_id = field.identifier(fields, "task_id")
    base = _written_inputs(fields.get("base_input"), "base_input", task_id)
    plus = _written_inputs(fields.get("plus_input"), "plus_input", task_id)
    entry_point, solution = required_name(fields.get("entry_point"), "entry_point"), after_prompt(fields)
    return _check_of(task_id, entry_point, solution, base, plus, _tolerance(fields)) if solution else None


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
    if number == task_id or not number.isdecimal():
        return [repr(arguments) for arguments in value]
    written = []
    for place, arguments in enumerate(value):
        try:
            written.append(repr(_converted(arguments, int(number))))
        except (TypeError, ValueError, IndexError, AttributeError):
            raise RecordError(f"{name}[{place}] does not fit the arguments of {task_id}") from None
    return written


Arguments = list[JsonValue]
Convert = Callable[[JsonValue], JsonValue]


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


_CONVERSIONS: tuple[tuple[Convert, int | None, tuple[int, ...]], ...] = (
    (tuple, None, (2, 116, 132, 143, 222, 261, 273, 394, 399, 421, 424, 429, 470, 560, 579, 596, 616, 630, 726, 740,
                   744, 809)),
    (_tuples_in, None, (63, 64, 70, 94, 120, 237, 272, 299, 400, 409, 417, 438, 473, 614, 780)),
    (_tuple_of_tuples, None, (259, 278, 401, 445)),
    (_tuples_throughout, None, (580, 615, 791)),
    (tuple, 0, (250, 307, 405, 446, 617, 720, 763, 808)),
    (tuple, 1, (106, 750)),
    (_tuples_in, 0, (75, 413, 444, 753)),
    (lambda value: {key: tuple(item) for key, item in value.items()}, 0, (722,)),
    (_sets_in, 0, (115,)),
    (_complex, 0, (252,)),
    (_complex, 1, (124,)),
    (float, 0, (124,)),
)  # fmt: skip
"""How an argument of a task of MBPP is converted, or all of them, by its number."""


def _converted(arguments: Arguments, number: int) -> Arguments:
    for convert, place, numbers in _CONVERSIONS:
        if number in numbers and place is not None:
            arguments = [*arguments[:place], convert(arguments[place]), *arguments[place + 1 :]]
        elif number in numbers:
            arguments = [convert(argument) for argument in arguments]
    return arguments


_LEAST_TOLERANCE = 1e-6
_MOST_PARTS = 16
_SHOWN_CHARACTERS = 500
"""How much of an input a failure shows."""

_MODULE = """\
import math
from copy import deepcopy
from math import inf, nan

ENTRY_POINT = {entry_point!r}
TOLERANCE = {tolerance!r}
BASE_INPUTS = [
{base}]
PLUS_INPUTS = [
{plus}]


def _outputs(inputs):
    names = {{"__name__": "solution"}}
    exec(
{solution}        , names)
    return [names[ENTRY_POINT](*deepcopy(arguments)) for arguments in inputs]


{accepts}

def _compare(candidate, inputs):
    for arguments, expected in zip(inputs, _outputs(inputs)):
        actual = candidate(*deepcopy(arguments))
        accepted = _accepts(actual, expected, arguments)
        if not accepted:
            call = ", ".join(map(repr, arguments))
            call = call if len(call) <= {shown} else call[:{shown}] + "..."
            assert actual == expected, "wrong for " + ENTRY_POINT + "(" + call + ")"
        assert accepted


{checks}"""

_CLOSE = f"""\
def _accepts(actual, expected, arguments):
    if actual == expected:
        return True
    tolerance = TOLERANCE or ({_LEAST_TOLERANCE!r} if _all_floats(expected) else 0)
    alike = type(actual) is type(expected) or isinstance(actual, int) and isinstance(expected, float)
    return bool(tolerance) and alike and _close(actual, expected, tolerance)


def _all_floats(value):
    items = value if isinstance(value, (list, tuple)) else [value]
    return bool(items) and all(isinstance(item, float) for item in items)


def _close(actual, expected, tolerance):
    if actual == expected:
        return True
    if isinstance(expected, (list, tuple)):
        same_length = isinstance(actual, (list, tuple)) and len(actual) == len(expected)
        return same_length and all(_close(a, e, tolerance) for a, e in zip(actual, expected))
    if not isinstance(actual, (int, float, complex)) or not isinstance(expected, (int, float, complex)):
        return False
    return abs(expected) != math.inf and abs(actual - expected) <= tolerance + 1e-7 * abs(expected)
"""

_RULES = {
    # any root of the polynomial
    ("HumanEval", "find_zero"): """\
isinstance(actual, (int, float)) and (
        abs(sum(factor * math.pow(actual, power) for power, factor in enumerate(arguments[0]))) <= TOLERANCE
    )""",
    # its statement is unclear and its tests contradict each other: the function only has to return
    ("Mbpp", "are_equivalent"): "True",
    # 1 has no divisor other than itself
    ("Mbpp", "sum_div"): "actual == expected or actual == 0",
    # the height may be the slant one or the perpendicular one
    ("Mbpp", "surface_Area"): """\
actual == expected or (
        abs(actual - round((side := arguments[0]) ** 2 + 2 * side * math.hypot(side / 2, arguments[1]))) <= TOLERANCE
    )""",
    # digit by digit, or the digits of the difference
    ("Mbpp", "digit_distance_nums"): """\
actual == expected or (texts := list(map(str, arguments))) and actual == sum(
        abs(int(a) - int(b)) for a, b in zip(*(text.zfill(max(map(len, texts))) for text in texts))
    )""",
    **{
        ("Mbpp", name): "set(actual) == set(expected)"
        for name in (
            "similar_elements", "find_char_long", "common_in_nested_lists", "extract_singly", "larg_nnum",
            "intersection_array", "find_dissimilar", "Diff",
        )
    },
    # a match object or a truth value
    **{
        ("Mbpp", name): "(actual if isinstance(actual, bool) else actual is not None) == (expected is not None)"
        for name in ("check_str", "text_match_three", "text_starta_endb")
    },
}  # fmt: skip
"""Tasks with several right answers."""


def _check_of(
    task_id: str, entry_point: str, solution: str, base: Sequence[str], plus: Sequence[str], tolerance: float
) -> str | None:
    """The source of a `check` that first tries the original's inputs, then EvalPlus's; None without any input.

    `solution` is a whole program, an input the source of a list of arguments.
    """
    constants = (("BASE_INPUTS", base), ("PLUS_INPUTS", plus))
    parts = [f"{name}[{part.start}:{part.stop}]" for name, inputs in constants for part in _parts(len(inputs))]
    if not parts:
        return None
    checks = "def check(candidate):\n" + "".join(f"    _compare(candidate, {part})\n" for part in parts)
    if entry_point == "check":  # the function that is tested
        checks = "".join(f"_compare(check, {part})\n" for part in parts)
    rule = _RULES.get((task_id.partition("/")[0], entry_point))
    return _MODULE.format(
        entry_point=entry_point,
        tolerance=tolerance,
        solution="".join(f"        {line!r}\n" for line in solution.splitlines(keepends=True)),
        base=_written_lines(base),
        plus=_written_lines(plus),
        accepts=f"def _accepts(actual, expected, arguments):\n    return {rule}\n" if rule else _CLOSE,
        shown=_SHOWN_CHARACTERS,
        checks=checks,
    )


def _parts(inputs: int) -> Iterator[range]:
    """Each is a test case, with limits of its own; EvalPlus has a limit for each input."""
    size = -(-inputs // _MOST_PARTS)
    yield from (range(start, min(start + size, inputs)) for start in range(0, inputs, size or 1))


def _written_lines(inputs: Sequence[str]) -> str:
    return "".join(f"    {arguments},\n" for arguments in inputs)


def _claim_early_results(fields: Fields) -> bool:
    first = next(iter(field.inner(fields, "eval").values()), None)
    return isinstance(first, dict) and "base" in first and not first.keys().isdisjoint({"nfiles", "files"})


FORMAT = Format(
    name="evalplus",
    title="EvalPlus: base_input, plus_input, canonical_solution; samples with solution, results of a run",
    tasks=Tasks(
        claim=claims("3: task_id, prompt, entry_point, base_input+plus_input"),
        entry_point="entry_point",
        test=_check,
        preamble=before_prompted,
        reference=after_prompt,
        source=lambda fields: "MBPP+" if str(fields["task_id"]).startswith("Mbpp/") else "HumanEval+",
        left_out="canonical_solution, test, base_input, plus_input, atol",
    ),
    rollouts=Rollouts(
        claim=any_of(
            claims("3: eval, (with base_status: the results of a run)", lambda row: is_result(row, "base_status")),
            claims("3: eval, (with base and plus: the results of a run without its solutions)", _claim_early_results),
            claims(
                "3: task_id, solution, base_status, !prompt; "
                "3: task_id=HumanEval/|task_id=Mbpp/, solution, !prompt; "
                "2: task_id, solution, !prompt; 2: task_id=Mbpp/, completion, !prompt"
            ),
        ),
        code=read_samples,
    ),
)
