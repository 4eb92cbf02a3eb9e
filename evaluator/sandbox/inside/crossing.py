"""Values on their way between a completion's process and its check's, as JSON text by exact type.

A *letter* is one message. What can be changed in place (lists, dicts, sets, arrays, objects of the dataset's classes)
gets a number where it first stands in a letter, the same on both sides, and is named by it from then on: so aliases
and cycles are kept, and a result that is an argument comes back as that argument. Objects that both sides still hold
stay in the `Table`; each letter brings what has changed in them since the last one, and it is changed in place.

What is no data (functions, iterators, objects of other classes) is up to the side: see `served` and `stand_ins`.
A letter from the completion's process is hostile text: whatever is wrong with one raises `BadLetterError`.
"""

from __future__ import annotations

import collections
import json
from collections.abc import Callable, Sequence
from json import encoder
from typing import Any, Protocol

from evaluator.sandbox.inside import arrays, kept, stdlib_values
from evaluator.sandbox.inside.shared_objects import Table

MAX_DEPTH = 200
_CONTAINER_COST = 3
_LONG_NUMBERS = 4000
"""Characters of a letter from which on it may hold an int that JSON's reader refuses."""
_LONG_BITS = 10_000
_PLAIN = frozenset((type(None), bool, int, float, str))
_NUMBERS = frozenset((type(None), bool, int, float))

_chunks_of = encoder.c_make_encoder(  # type: ignore[attr-defined]
    None, repr, encoder.encode_basestring_ascii, None, ":", ",", False, False, True
)
_scanned = json.JSONDecoder().scan_once  # type: ignore[attr-defined]


class BadLetterError(Exception):
    """The text is not what the other side writes."""


TooLargeError = arrays.TooLargeError
"""The letter would be longer than it may be."""


class NoDataError(Exception):
    """A value that this side can't send. The message says what it is."""


class Told:
    """What the other side is told once: by number, as soon as the letter that says it is written."""

    def __init__(self) -> None:
        self._known: set[int] = set()
        self.fresh: list[int] = []

    def is_news(self, number: int) -> bool:
        if number in self._known or number in self.fresh:
            return False
        self.fresh.append(number)
        return True

    def settle(self) -> None:
        self._known.update(self.fresh)
        self.fresh.clear()


class Side(Protocol):
    """What the two sides do in their own ways: values that are no data."""

    told: Told
    classes: dict[str, type]
    """The dataset's own classes by name, whose instances cross as their fields."""

    def lower(self, value: object, kind: type, letter: Letter) -> object: ...
    def build(self, tag: str, payload: Any, letter: Letter) -> object: ...
    def filled(self, value: object) -> None: ...


