"""What kind of difference a wrong answer is: a missing line, another order, a number off by one.

Failures of one kind often have one cause, so the Overview counts them by kind. Texts longer than `LONGEST` are not
taken apart: only the checker's message says more about them.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

import msgspec

from evaluator.tasks import nesting

LONGEST: Final = 2_000
"""Characters of an expected or an actual text that are compared."""
OTHER: Final = "other value"

_NONE, _EMPTY, _LONG = "got None", "empty output", "long output differs"
_INT = re.compile(r"[+-]?[0-9]{1,18}")
_FLOAT = re.compile(r"[+-]?(?:[0-9]+\.[0-9]*|\.?[0-9]+)(?:[eE][+-]?[0-9]+)?")
_MISSING = re.compile(r"(?:line \d+ is missing|[\d,]+ lines are missing from line \d+)(, before)?")
_EXTRA = re.compile(r"(?:1 extra line, line \d+|[\d,]+ extra lines from line \d+)(, before)?")
_JSON: Final = tuple("[-0123456789")
"""What JSON most likely begins with."""
_ANSWERS: Final = {"yes", "no"}
_UNREADABLE: Final = object()


def kind(expected: str, actual: str, message: str, *, as_text: bool) -> str:
    """The kind of a difference.

    `as_text`: both are outputs, compared line by line; else the source texts of two values. `message` is the checker's.
    """
    if as_text:
        return _outputs(expected, actual, message)
    if actual == "None":
        return _NONE
    if len(expected) > LONGEST or len(actual) > LONGEST:
        return _LONG
    wanted, got = _value(expected), _value(actual)
    if actual.startswith("<") and got is _UNREADABLE:
        return "not plain data"
    return OTHER if wanted is _UNREADABLE or got is _UNREADABLE else _values(wanted, got)


def _outputs(expected: str, actual: str, message: str) -> str:
    if not actual.strip():
        return _EMPTY
    if not expected.strip():
        return "output where none is expected"
    if actual.strip() == "None":
        return _NONE
    if found := _MISSING.match(message):
        return "lines missing" if found[1] else f"last line{'s' * (not message.startswith('line '))} missing"
    if found := _EXTRA.match(message):
        return "extra lines" if found[1] else "extra lines at the end"
    if len(expected) > LONGEST or len(actual) > LONGEST:
        return _LONG
    return _same_but(expected, actual) or _lines(_stripped(expected), _stripped(actual))


def _stripped(text: str) -> list[str]:
    return [line.strip() for line in text.strip().split("\n")]


def _lines(wanted: list[str], got: list[str]) -> str:
    if len(wanted) == len(got) == 1:
        one, other = _tokens(wanted[0]), _tokens(got[0])
        return _scalars(one[0], other[0]) if len(one) == len(other) == 1 else _sequences(one, other, "item")
    numbers = _numbers_of_lines(wanted, got)
    return numbers or _sequences(wanted, got, "line")


def _numbers_of_lines(wanted: list[str], got: list[str]) -> str:
    """The kind of difference between the numbers, if all else is equal."""
    rows = [(one.split(), other.split()) for one, other in zip(wanted, got, strict=False) if one != other]
    if len(wanted) != len(got) or any(len(one) != len(other) for one, other in rows):
        return ""
    pairs = (pair for one, other in rows for pair in zip(one, other, strict=True))
    return _numbers((_number(one), _number(other)) for one, other in pairs if one != other)


def _tokens(line: str) -> list[Any]:
    return [_number(token) for token in line.split()]


def _number(token: str) -> Any:
    if _INT.fullmatch(token):
        return int(token)
    return float(token) if _FLOAT.fullmatch(token) else token


def _values(wanted: Any, got: Any) -> str:
    if wanted is None:
        return "a value instead of None"
    if type(wanted) is not type(got) and not _both_numbers(wanted, got):
        return _instead(wanted, got)
    if got in ("", [], (), {}, set()):
        return _EMPTY
    if isinstance(wanted, list | tuple):
        return _sequences(wanted, got, "item")
    if isinstance(wanted, set):
        return _sets(wanted, got, "item")
    return _mappings(wanted, got) if isinstance(wanted, dict) else _scalars(wanted, got)


def _both_numbers(wanted: Any, got: Any) -> bool:
    numbers = (int, float, complex)
    return type(wanted) in numbers and type(got) in numbers


def _scalars(wanted: Any, got: Any) -> str:
    if isinstance(wanted, bool):
        return f"{got} instead of {wanted}"
    if _both_numbers(wanted, got):
        return _number_kind(wanted, got)
    return _strings(wanted, got) if isinstance(wanted, str) and isinstance(got, str) else OTHER


def _number_kind(wanted: Any, got: Any) -> str:
    if wanted == got:
        return _instead(wanted, got) if type(wanted) is not type(got) else "same number, written differently"
    if near := _numbers([(wanted, got)]):
        return near
    if complex in (type(wanted), type(got)) or not got:
        return "0 instead of another number" if not got else "another number"
    return "number too large" if got > wanted else "number too small"


def _instead(wanted: object, got: object) -> str:
    return f"{type(got).__name__} instead of {type(wanted).__name__}"


def _strings(wanted: str, got: str) -> str:
    if same := _same_but(wanted, got):
        return same
    if {wanted.casefold(), got.casefold()} == _ANSWERS:
        return f"{got.casefold()} instead of {wanted.casefold()}"
    if len(wanted) == len(got):
        if sum(one != other for one, other in zip(wanted, got, strict=True)) == 1:
            return "one character differs"
        return "order of characters" if sorted(wanted) == sorted(got) else "another text"
    if got in wanted:
        return "text missing"
    return "extra text" if wanted in got else "another text"


def _same_but(wanted: str, got: str) -> str:
    if "".join(wanted.split()) == "".join(got.split()):
        return "white space"
    return "letter case" if wanted.casefold().split() == got.casefold().split() else ""


def _sequences(wanted: Sequence[Any], got: Sequence[Any], noun: str) -> str:
    if len(wanted) == len(got):
        pairs = [(one, other) for one, other in zip(wanted, got, strict=True) if one != other]
        if not pairs:
            return f"type of an {noun}"
        if numbers := _numbers(pairs):
            return numbers
        if sorted(map(repr, wanted)) == sorted(map(repr, got)):
            return f"order of {noun}s"
        return f"one {noun} differs" if len(pairs) == 1 else f"several {noun}s differ"
    if _is_part(got, wanted):
        return f"last {noun} missing" if got == wanted[:-1] else f"{noun}s missing"
    return f"extra {noun}s" if _is_part(wanted, got) else f"another number of {noun}s"


def _is_part(some: Sequence[Any], whole: Sequence[Any]) -> bool:
    """Whether `some` is `whole` without some of its items."""
    rest = iter(whole)
    return all(any(item == other for other in rest) for item in some)


def _sets(wanted: set[Any], got: set[Any], noun: str) -> str:
    if got < wanted:
        return f"{noun}s missing"
    if got > wanted:
        return f"extra {noun}s"
    return f"one {noun} differs" if len(got - wanted) == len(wanted - got) == 1 else f"several {noun}s differ"


def _mappings(wanted: dict[Any, Any], got: dict[Any, Any]) -> str:
    if wanted.keys() != got.keys():
        return _sets(set(wanted), set(got), "key")
    pairs = [(value, got[key]) for key, value in wanted.items() if value != got[key]]
    if not pairs:
        return "type of a value"
    return _numbers(pairs) or ("one value differs" if len(pairs) == 1 else "several values differ")


def _numbers(pairs: Iterable[tuple[Any, Any]]) -> str:
    """What all pairs of different numbers have in common; "" for nothing, or if some are not numbers."""
    common = set(_RELATED)
    some = False
    for one, other in pairs:
        if not _both_numbers(one, other):
            return ""
        some = True
        common = {name for name in common if _RELATED[name](one, other)}
        if not common:
            return ""
    return next(name for name in _RELATED if name in common) if some else ""


def _is_near(one: Any, other: Any) -> bool:
    if type(one) is type(other) is int or complex in (type(one), type(other)):
        return False
    try:
        return math.isclose(one, other, rel_tol=1e-3, abs_tol=1e-9)
    except OverflowError:  # an int beyond any float
        return False


_RELATED: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "off by one": lambda one, other: type(one) is type(other) is int and abs(one - other) == 1,
    "float within 0.1 %": _is_near,
    "opposite sign": lambda one, other: bool(one == -other and one),
}


@lru_cache(maxsize=20_000)
def _value(text: str) -> Any:
    """The value of a source text; callers do not change it."""
    readers = (_json_value, ast.literal_eval)
    # JSON is read ten times as fast. Where both can read a text it is the same value.
    for read in readers if text[:1] in _JSON else readers[::-1]:
        try:
            return read(text.strip())
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            pass
    return _UNREADABLE


def _json_value(text: str) -> Any:
    nesting.require_shallow(text)
    return msgspec.json.decode(text)
