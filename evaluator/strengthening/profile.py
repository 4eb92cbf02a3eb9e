"""What a task's own inputs have in common, position by position, and how a new input departs from that.

A reference silently accepts much that its prompt forbids. So a new input is described by its departures: words such as
`negative`, where all own numbers at that place are not. Inputs without a departure are as sure as the task's own ones.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

Arguments = tuple[Any, ...]
Path = tuple[object, ...]
"""Of a value in the arguments: the argument's place, then "item", "key" or "value" per level."""

_SEQUENCES = (list, tuple)
_COLLECTIONS = (list, tuple, dict, set, frozenset)
_CLASSES = {
    "lower": re.compile(r"[a-z]"),
    "upper": re.compile(r"[A-Z]"),
    "digit": re.compile(r"[0-9]"),
    "space": re.compile(r"\s"),
    "other": re.compile(r"[^a-zA-Z0-9\s]"),
}
_LARGER = 2
"""How many times the largest own value or length counts as of the same size."""
_SMALL = 20
_LARGEST = 400
"""Less than Python's limit of recursion."""
_FEW = 3
_MANY = 8
_MANY_ITEMS = 50
_MILD = frozenset("small smaller larger shorter longer whole parity".split())
_MILD_OF_ITEMS = frozenset(f"{word} item" for word in _MILD)
_NEAR = frozenset((
    "zero", "zero item", "negative", "negative item", "positive", "positive item", "large", "large item", "unsorted",
    "undescending", "duplicates", "upper characters", "lower characters", "spaces", "no item of another", "empty text",
    "long", "words",
))  # fmt: skip
_RUN = re.compile(r"[a-z]+|[A-Z]+|[0-9]+|\s+|(.)\1*", re.DOTALL)


def is_near(departures: frozenset[str]) -> bool:
    """Whether an input is like the task's own but for one departure that most programs are right to expect."""
    others = departures - _MILD - _MILD_OF_ITEMS
    return len(others) <= 1 and others <= _NEAR


@dataclass
class Place:
    """All own values at one path."""

    values: list[Any] = field(default_factory=list)
    types: set[type] = field(default_factory=set)

    def add(self, value: Any) -> None:
        self.values.append(value)
        self.types.add(type(value))

    @property
    def numbers(self) -> list[Any]:
        return [value for value in self.values if type(value) in (int, float)]

    @property
    def texts(self) -> list[str]:
        return [value for value in self.values if type(value) is str]

    @property
    def collections(self) -> list[Any]:
        return [value for value in self.values if type(value) in _COLLECTIONS]

    @property
    def is_choice(self) -> bool:
        """Whether the texts are words of a small set, such as `asc` and `desc`."""
        texts = self.texts
        return len(texts) == len(self.values) > _FEW and len(set(texts)) * 2 <= len(texts) and max(map(len, texts)) > 1


class Profile:
    """Of the argument lists of a task's own tests."""

    def __init__(self, own: Sequence[Arguments]) -> None:
        self.own = list(own)
        self.places: dict[Path, Place] = {}
        for arguments in own:
            for path, value in walk(arguments):
                self.places.setdefault(path, Place()).add(value)
        self._relations = [name for name in _RELATIONS if self._holds(name)]

    def _holds(self, name: str) -> bool:
        """Whether a relation between arguments holds in all own inputs, and not for want of such arguments."""
        found = [_RELATIONS[name](arguments) for arguments in self.own]
        return len(found) > 1 and all(found)

    def departures(self, arguments: Arguments) -> frozenset[str]:
        """In which ways these are unlike the task's own; empty for none."""
        found: set[str] = set()
        for path, value in walk(arguments):
            place = self.places.get(path)
            if place is None:
                found.add("deeper")
                continue
            if type(value) not in place.types:
                found.add(_type_departure(value, place))
                continue
            found.update(_of_value(value, place, of_item=len(path) > 1))
        found.update(name for name in self._relations if not _RELATIONS[name](arguments))
        return frozenset(found)