class Letter:
    """One message: written by `write`, or read by `read`. Numbers what stands in it as the other side does."""

    def __init__(self, table: Table, side: Side, cap: int) -> None:
        self.table = table
        self._side = side
        self._left = cap
        self._cap = cap
        self._bodies: list[Any] = []
        self._careful = False

    def write(self, main: Sequence[object], extras: object = None) -> bytes:
        """The letter's text: `[changes, main, bodies, extras]`.

        Raises `TooLargeError`, `NoDataError`, or what the side's `lower` raises.
        """
        table, told = self.table, self._side.told
        base = len(table.objects)
        changed = table.changed() if base else []
        try:
            told.fresh.clear()
            text = self._text(main, changed, extras)
            if (len(text) > _LONG_NUMBERS or "NaN" in text) and not self._careful:
                self._forget(base, 0, 0)
                self._left = self._cap
                self._careful = True
                text = self._text(main, changed, extras)
            if len(text) > self._cap:
                raise TooLargeError
        except BaseException:
            self._forget(base, 0, 0)
            raise
        if changed or len(table.objects) > base:
            table.settle(changed)
        if told.fresh:
            told.settle()
        return text.encode("ascii")

    def _text(self, main: Sequence[object], changed: list[int], extras: object) -> str:
        table = self.table
        try:
            changes = [[number, self._content(table.objects[number])] for number in changed] if changed else []
            lowered = [None if part is None else self.lower(part) for part in main]
            bodies = []
            for value in self._bodies:  # grows while it is walked
                bodies.append(self._content(value))
            return "".join(_chunks_of((changes, lowered, bodies, extras), 0))
        except RecursionError:
            raise NoDataError("a value that is nested too deeply") from None
        except ValueError:  # an int with too many digits for JSON's writer
            if self._careful:
                raise
            return " " * (_LONG_NUMBERS + 1)

    def _forget(self, base: int, bodies: int, told: int) -> None:
        """What has been numbered since: it is not written after all."""
        table = self.table
        for value in table.objects[base:]:
            del table.numbers[id(value)]
        del table.objects[base:], self._bodies[bodies:], self._side.told.fresh[told:]

    def lower_or(self, value: Any, otherwise: Any) -> Any:
        """The value lowered, or the other where it can't be."""
        base, bodies, told = len(self.table), len(self._bodies), len(self._side.told.fresh)
        try:
            return self.lower(value)
        except (NoDataError, TooLargeError, arrays.UnfaithfulError, ValueError, RecursionError):
            self._forget(base, bodies, told)
            return self.lower(otherwise)

    def lower(self, value: Any, depth: int = 0) -> Any:
        """The value as what JSON's writer can write."""
        kind = type(value)
        if kind in _PLAIN and not (self._careful and kind is float):
            return self._plain(value, kind) if kind is str or self._careful else value
        number = self.table.numbers.get(id(value))
        if number is not None:
            return {"r": number}
        if kind is float:
            return self._plain(value, kind)
        self._left -= _CONTAINER_COST
        if self._left < 0:  # a tuple that holds another many times over would never end
            raise TooLargeError
        if depth > MAX_DEPTH:
            raise NoDataError(f"a value nested deeper than {MAX_DEPTH} levels")
        container = _CONTAINERS.get(kind)
        if container is not None:
            return container(self, value, depth + 1)
        return self._other(value, kind, depth + 1)

    def _plain(self, value: Any, kind: type) -> Any:
        if kind is str and not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                return {"s": value.encode("utf-8", "surrogatepass").hex()}
        elif kind is int and value.bit_length() > _LONG_BITS:
            return {"i": format(value, "x")}
        elif kind is float and value != value:  # noqa: PLR0124 - equal to nothing, so it matters which one it is
            self.table.add(value)
            return {"n": None}
        return value

    def items(self, values: Any, depth: int) -> list[Any]:
        """The values of a sequence or set, lowered; long runs of numbers are the common case."""
        listed = values if type(values) is list else list(values)
        kinds = set(map(type, listed))
        self._left -= len(listed)
        if not self._careful and kinds <= _NUMBERS:
            return listed
        if kinds == {str} and "".join(listed).isascii():
            return listed
        return [self.lower(value, depth) for value in listed]

    def pairs(self, value: Any, depth: int) -> list[Any]:
        parts: list[Any] = []
        for pair in value:
            parts += pair
        return self.items(parts, depth)

    def body_later(self, value: Any) -> None:
        """The fields of an object follow after all else, so that a long chain of objects is not nested."""
        self._bodies.append(value)

    def _other(self, value: Any, kind: type, depth: int) -> Any:
        lowered = arrays.lower(value, kind, lambda item: self.lower(item, depth), self._left)
        if lowered is not None:
            if arrays.is_mutable(value, kind):
                self.table.add(value)
            return lowered
        writer = stdlib_values.WRITERS.get(kind)
        if writer is not None:
            return {"x": [writer[0], self.items(writer[1](value), depth)]}
        return self._side.lower(value, kind, self)

    def _content(self, value: Any) -> Any:
        """What is in a mutable object, lowered."""
        kind = type(value)
        if kind in _SEQUENCES:
            return self.items(value, 1)
        if kind in _MAPPINGS:
            return self.pairs(_MAPPINGS[kind](value), 1)
        if kind is bytearray:
            return value.hex()
        if arrays.is_mutable(value, kind):
            return arrays.lower(value, kind, lambda item: self.lower(item, 1), self._left)
        return self.pairs(kept.fields(value).items(), 1)

    def read(self, text: bytes) -> tuple[list[Any], Any]:
        """The main part and the extras. Raises `BadLetterError`."""
        try:
            told = str(text, "ascii")
            (changes, lowered, bodies, extras), end = _scanned(told, 0)
            if end != len(told):
                raise BadLetterError("more than a letter")
            table = self.table
            fresh = [(int(number), self._fresh(table.objects[number], content)) for number, content in changes]
            main = [part if type(part) in _PLAIN else self.build(part) for part in lowered]
            for place, body in enumerate(bodies):  # reading one may add another
                kept.fill(self._bodies[place], self._parts(body))
                self._side.filled(self._bodies[place])
            if len(bodies) != len(self._bodies):
                raise BadLetterError("an object without its fields")
            for number, content in fresh:
                kept.refill(table.objects[number], content)
                if type(table.objects[number]) in self._side.classes.values():
                    self._side.filled(table.objects[number])
            if fresh or len(table.objects) > len(table.seen):
                table.settle([number for number, _ in fresh])
            return main, extras
        except (BadLetterError, arrays.UnfaithfulError):
            raise
        except Exception as error:  # whatever a reader makes of what it did not expect
            raise BadLetterError(f"{type(error).__name__}: {error}"[:300]) from None

    def build(self, node: Any) -> Any:
        """The value that a lowered one stands for."""
        kind = type(node)
        if kind in _PLAIN:
            return node
        if kind is list:
            return self._list(node)
        ((tag, payload),) = node.items()
        reader = _READERS.get(tag)
        if reader is not None:
            return reader(self, payload)
        if tag in arrays.TAGS:
            value: Any = arrays.build(tag, payload, self.build)
            if arrays.is_mutable(value, type(value)):
                self.table.add(value)
            return value
        return self._side.build(tag, payload, self)

    def _list(self, nodes: list[Any]) -> list[Any]:
        if _PLAIN.issuperset(map(type, nodes)):
            self.table.add(nodes)
            return nodes
        made: list[Any] = []
        self.table.add(made)
        made.extend([self.build(node) for node in nodes])
        return made

    def _parts(self, nodes: Any) -> list[Any]:
        if type(nodes) is not list:
            raise BadLetterError("no list where one belongs")
        if _PLAIN.issuperset(map(type, nodes)):
            return nodes
        return [self.build(node) for node in nodes]

    def _fresh(self, value: Any, content: Any) -> Any:
        kind = type(value)
        if kind is bytearray:
            return bytes.fromhex(content)
        if arrays.is_mutable(value, kind):
            ((tag, payload),) = content.items()
            return arrays.build(tag, payload, self.build)
        return self._parts(content)

    def object_of(self, name: str) -> Any:
        """An empty object of a dataset's class, whose fields follow."""
        kind = self._side.classes.get(name)
        if kind is None:
            raise BadLetterError(f"no class {name!r}")
        value: Any = object.__new__(kind)
        self.table.add(value)
        self._bodies.append(value)
        return value

    def class_named(self, name: str) -> type:
        return self._side.classes[name]


