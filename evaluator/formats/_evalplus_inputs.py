"""EvalPlus's inputs as Python source. JSON has no tuples, sets and complex numbers, so for MBPP+ the task decides
which lists and texts stand for them. The numbers below are those of MBPP's tasks."""

from __future__ import annotations

from collections.abc import Callable

from evaluator.model import JsonValue, RecordError

_PREFIX = "Mbpp/"

Arguments = list[JsonValue]


class _Written(str):
    """The source of a value. `repr` shows it unchanged inside a list or a tuple."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def written_inputs(value: JsonValue, name: str, task_id: str) -> list[str]:
    """Each input's list of arguments as source text. Raises `RecordError` for anything else."""
    if value is None or value == {}:  # MBPP+ has such an object where there are none
        return []
    if not isinstance(value, list) or not all(isinstance(arguments, list) for arguments in value):
        raise RecordError(f"{name} must be a list of argument lists, for example [[1, 2], [3, 4]]")
    convert = _conversion(task_id)
    if convert is None:
        return [repr(arguments) for arguments in value]
    written = []
    for number, arguments in enumerate(value):
        try:
            written.append(repr(convert(arguments)))
        except (TypeError, ValueError, IndexError, AttributeError):
            raise RecordError(f"{name}[{number}] does not fit the arguments of {task_id}") from None
    return written


def _conversion(task_id: str) -> Callable[[Arguments], Arguments] | None:
    number = task_id.removeprefix(_PREFIX)
    return _OF_TASK.get(int(number)) if task_id.startswith(_PREFIX) and number.isdecimal() else None


def _tuples(arguments: Arguments) -> Arguments:
    return [tuple(argument) for argument in arguments]


def _lists_of_tuples(arguments: Arguments) -> Arguments:
    return [[tuple(item) for item in argument] for argument in arguments]


def _tuples_of_tuples(arguments: Arguments) -> Arguments:
    return [tuple(tuple(item) if isinstance(item, list) else item for item in argument) for argument in arguments]


def _tuples_throughout(arguments: Arguments) -> Arguments:
    return [_as_tuples(argument) for argument in arguments]


def _as_tuples(value: JsonValue) -> JsonValue:
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value


def _first_a_tuple(arguments: Arguments) -> Arguments:
    return [tuple(arguments[0]), *arguments[1:]]


def _second_a_tuple(arguments: Arguments) -> Arguments:
    return [arguments[0], tuple(arguments[1]), *arguments[2:]]


def _first_a_list_of_tuples(arguments: Arguments) -> Arguments:
    return [[tuple(item) for item in arguments[0]], *arguments[1:]]


def _first_of_tuples_by_key(arguments: Arguments) -> Arguments:
    return [{key: tuple(item) for key, item in arguments[0].items()}, *arguments[1:]]


def _list_of_sets(arguments: Arguments) -> Arguments:
    """An empty list means an empty dict, as in MBPP. A set is written as its list, because its own order may change."""
    return [[_Written(f"set({item!r})") if item and isinstance(item, list) else {} for item in arguments[0]]]


def _complex(arguments: Arguments) -> Arguments:
    return [_written_complex(arguments[0])]


def _float_and_complex(arguments: Arguments) -> Arguments:
    return [float(arguments[0]), _written_complex(arguments[1])]


def _written_complex(value: JsonValue) -> _Written:
    return _Written(f"complex({str(complex(value))!r})")  # a call, because `infj` and `nanj` are not Python


_CONVERSIONS: tuple[tuple[Callable[[Arguments], Arguments], tuple[int, ...]], ...] = (
    (_tuples, (2, 116, 132, 143, 222, 261, 273, 394, 399, 421, 424, 429, 470, 560, 579, 596, 616, 630, 726, 740, 744,
               809)),
    (_lists_of_tuples, (63, 64, 70, 94, 120, 237, 272, 299, 400, 409, 417, 438, 473, 614, 780)),
    (_tuples_of_tuples, (259, 278, 401, 445)),
    (_tuples_throughout, (580, 615, 791)),
    (_first_a_tuple, (250, 307, 405, 446, 617, 720, 763, 808)),
    (_second_a_tuple, (106, 750)),
    (_first_a_list_of_tuples, (75, 413, 444, 753)),
    (_first_of_tuples_by_key, (722,)),
    (_list_of_sets, (115,)),
    (_complex, (252,)),
    (_float_and_complex, (124,)),
)  # fmt: skip
_OF_TASK = {number: convert for convert, numbers in _CONVERSIONS for number in numbers}
