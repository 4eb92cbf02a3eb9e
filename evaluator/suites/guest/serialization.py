"""Serializes values between a completion's process and its test's, as JSON text by exact type.

One *message* is `[changes, main, bodies, extras]`. A mutable object gets a number where it first occurs in a message
and is sent as that number afterwards: see `object_table`. Each message contains the changes since the last.

Each side handles what is not data (functions, iterators, objects of other classes): see `server` and `client`. A
message from the completion's process is hostile text: any error in it raises `BadMessageError`.
"""

from __future__ import annotations

import collections
import datetime
import decimal
import enum
import fractions
import json
import pathlib
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from evaluator.sandbox.guest.channel import json_chunks
from evaluator.suites.guest import arrays
from evaluator.suites.guest.errors import BadMessageError, NotDataError, TooLargeError
from evaluator.suites.guest.object_table import MAPPINGS, Table, contents, fields, refill

MAX_DEPTH = 200
_CONTAINER_COST = 3
_LONG_BITS = 10_000
_LONG_INT = re.compile(r"\d{3000}")
"""An int that JSON's reader may refuse; or digits in a text."""
_SCALARS = frozenset((type(None), bool, int, float, str))
_NUMBERS = frozenset((type(None), bool, int, float))

_scanned = json.JSONDecoder().scan_once  # type: ignore[attr-defined]


