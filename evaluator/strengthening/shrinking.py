"""Makes an input smaller while it still shows what it shows; whoever calls it says what that is, for many at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

from evaluator.strengthening.inputs import size_of
from evaluator.strengthening.profile import Arguments

_AT_ONCE: Final = 60
_ROUNDS: Final = 40

Holds = Callable[[Sequence[Arguments]], Sequence[bool]]
"""Of each input, whether it still shows the difference. It may say no to all when there is no time left."""


def shrink(arguments: Arguments, holds: Holds) -> Arguments:
    """The smallest input that was found by making this one smaller in one place after the other. Deterministic."""
    best = arguments
    for _ in range(_ROUNDS):
        tried = list(islice(_smaller(best), _AT_ONCE * 4))
        tried.sort(key=size_of)
        found = None
        for start in range(0, len(tried), _AT_ONCE):
            some = tried[start : start + _AT_ONCE]
            found = next((each for each, held in zip(some, holds(some), strict=True) if held), None)
            if found is not None:
                break
        if found is None:
            return best
        best = found
    return best


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
