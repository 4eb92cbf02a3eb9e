"""Renders values as Python source text, and messages of a bounded length.

Everything here is iterative and bounded, because a completion chooses what is rendered.
"""

from __future__ import annotations

import math
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

from evaluator.checkers._values import Family, family_of
from evaluator.model import Opaque

RENDER_LIMIT = 16 * 1024
"""Characters of a rendered value on a page."""
MESSAGE_LIMIT = 300
"""Characters of a difference's message."""
BRIEF_LIMIT = 80
"""Characters of a value inside a message."""

_CONSUMED_LIMIT = 1024 * 1024
_DECIMAL_BITS = 13_000
"""Longer ints are written in hexadecimal: decimal takes quadratic time, and Python refuses 4,300 digits."""
_SET_DEPTH = 50
_SCALARS = frozenset({int, bool, float, type(None)})
_AT_ONCE = 32
"""Scalars that are written together: ten times as fast as one by one."""
_SHORT = 3_000
"""Characters. In a text of this length no int has `_DECIMAL_BITS`."""
_MOST_SORTED = 1_000
"""Items of a set without a natural order that are sorted by their texts; the others follow in any order."""


class _Text(str):
    """Written as it is."""

    __slots__ = ()


def render(value: object, limit: int = RENDER_LIMIT) -> str:
    """The value as Python source text, the same for equal values of the same type.

    Sets are sorted, except those of more than 1,000 items without a natural order. A text above `limit` characters
    keeps its head and its tail, with the number of omitted characters in between; above 1 MiB it keeps only its head.
    What is not data is shown as `<generator: why>`, which is not source text.
    """
    pieces: list[str] = []
    size = 0
    for piece in _pieces(value, None):
        pieces.append(piece)
        size += len(piece)
        if size > _CONSUMED_LIMIT:
            head = "".join(pieces)[:limit]
            return f"{head} ... more than {size - limit:,} characters left out"
    return shortened("".join(pieces), limit)


def brief(value: object, limit: int = BRIEF_LIMIT) -> str:
    """The beginning of the value's source text, for a message; `...` marks the cut."""
    text = ""
    for piece in _pieces(value, limit):
        text += piece
        if len(text) > limit:
            return text[: limit - 3] + "..."
    return text


def shortened(text: str, limit: int, *, separator: str = " ", parts: int = 3) -> str:
    """The text, or its head and tail with the number of omitted characters in between.

    The tail is one of `parts` of `limit`, the head all the others; `separator` is on both sides of the number.
    """
    if len(text) <= limit:
        return text
    head, tail = limit * (parts - 1) // parts, limit // parts
    count = f"... {len(text) - head - tail:,} characters left out ..."
    return f"{text[:head]}{separator}{count}{separator}{text[-tail:]}"


def message(text: str) -> str:
    """A difference's message, cut at its limit."""
    return text if len(text) <= MESSAGE_LIMIT else text[: MESSAGE_LIMIT - 3] + "..."


def first_of(items: Iterable[object]) -> object:
    """The item that a sorted set would begin with, so that a message does not depend on hash order.

    If there are many items without a natural order, only the first ones are considered.
    """
    found = list(items)
    if _naturally_ordered(found):
        return min(found)  # type: ignore[type-var]
    return min(found[:_MOST_SORTED], key=brief)


def _pieces(value: object, longest: int | None, depth: int = 0) -> Iterator[str]:
    """The text in pieces. `longest` limits how much of any one text or set is rendered; None for all."""
    stack: list[Iterator[object]] = [iter((value,))]
    while stack:
        for item in stack[-1]:
            opened = item if type(item) is _Text else _opened(item, longest, depth)
            if not isinstance(opened, str):
                stack.append(opened)
                break
            yield opened
        else:
            stack.pop()


