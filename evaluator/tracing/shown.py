"""Values as short text, inside the sandbox, and what a line is about to read, such as `grid[i][j-1]` or `len(queue)`.

None of the completion's own code runs for it, no `__repr__`, no `__str__`: only exact built-in types are asked for an
item or a length, and an attribute is read from where it is stored. It is sent as text before `inside.py`, and imports
only the standard library.
"""

from __future__ import annotations

import ast
import contextlib
import operator
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from types import BuiltinFunctionType, FunctionType, GetSetDescriptorType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

FIXED = frozenset({int, float, complex, bool, str, bytes, type(None), range})
"""Types whose values can't change."""
_ROOM = 160
"""Characters of a value."""
_SLACK = 90
"""For the last item, and how many there are."""
_DEEP = 6
_SORTED = 1_000
_SHOWN_BY_REPR = {"Decimal", "Fraction", "datetime", "date", "time", "timedelta"}
_NO_LAST = object()
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
# A class may have code of its own for each of these, or its metaclass; so has `isinstance`, but not `issubclass`.
classes_of = type.__dict__["__mro__"].__get__
names_of_class = type.__dict__["__dict__"].__get__
arguments_of = BaseException.__dict__["args"].__get__
_name = type.__dict__["__name__"].__get__


def name_of(kind: type) -> str:
    """A class's name."""
    return str.__str__(_name(kind))


def shown(value: object, room: int = _ROOM) -> str:
    """The value as text of about `room` characters at most."""
    try:
        text = _shown(value, room, 0)
    except BaseException:
        return "<?>"
    return text if len(text) <= room + _SLACK else f"{text[:room]}…"


def _shown(value: Any, room: int, depth: int) -> str:
    kind = type(value)
    if kind is int:
        return repr(value) if value.bit_length() < 4 * room else f"<int of {value.bit_length()} bits>"
    if kind in (str, bytes, bytearray):
        return repr(value) if len(value) <= room else f"{value[:room]!r}… ({len(value)} characters)"
    if kind in FIXED:
        return repr(value)
    if depth >= _DEEP:
        return "…"
    if issubclass(kind, dict):
        body = _pairs(dict.items(value), dict.__len__(value), room, depth)
        return f"{{{body}}}" if kind is dict else f"{name_of(kind)}({{{body}}})"
    if issubclass(kind, (list, tuple, set, frozenset, deque)):
        return _sequence(value, kind, room, depth)
    if issubclass(kind, type):
        return f"<{name_of(kind)} {name_of(value)}>"
    if kind in (FunctionType, BuiltinFunctionType, MethodType, ModuleType):
        return f"<{name_of(kind)} {getattr(value, '__name__', '')}>"
    if name_of(kind) in _SHOWN_BY_REPR and kind.__module__ in ("datetime", "decimal", "fractions"):
        return repr(value)
    return _object(value, kind, room, depth)


def _sequence(value: Any, kind: type, room: int, depth: int) -> str:
    base: Any = next(each for each in (list, tuple, set, frozenset, deque) if issubclass(kind, each))
    count = base.__len__(value)
    values: Iterable[object] = base.__iter__(value)
    if base in (set, frozenset) and count <= _SORTED:
        values = list(values)
        if all(type(each) in FIXED for each in values):
            with contextlib.suppress(TypeError):
                values = sorted(values)  # type: ignore[type-var]
    last = base.__getitem__(value, -1) if base in (list, tuple) and count else _NO_LAST
    body = _items(values, count, room, depth, last)
    if kind is list:
        return f"[{body}]"
    if kind is tuple:
        return f"({body},)" if tuple.__len__(value) == 1 else f"({body})"
    if kind is set:
        return f"{{{body}}}" if body else "set()"
    return f"{name_of(kind)}({body})" if issubclass(kind, tuple) else f"{name_of(kind)}([{body}])"


def _items(values: Iterable[object], count: int, room: int, depth: int, last: object = _NO_LAST) -> str:
    pieces: list[str] = []
    for value in values:
        if room <= 0:
            end = f" {_shown(last, 40, _DEEP - 1)[:40]}" if last is not _NO_LAST else ""
            return f"{', '.join(pieces)}, …{end} ({count} items)"
        pieces.append(_shown(value, room, depth + 1))
        room -= len(pieces[-1]) + 2
    return ", ".join(pieces)


