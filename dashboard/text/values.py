"""Two values item by item: which items, keys or members are missing, extra or changed.

Values are read from their texts as literals of Python or as JSON, of bounded size. Nothing is evaluated.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final

from dashboard.text import diff
from dashboard.text.diff import Comparison, Row, Side
from dashboard.text.words import Span, changed_spans, opcodes
from evaluator.checkers import get_checker
from evaluator.model import Excerpt
from evaluator.syntax import tree_of
from evaluator.tasks import long_numbers

NOTHING: Final = object()
_LONGEST = 70_000
"""Characters of a text that is read as a value."""
_ONE_ROW = 100
"""Characters of a changed item that is one row, however it is nested."""
_EQUAL = 200
"""Characters of an equal item that are shown."""
_DEEPEST = 6
_MOST_ROWS = 400
"""After them, changed items are not taken apart."""


@lru_cache(maxsize=64)
def literal(text: str) -> Any:
    """The value that a text is, not to be changed; `NOTHING` if it is not a literal, or very long."""
    if len(text) > _LONGEST or not (text := text.strip()):
        return NOTHING
    tree = tree_of(text)
    with suppress(ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        if tree is not None and len(tree.body) == 1 and isinstance(only := tree.body[0], ast.Expr):
            return ast.literal_eval(only.value)
    with suppress(ValueError):
        return long_numbers.loads(text)
    return NOTHING


def same_literal(one: str, other: str) -> bool:
    """Whether they are the same text, or the same literal."""
    ours, theirs = literal(one), literal(other)
    return one == other or (ours is not NOTHING and theirs is not NOTHING and _written(ours) == _written(theirs))


@lru_cache(maxsize=16)
def compare(expected: str, actual: str, checker: str | None, excerpt: Excerpt | None = None) -> Comparison | None:
    """The two texts as values; None where one is no literal, or nothing would be left to see.

    `checker`: the rule by which items are equal, if it has one for values; None: Python's. `excerpt`: which parts of
    longer lists they are.
    """
    ours, theirs = literal(expected), literal(actual)
    if ours is NOTHING or theirs is NOTHING or (excerpt and excerpt.unit != "item"):
        return None
    if isinstance(ours, str) and isinstance(theirs, str) and "\n" in ours + theirs:
        return diff.compare(ours, theirs)
    try:
        found = _Values(checker).compared(ours, theirs, excerpt)
    except RecursionError:
        return None
    return found if any(row.kind == "change" for row in found.rows) else None


def _written(value: Any) -> str:
    try:
        return repr(value)
    except (ValueError, RecursionError):  # a number of more than 4,300 digits
        return "…"


class _Values:
    """A comparison by one rule."""

    def __init__(self, checker: str | None) -> None:
        self._check = get_checker(checker).rules.get("value") if checker else None
        self._mixed = checker not in (None, "python")
        self._in_order = not (checker or "").startswith("unordered")
        self._rows = 0

    def compared(self, ours: Any, theirs: Any, excerpt: Excerpt | None) -> Comparison:
        found = self._opened(ours, theirs, "", excerpt)
        if found is None:
            left, right = self._spans(ours, theirs)
            row = Row("equal" if self._same(ours, theirs) else "change", None, left, None, right)
            found = Comparison(None, [row], Side([]), Side([]), whole=True, endings=[])
        return found

    def _opened(
        self, ours: Any, theirs: Any, path: str, excerpt: Excerpt | None = None, depth: int = 0
    ) -> Comparison | None:
        """The items of two containers; None if they are something else, or not of one kind."""
        kinds = [_kind(value) for value in (ours, theirs)]
        if kinds == [list, list] and self._in_order and (self._mixed or type(ours) is type(theirs)):
            return self._sequence(ours, theirs, path, excerpt, depth)
        inner: dict[int, tuple[Any, Any, str]] = {}
        if kinds == [dict, dict]:
            rows, noun = list(self._mapping(ours, theirs, path, inner)), "key"
        elif kinds == [set, set] or (not self._in_order and {*kinds} <= {list, set}):
            rows, noun = list(self._unordered(ours, theirs, path)), "item"
        else:
            return None
        left, right = (Side([], noun=noun, characters=len(each)) for each in (ours, theirs))
        found = diff.concluded(rows, left, right)
        shown = (
            [_brief(row)] if id(row) not in inner else self._changed(*inner[id(row)], row, depth) for row in found.rows
        )
        return found._replace(rows=[row for each in shown for row in each])

    def _sequence(self, ours: Any, theirs: Any, path: str, excerpt: Excerpt | None, depth: int) -> Comparison:
        keys = [[self._key(item) for item in items] for items in (ours, theirs)]
        if self._check and len(ours) == len(theirs):  # which may be equal within a tolerance
            pairs = zip(*keys, ours, theirs, strict=True)
            keys[1] = [k if k == other or self._check(a, b) is None else other for k, other, a, b in pairs]
        left, right = (
            Side([*map(_written, items)], characters=len(items), first=0, noun="item", keys=key)
            for items, key in zip((ours, theirs), keys, strict=True)
        )
        if excerpt is not None:
            left, right = diff.part(left, "item", *excerpt.expected), diff.part(right, "item", *excerpt.actual)
        found = diff.aligned(left, right, lambda i, j: self._spans(ours[i], theirs[j]))
        rows: list[Row] = []
        for row in found.rows:
            i, j = row.left_no, row.right_no
            inner = _brief(_within(row, path))
            if row.kind == "change" and i is not None and j is not None:
                pair = ours[i - left.first], theirs[j - right.first]
                rows += self._changed(*pair, f"{path}[{i}]", inner, depth)
            else:
                rows.append(inner)
        return found._replace(rows=rows)

    def _mapping(self, ours: Any, theirs: Any, path: str, inner: dict[int, tuple[Any, Any, str]]) -> Iterator[Row]:
        """`inner` gets the values of each changed row, by its id."""
        left, right = ({self._name(key): key for key in side} for side in (ours, theirs))
        for name in {**left, **right}:
            places = [_written(side[name]) if name in side else "" for side in (left, right)]
            heads = [(f"{path}[{place}]: " if path else f"{place}: ", False) for place in places]
            said = f"{path and path + ': '}key {places[0] or places[1]}"
            if name not in left:
                yield _one_sided(said, None, [heads[1], (_written(theirs[right[name]]), False)])
            elif name not in right:
                yield _one_sided(said, [heads[0], (_written(ours[left[name]]), False)], None)
            else:
                pair = ours[left[name]], theirs[right[name]]
                (one, other), same = self._spans(*pair), self._same(*pair)
                row = Row("equal" if same else "change", None, [heads[0], *one], None, [heads[1], *other])
                if not same:
                    inner[id(row)] = *pair, f"{path}[{places[0]}]"
                yield row

    def _changed(self, ours: Any, theirs: Any, path: str, row: Row, depth: int) -> list[Row]:
        """A changed item as one row, or if it is long as a row for each of its own items."""
        short = max(len(_written(ours)), len(_written(theirs))) <= _ONE_ROW
        if short or depth >= _DEEPEST or self._rows > _MOST_ROWS:
            return [row]
        opened = self._opened(ours, theirs, path, depth=depth + 1)
        if opened is None or not any(each.kind == "change" for each in opened.rows):
            return [row]
        self._rows += len(opened.rows)
        return opened.rows

    def _unordered(self, ours: Iterable[Any], theirs: Iterable[Any], path: str) -> Iterator[Row]:
        """Members without an order: those of both sides, then what is missing and what is extra."""
        name = f"{path}: it" if path else "it"
        extra = Counter(map(self._key, theirs))
        missing = Counter(map(self._key, ours)) - extra
        extra -= Counter(map(self._key, ours))
        for value in sorted(ours, key=_written):
            shown, key = [(_written(value), False)], self._key(value)
            yield _one_sided(name, shown, None) if missing[key] > 0 else Row("equal", None, shown, None, shown)
            missing[key] -= 1
        for value in sorted(theirs, key=_written):
            if extra[self._key(value)] > 0:
                yield _one_sided(name, None, [(_written(value), False)])
                extra[self._key(value)] -= 1

    def _spans(self, ours: Any, theirs: Any) -> tuple[list[Span], list[Span]]:
        """What differs in a pair of values: of two lists their items, of two texts their words, else all."""
        if isinstance(ours, str) and isinstance(theirs, str):
            return changed_spans(_written(ours), _written(theirs))
        kinds = [_kind(value) for value in (ours, theirs)]
        if kinds == [dict, dict]:
            items = [{self._name(key): self._key(item) for key, item in side.items()} for side in (ours, theirs)]
            pairs = (items, items[::-1])
            marks = [{n for n, key in enumerate(one) if one[key] != other.get(key, NOTHING)} for one, other in pairs]
            return _pieces(ours, marks[0]), _pieces(theirs, marks[1])
        is_short = kinds == [list, list] and max(len(ours), len(theirs)) <= _ONE_ROW
        if is_short and (self._mixed or type(ours) is type(theirs)):
            keys = [[*map(self._key, side)] for side in (ours, theirs)]
            changed = [places for tag, *places in opcodes(*keys) if tag == "change"]
            left = _pieces(ours, {n for i1, i2, _, _ in changed for n in range(i1, i2)})
            return left, _pieces(theirs, {n for _, _, j1, j2 in changed for n in range(j1, j2)})
        same = self._same(ours, theirs)
        return [(_written(ours), not same)], [(_written(theirs), not same)]

    def _same(self, ours: Any, theirs: Any) -> bool:
        return self._key(ours) == self._key(theirs) or bool(self._check and self._check(ours, theirs) is None)

    def _key(self, value: Any) -> Hashable:
        """The same for values that count as equal, but for floats within a tolerance."""
        kind = _kind(value)
        if kind is list:
            items, name = map(self._key, value), "list" if self._mixed else type(value).__name__
            return (name, tuple(items) if self._in_order else frozenset(Counter(items).items()))
        if kind is dict:
            return ("dict", frozenset((self._name(key), self._key(item)) for key, item in value.items()))
        if kind is set:
            return ("set", frozenset(map(self._key, value)))
        return value if value == value else "nan"  # noqa: PLR0124

    def _name(self, key: Hashable) -> Hashable:
        """JSON turns the key 1 into the text "1"."""
        return str(key) if self._mixed and type(key) is int else key


def _kind(value: Any) -> type | None:
    """list, dict or set; None for what has no items."""
    return list if isinstance(value, (list, tuple)) else next((k for k in (dict, set) if isinstance(value, k)), None)


def _pieces(value: Any, marked: set[int]) -> list[Span]:
    """A list, tuple or dict as it is written, its `marked` items as spans of their own."""
    opening, closing = "[]" if isinstance(value, list) else "{}" if isinstance(value, dict) else "()"
    pairs = value.items() if isinstance(value, dict) else ()
    items = [f"{key!r}: {_written(item)}" for key, item in pairs] or [*map(_written, value)]
    spans: list[Span] = [(opening, False)]
    for place, item in enumerate(items):
        spans += [(", " * (place > 0), False), (item, place in marked)]
    return [*spans, ("," * (isinstance(value, tuple) and len(value) == 1) + closing, False)]


def _one_sided(name: str, ours: list[Span] | None, theirs: list[Span] | None) -> Row:
    return Row("change", None, ours, None, theirs, said=f"{name} is {'missing' if theirs is None else 'extra'}")


def _brief(row: Row) -> Row:
    """The start of a long item that is equal on both sides."""
    if row.kind != "equal":
        return row
    texts = ("".join(text for text, _ in spans or ()) for spans in (row.left, row.right))
    left, right = ([(text if len(text) <= _EQUAL else f"{text[: _EQUAL - 1]}…", False)] for text in texts)
    return row._replace(left=left, right=right)


def _within(row: Row, path: str) -> Row:
    """The row of an inner item: its place stands in front of it, not in the column of numbers."""
    if not path or row.kind not in ("equal", "change"):
        return row
    left, right = (
        spans and [(f"{path}[{number}]: ", False), *spans]
        for number, spans in ((row.left_no, row.left), (row.right_no, row.right))
    )
    return row._replace(left_no=None, left=left, right_no=None, right=right, said=row.said and f"{path}: {row.said}")
