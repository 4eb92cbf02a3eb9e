"""What a task's own inputs have in common, place by place, and how a new input departs from that.

A reference silently accepts much that its prompt forbids. So a new input is described by its departures: words such as
`unsorted`, where all own lists at that place are sorted. An input without a departure is as sure as the own ones.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

Arguments = tuple[Any, ...]
Path = tuple[object, ...]
"""Of a value in the arguments: the argument's place, then "item", "key" or "value" per level."""

_LARGER: Final = 2
"""How many times the largest own value or length counts as of the same size."""
_LARGEST: Final = 400
"""Less than Python's limit of recursion."""
_SMALL, _FEW, _MANY = 20, 3, 8
_MILD: Final = frozenset("small smaller larger shorter longer whole parity palindrome".split()) | {
    "all equal", "no positive",
}  # fmt: skip
"""Departures that any input may have."""
NEAR: Final = frozenset((
    "zero", "zero item", "negative item", "positive", "positive item", "large", "large item", "unsorted",
    "undescending",
    "duplicates", "upper characters", "lower characters", "spaces", "no item of another", "empty text", "long", "words",
))  # fmt: skip
"""Of these an input may have one: most programs are right to expect that."""


def is_near(departures: frozenset[str]) -> bool:
    """Whether an input is like the task's own ones, but for one departure that programs have to expect."""
    others = {word for word in departures if word.removesuffix(" item") not in _MILD}
    return len(others) <= 1 and others <= NEAR


# ---- rules: what all own values at a place may have in common; named by what a value is that does not have it

Rules = Mapping[str, Callable[[Any], bool]]


def _without(pattern: str) -> Callable[[Any], bool]:
    return lambda text: re.search(pattern, text) is None


def _ascends(items: Sequence[Any]) -> bool:
    try:
        return all(one <= other for one, other in pairwise(items))
    except TypeError:
        return False


def _is_distinct(items: Sequence[Any]) -> bool:
    return len(set(map(repr, items))) == len(items)


def _is_rectangular(items: Sequence[Any]) -> bool:
    return all(type(item) in (list, tuple) for item in items) and len(set(map(len, items))) <= 1


def _is_balanced(text: str) -> bool:
    waiting: list[str] = []
    for char in text:
        if char in "([{<":
            waiting.append(")]}>"["([{<".index(char)])
        elif char in ")]}>" and (not waiting or waiting.pop() != char):
            return False
    return not waiting


_OF_BOTH: Final[Rules] = {
    "palindrome": lambda items: len(items) < 2 or items != items[::-1],
    "all equal": lambda items: len(items) < 2 or len(set(map(repr, items))) > 1,
}
_OF_TEXTS: Final[Rules] = {
    **_OF_BOTH,
    "lower characters": _without("[a-z]"),
    "upper characters": _without("[A-Z]"),
    "digit characters": _without("[0-9]"),
    "space characters": _without(r"\s"),
    "other characters": _without(r"[^a-zA-Z0-9\s]"),
    "no ascii": str.isascii,
    "space around": lambda text: text == text.strip(),
    "spaces": _without(r"\s\s"),
    "no number": lambda text: re.fullmatch(r"[+-]?\d+(\.\d+)?", text) is not None,
    "unbalanced": _is_balanced,
}
_OF_SEQUENCES: Final[Rules] = {
    **_OF_BOTH,
    "unsorted": _ascends,
    "undescending": lambda items: _ascends(items[::-1]),
    "duplicates": _is_distinct,
    "parity": lambda items: len(items) % 2 == 0,
    "mixed types": lambda items: len(set(map(type, items))) <= 1,
    "no positive": lambda items: any(type(item) in (int, float) and item > 0 for item in items),
    "ragged": _is_rectangular,
    "not square": lambda items: _is_rectangular(items) and all(len(item) == len(items) for item in items),
}


def _lengths(arguments: Arguments) -> list[int]:
    return [len(each) for each in arguments if hasattr(each, "__len__")]


def _whole(arguments: Arguments) -> list[int]:
    return [each for each in arguments if type(each) is int]


def _fit(arguments: Arguments, first: int) -> bool:
    """Whether every whole number counts items of the longest argument, or is a place there, from `first` on."""
    numbers, lengths = _whole(arguments), _lengths(arguments)
    return bool(numbers and lengths) and all(first <= number < max(lengths) + first for number in numbers)