def _write_list(letter: Letter, value: list[Any], depth: int) -> Any:
    letter.table.add(value)
    return letter.items(value, depth)


def _mutable(tag: str, parts: Callable[[Letter, Any, int], Any]) -> Callable[[Letter, Any, int], Any]:
    def write(letter: Letter, value: Any, depth: int) -> Any:
        letter.table.add(value)
        return {tag: parts(letter, value, depth)}

    return write


def _immutable(tag: str) -> Callable[[Letter, Any, int], Any]:
    return lambda letter, value, depth: {tag: letter.items(value, depth)}


def _defaultdict(letter: Letter, value: Any, depth: int) -> Any:
    factory = letter.lower(value.default_factory, depth)
    return [factory, letter.pairs(dict.items(value), depth)]


_CONTAINERS: dict[type, Callable[[Letter, Any, int], Any]] = {
    list: _write_list,
    tuple: _immutable("t"),
    dict: _mutable("d", lambda letter, value, depth: letter.pairs(value.items(), depth)),
    set: _mutable("S", lambda letter, value, depth: letter.items(value, depth)),
    frozenset: _immutable("Z"),
    bytes: lambda letter, value, _: {"b": letter.items([value.hex()], 0)[0]},
    bytearray: _mutable("B", lambda _letter, value, _depth: value.hex()),
    complex: lambda _letter, value, _depth: {"c": [value.real, value.imag]},
    collections.Counter: _mutable("C", lambda letter, value, depth: letter.pairs(dict.items(value), depth)),
    collections.OrderedDict: _mutable("O", lambda letter, value, depth: letter.pairs(value.items(), depth)),
    collections.defaultdict: _mutable("y", _defaultdict),
    collections.deque: _mutable("q", lambda letter, value, depth: [value.maxlen, letter.items(value, depth)]),
    type({}.keys()): lambda letter, value, depth: {"v": ["keys", letter.lower(kept.viewed(value), depth)]},
    type({}.values()): lambda letter, value, depth: {"v": ["values", letter.lower(kept.viewed(value), depth)]},
    type({}.items()): lambda letter, value, depth: {"v": ["items", letter.lower(kept.viewed(value), depth)]},
}
_SEQUENCES = frozenset((list, set, collections.deque))
_MAPPINGS: dict[type, Callable[[Any], Any]] = {
    dict: dict.items,
    collections.Counter: dict.items,
    collections.defaultdict: dict.items,
    collections.OrderedDict: collections.OrderedDict.items,
}


