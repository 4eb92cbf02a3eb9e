"""The value of a literal expression, folded from its syntax tree. Nothing is evaluated or called.

Constants, containers, signs, arithmetic on numbers, `+` and `*` on texts and sequences, and the constructors
of builtin values on literals (`set()`, `float('inf')`, `tuple([1, 2])`, `range(3)`). Sizes are capped.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

MAX_INT_BITS = 100_000
MAX_ITEMS = 1_000_000
"""Items of a folded sequence, characters of a folded text."""


class NotLiteralError(ValueError):
    """An expression that can't be folded; the message says what it contains."""


_NUMBERS = (bool, int, float, complex)
_TEXTS = (str, bytes)
_SEQUENCES = (*_TEXTS, list, tuple)
_ITERABLES = (*_SEQUENCES, range, dict, set, frozenset)


def fold(node: ast.expr, shadowed: frozenset[str] = frozenset(), names: Mapping[str, ast.expr] | None = None) -> Any:
    """The value of a literal expression, a new object on every call. Raises `NotLiteralError`.

    `shadowed`: names of builtins with another meaning there; `names`: names of other literals.
    """
    try:
        return _Folder(shadowed, names or {}).value(node)
    except RecursionError:
        raise NotLiteralError("an expression that is nested too deeply") from None
    except (TypeError, ValueError, ArithmeticError, MemoryError) as error:
        if isinstance(error, NotLiteralError):
            raise
        raise NotLiteralError(f"an expression that raises {type(error).__name__}") from None


class _Folder:
    def __init__(self, shadowed: frozenset[str], names: Mapping[str, ast.expr]) -> None:
        self._shadowed = shadowed
        self._names = names

    def value(self, node: ast.expr) -> Any:
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
                return self._dict(keys, values)
            case ast.UnaryOp(op=op, operand=operand):
                return self._unary(op, self.value(operand))
            case ast.BinOp(left=left, op=op, right=right):
                return _binary(op, self.value(left), self.value(right))
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if self._builds(name):
                return _CONSTRUCTORS[name](*self._items(arguments))
            case _:
                raise NotLiteralError(described(node))

    def _builds(self, name: str) -> bool:
        return name in _CONSTRUCTORS and name not in self._shadowed

    def _items(self, nodes: list[ast.expr]) -> list[Any]:
        items: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                items.extend(_iterable(self.value(node.value)))
            else:
                items.append(self.value(node))
        return items

    def _dict(self, keys: list[ast.expr | None], values: list[ast.expr]) -> dict[Any, Any]:
        folded: dict[Any, Any] = {}
        for key, value in zip(keys, values, strict=True):
            if key is None:
                raise NotLiteralError("a dict unpacked with **")
            folded[self.value(key)] = self.value(value)
        return folded

    def _unary(self, op: ast.unaryop, value: Any) -> Any:
        if isinstance(op, ast.Not):
            return not value
        if not isinstance(value, _NUMBERS):
            raise NotLiteralError(f"a sign before a {type(value).__name__}")
        if isinstance(op, ast.USub):
            return -value
        if isinstance(op, ast.UAdd):
            return +value
        if isinstance(value, int) and not isinstance(value, bool):
            return ~value
        raise NotLiteralError(f"~ before a {type(value).__name__}")


def _binary(op: ast.operator, left: Any, right: Any) -> Any:
    if isinstance(left, _NUMBERS) and isinstance(right, _NUMBERS):
        return _arithmetic(op, left, right)
    if isinstance(op, ast.Add) and type(left) is type(right) and isinstance(left, _SEQUENCES):
        _bounded(len(left) + len(right))
        return left + right
    if isinstance(op, ast.Mult):
        if isinstance(left, int):
            left, right = right, left
        if isinstance(left, _SEQUENCES) and isinstance(right, int):
            _bounded(_weight(left) * max(right, 0))
            return left * right
    raise NotLiteralError(f"an operator between a {type(left).__name__} and a {type(right).__name__}")


