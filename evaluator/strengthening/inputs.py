"""New argument lists from a task's own: small edits of them, one after the other, boundaries, and values made anew.

Types and nesting stay those of the own inputs, and sizes too. Values come from the other inputs, and from constants of
the reference and the completions, which are parsed and never run.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from random import Random
from typing import Any, Final

from evaluator.strengthening.profile import Arguments, Path, Place, Profile, walk
from evaluator.syntax import completion_tree

_MOST_CONSTANTS: Final = 60
_LONGEST: Final = 40
_MOST_ITEMS: Final = 2_000
"""Items and characters of one argument list."""
_WORDS: Final = re.compile(r"[A-Za-z]+|\d+|\s+|[^A-Za-z\d\s]")
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_SIGNS: Final = "!?.,-_ #@$%&*+/;:'\""
_COLLECTIONS: Final = (list, tuple, dict, set, frozenset)


def constants_of(sources: Iterable[str]) -> list[Any]:
    """The numbers and short texts in some programs, the first ones first; equal ones once."""
    found: dict[tuple[type, Any], None] = {}
    for source in sources:
        tree = completion_tree(source)
        for node in ast.walk(tree) if tree is not None else ():
            value = node.value if isinstance(node, ast.Constant) else None
            if type(value) in (int, float) or (type(value) is str and 0 < len(value) <= _LONGEST):
                found.setdefault((type(value), value))
            if len(found) >= _MOST_CONSTANTS:
                break
    return [value for _, value in found]


class Maker:
    """Makes inputs for one task."""

    def __init__(self, profile: Profile, constants: Sequence[Any], rng: Random) -> None:
        self._profile = profile
        self._rng = rng
        self._constants = list(constants)
        self._seen: set[str] = {repr(own) for own in profile.own}
        self._values = [value for own in profile.own for _, value in walk(own)]
        """Everything in the own inputs, at any depth."""
        texts = "\n".join(value for value in self._values if type(value) is str)
        self._numbers_in_texts: list[str] = re.findall(r"\d+", texts)

    def boundaries(self) -> Iterator[Arguments]:
        """Each own input with one value replaced by each boundary of its kind; the shortest own input first."""
        for own in sorted(self._profile.own, key=size_of)[:6]:
            for path, value in walk(own):
                if len(path) <= 2:
                    for other in self._boundaries_of(value, path):
                        yield from self._new(_replaced(own, path, value, other))
        for own in self._profile.own[:3]:
            for one in range(len(own)):
                for other in range(len(own)):
                    if one != other:
                        yield from self._new(self._related(own, one, other))

    def edited(self, pool: Sequence[Arguments]) -> Iterator[Arguments]:
        """Without end: some input of the pool after one to four edits. Equal ones come once, so there may be none."""
        failures = 0
        while pool and failures < 200:
            made = self._rng.choice(pool)
            for _ in range(self._rng.choice((1, 1, 1, 2, 2, 3, 4))):
                made = self._edit(made)
            new = list(self._new(made))
            failures = 0 if new else failures + 1
            yield from new

    def fresh(self) -> Iterator[Arguments]:
        """Without end: argument lists made anew of the own ones' types, alphabets and sizes."""
        failures = 0
        while self._profile.own and failures < 200:
            like = self._rng.choice(self._profile.own)
            new = list(self._new(tuple(self._made(value, (place,)) for place, value in enumerate(like))))
            failures = 0 if new else failures + 1
            yield from new

    def _new(self, made: Arguments) -> Iterator[Arguments]:
        if size_of(made) > _MOST_ITEMS:
            return
        text = repr(made)
        if text not in self._seen:
            self._seen.add(text)
            yield made

    # ---- boundaries

    def _boundaries_of(self, value: Any, path: Path) -> Iterator[Any]:
        place = self._profile.places[path]
        match value:
            case bool():
                yield not value
            case int():
                own = [each for each in place.numbers if type(each) is int]
                near = [*own, *(each for each in self._constants if type(each) is int)]
                yield from (0, 1, -1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 16, 20, 25, 99, 100, 101)
                yield from (number + step for number in near for step in (0, 1, -1))
                yield from (-value, value * 2, value // 2, value * 10, value // 10)
            case float():
                yield from (0.0, 1.0, -1.0, 0.5, -value, value * 2, value / 2, value + 1, float(int(value)))
                yield from (each for each in self._constants if type(each) is float)
            case str():
                yield from self._boundary_texts(value, place)
            case list() | tuple():
                yield from self._boundary_items(value)
            case dict():
                yield {}
                yield from ({key: item} for key, item in list(value.items())[:2])
            case set() | frozenset():
                yield type(value)()
                yield from (type(value)([item]) for item in list(value)[:1])

    def _boundary_texts(self, value: str, place: Place) -> Iterator[str]:
        yield from ("", value[:1], value[-1:], value + value, value[::-1], value.upper(), value.lower())
        yield from (value.swapcase(), value.title(), f" {value}", f"{value} ", "".join(sorted(value)), value * 3)
        yield from (value[:1] * 2, value[:1] * 3, value[: len(value) // 2], value[1:], value[:-1], " ", "a", "A", "1")
        yield from (value.replace(" ", "  "), f"{value}{value[:1]}", f"{value[-1:]}{value}")
        words = _WORDS.findall(value)
        for length in (64, 101):
            yield (value * length)[:length] if len(value) > 1 else value * length
        for word in dict.fromkeys(words):
            yield value.replace(word, "", 1)
            yield value.replace(word, word * 2, 1)
            if word.isdigit():
                number = int(word[:18])
                for other in (0, number - 1, number + 1, number * 10, number % 10):
                    yield value.replace(word, str(other), 1)
                yield value.replace(word, f"0{word}", 1)
        for text in [each for each in self._constants if type(each) is str]:
            yield from (text, f"{value}{text}", f"{text}{value}", f"{value[:1]}{text}{value[1:]}")
        yield from place.texts

    def _boundary_items(self, value: Any) -> Iterator[Any]:
        items, kind = list(value), type(value)
        made: list[list[Any]] = [
            [],
            items[:1],
            items[-1:],
            items[::-1],
            items * 2,
            items[:1] * 3,
            items[1:],
            items[:-1],
        ]
        made += [items[:2], items[:1] + items, [*items, *items[:1]]]
        if items:
            made += [[items[0]] * len(items), [items[-1]] * len(items)]
        with suppress(TypeError):
            made += [sorted(items), sorted(items, reverse=True)]
        if items and all(type(item) in (int, float) for item in items):
            made += [[-item for item in items], [0] * len(items), [0], [1], [-1], [*items, 0], [0, *items]]
            made += [[abs(item) for item in items], [max(items), *items], [*items, min(items)]]
        yield from (kind(each) for each in made)

    def _related(self, own: Arguments, one: int, other: int) -> Arguments:
        """With one argument taken from another: an item or a part of it, its length, or the whole of it."""
        source, target = own[one], own[other]
        made = target
        if type(source) is type(target):
            made = source
        elif isinstance(source, (list, tuple, str)) and len(source):
            item = self._rng.choice(source)
            made = item if type(item) is type(target) else len(source) if type(target) is int else target
        return (*own[:other], made, *own[other + 1 :])

    # ---- edits

    def _edit(self, own: Arguments) -> Arguments:
        if not own:
            return own
        if len(own) > 1 and self._rng.random() < 0.1:
            one, other = self._rng.sample(range(len(own)), 2)
            return self._related(own, one, other)
        place = self._rng.randrange(len(own))
        return (*own[:place], self._edited(own[place], (place,)), *own[place + 1 :])

    def _edited(self, value: Any, path: Path) -> Any:
        rng = self._rng
        place = self._profile.places.get(path)
        if place is not None and rng.random() < 0.15:
            return rng.choice(place.values)
        match value:
            case bool():
                return not value
            case int():
                return self._edited_number(value, place)
            case float():
                return rng.choice((
                    value + 1, value - 1, value * 2, value / 2, -value, round(value), float(rng.randint(-9, 9)),
                    round(value + rng.random(), 2), value + 0.5,
                ))  # fmt: skip
            case str():
                return self._edited_text(value, place)
            case list() | tuple():
                return type(value)(self._edited_items(list(value), path))
            case dict():
                return self._edited_pairs(value, path)
            case set() | frozenset():
                return type(value)(_hashable(self._edited_items(sorted(value, key=repr), path)))
        return value

    def _edited_number(self, value: int, place: Place | None) -> int:
        rng = self._rng
        own = [each for each in place.numbers if type(each) is int] if place else [value]
        low, high = min(own, default=value), max(own, default=value)
        match rng.randrange(9):
            case 0:
                return value + rng.choice((-1, 1))
            case 1:
                return rng.randint(min(low, high), max(low, high))
            case 2:
                return rng.randint(0, 20)
            case 3:
                return value * 2 if rng.random() < 0.5 else value // 2
            case 4:
                return _number_of(self._edited_text(str(abs(value)), None, "0123456789"), value)
            case 5:
                numbers = [each for each in self._constants if type(each) is int]
                return rng.choice(numbers) + rng.choice((-1, 0, 1)) if numbers else value + 1
            case 6:
                return rng.choice([value, *(each for each in self._values if type(each) is int)])
            case 7:
                return -value if rng.random() < 0.3 else value + rng.randint(-5, 5)
        return rng.randint(1, 10 ** min(len(str(abs(high))), 18))

    def _edited_text(self, value: str, place: Place | None, alphabet: str = "") -> str:
        rng = self._rng
        alphabet = alphabet or self._alphabet(place, value)
        at = rng.randrange(len(value) + 1)
        to = min(len(value), at + rng.choice((1, 1, 2, 4)))
        match rng.randrange(10):
            case 0:
                return value[:at] + value[to:]
            case 1:
                return value[:to] + value[at:]
            case 2:
                return value[:at] + rng.choice(alphabet) + value[at:]
            case 3:
                return value[:at] + rng.choice(alphabet) + value[at + 1 :]
            case 4:
                return value[:at] + value[at : at + 1].swapcase() + value[at + 1 :]
            case 5:
                return value[:at] + value[at:to][::-1] + value[to:]
            case 6:
                return self._edited_words(value)
            case 7:
                other = rng.choice(place.texts) if place and place.texts else value
                return value[:at] + other[: rng.randrange(len(other) + 1)]
            case 8:
                texts = [each for each in self._constants if type(each) is str] or [rng.choice(_SIGNS)]
                return value[:at] + rng.choice(texts) + value[at:]
        return "".join(rng.choice(alphabet) for _ in range(rng.randint(1, max(2, len(value)))))

    def _edited_words(self, value: str) -> str:
        words = _WORDS.findall(value)
        if not words:
            return value
        rng = self._rng
        at = rng.randrange(len(words))
        word = words[at]
        match rng.randrange(4):
            case 0:
                words[at] = ""
            case 1:
                words.insert(at, word)
            case 2:
                other = rng.randrange(len(words))
                words[at], words[other] = words[other], word
            case _:
                words[at] = self._other_word(word)
        return "".join(words)

    def _other_word(self, word: str) -> str:
        rng = self._rng
        if not word.isdigit():
            return word * 2
        if rng.random() < 0.4:
            return rng.choice(self._numbers_in_texts or [word])
        return str(rng.randint(0, 10 ** min(len(word), 9)))

    def _edited_items(self, items: list[Any], path: Path) -> list[Any]:
        rng = self._rng
        inner: Path = (*path, "item")
        if not items:
            return [self._made_at(inner)] if inner in self._profile.places else items
        at, other = rng.randrange(len(items)), rng.randrange(len(items))
        match rng.randrange(11):
            case 0:
                del items[at]
            case 1:
                items.insert(other, items[at])
            case 2:
                items.insert(at, self._made_at(inner))
            case 3:
                items[at], items[other] = items[other], items[at]
            case 4:
                items[at] = items[other]
            case 5:
                rng.shuffle(items)
            case 6:
                return items[min(at, other) : max(at, other) + 1]
            case 7:
                try:
                    items.sort()
                except TypeError:
                    items.reverse()
            case _:
                items[at] = self._edited(items[at], inner)
        return items

    def _edited_pairs(self, value: dict[Any, Any], path: Path) -> dict[Any, Any]:
        rng, made = self._rng, dict(value)
        keys = list(made)
        if keys and rng.random() < 0.7:
            key = rng.choice(keys)
            match rng.randrange(3):
                case 0:
                    del made[key]
                case 1:
                    made[key] = self._edited(made[key], (*path, "value"))
                case _:
                    made[key] = made[rng.choice(keys)]
        elif (*path, "key") in self._profile.places:
            made |= dict.fromkeys(_hashable([self._made_at((*path, "key"))]), self._made_at((*path, "value")))
        return made

    # ---- made anew

    def _made(self, like: Any, path: Path) -> Any:
        """A value like an own one at this path."""
        rng = self._rng
        place = self._profile.places.get(path) or Place([like], {type(like)})
        match like:
            case bool():
                return rng.random() < 0.5
            case int():
                low, high = min(place.numbers), max(place.numbers)
                small = rng.random() < 0.4
                return (
                    rng.randint(int(low), int(high)) if not small else rng.randint(min(0, int(low)), min(20, int(high)))
                )
            case float():
                low, high = min(place.numbers), max(place.numbers)
                return round(rng.uniform(low, high), rng.choice((0, 1, 2)))
            case str():
                if place.is_choice or rng.random() < 0.2:
                    return rng.choice(place.texts)
                alphabet = self._alphabet(place, like)
                few = "".join(rng.sample(alphabet, min(len(alphabet), 3)))
                length = rng.randint(0, max(map(len, place.texts)))
                return "".join(rng.choice(alphabet if length % 2 else few) for _ in range(length))
            case list() | tuple() | set() | frozenset():
                lengths = [len(each) for each in place.collections]
                fixed = type(like) is tuple and len(set(lengths)) == 1 and len(lengths) > 1
                count = lengths[0] if fixed else rng.randint(0, max(lengths))
                items = list(like)
                inner: Path = (*path, "item")
                made = [
                    self._made(items[n] if fixed else rng.choice(items), inner) if items else self._made_at(inner)
                    for n in range(count)
                    if items or inner in self._profile.places
                ]
                return type(like)(made) if type(like) in (list, tuple) else type(like)(_hashable(made))
            case dict():
                keys = [self._made(key, (*path, "key")) for key in like]
                return {
                    key: self._made(item, (*path, "value"))
                    for key, item in zip(_hashable(keys), like.values(), strict=False)
                }
        return like

    def _made_at(self, path: Path) -> Any:
        return self._made(self._rng.choice(self._profile.places[path].values), path)

    def _alphabet(self, place: Place | None, value: str) -> str:
        own = "".join(place.texts) if place else value
        if self._rng.random() < 0.75 and own:
            return own
        return own + _LETTERS + _LETTERS.upper() + "0123456789" + _SIGNS


def size_of(value: Any) -> int:
    """How many values and characters there are, at any depth; a number counts its digits."""
    match value:
        case str():
            return 1 + len(value)
        case bool() | None:
            return 1
        case int():
            return 1 + abs(value).bit_length() // 4
        case float():
            return len(repr(value))
        case dict():
            return 1 + sum(size_of(key) + size_of(item) for key, item in value.items())
        case list() | tuple() | set() | frozenset():
            return 1 + sum(map(size_of, value))
    return 1


def _number_of(digits: str, otherwise: int) -> int:
    return int(digits) if digits.isdigit() and digits.isascii() and len(digits) <= 30 else otherwise


def _hashable(items: Iterable[Any]) -> list[Any]:
    found = []
    for item in items:
        try:
            hash(item)
        except TypeError:
            continue
        found.append(item)
    return found


def _replaced(own: Arguments, path: Path, old: Any, new: Any) -> Arguments:
    """The arguments with one value replaced: an argument, or the first such item of one."""
    place = path[0]
    assert isinstance(place, int)
    made = new if len(path) == 1 else _replaced_inside(own[place], path[1], old, new)
    return (*own[:place], made, *own[place + 1 :])


def _replaced_inside(value: Any, part: object, old: Any, new: Any) -> Any:
    if isinstance(value, dict):
        pairs = [
            (new if part == "key" and key is old else key, new if part == "value" and item is old else item)
            for key, item in value.items()
        ]
        return {key: item for key, item in pairs if _hashable([key])}
    items_made, done = [], False
    for item in value:
        items_made.append(new if item is old and not done else item)
        done = done or item is old
    return type(value)(items_made) if type(value) in (list, tuple) else type(value)(_hashable(items_made))
