"""The value of a literal expression, folded from its syntax tree. Nothing is evaluated or called.

Constants, containers, signs, arithmetic on numbers, `+` and `*` on texts and sequences, and the constructors
of builtin values on literals (`set()`, `float('inf')`, `tuple([1, 2])`, `range(3)`). Sizes are capped.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

MAX_INT_BITS = 100_000
MAX_ITEMS = 1_000_000
"""Items of a folded sequence, characters of a folded text."""


class NotLiteralError(ValueError):
    """What is read is not a literal."""


def require(holds: object) -> None:
    """Raises `NotLiteralError` otherwise."""
    if not holds:
        raise NotLiteralError


_NUMBERS = (bool, int, float, complex)
_SEQUENCES = (str, bytes, list, tuple)
_ITERABLES = (*_SEQUENCES, range, dict, set, frozenset)
_CONSTRUCTORS: dict[str, tuple[Callable[..., Any], tuple[type, ...], int]] = {
    "list": (list, _ITERABLES, 1),
    "tuple": (tuple, _ITERABLES, 1),
    "set": (set, _ITERABLES, 1),
    "frozenset": (frozenset, _ITERABLES, 1),
    "dict": (dict, _ITERABLES, 1),
    "range": (range, (int,), 3),
    "float": (float, (bool, int, float, str), 1),
    "int": (int, (bool, int, float, str), 1),
}
"""By name: the constructor, the types of its arguments, and how many it may have."""
_SIGNS: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.Not: operator.not_,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.MatMult: operator.matmul,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}


def fold(node: ast.expr, shadowed: frozenset[str] = frozenset(), names: Mapping[str, ast.expr] | None = None) -> Any:
    """The value of a literal expression, a new object on every call. Raises `NotLiteralError`.

    `shadowed`: names of builtins with another meaning there; `names`: names of other literals.
    """
    try:
        return _Folder(shadowed, names or {}).value(node)
    except (RecursionError, TypeError, ValueError, ArithmeticError, MemoryError):
        raise NotLiteralError from None


class _Folder:
    def __init__(self, shadowed: frozenset[str], names: Mapping[str, ast.expr]) -> None:
        self._shadowed = shadowed
        self._names = names

    def value(self, node: ast.expr | None) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name) if name in self._names:
                return self.value(self._names[name])
            case ast.List(elts=items):
                return self._items(items)
            case ast.Tuple(elts=items):
                return tuple(self._items(items))
            case ast.Set(elts=items):
                return set(self._items(items))
            case ast.Dict(keys=keys, values=values):
                return {self.value(key): self.value(value) for key, value in zip(keys, values, strict=True)}
            case ast.UnaryOp(op=op, operand=operand):
                return _signed(op, self.value(operand))
            case ast.BinOp(left=left, op=op, right=right):
                return _binary(op, self.value(left), self.value(right))
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if self._constructs(name):
                build, kinds, most = _CONSTRUCTORS[name]
                given = self._items(arguments)
                require(len(given) <= most and all(_fits(each, kinds) for each in given))
                return build(*given)
        raise NotLiteralError  # also the key of a dict that is unpacked with **

    def _constructs(self, name: str) -> bool:
        return name in _CONSTRUCTORS and name not in self._shadowed

    def _items(self, nodes: list[ast.expr]) -> list[Any]:
        items: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                several = self.value(node.value)
                require(_fits(several, _ITERABLES))
                items.extend(several)
            else:
                items.append(self.value(node))
        return items


def _signed(op: ast.unaryop, value: Any) -> Any:
    if isinstance(op, ast.Invert) and type(value) is bool:
        raise NotLiteralError
    return _SIGNS[type(op)](value)


def _fits(value: Any, kinds: tuple[type, ...]) -> bool:
    """Whether it has one of these types; what is iterated over may not be large."""
    return type(value) in kinds and (kinds is not _ITERABLES or len(value) <= MAX_ITEMS)


def _binary(op: ast.operator, left: Any, right: Any) -> Any:
    if isinstance(left, _NUMBERS) and isinstance(right, _NUMBERS):
        if isinstance(left, int) and isinstance(right, int):
            require(_bits(op, left, right) <= MAX_INT_BITS)
        return _OPERATORS[type(op)](left, right)
    if isinstance(op, ast.Add) and type(left) is type(right) and isinstance(left, _SEQUENCES):
        require(len(left) + len(right) <= MAX_ITEMS)
        return left + right
    if isinstance(op, ast.Mult):
        if isinstance(left, int):
            left, right = right, left
        if isinstance(left, _SEQUENCES) and isinstance(right, int):
            require(_weight(left) * max(right, 0) <= MAX_ITEMS)
            return left * right
    raise NotLiteralError


def _bits(op: ast.operator, left: int, right: int) -> int:
    """An upper limit for the bits of the result."""
    if isinstance(op, ast.Pow):
        return left.bit_length() * max(right, 0)
    if isinstance(op, ast.LShift):
        return left.bit_length() + max(right, 0)
    return left.bit_length() + right.bit_length()


def _weight(sequence: Any) -> int:
    """The number of items and characters in a sequence, nested sequences included."""
    weight = 0
    pending = [sequence]
    while pending and weight <= MAX_ITEMS:
        item = pending.pop()
        weight += max(len(item), 1) if isinstance(item, _SEQUENCES) else 1
        if isinstance(item, (list, tuple)):
            pending.extend(item)
    return weight