def walk(arguments: Arguments) -> Iterator[tuple[Path, Any]]:
    """Every value in the arguments with its path, outermost first."""
    pending: list[tuple[Path, Any]] = [((place,), value) for place, value in enumerate(arguments)]
    while pending:
        path, value = pending.pop()
        yield path, value
        if isinstance(value, dict):
            pending += [((*path, "key"), key) for key in value] + [((*path, "value"), each) for each in value.values()]
        elif isinstance(value, _COLLECTIONS):
            pending += [((*path, "item"), item) for item in value]


def _type_departure(value: Any, place: Place) -> str:
    if value is None:
        return "none"
    if type(value) is float and int in place.types:
        return "float"
    if type(value) is int and float in place.types:
        return "whole"
    return "type"


def _of_value(value: Any, place: Place, *, of_item: bool) -> Iterator[str]:
    if type(value) in (int, float):
        yield from (f"{word} item" if of_item else word for word in _of_number(value, place.numbers))
    elif type(value) is str:
        yield from _of_text(value, place)
    elif type(value) in _COLLECTIONS:
        yield from _of_length(len(value), [len(each) for each in place.collections])
        if type(value) in _SEQUENCES:
            yield from _of_order(value, [each for each in place.collections if type(each) in _SEQUENCES])


def _of_number(value: float, own: Sequence[float]) -> Iterator[str]:
    low, high = min(own), max(own)
    if value < 0 <= low:
        yield "negative"
    elif value == 0 < low:
        yield "zero"
    elif value > 0 and high < 0:
        yield "positive"
    elif 0 < value < low and low > 1 and value <= _SMALL:
        yield "small"
    elif 0 < value < low:
        yield "smaller"
    most = max(abs(low), abs(high))
    if abs(value) > max(_SMALL, _LARGER * most):
        yield "large" if abs(value) <= _LARGEST else "huge"
    elif abs(value) > max(_SMALL, most):
        yield "larger"


def _of_length(length: int, own: Sequence[int]) -> Iterator[str]:
    low, high = min(own), max(own)
    if length == 0 < low:
        yield "empty"
    elif length == 1 < low:
        yield "single" if low > 2 else "shorter"
    elif length < low:
        yield "shorter"
    if length > max(_LARGER * high, _FEW):
        yield "long"
    elif length > high:
        yield "longer"
    if low == high and len(own) > _FEW and length != low:
        yield "length"


def _of_text(value: str, place: Place) -> Iterator[str]:
    own = place.texts
    for word in _of_length(len(value), [len(text) for text in own]):
        yield f"{word} text" if word in ("empty", "length", "single") else word
    if place.is_choice and value not in own:
        yield "word"
    letters = Counter("".join(own))
    if sum(letters.values()) >= _MANY and min(letters.values()) > 1 and not set(value) <= letters.keys():
        yield "alphabet"
    seen = {name for name, pattern in _CLASSES.items() if any(map(pattern.search, own))}
    for name, pattern in _CLASSES.items():
        if name not in seen and pattern.search(value):
            yield f"{name} characters"
    if "other" in seen and not set(_CLASSES["other"].findall(value)) <= {c for text in own for c in text}:
        yield "signs"
    if not value.isascii() and all(map(str.isascii, own)):
        yield "no ascii"
    if (
        value
        and (value[0].isspace() or value[-1].isspace())
        and not any(t[:1].isspace() or t[-1:].isspace() for t in own)
    ):
        yield "space around"
    if re.search(r"\s\s", value) and not any(re.search(r"\s\s", text) for text in own):
        yield "spaces"
    forms = {_form(text) for text in own}
    if len(own) > 1 and len(forms) == 1 and re.search(r"[^a\s]", next(iter(forms))) and _form(value) not in forms:
        yield "words" if re.fullmatch(r"a(?:([^0a\s])a)?(?:\1a)*", next(iter(forms))) else "format"
    if _are_numbers(own) and not _are_numbers([value]):
        yield "no number"
    if _are_balanced(own) and not _are_balanced([value]):
        yield "unbalanced"