class Message:
    """One message: written by `write`, or read by `read`. Numbers its objects as the other side does."""

    def __init__(self, table: Table, side: Any, cap: int) -> None:
        """`side`: an `exchange.Exchange`, which handles what is not data. `cap`: the most characters."""
        self.table = table
        self.side = side
        self._left = self._cap = cap
        self._bodies: list[Any] = []
        self._hex = False
        """Whether long ints are written as hexadecimal texts."""

    def write(self, main: Sequence[object], extras: object = None) -> bytes:
        """Raises `TooLargeError`, `NotDataError`, or what the side's `lower` raises."""
        table = self.table
        first = table.next
        changed = table.changed()
        try:
            text = self._text(main, changed, extras)
            if text is None or _LONG_INT.search(text):
                self._take_back(first, 0)
                self._left, self._hex = self._cap, True
                text = self._text(main, changed, extras) or ""
            if len(text) > self._cap:
                raise TooLargeError
        except BaseException:
            self._take_back(first, 0)
            raise
        table.settle(changed)
        table.untold.clear()  # each side's extras have them
        return text.encode("ascii")

    def _text(self, main: Sequence[object], changed: list[int], extras: object) -> str | None:
        """None if JSON's writer refuses an int."""
        table = self.table
        try:
            changes = [[number, self._content(table.objects[number])] for number in changed]
            lowered = [None if part is None else self.lower(part) for part in main]
            bodies = []
            for value in self._bodies:  # grows while it is walked
                bodies.append(self._content(value))
            return "".join(json_chunks((changes, lowered, bodies, extras), 0))
        except RecursionError:
            raise NotDataError("a value that is nested too deeply") from None
        except ValueError:
            if self._hex:
                raise
            return None

    def _take_back(self, first: int, bodies: int) -> None:
        """Removes the numbers since then, which are not written."""
        self.table.forget(first)
        del self._bodies[bodies:]
        self.side.announced.clear()  # details that come twice do no harm

    def lower_or(self, value: Any, otherwise: Any) -> Any:
        """The value lowered, or `otherwise` if it can't be."""
        first, bodies = self.table.next, len(self._bodies)
        try:
            return self.lower(value)
        except (NotDataError, TooLargeError, ValueError, RecursionError):
            self._take_back(first, bodies)
            return self.lower(otherwise)

    def lower(self, value: Any, depth: int = 0) -> Any:
        """The value in a form that JSON's writer can write."""
        kind = type(value)
        if kind in _SCALARS:
            is_long = self._hex and kind is int and value.bit_length() > _LONG_BITS
            return {"i": format(value, "x")} if is_long else value
        number = self.table.numbers.get(id(value))
        if number is not None:
            return {"r": number}
        self._left -= _CONTAINER_COST
        if self._left < 0:  # a tuple that holds another many times over would never end
            raise TooLargeError
        if depth > MAX_DEPTH:
            raise NotDataError(f"a value nested deeper than {MAX_DEPTH} levels")
        writer = _WRITERS.get(kind)
        if writer is not None:
            return writer(self, value, depth + 1)
        lowered = arrays.lower(value, kind, lambda item: self.lower(item, depth + 1), self._left)
        if lowered is None:
            if kind.__module__ == "zoneinfo" and kind.__name__ == "ZoneInfo":
                return {"x": ["ZoneInfo", [value.key]]}
            return self.side.lower(value, kind, self)
        if arrays.is_mutable(kind):
            self.table.add(value)
        return lowered

    def items(self, values: Any, depth: int) -> list[Any]:
        """The values of a sequence or set, lowered; long runs of numbers are the common case."""
        listed = values if type(values) is list else list(values)
        kinds = set(map(type, listed))
        self._left -= len(listed)
        if (kinds <= _NUMBERS and not self._hex) or kinds == {str}:
            return listed
        return [self.lower(value, depth) for value in listed]

    def pairs(self, pairs: Any, depth: int) -> list[Any]:
        return self.items([part for pair in pairs for part in pair], depth)

    def later(self, value: Any) -> None:
        """Sends the fields of an object after all else, so that a long chain of objects is not nested."""
        self.table.add(value)
        self._bodies.append(value)

    def _content(self, value: Any) -> Any:
        """The contents of a mutable object, lowered."""
        kind = type(value)
        if kind is bytearray:
            return value.hex()
        if arrays.is_mutable(kind):
            return arrays.lower(value, kind, lambda item: self.lower(item, 1), self._left)
        if kind in _PAIRED:
            return self.pairs(_PAIRED[kind](_hashing(value)), 1)
        if kind is set:
            return self.items(_hashing(value), 1)
        return self.items(contents(value), 1) if kind in _SEQUENCES else self.pairs(fields(value).items(), 1)

    def read(self, text: bytes) -> tuple[list[Any], Any]:
        """The main part and the extras. Raises `BadMessageError`, or `NotDataError` for an impossible change."""
        try:
            decoded = str(text, "ascii")
            (changes, lowered, bodies, extras), end = _scanned(decoded, 0)
            if end != len(decoded):
                raise BadMessageError("more than one message")
            table = self.table
            fresh = [(int(number), self._fresh(table.objects[number], content)) for number, content in changes]
            main = [part if type(part) in _SCALARS else self.build(part) for part in lowered]
            for place, body in enumerate(bodies):  # reading a body may add another
                refill(self._bodies[place], self.parts(body))
                self.side.filled(self._bodies[place])
            if len(bodies) != len(self._bodies):
                raise BadMessageError("an object without its fields")
            for number, content in fresh:
                self.fill(table.objects[number], content)
                if type(table.objects[number]) in self.side.classes.values():
                    self.side.filled(table.objects[number])
            table.settle([number for number, _ in fresh])
            return main, extras
        except (BadMessageError, NotDataError):
            raise
        except Exception as error:  # any error of a reader
            raise BadMessageError(f"{type(error).__name__}: {error}"[:300]) from None

    def fill(self, value: Any, content: Any) -> None:
        """Sets an object's contents."""
        kind = type(value)
        if not _hash_themselves(content[::2] if kind in MAPPINGS else content if kind is set else ()):
            raise BadMessageError(_HASHED)
        refill(value, content)

    def build(self, node: Any) -> Any:
        """The value that was lowered to this."""
        kind = type(node)
        if kind in _SCALARS:
            return node
        if kind is list:
            return _filled(self, [], node)
        ((tag, payload),) = node.items()
        reader = _READERS.get(tag)
        if reader is not None:
            return reader(self, payload)
        if tag not in arrays.TAGS:
            return self.side.build(tag, payload, self)
        value: Any = arrays.build(tag, payload, self.build)
        if arrays.is_mutable(type(value)):
            self.table.add(value)
        return value

    def parts(self, nodes: Any) -> list[Any]:
        if type(nodes) is not list:
            raise BadMessageError("a list was expected")
        if _SCALARS.issuperset(map(type, nodes)):
            return nodes
        return [self.build(node) for node in nodes]

    def _fresh(self, value: Any, content: Any) -> Any:
        kind = type(value)
        if kind is bytearray:
            return bytes.fromhex(content)
        if arrays.is_mutable(kind):
            ((tag, payload),) = content.items()
            return arrays.build(tag, payload, self.build)
        return self.parts(content)

    def object_of(self, name: str) -> Any:
        """An empty object of a dataset's class; its fields follow."""
        value: Any = object.__new__(self.side.classes[name])
        self.later(value)
        return value