def _has_item(arguments: Arguments) -> bool:
    """Whether an argument is an item or a part of another one."""
    for one in arguments:
        for other in arguments:
            try:
                if one is not other and one in other:
                    return True
            except TypeError:
                continue
    return False


def _keys_agree(arguments: Arguments) -> bool:
    """Whether dicts have the same value for a key that they share."""
    dicts = [each for each in arguments if isinstance(each, dict)]
    pairs = [(one, other) for place, one in enumerate(dicts) for other in dicts[place + 1 :]]
    return bool(pairs) and all(one[key] == other[key] for one, other in pairs for key in one.keys() & other.keys())


_OF_ARGUMENTS: Final[Rules] = {
    "lengths differ": lambda given: len(_lengths(given)) > 1 and len(set(_lengths(given))) == 1,
    "not the length": lambda given: not {*_whole(given)}.isdisjoint(_lengths(given)),
    "last not the length": lambda given: type(given[-1]) is int and given[-1] in _lengths(given),
    "beyond the length": lambda given: _fit(given, 1),
    "no position": lambda given: _fit(given, 0),
    "conflicting keys": _keys_agree,
    "numbers not ascending": lambda given: len(_whole(given)) > 1 and _ascends(_whole(given)),
    "numbers not descending": lambda given: len(_whole(given)) > 1 and _ascends(_whole(given)[::-1]),
    "equal arguments": lambda given: len(given) > 1 and _is_distinct(given),
    "no item of another": _has_item,
}


# ---- the own inputs


@dataclass
class Place:
    """All own values at one path."""

    values: list[Any] = field(default_factory=list)

    @cached_property
    def types(self) -> set[type]:
        return set(map(type, self.values))

    @cached_property
    def numbers(self) -> list[float]:
        return [value for value in self.values if type(value) in (int, float)]

    @cached_property
    def texts(self) -> list[str]:
        return [value for value in self.values if type(value) is str]

    @cached_property
    def lengths(self) -> list[int]:
        return [len(each) for each in self.values if type(each) is not str and hasattr(each, "__len__")]

    @cached_property
    def is_choice(self) -> bool:
        """Whether the texts are words of a small set, such as `asc` and `desc`."""
        texts = self.texts
        return len(texts) == len(self.values) > _FEW and len(set(texts)) * 2 <= len(texts) and max(map(len, texts)) > 1

    @cached_property
    def rules(self) -> Rules:
        """Those for texts that all own ones follow."""
        return {name: holds for name, holds in _OF_TEXTS.items() if all(map(holds, self.texts))}

    @cached_property
    def sequence_rules(self) -> Rules:
        """Those that all own lists of several items follow; none for a single such list."""
        several = [value for value in self.values if type(value) in (list, tuple) and len(value) > 1]
        return {name: holds for name, holds in _OF_SEQUENCES.items() if len(several) > 1 and all(map(holds, several))}

    @cached_property
    def alphabet(self) -> set[str] | None:
        """The characters of the texts, if these seem to be all that there are: each comes more than once."""
        letters = Counter("".join(self.texts))
        return set(letters) if letters.total() >= _MANY and min(letters.values()) > 1 else None

    @cached_property
    def forms(self) -> set[str]:
        return set(map(_form, self.texts))


class Profile:
    """Of the argument lists of a task's own tests."""

    def __init__(self, own: Sequence[Arguments]) -> None:
        self.own = list(own)
        self.places: dict[Path, Place] = {}
        for arguments in own:
            for path, value in walk(arguments):
                self.places.setdefault(path, Place()).values.append(value)
        self._relations = {
            name: holds for name, holds in _OF_ARGUMENTS.items() if len(self.own) > 1 and all(map(holds, self.own))
        }

    def departures(self, arguments: Arguments) -> frozenset[str]:
        """In which ways these are unlike the task's own; empty for none."""
        found = {name for name, holds in self._relations.items() if not holds(arguments)}
        for path, value in walk(arguments):
            place = self.places.get(path)
            if place is None or type(value) not in place.types:
                is_whole = place is not None and type(value) is int and float in place.types
                found.add("whole" if is_whole else "type")
            elif type(value) in (int, float):
                found.update(f"{word} item" if len(path) > 1 else word for word in _of_number(value, place.numbers))
            elif type(value) is str:
                found.update(_of_text(value, place))
            elif hasattr(value, "__len__"):
                found.update(_of_length(len(value), place.lengths))
                if type(value) in (list, tuple) and len(value) > 1:
                    found.update(name for name, holds in place.sequence_rules.items() if not holds(value))
        return frozenset(found)