def _form(text: str) -> str:
    """The text with one character for each run of letters, digits or spaces: `0-0-0` of a date."""

    def sign(found: re.Match[str]) -> str:
        first = found[0][0]
        return "a" if first.isalpha() else "0" if first.isdigit() else " " if first.isspace() else found[0]

    return re.sub("a+", "a", _RUN.sub(sign, text))


def _are_numbers(texts: Sequence[str]) -> bool:
    return all(re.fullmatch(r"[+-]?\d+(\.\d+)?", text) for text in texts)


def _are_balanced(texts: Sequence[str]) -> bool:
    return any(set("()[]{}<>") & set(text) for text in texts) and all(_is_balanced(text) for text in texts)


def _is_balanced(text: str) -> bool:
    open_: list[str] = []
    partners = {")": "(", "]": "[", "}": "{", ">": "<"}
    for char in text:
        if char in "([{<":
            open_.append(char)
        elif char in partners and (not open_ or open_.pop() != partners[char]):
            return False
    return not open_


def _of_order(value: Sequence[Any], own: Sequence[Sequence[Any]]) -> Iterator[str]:
    long = [each for each in own if len(each) > 1]
    if len(long) < 2 or len(value) < 2:
        return
    for name, holds in (("unsorted", _ascends), ("undescending", _descends), ("duplicates", _is_distinct)):
        if all(map(holds, long)) and not holds(value):
            yield name
    if len({len(each) for each in long}) > 1 or len(long) > _FEW:
        for name, trait in (("parity", _is_even), ("mixed types", _is_of_one_type)):
            if all(map(trait, long)) and not trait(value):
                yield name
    if all(map(_is_rectangular, long)) and not _is_rectangular(value):
        yield "ragged"
    elif all(map(_is_square, long)) and not _is_square(value):
        yield "not square"


def _ascends(items: Sequence[Any]) -> bool:
    try:
        return all(one <= other for one, other in pairwise(items))
    except TypeError:
        return False


def _descends(items: Sequence[Any]) -> bool:
    return _ascends(items[::-1])


def _is_distinct(items: Sequence[Any]) -> bool:
    return len(set(map(repr, items))) == len(items)


def _is_even(items: Sequence[Any]) -> bool:
    return len(items) % 2 == 0


def _is_of_one_type(items: Sequence[Any]) -> bool:
    return len(set(map(type, items))) <= 1


def _is_rectangular(items: Sequence[Any]) -> bool:
    return all(type(item) in _SEQUENCES for item in items) and len({len(item) for item in items}) <= 1


def _is_square(items: Sequence[Any]) -> bool:
    return _is_rectangular(items) and all(len(item) == len(items) for item in items)


def _lengths(arguments: Arguments) -> list[int]:
    return [len(each) for each in arguments if type(each) in (*_COLLECTIONS, str)]


def _whole(arguments: Arguments) -> list[int]:
    return [each for each in arguments if type(each) is int]


def _are_of_one_length(arguments: Arguments) -> bool:
    found = _lengths(arguments)
    return len(found) > 1 and len(set(found)) == 1


def _number_is_length(arguments: Arguments) -> bool:
    numbers, lengths = _whole(arguments), _lengths(arguments)
    return bool(numbers and lengths) and any(number in lengths for number in numbers)


def _last_is_length(arguments: Arguments) -> bool:
    lengths = _lengths(arguments)
    return bool(lengths) and type(arguments[-1]) is int and arguments[-1] in lengths


def _numbers_fit(arguments: Arguments) -> bool:
    """Every whole number is a count of, or a position from 1 in, the longest collection."""
    numbers, lengths = _whole(arguments), _lengths(arguments)
    return bool(numbers and lengths) and all(0 < number <= max(lengths) for number in numbers)


def _are_positions(arguments: Arguments) -> bool:
    """Every whole number is a position from 0 in the longest collection."""
    numbers, lengths = _whole(arguments), _lengths(arguments)
    return bool(numbers and lengths) and all(0 <= number < max(lengths) for number in numbers)