# Writers, then readers, of containers and Python's own values.

_Writer = Callable[[Message, Any, int], Any]


def _numbered(tag: str, parts: _Writer) -> _Writer:
    def write(message: Message, value: Any, depth: int) -> Any:
        message.table.add(_hashing(value) if isinstance(value, _KEYED) else value)
        return {tag: parts(message, value, depth)}

    return write


def _list(message: Message, value: Any, depth: int) -> Any:
    message.table.add(value)
    return message.items(value, depth)


def _frozenset(message: Message, value: Any, depth: int) -> Any:
    return {"Z": message.items(_hashing(value), depth)}


def _immutable(tag: str) -> _Writer:
    return lambda message, value, depth: {tag: message.items(value, depth)}


_KEYED = (dict, set)
_HASHED = "a set or dict of objects with a hash of their own"


def _hashing(value: Any) -> Any:
    """The dict or set. The other side would have to ask for the hashes of some objects while it reads."""
    if not _hash_themselves(value):
        raise NotDataError(_HASHED)
    return value


def _hash_themselves(keys: Iterable[Any]) -> bool:
    """Whether hashing these runs no code of the other side's."""
    return _SCALARS.issuperset(map(type, keys)) or all(map(_has_own_hash, keys))


def _has_own_hash(value: Any) -> bool:
    kind = type(value)
    if kind is tuple:
        return all(map(_has_own_hash, value))
    if kind in _SCALARS or is_data(kind) or kind.__hash__ is object.__hash__:  # type: ignore[comparison-overlap]
        return True
    special = [vars(one)["_special"] for one in kind.__mro__ if "_special" in vars(one)]  # a proxy's
    return special != [] and not any("__hash__" in names for names in special)


_VIEWS: dict[str, Callable[[dict[Any, Any]], Any]] = {"keys": dict.keys, "values": dict.values, "items": dict.items}


def _view(name: str) -> _Writer:
    def write(message: Message, value: Any, depth: int) -> Any:
        message.side.copied()
        return {"v": [name, message.lower(dict(value.mapping), depth)]}

    return write


def _of_library(message: Message, value: Any, depth: int) -> Any:
    zone = getattr(value, "tzinfo", None)
    if zone is not None and type(zone).__name__ not in ("timezone", "ZoneInfo"):
        raise NotDataError(f"a time in a time zone of class {type(zone).__name__}")
    return {"x": [type(value).__name__, message.items(value.__reduce_ex__(4)[1], depth)]}


def _zone(name: str) -> Any:
    import zoneinfo  # rarely needed

    return zoneinfo.ZoneInfo(name)