def walk(arguments: Arguments) -> Iterator[tuple[Path, Any]]:
    """Every value in the arguments with its path, outermost first."""
    pending: list[tuple[Path, Any]] = [((place,), value) for place, value in enumerate(arguments)]
    while pending:
        path, value = pending.pop()
        yield path, value
        if isinstance(value, dict):
            pending += [((*path, "key"), key) for key in value] + [((*path, "value"), each) for each in value.values()]
        elif isinstance(value, (list, tuple, set, frozenset)):
            pending += [((*path, "item"), item) for item in value]


def _of_number(value: float, own: Sequence[float]) -> Iterator[str]:
    low, high = min(own), max(own)
    most = max(abs(low), abs(high))
    if value < 0 <= low:
        yield "negative"
    elif value == 0 < low:
        yield "zero"
    elif value > 0 > high:
        yield "positive"
    elif 0 < value < low:
        yield "small" if value <= _SMALL else "smaller"
    if abs(value) > _LARGER * max(most, _FEW):
        yield "large" if abs(value) <= _LARGEST else "huge"
    elif abs(value) > most:
        yield "larger"


def _of_length(length: int, own: Sequence[int]) -> Iterator[str]:
    low, high = min(own), max(own)
    if length < low:
        yield "empty" if length == 0 else "single" if length == 1 and low > 2 else "shorter"
    elif length > high:
        yield "long" if length > max(_LARGER * high, _FEW) else "longer"
    if low == high != length and len(own) > _FEW:
        yield "length"


def _of_text(value: str, place: Place) -> Iterator[str]:
    lengths = list(map(len, place.texts))
    yield from (
        f"{word} text" if word in ("empty", "single", "length") else word for word in _of_length(len(value), lengths)
    )
    yield from (name for name, holds in place.rules.items() if not holds(value))
    if place.is_choice and value not in place.texts:
        yield "word"
    if place.alphabet is not None and not set(value) <= place.alphabet:
        yield "alphabet"
    if "other characters" not in place.rules and not set(re.findall(r"[^a-zA-Z0-9\s]", value)) <= set(
        "".join(place.texts)
    ):
        yield "signs"
    form = next(iter(place.forms))
    if len(place.texts) > 1 and place.forms == {form} and re.search(r"[^a\s]", form) and _form(value) != form:
        yield "words" if re.fullmatch(r"a(?:([^0a\s])a)?(?:\1a)*", form) else "format"


def _form(text: str) -> str:
    """The text with one character for each run of letters, digits or spaces: `0-0-0` of a date."""
    return re.sub(r"\s+", " ", re.sub("[0-9]+", "0", re.sub("[a-zA-Z]+", "a", text)))


# ---- for choosing among inputs


def traits(arguments: Arguments) -> frozenset[str]:
    """What is special about an input: words such as `0 palindrome`, each with the place of the argument."""
    found = {f"{place} {word}" for place, value in enumerate(arguments) for word in _traits(value)}
    return frozenset(
        found.union(name for name, holds in _OF_ARGUMENTS.items() if len(arguments) > 1 and holds(arguments))
    )


def _traits(value: Any) -> Iterator[str]:
    if value is None or type(value) is bool or value in (0, 1, 2, "", (), []):
        yield repr(value)
    elif type(value) in (int, float):
        yield "negative" if value < 0 else "odd" if value % 2 else "even"
        yield f"{min(len(set(str(value))), _FEW)} digits of {min(len(str(value)), _FEW)}"
    elif type(value) in (str, list, tuple):
        rules = _OF_TEXTS if type(value) is str else _OF_SEQUENCES
        yield from (name for name, holds in rules.items() if not holds(value))
        yield f"{min(len(value), _FEW)} items" if len(value) <= _MANY * _MANY else "many items"
    if type(value) in (list, tuple):
        yield from {"negative inside" for item in value if type(item) in (int, float) and item < 0}
        yield from {"whole inside" for item in value if type(item) is float and item.is_integer()}
        yield from {f"{word} inside" for item in value if type(item) in (str, list, tuple) for word in _traits(item)}
