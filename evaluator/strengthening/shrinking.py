"""Makes a valid input smaller while a program is still wrong on it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from typing import Any, Final

from evaluator.strengthening.inputs import size_of
from evaluator.strengthening.profile import Arguments
from evaluator.strengthening.runs import Input
from evaluator.strengthening.validity import Validity

_AT_ONCE: Final = 60
_ROUNDS: Final = 40


def shrink(start: Input, validity: Validity, wrong_on: Callable[[Sequence[Input]], Collection[int]]) -> Input:
    """The smallest input that was found by making this one smaller in one place after the other. Deterministic.

    `wrong_on`: the places of the inputs on which the program is wrong; of none when there is no time left.
    """
    found = start
    for _ in range(_ROUNDS):
        tried = sorted(islice(_smaller(found.arguments), _AT_ONCE * 4), key=size_of)
        batches = (validity.valid(tried[place : place + _AT_ONCE]) for place in range(0, len(tried), _AT_ONCE))
        better = next((valid[min(places)] for valid in batches if (places := wrong_on(valid))), None)
        if better is None:
            break
        found = better
    return found


def _smaller(arguments: Arguments) -> Iterator[Arguments]:
    size = size_of(arguments)
    for place, value in enumerate(arguments):
        for each in _values(value):
            made = (*arguments[:place], each, *arguments[place + 1 :])
            if size_of(made) < size or (size_of(made) == size and _rank(each) < _rank(value)):
                yield made


def _rank(value: Any) -> tuple[float, str]:
    """Among values of one size: small numbers and early letters are simpler."""
    return (abs(value), "-" if value < 0 else "") if isinstance(value, (int, float)) else (0, repr(value))


def _values(value: Any) -> Iterator[Any]:
    match value:
        case bool() | None:
            return
        case int():
            yield from dict.fromkeys((0, 1, 2, value // 10, value // 2, value - 1 if value > 0 else value + 1, -value))
        case float():
            yield from (0.0, 1.0, float(int(value)), round(value, 1), value / 2)
        case str() | list() | tuple():
            yield from _parts(value)
            if not isinstance(value, str):
                for place, item in enumerate(value):
                    for each in _values(item):
                        yield type(value)([*value[:place], each, *value[place + 1 :]])
            elif value:
                yield value[:1] * len(value)
                yield "a" * len(value)
        case set() | frozenset():
            for item in sorted(value, key=repr):
                yield value - {item}
        case dict():
            for key in value:
                yield {other: item for other, item in value.items() if other != key}
                for each in _values(value[key]):
                    yield value | {key: each}


def _parts(value: Any) -> Iterator[Any]:
    """Without a half, a quarter, and so on down to one item."""
    yield value[:0]
    length = len(value) // 2
    while length:
        for start in range(0, len(value), length):
            yield value[:start] + value[start + length :]
        length //= 2