_PAIRED: dict[type, Callable[[Any], Any]] = {
    dict: dict.items,
    collections.Counter: dict.items,
    collections.defaultdict: dict.items,
    collections.OrderedDict: collections.OrderedDict.items,
}
_SEQUENCES = frozenset((list, set, collections.deque))
_LIBRARY: dict[str, Callable[..., object]] = {
    kind.__name__: kind
    for kind in (
        decimal.Decimal, fractions.Fraction, range, slice, datetime.date, datetime.time, datetime.datetime,
        datetime.timedelta, datetime.timezone, pathlib.PosixPath, pathlib.PurePosixPath,
    )
}  # fmt: skip
"""Immutable values, rebuilt from the arguments that `copy` would use."""
_WRITERS: dict[type, _Writer] = {
    list: _list,
    tuple: _immutable("t"),
    dict: _numbered("d", lambda message, value, depth: message.pairs(value.items(), depth)),
    set: _numbered("S", lambda message, value, depth: message.items(value, depth)),
    frozenset: _frozenset,
    bytes: lambda message, value, _: {"b": message.items([value.hex()], 0)[0]},
    bytearray: _numbered("B", lambda _message, value, _depth: value.hex()),
    complex: lambda _message, value, _depth: {"c": [value.real, value.imag]},
    collections.Counter: _numbered("C", lambda message, value, depth: message.pairs(dict.items(value), depth)),
    collections.OrderedDict: _numbered("O", lambda message, value, depth: message.pairs(value.items(), depth)),
    collections.defaultdict: _numbered(
        "y",
        lambda message, value, depth: [
            message.lower(value.default_factory, depth), message.pairs(dict.items(value), depth)
        ],
    ),
    collections.deque: _numbered("q", lambda message, value, depth: [value.maxlen, message.items(value, depth)]),
    type({}.keys()): _view("keys"),
    type({}.values()): _view("values"),
    type({}.items()): _view("items"),
    type(...): lambda *_: {"x": ["...", []]},
    type(NotImplemented): lambda *_: {"x": ["NotImplemented", []]},
    re.Pattern: lambda message, value, depth: {"x": ["Pattern", message.items((value.pattern, value.flags), depth)]},
    **dict.fromkeys((kind for kind in _LIBRARY.values() if isinstance(kind, type)), _of_library),
}  # fmt: skip
_LIBRARY |= {"...": lambda: ..., "NotImplemented": lambda: NotImplemented, "Pattern": re.compile, "ZoneInfo": _zone}
_DATA = tuple(_SCALARS | _WRITERS.keys())
_OF_DATA = frozenset(("numpy", "pandas", "_pytest"))
"""Packages with classes of data; also `pytest.approx`."""


def is_data(kind: type) -> bool:
    """Whether equality with values of this class, or one derived from it, needs no code of the completion."""
    return issubclass(kind, (*_DATA, enum.Enum, type)) or kind.__module__.partition(".")[0] in _OF_DATA


def _filled(message: Message, made: Any, nodes: Any) -> Any:
    message.table.add(made)
    message.fill(made, message.parts(nodes))
    return made


def _read_defaultdict(message: Message, payload: Any) -> Any:
    factory, nodes = payload
    made: collections.defaultdict[Any, Any] = collections.defaultdict()
    message.table.add(made)
    made.default_factory = message.build(factory)
    message.fill(made, message.parts(nodes))
    return made


def _read_view(message: Message, payload: Any) -> Any:
    name, node = payload
    message.side.copied()
    mapping = message.build(node)
    if not isinstance(mapping, dict):
        raise BadMessageError("a view without a dict")
    return _VIEWS[name](mapping)


def _read_frozenset(message: Message, nodes: Any) -> Any:
    items = message.parts(nodes)
    if not _hash_themselves(items):
        raise BadMessageError(_HASHED)
    return frozenset(items)


def _read_bytearray(message: Message, text: Any) -> Any:
    made = bytearray.fromhex(text)
    message.table.add(made)
    return made


_READERS: dict[str, Callable[[Message, Any], Any]] = {
    "r": lambda message, number: message.table.objects[number],
    "t": lambda message, nodes: tuple(message.parts(nodes)),
    "d": lambda message, nodes: _filled(message, {}, nodes),
    "S": lambda message, nodes: _filled(message, set(), nodes),
    "Z": _read_frozenset,
    "b": lambda _, text: bytes.fromhex(text),
    "B": _read_bytearray,
    "c": lambda _, parts: complex(float(parts[0]), float(parts[1])),
    "i": lambda _, text: int(text, 16),
    "C": lambda message, nodes: _filled(message, collections.Counter(), nodes),
    "O": lambda message, nodes: _filled(message, collections.OrderedDict(), nodes),
    "y": _read_defaultdict,
    "q": lambda message, payload: _filled(message, collections.deque(maxlen=payload[0]), payload[1]),
    "v": _read_view,
    "x": lambda message, payload: _LIBRARY[payload[0]](*message.parts(payload[1])),
    "D": lambda message, name: message.object_of(name),
}
