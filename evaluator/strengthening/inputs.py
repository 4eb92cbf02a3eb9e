"""New argument lists from a task's own: small changes of them, one after the other, and values made anew.

Types and nesting stay those of the own inputs, and sizes too. Values come from the other inputs, and from constants of
the reference and the completions, which are parsed and never run.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from random import Random
from typing import Any, Final

from evaluator.strengthening.profile import Arguments, Path, Profile, walk
from evaluator.syntax import completion_tree

_MOST_CONSTANTS: Final = 60
_LONGEST: Final = 40
_MOST_SIZE: Final = 2_000
_MOST_OWN: Final = 6
_FAILURES: Final = 200
_NUMBERS: Final = (0, 1, -1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 16, 20, 25, 99, 100, 101)
_LENGTHS: Final = (64, 101)
"""Of a text that is repeated: far longer than most own ones, and a prime number."""
_FORMATTED: Final = 12
"""Of a text, how many variants with other numbers at the same places."""
_WORDS: Final = re.compile(r"[A-Za-z]+|\d+|\s+|[^A-Za-z\d\s]")
_NUMBER: Final = re.compile(r"\d+")
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!?.,-_ #@$%&*+/;:'\""


def constants_of(sources: Iterable[str]) -> list[Any]:
    """The numbers and short texts in some programs, the first ones first; equal ones once."""
    found: dict[tuple[type, Any], None] = {}
    for source in sources:
        tree = completion_tree(source)
        for node in ast.walk(tree) if tree is not None else ():
            value = node.value if isinstance(node, ast.Constant) else None
            if type(value) in (int, float) or (type(value) is str and 0 < len(value) <= _LONGEST):
                found.setdefault((type(value), value))
    return [value for _, value in found][:_MOST_CONSTANTS]


class Maker:
    """Makes inputs for one task. The same for the same state of `rng`; equal inputs come once."""

    def __init__(self, profile: Profile, constants: Sequence[Any], rng: Random) -> None:
        self._profile = profile
        self._rng = rng
        self._seen: set[str] = {repr(own) for own in profile.own}
        self._known = [*constants, *(value for own in profile.own for _, value in walk(own))]
        """Constants, and everything in the own inputs, at any depth."""

    def boundaries(self) -> Iterator[Arguments]:
        """The smallest own inputs with one value, or one item of one, replaced by each of its variants."""
        for own in sorted(self._profile.own, key=size_of)[:_MOST_OWN]:
            for place, value in enumerate(own):
                for other in self._variants(value, (place,)):
                    yield from self._new((*own[:place], other, *own[place + 1 :]))
                for path, item, with_item in _items(value, (place,)):
                    for other in self._variants(item, path):
                        yield from self._new((*own[:place], with_item(other), *own[place + 1 :]))
                for other in set(range(len(own))) - {place}:
                    yield from self._new(self._related(own, place, other))

    def edited(self, pool: Sequence[Arguments]) -> Iterator[Arguments]:
        """Some input of the pool after one to four edits, until too many were there before."""
        left = _FAILURES
        while pool and left:
            made = self._rng.choice(pool)
            for _ in range(self._rng.choice((1, 1, 1, 2, 2, 3, 4)) if made else 0):
                made = self._edit(made)
            new = list(self._new(made))
            left -= not new
            yield from new

    def fresh(self) -> Iterator[Arguments]:
        """Argument lists made anew of the own ones' types, alphabets and sizes, until too many were there before."""
        left = _FAILURES
        while self._profile.own and left:
            like = self._rng.choice(self._profile.own)
            new = list(self._new(tuple(self._made(value, (place,)) for place, value in enumerate(like))))
            left -= not new
            yield from new

    def _new(self, made: Arguments) -> Iterator[Arguments]:
        text = repr(made) if size_of(made) <= _MOST_SIZE else ""
        if text and text not in self._seen:
            self._seen.add(text)
            yield made

    # ---- edits

    def _edit(self, own: Arguments) -> Arguments:
        chance = self._rng.random()
        if len(own) > 1 and chance < 0.1:
            return self._related(own, *self._rng.sample(range(len(own)), 2))
        if chance < 0.25:
            return self._renamed(own)
        place = self._rng.randrange(len(own))
        return (*own[:place], self._edited(own[place], (place,)), *own[place + 1 :])

    def _related(self, own: Arguments, one: int, other: int) -> Arguments:
        """With one argument taken from another: the whole of it, an item or a part, or its length."""
        source, made = own[one], own[other]
        if type(source) is type(made):
            made = source
        elif isinstance(source, (list, tuple, str)) and source:
            item = self._rng.choice(source)
            made = item if type(item) is type(made) else len(source) if type(made) is int else made
        return (*own[:other], made, *own[other + 1 :])

    def _renamed(self, own: Arguments) -> Arguments:
        """With one number, also one in a text, replaced by another one wherever it stands: equal ones stay equal."""
        numbers = [number for _, each in walk(own) if type(each) in (int, str) for number in _NUMBER.findall(str(each))]
        if not numbers:
            return own
        old = self._rng.choice(numbers)
        new = str(self._rng.randint(0, 10 ** min(len(old) + 1, 9)))
        return tuple(_with_number(value, old, new) for value in own)

    def _edited(self, value: Any, path: Path) -> Any:
        """A variant of the value, or the value with an edited item."""
        if (items := list(_items(value, path))) and self._rng.random() < 0.4:
            inner, item, with_item = self._rng.choice(items)
            return with_item(self._edited(item, inner))
        return self._rng.choice(self._variants(value, path) or [value])

    def _variants(self, value: Any, path: Path) -> list[Any]:
        """Values that differ a little from this one, or are a boundary of its kind, or stand at its place elsewhere."""
        place = self._profile.places.get(path)
        own = [each for each in (place.values if place else ()) if type(each) is type(value)]
        match value:
            case bool():
                return [not value]
            case int():
                return self._numbers_like(value, own)
            case float() if math.isfinite(value):
                near = [value + 1, value - 1, value * 2, value / 2, -value, float(round(value)), value + 0.5]
                near += [value + round(self._rng.random(), 2), 0.0, 1.0, -1.0, 0.5, float(self._rng.randint(-9, 9))]
                return [*near, *own, *self._of_type(float)]
            case str():
                return [*self._texts_like(value, own), *own]
            case list() | tuple():
                return [*map(type(value), self._lists_like(list(value), (*path, "item"))), *own]
            case set() | frozenset():
                made = self._lists_like(sorted(value, key=repr), (*path, "item"))
                return [*(type(value)(_hashable(each)) for each in made), *own]
            case dict():
                fewer = [{other: value[other] for other in value if other != key} for key in [*value][:4]]
                more = [value | each for each in own] + [dict.fromkeys(value, item) for item in [*value.values()][:2]]
                return [{}, *fewer, *more, *({key: value[key]} for key in [*value][:2]), self._made(value, path), *own]
        return own

    def _numbers_like(self, value: int, own: Sequence[int]) -> list[int]:
        rng, low, high = self._rng, min(own, default=value), max(own, default=value)
        by_digits = [each for each in self._texts_like(str(abs(value)), ())[:12] if re.fullmatch(r"[0-9]{1,30}", each)]
        made = [rng.randint(low, high), rng.randint(0, 20), rng.randint(1, 10 ** min(len(str(abs(high))), 18))]
        near = [
            value + 1,
            value - 1,
            value * 2,
            value // 2,
            value * 10,
            value // 10,
            -value,
            value + rng.randint(-5, 5),
        ]
        known = [each + step for each in (*own, *self._of_type(int)[:20]) for step in (0, 1, -1)]
        return [*_NUMBERS, *near, *made, *map(int, by_digits), *known]

    def _texts_like(self, value: str, own: Sequence[str]) -> list[str]:
        """The first twelve keep to the characters of this text."""
        rng = self._rng
        at, to = sorted((rng.randrange(len(value) + 1), rng.randrange(len(value) + 1)))
        one = rng.choice(value or "a")
        alphabet = "".join(own) or value or _LETTERS
        new = rng.choice(alphabet if rng.random() < 0.7 else _LETTERS)
        words = _WORDS.findall(value)
        made = [
            value[:at] + value[at + 1 :], value[:at] + one + value[at:], value[:at] + value[to:],
            value[:to] + value[at:], value[:at] + one + value[at + 1 :], value[:at] + value[at:to][::-1] + value[to:],
            value[::-1], value[1:], value[:-1], value[:1] + value, value + value[-1:],
            "".join(rng.choice(value or "a") for _ in value),
            value[:at] + new + value[at:], value[:at] + new + value[at + 1 :],
            value[:at] + value[at : at + 1].swapcase() + value[at + 1 :],
            "".join(rng.choice(alphabet) for _ in range(rng.randint(1, len(value) + 1))),
            "", value[:1], value[-1:], value[:1] * 2, value[:1] * 3, value * 2, value * 3, value[: len(value) // 2],
            value.upper(), value.lower(), value.swapcase(), value.title(), f" {value}", f"{value} ",
            "".join(sorted(value)), value.replace(" ", "  "), " ", "a", "A", "1",
            *((value * length)[:length] for length in _LENGTHS),
        ]  # fmt: skip
        numbers = [str(rng.randint(0, 10 ** min(len(word), 9))) if word.isdigit() else word for word in words]
        made += ["".join(rng.choice(pair) for pair in zip(words, numbers, strict=True)) for _ in range(_FORMATTED)]
        for word in dict.fromkeys(words):
            others = ["", word * 2, rng.choice(words)]
            if word.isdigit():
                number = int(word[:18])
                near = (0, number - 1, number + 1, number * 10, number % 10, rng.randint(0, 10 ** len(word[:9])))
                others += [*map(str, near), f"0{word}"]
            made += [value.replace(word, other, 1) for other in others]
        for text in self._of_type(str)[:20]:
            made += [text, value + text, text + value, value[:at] + text + value[at:]] if len(text) <= _LONGEST else []
        return made

    def _lists_like(self, items: list[Any], path: Path) -> list[list[Any]]:
        rng = self._rng
        new = [self._made(rng.choice(self._profile.places[path].values), path)] if path in self._profile.places else []
        at, to = sorted((rng.randrange(len(items) + 1), rng.randrange(len(items) + 1)))
        made = [
            [], items[:1], items[-1:], items[:2], items[1:], items[:-1], items[::-1], items * 2, items[:1] * 3,
            items[:1] + items, items + items[:1], items[:1] * len(items), items[-1:] * len(items), items[at:to],
            items[:at] + items[to:], items[:at] + items[at + 1 :], items[:at] + new + items[at:], new,
            items[:at] + new + items[at + 1 :], items[:at] + items[-1:] + items[at + 1 :],
            rng.sample(items, len(items)), items[:to] + items[at:], rng.choices(items, k=len(items)) if items else new,
        ]  # fmt: skip
        with suppress(TypeError):
            made += [sorted(items), sorted(items, reverse=True)]
        if items and all(type(item) in (int, float) for item in items):
            made += [[-item for item in items], [-abs(item) for item in items], [0] * len(items), [0], [1], [-1]]
            made += [[*items, 0], [0, *items], [max(items), *items], [*items, min(items)]]
        return made

    def _of_type(self, kind: type) -> list[Any]:
        return [each for each in self._known if type(each) is kind]

    # ---- made anew

    def _made(self, like: Any, path: Path) -> Any:
        """A value like an own one at this path."""
        rng = self._rng
        place = self._profile.places.get(path)
        own = [each for each in (place.values if place else ()) if type(each) is type(like)] or [like]
        match like:
            case bool():
                return rng.random() < 0.5
            case int():
                low, high = min(own), max(own)
                return rng.randint(low, high) if rng.random() < 0.6 else rng.randint(min(0, low), max(0, min(20, high)))
            case float() if all(map(math.isfinite, own)):
                return round(rng.uniform(min(own), max(own)), rng.choice((0, 1, 2)))
            case str():
                if rng.random() < 0.2 or (place is not None and place.is_choice):
                    return rng.choice(own)
                alphabet = "".join(own) or _LETTERS
                some = alphabet if rng.random() < 0.5 else rng.sample(alphabet, min(len(alphabet), 3))
                return "".join(rng.choice(some) for _ in range(rng.randint(0, max(map(len, own)))))
            case list() | tuple() | set() | frozenset():
                lengths = set(map(len, own))
                inner = (*path, "item")
                if type(like) is tuple and len(lengths) == 1 and len(own) > 1:  # a record
                    return tuple(self._made(item, inner) for item in like)
                items = list(like) or (self._profile.places[inner].values if inner in self._profile.places else [])
                count = rng.randint(0, max(lengths)) if items else 0
                made = [self._made(rng.choice(items), inner) for _ in range(count)]
                return type(like)(made if type(like) in (list, tuple) else _hashable(made))
            case dict():
                keys = _hashable([self._made(key, (*path, "key")) for key in like])
                values = [self._made(item, (*path, "value")) for item in like.values()]
                return dict(zip(keys, values, strict=False))
        return like


def size_of(value: Any) -> int:
    """How many values, characters and digits there are, at any depth."""
    match value:
        case str():
            return 1 + len(value)
        case int() if type(value) is int:
            return 1 + abs(value).bit_length() // 4
        case float():
            return len(repr(value))
        case dict():
            return 1 + sum(size_of(key) + size_of(item) for key, item in value.items())
        case list() | tuple() | set() | frozenset():
            return 1 + sum(map(size_of, value))
    return 1


def _with_number(value: Any, old: str, new: str) -> Any:
    match value:
        case str():
            return re.sub(rf"(?<!\d){old}(?!\d)", new, value)
        case int() if type(value) is int and str(value) == old:
            return int(new)
        case list() | tuple():
            return type(value)(_with_number(item, old, new) for item in value)
    return value


def _items(value: Any, path: Path) -> Iterator[tuple[Path, Any, Callable[[Any], Any]]]:
    """Each item of a list, or value of a dict, with its path and what makes the same with another one there."""
    if type(value) in (list, tuple):
        yield from (((*path, "item"), item, partial(_with_item, value, at)) for at, item in enumerate(value))
    elif type(value) is dict:
        yield from (((*path, "value"), item, partial(_with_item, value, key)) for key, item in value.items())


def _with_item(value: Any, key: Any, new: Any) -> Any:
    return value | {key: new} if type(value) is dict else type(value)([*value[:key], new, *value[key + 1 :]])


def _hashable(items: Iterable[Any]) -> list[Any]:
    found = []
    for item in items:
        with suppress(TypeError):
            hash(item)
            found.append(item)
    return found
