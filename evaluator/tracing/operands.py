"""What a line is about to read, such as `grid[i][j-1]`, `len(queue)` or `node.left`, and its value.

None of the completion's own code runs for it: only exact built-in types are asked for an item or a length, and an
attribute is read from where it is stored. It is sent as text before `inside.py`, like `shown.py`.
"""

from __future__ import annotations

import ast
import operator
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from types import MemberDescriptorType
from typing import Any

from evaluator.tracing.shown import FIXED, attributes_of, classes_of, names_of_class

MISSING = object()
_LONGEST_SOURCE = 200_000
_LONGEST = 60
"""Characters of what is read: a longer text says little, and this bounds how deep it nests."""
_OF_LINE = 6
_MOST_KEYS = 5_000
_MOST_BITS = 64
_DICTS = (dict, defaultdict, Counter, OrderedDict)
_IN_ORDER = (list, tuple, str, bytes, bytearray, deque)
_COUNTED = (*_DICTS, *_IN_ORDER, set, frozenset, range)
_SAFE_KEYS = FIXED | {tuple, frozenset}
"""A key of another type that has the same hash would be asked whether it is equal."""

Names = Callable[[str], Any]
"""The value of a name; `MISSING` if it has none."""
Read = Callable[[Names], Any]


def operands(source: str) -> dict[int, list[tuple[str, Read]]]:
    """For each line, what it reads: the text, and how to find its value."""
    found: dict[int, dict[str, Read]] = {}
    if len(source) > _LONGEST_SOURCE:
        return {}
    try:
        lines = [line.encode() for line in source.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
        for node, read in _reads(ast.parse(source)):
            line = found.setdefault(node.lineno, {})
            if len(line) < _OF_LINE:
                line.setdefault(_text(node, lines), read)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    return {line: list(reads.items()) for line, reads in found.items()}


def _text(node: ast.expr, lines: list[bytes]) -> str:
    """As it is written. Before Python 3.12 the columns in an f-string may be wrong: then as Python writes it."""
    unparsed = ast.unparse(node)
    written = lines[node.lineno - 1][node.col_offset : node.end_col_offset].decode("utf-8", "replace")
    return written if _bare(written) == _bare(unparsed) else unparsed


def _bare(text: str) -> str:
    return "".join(text.split()).replace('"', "'")


def _reads(tree: ast.AST) -> Iterator[tuple[ast.expr, Read]]:
    """What is read, from left to right; of `a[i][j]` the whole, without the parts that it consists of."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.AugAssign) and not isinstance(node.target, ast.Name):
            node.target.ctx = ast.Load()
        if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            waiting.extend(reversed(_keys(node)))
        elif isinstance(node, (ast.Subscript, ast.Attribute, ast.Call)) and _is_short(node) and (read := _read(node)):
            yield node, read
            waiting.extend(reversed(_keys(node.args[0] if isinstance(node, ast.Call) else node)))
        else:
            waiting.extend(reversed(_inside(node)))


def _is_short(node: ast.expr) -> bool:
    return node.end_lineno == node.lineno and (node.end_col_offset or 0) - node.col_offset <= _LONGEST


def _keys(node: ast.expr) -> list[ast.expr]:
    """The keys in `a[i][j]`, which may read something themselves, and what the first of them is a key of."""
    if isinstance(node, ast.Subscript):
        return [*_keys(node.value), node.slice]
    if isinstance(node, ast.Attribute):
        return _keys(node.value)
    return [] if isinstance(node, ast.Name) else [node]


def _inside(node: ast.AST) -> list[ast.AST]:
    found: list[ast.AST] = []
    for child in ast.iter_child_nodes(node):
        inner = child
        while isinstance(node, ast.Call) and child is node.func and isinstance(inner, ast.Attribute):
            inner = inner.value  # a method is not a value to show
        found.append(inner)
    return found


# --- How to find a value ------------------------------------------------------------------------


def _read(node: ast.expr) -> Read | None:
    if isinstance(node, ast.Name):
        name = node.id
        return lambda names: names(name)
    if isinstance(node, ast.Subscript):
        return _read_item(_read(node.value), _key(node.slice))
    if isinstance(node, ast.Attribute):
        return _read_attribute(_read(node.value), node.attr)
    return _read_length(node) if isinstance(node, ast.Call) else None


def _read_item(base: Read | None, key: Read | None) -> Read | None:
    return (lambda names: _item(base(names), key(names))) if base and key else None


def _read_attribute(base: Read | None, name: str) -> Read | None:
    return (lambda names: _attribute(base(names), name)) if base else None


def _read_length(node: ast.Call) -> Read | None:
    if not isinstance(node.func, ast.Name) or node.func.id != "len" or len(node.args) != 1 or node.keywords:
        return None
    base = _read(node.args[0])
    if base is None:
        return None
    return lambda names: _length(base(names)) if names("len") is MISSING else MISSING


def _key(node: ast.expr) -> Read | None:
    """What stands between brackets: a constant or what is read itself; also the sum or difference of two."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        return _constant(-node.operand.value) if type(node.operand.value) is int else None
    if isinstance(node, ast.Constant):
        return _constant(node.value)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        left, right = _key(node.left), _key(node.right)
        work = operator.add if isinstance(node.op, ast.Add) else operator.sub
        return (lambda names: _combined(work, left(names), right(names))) if left and right else None
    return _read(node)


def _constant(value: object) -> Read:
    return lambda _: value


def _combined(work: Callable[[int, int], int], left: object, right: object) -> object:
    if type(left) is int and type(right) is int and max(left.bit_length(), right.bit_length()) <= _MOST_BITS:
        return work(left, right)
    return MISSING


def _item(value: Any, place: object) -> object:
    if type(place) is int and type(value) in _IN_ORDER:
        return value[place] if -len(value) <= place < len(value) else MISSING
    return _found(value, place) if type(place) in (int, str) and type(value) in _DICTS else MISSING


def _found(value: dict[object, object], key: object) -> object:
    if len(value) > _MOST_KEYS or not _SAFE_KEYS.issuperset(map(type, value)):
        return MISSING
    return dict.get(value, key, MISSING)


def _length(value: Any) -> object:
    return len(value) if type(value) in _COUNTED else MISSING


def _attribute(value: object, name: str) -> object:
    """An attribute that is plain data; not one that code of its class makes up."""
    default: object = MISSING
    for names in map(names_of_class, classes_of(type(value))[:-1]):
        if "__getattribute__" in names:
            return MISSING
        if name in names and default is MISSING:
            default = names[name]
    if type(default) is MemberDescriptorType:
        try:
            return default.__get__(value)
        except (AttributeError, TypeError):  # not set, or of another class
            return MISSING
    if default is not MISSING and type(default) not in FIXED:
        return MISSING
    found = _found(attributes_of(value), name)
    return default if found is MISSING else found