def _filled(make: Callable[[], Any]) -> Callable[[Letter, Any], Any]:
    def read(letter: Letter, nodes: Any) -> Any:
        made = make()
        letter.table.add(made)
        kept.refill(made, letter._parts(nodes))
        return made

    return read


def _read_defaultdict(letter: Letter, payload: Any) -> Any:
    factory, nodes = payload
    made: collections.defaultdict[Any, Any] = collections.defaultdict()
    letter.table.add(made)
    made.default_factory = letter.build(factory)
    kept.refill(made, letter._parts(nodes))
    return made


def _read_deque(letter: Letter, payload: Any) -> Any:
    longest, nodes = payload
    made: collections.deque[Any] = collections.deque(maxlen=longest)
    letter.table.add(made)
    kept.refill(made, letter._parts(nodes))
    return made


def _read_bytearray(letter: Letter, payload: Any) -> bytearray:
    made = bytearray.fromhex(payload)
    letter.table.add(made)
    return made


def _read_view(letter: Letter, payload: Any) -> Any:
    name, node = payload
    held = letter.build(node)
    if not isinstance(held, dict):
        raise BadLetterError("a view of no dict")
    return {"keys": held.keys, "values": held.values, "items": held.items}[name]()


def _read_nan(letter: Letter, _payload: Any) -> float:
    made = float("nan")
    letter.table.add(made)
    return made


def _read_complex(_letter: Letter, payload: Any) -> complex:
    real, imaginary = payload
    return complex(float(real), float(imaginary))


def _reference(letter: Letter, number: Any) -> Any:
    if type(number) is not int or number < 0:
        raise BadLetterError("a number of no object")
    return letter.table.objects[number]


_READERS: dict[str, Callable[[Letter, Any], Any]] = {
    "r": _reference,
    "t": lambda letter, nodes: tuple(letter._parts(nodes)),
    "d": _filled(dict),
    "S": _filled(set),
    "Z": lambda letter, nodes: frozenset(letter._parts(nodes)),
    "b": lambda _, text: bytes.fromhex(text),
    "B": _read_bytearray,
    "c": _read_complex,
    "i": lambda _, text: int(text, 16),
    "s": lambda _, text: bytes.fromhex(text).decode("utf-8", "surrogatepass"),
    "C": _filled(collections.Counter),
    "O": _filled(collections.OrderedDict),
    "y": _read_defaultdict,
    "q": _read_deque,
    "v": _read_view,
    "n": _read_nan,
    "x": lambda letter, payload: stdlib_values.READERS[payload[0]](*letter._parts(payload[1])),
    "D": lambda letter, name: letter.object_of(name),
}