def _opened(value: Any, longest: int | None, depth: int) -> str | Iterator[object]:
    """The text of a value, or what stands in it: texts as `_Text`, and values still to be rendered."""
    kind = type(value)
    match family_of(value):
        case Family.SCALAR:
            return _scalar(value, longest)
        case Family.OPAQUE:
            shown = kind.__name__ if kind is not Opaque else f"{value.type}: {value.text}" if value.text else value.type
            return f"<{shown}>"
        case Family.SET:
            return _set(value, longest, depth)
        case Family.MAPPING:
            opening, closing = "{", "}"
            if kind in (Counter, OrderedDict):
                opening, closing = f"{kind.__name__}({{", "})"
            elif kind is defaultdict:
                factory = value.default_factory
                opening = f"defaultdict({factory.__name__ if isinstance(factory, type) else None}, {{"
                closing = "})"
            return _joined(opening, ((key, _Text(": "), item) for key, item in value.items()), closing)
        case Family.DEQUE:
            return _joined("deque([", _several(value), "])" if value.maxlen is None else f"], maxlen={value.maxlen})")
        case Family.TUPLE:
            items = tuple.__iter__(value)
            fields = getattr(kind, "_fields", None)
            if isinstance(fields, tuple) and len(fields) == len(value):
                named = ((_Text(f"{field}="), item) for field, item in zip(fields, items, strict=True))
                return _joined(f"{kind.__name__}(", named, ")")
            return _joined("(", _several(items), ",)" if len(value) == 1 else ")")
        case _:
            return _joined("[", _several(value), "]")


def _scalar(value: Any, longest: int | None) -> str:
    if type(value) is float and not math.isfinite(value):
        return f"float('{value}')"
    if type(value) is int and value.bit_length() > _DECIMAL_BITS:
        return hex(value)
    if longest is not None and type(value) in (str, bytes, bytearray):
        # One character more than needed, so that the cut is detected.
        return repr(value[: longest + 1])
    try:
        return repr(value)
    except ValueError:  # a fraction, range or complex with an int that has too many digits
        return f"<{type(value).__name__} with too many digits>"


def _joined(opening: str, items: Iterable[Iterable[object]], closing: str) -> Iterator[object]:
    """Items, each in pieces, with commas between them."""
    separator = opening
    for pieces in items:
        yield _Text(separator)
        yield from pieces
        separator = ", "
    yield _Text(closing if separator == ", " else opening + closing)


def _several(items: Iterable[object]) -> Iterator[Iterable[object]]:
    rest = iter(items)
    while several := list(islice(rest, _AT_ONCE)):
        text = _scalars_text(several)
        yield from ((item,) for item in several) if text is None else [(_Text(text),)]


def _scalars_text(items: list[object]) -> str | None:
    """The text of items that are scalars, rendered at once; None if one may need different rendering."""
    if not _SCALARS.issuperset(map(type, items)):
        return None
    try:
        text = repr(items)[1:-1]
    except ValueError:  # too many digits
        return None
    return None if len(text) > _SHORT or "inf" in text or "nan" in text else text


def _set(value: set[object] | frozenset[object], longest: int | None, depth: int) -> str | Iterator[object]:
    name = type(value).__name__
    if not value:
        return f"{name}()"
    opening, closing = ("{", "}") if type(value) is set else ("frozenset({", "})")
    if depth >= _SET_DEPTH:
        return f"{opening}...{closing}"
    items: list[object] = list(value)
    if _naturally_ordered(items):
        return _joined(opening, _several(sorted(items)), closing)  # type: ignore[type-var]
    # Of each item no more than a message needs: a piece has at least one character.
    most = None if longest is None else longest + 1
    texts = sorted("".join(islice(_pieces(item, longest, depth + 1), most)) for item in items[:_MOST_SORTED])
    unsorted = ((item,) for item in items[_MOST_SORTED:])
    return _joined(opening, chain(((_Text(text),) for text in texts), unsorted), closing)


def _naturally_ordered(items: list[object]) -> bool:
    types = set(map(type, items))
    if types == {str} or types <= {int, bool}:
        return True
    return types <= {int, bool, float} and all(item == item for item in items)  # noqa: PLR0124 (NaN)