def _arithmetic(op: ast.operator, left: Any, right: Any) -> Any:
    function = _OPERATORS.get(type(op))
    if function is None:
        raise NotLiteralError(f"the operator {type(op).__name__} between numbers")
    if isinstance(left, int) and isinstance(right, int):
        _bounded_bits(_bits(op, left, right))
    return function(left, right)


def _bits(op: ast.operator, left: int, right: int) -> int:
    """An upper limit for the bits of the result."""
    if isinstance(op, ast.Pow):
        return left.bit_length() * max(right, 0)
    if isinstance(op, ast.LShift):
        return left.bit_length() + max(right, 0)
    return left.bit_length() + right.bit_length()


def _bounded_bits(bits: int) -> None:
    if bits > MAX_INT_BITS:
        raise NotLiteralError(f"an int of more than {MAX_INT_BITS:,} bits")


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


def _bounded(items: int) -> None:
    if items > MAX_ITEMS:
        raise NotLiteralError(f"a value of more than {MAX_ITEMS:,} items")


def _iterable(value: Any) -> Iterator[Any]:
    if not isinstance(value, _ITERABLES):
        raise NotLiteralError(f"a {type(value).__name__} that is unpacked or made into a collection")
    _bounded(len(value))
    return iter(value)


def _collection(kind: Callable[[Any], Any]) -> Callable[..., Any]:
    def build(*arguments: Any) -> Any:
        return kind([item for argument in arguments for item in _iterable(argument)])

    return _one_argument(build)


def _one_argument(build: Callable[..., Any]) -> Callable[..., Any]:
    def checked(*arguments: Any) -> Any:
        if len(arguments) > 1:
            raise NotLiteralError("a constructor with several arguments")
        return build(*arguments)

    return checked


def _number(kind: type[float] | type[int]) -> Callable[..., Any]:
    def build(argument: Any = 0) -> Any:
        if not isinstance(argument, (bool, int, float, str)):
            raise NotLiteralError(f"{kind.__name__}() of a {type(argument).__name__}")
        return kind(argument)

    return _one_argument(build)


def _range(*arguments: Any) -> range:
    if not all(type(argument) is int for argument in arguments):
        raise NotLiteralError("range() of something other than ints")
    return range(*arguments)


def _dict(*arguments: Any) -> dict[Any, Any]:
    if not arguments:
        return {}
    (argument,) = arguments
    return dict(argument) if isinstance(argument, dict) else dict(_iterable(argument))


_CONSTRUCTORS: dict[str, Callable[..., Any]] = {
    "list": _collection(list),
    "tuple": _collection(tuple),
    "set": _collection(set),
    "frozenset": _collection(frozenset),
    "dict": _one_argument(_dict),
    "range": _range,
    "float": _number(float),
    "int": _number(int),
}
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}

_DESCRIBED: dict[type[ast.AST], str] = {
    ast.Name: "a name",
    ast.Attribute: "an attribute",
    ast.Subscript: "a subscript",
    ast.Lambda: "a lambda",
    ast.JoinedStr: "an f-string",
    ast.Compare: "a comparison",
    ast.BoolOp: "and / or",
    ast.ListComp: "a comprehension",
    ast.SetComp: "a comprehension",
    ast.DictComp: "a comprehension",
    ast.GeneratorExp: "a generator expression",
    ast.Starred: "an unpacked value",
    ast.IfExp: "an if expression",
}


def described(node: ast.expr) -> str:
    """An expression in words, for a message: "a call of `poly`"."""
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return f"a call of `{name}`"
        case ast.Call(func=ast.Attribute(attr=name)):
            return f"a call of the method `{name}`"
        case ast.Name(id=name):
            return f"the name `{name}`"
        case _:
            return _DESCRIBED.get(type(node), type(node).__name__)