def _pairs(pairs: Iterable[tuple[object, object]], count: int, room: int, depth: int, joint: str = ": ") -> str:
    pieces: list[str] = []
    for key, value in pairs:
        if room <= 0:
            return f"{', '.join(pieces)}, … ({count} items)"
        name = _shown(key, room, depth + 1) if joint == ": " else str(key)
        pieces.append(f"{name}{joint}{_shown(value, room, depth + 1)}")
        room -= len(pieces[-1]) + 2
    return ", ".join(pieces)


def _object(value: object, kind: type, room: int, depth: int) -> str:
    if issubclass(kind, BaseException):
        arguments = arguments_of(value)
        return f"{name_of(kind)}({_items(arguments, len(arguments), room, depth)})"
    fields = attributes_of(value)
    if not fields:
        return f"<{name_of(kind)}>"
    return f"{name_of(kind)}({_pairs(fields.items(), len(fields), room, depth, '=')})"


def attributes_of(value: object) -> dict[Any, object]:
    """An object's attributes as they are stored. A `__dict__` that its class makes up is not asked."""
    for names in map(names_of_class, classes_of(type(value))):
        stored = names.get("__dict__")
        if stored is not None:
            try:
                fields = stored.__get__(value) if type(stored) is GetSetDescriptorType else None
            except (AttributeError, TypeError):  # of another class
                return {}
            return fields if type(fields) is dict else {}
    return {}


Names = Callable[[str], Any]
"""The value of a name; `MISSING` if it has none."""


def operands(source: str) -> dict[int, list[tuple[str, ast.expr]]]:
    """For each line, what it reads: the text, and the expression for `value_of`."""
    found: dict[int, dict[str, ast.expr]] = {}
    if len(source) > _LONGEST_SOURCE:
        return {}
    try:
        lines = [line.encode() for line in source.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
        for node in _reads(ast.parse(source)):
            line = found.setdefault(node.lineno, {})
            if len(line) < _OF_LINE:
                line.setdefault(_text(node, lines), node)
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


def _reads(tree: ast.AST) -> Iterator[ast.expr]:
    """What is read, from left to right; of `a[i][j]` the whole, without the parts that it consists of."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.AugAssign) and not isinstance(node.target, ast.Name):
            node.target.ctx = ast.Load()
        if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            waiting.extend(reversed(_keys(node)))
        elif isinstance(node, (ast.Subscript, ast.Attribute, ast.Call)) and _is_short(node) and _can_be_read(node):
            yield node
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


def _can_be_read(node: ast.expr, *, as_key: bool = False) -> bool:
    """Whether `value_of` knows such an expression; `as_key`: what stands between brackets, also `i-1` or a constant."""
    if isinstance(node, ast.Subscript):
        return _can_be_read(node.value) and _can_be_read(node.slice, as_key=True)
    if isinstance(node, ast.Attribute):
        return _can_be_read(node.value)
    if isinstance(node, ast.Call):
        is_length = isinstance(node.func, ast.Name) and node.func.id == "len" and not node.keywords
        return is_length and len(node.args) == 1 and _can_be_read(node.args[0])
    if as_key and isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant)
    if as_key and isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        return _can_be_read(node.left, as_key=True) and _can_be_read(node.right, as_key=True)
    return isinstance(node, ast.Name) or (as_key and isinstance(node, ast.Constant))


def value_of(node: ast.expr, names: Names) -> Any:
    """What an expression reads; `MISSING` where that is unknown, or would run code of the completion's own."""
    if isinstance(node, ast.Name):
        return names(node.id)
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Subscript):
        return _item(value_of(node.value, names), value_of(node.slice, names))
    if isinstance(node, ast.Attribute):
        return _attribute(value_of(node.value, names), node.attr)
    if isinstance(node, ast.Call):
        return _length(value_of(node.args[0], names)) if names("len") is MISSING else MISSING
    if isinstance(node, ast.BinOp):
        left, right = value_of(node.left, names), value_of(node.right, names)
        work = operator.add if isinstance(node.op, ast.Add) else operator.sub
    else:
        left, right, work = 0, node.operand.value, operator.sub  # type: ignore[attr-defined]
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