def _keys_agree(arguments: Arguments) -> bool:
    """Dicts have the same value for a key that they share."""
    dicts = [each for each in arguments if isinstance(each, dict)]
    pairs = [(one, other) for place, one in enumerate(dicts) for other in dicts[place + 1 :]]
    return bool(pairs) and all(one[key] == other[key] for one, other in pairs for key in one.keys() & other.keys())


def _numbers_ascend(arguments: Arguments) -> bool:
    numbers = _whole(arguments)
    return len(numbers) > 1 and _ascends(numbers)


def _numbers_descend(arguments: Arguments) -> bool:
    numbers = _whole(arguments)
    return len(numbers) > 1 and _descends(numbers)


def _are_different(arguments: Arguments) -> bool:
    return len(arguments) > 1 and _is_distinct(arguments)


def _has_item(arguments: Arguments) -> bool:
    """An argument is an item or a part of another one."""
    return any(
        _is_in(one, other) for one in arguments for other in arguments if one is not other and hasattr(other, "__len__")
    )


def _is_in(one: Any, other: Any) -> bool:
    try:
        return one in other
    except TypeError:
        return False


_RELATIONS = {
    "lengths differ": _are_of_one_length,
    "not the length": _number_is_length,
    "last not the length": _last_is_length,
    "beyond the length": _numbers_fit,
    "no position": _are_positions,
    "conflicting keys": _keys_agree,
    "numbers not ascending": _numbers_ascend,
    "numbers not descending": _numbers_descend,
    "equal arguments": _are_different,
    "no item of another": _has_item,
}


def traits(arguments: Arguments) -> frozenset[str]:
    """What is special about an input: words such as `0 palindrome`, each with the argument's place."""
    found = {f"{place} {word}" for place, value in enumerate(arguments) for word in _traits(value)}
    if len(arguments) > 1:
        found.update(name for name, holds in _RELATIONS.items() if holds(arguments))
    return frozenset(found)


def _traits(value: Any) -> Iterator[str]:
    match value:
        case bool() | None:
            yield repr(value)
        case int() | float():
            yield (
                "negative" if value < 0 else repr(value) if value in (0, 1, 2) else "even" if value % 2 == 0 else "odd"
            )
            if type(value) is float and value.is_integer():
                yield "whole"
            digits = str(value)
            if len(digits) > 1 and len(set(digits)) <= 2:
                yield "digits alike"
        case str():
            yield from ("letters",) if value.isalpha() else ("digits",) if value.isdigit() else ()
            yield from (name for name, pattern in _CLASSES.items() if pattern.search(value))
            yield from _of_items(value)
            if value != value.strip():
                yield "space around"
        case list() | tuple():
            yield from _of_items(value)
            numbers = [item for item in value if type(item) in (int, float)]
            if numbers and len(numbers) == len(value):
                yield "no positive" if max(numbers) <= 0 else "some negative" if min(numbers) < 0 else "no negative"
                if any(type(item) is float and item.is_integer() for item in numbers):
                    yield "whole" if _is_of_one_type(value) else "whole among others"
            if any(item in (0, "", [], ()) for item in value if item.__hash__ is None or item == item):  # noqa: PLR0124
                yield "empty item"
            inner = [
                number for item in value if type(item) in _SEQUENCES for number in item if type(number) in (int, float)
            ]
            if inner and max(inner) <= 0:
                yield "nothing positive inside"
            if any(type(item) in _SEQUENCES and not _is_distinct(item) for item in value):
                yield "duplicates inside"
        case dict() | set() | frozenset():
            yield f"{min(len(value), 3)} items"


def _of_items(value: Any) -> Iterator[str]:
    if len(value) <= 2:
        yield f"{len(value)} items"
    if len(value) > 1:
        names = map(repr, value)
        common = Counter(names).most_common(1)[0][1]
        if common == len(value):
            yield "all equal"
        elif common > 1:
            yield "duplicates"
        if list(value) == list(value)[::-1]:
            yield "palindrome"
        if _ascends(value):
            yield "ascending"
        elif _descends(value):
            yield "descending"
    if len(value) > _MANY_ITEMS:
        yield "many items"
