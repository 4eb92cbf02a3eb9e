"""Describes each side's objects that the other side knows only by number."""

from __future__ import annotations

import collections
import enum
import functools
import inspect
import sys
import types
from typing import Any

from evaluator.sandbox.guest import encode
from evaluator.sandbox.guest.encode import OWN_MODULES
from evaluator.suites.guest.errors import BadMessageError
from evaluator.suites.guest.serialization import Announced, Message

IMMUTABLE = (int, float, complex, str, bytes, tuple, frozenset)
DATA = frozenset(
    (
        *IMMUTABLE, list, dict, set, bytearray, collections.OrderedDict, collections.defaultdict, collections.Counter,
        collections.deque,
    )
)  # fmt: skip
"""Classes of data: methods that a class inherits from these work on the object's value, on the comparing side."""
_ITERATORS = frozenset(("builtins", "itertools", "_collections", "_collections_abc", "collections"))
_OF_EVERY_OBJECT = frozenset(
    """__new__ __init__ __init_subclass__ __class_getitem__ __subclasshook__ __reduce_ex__ __getattribute__ __setattr__
    __delattr__ __dir__ __copy__ __deepcopy__""".split()
)
_SCALARS = frozenset((type(None), bool, int, float, str))
_CALLED = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.MethodDescriptorType,
    types.WrapperDescriptorType, types.MethodWrapperType, functools.partial, type(functools.cache(len)),
)  # fmt: skip


class Numbers:
    """Numbers of this side's objects, and of the proxies of the other side's objects."""

    def __init__(self) -> None:
        self._objects: list[Any] = []
        self._numbers: dict[Any, int] = {}
        self._proxies: dict[int, tuple[Any, int]] = {}

    def get(self, number: Any) -> Any:
        """Raises `BadMessageError` for a number that was never given out."""
        if type(number) is not int or not 0 <= number < len(self._objects):
            raise BadMessageError("a number that was never given out")
        return self._objects[number]

    def number(self, value: Any) -> int:
        known = self._numbers.setdefault(_key(value), len(self._objects))
        if known == len(self._objects):
            self._objects.append(value)
        return known

    def number_of(self, value: Any) -> int | None:
        return self._numbers.get(_key(value))

    def add_proxy(self, value: Any, number: int) -> None:
        """`value` is the proxy of the other side's object with that number."""
        self._proxies[id(value)] = (value, number)

    def number_of_proxy(self, value: Any) -> int | None:
        proxy = self._proxies.get(id(value))
        return None if proxy is None else proxy[1]

    def described(self, value: Any, kind: type, message: Message, announced: Announced) -> list[Any]:
        """Number, kind, and details; the details of a class are sent only once."""
        number = self.number(value)
        if issubclass(kind, type):
            return [number, "class", _class(value, message) if announced.is_new(number) else None]
        if issubclass(kind, _CALLED):
            return [number, "function", [_text(value, "__name__") or "", _text(value, "__doc__")]]
        if issubclass(kind, types.GeneratorType) or is_iterator(kind):
            return [number, "iterator", issubclass(kind, types.GeneratorType)]
        base = encode.base_value(value, kind) if issubclass(kind, IMMUTABLE) else None
        return [number, "object", [message.lower(kind), message.lower(base)]]


def _key(value: Any) -> Any:
    """Its identity: a bound method is created anew whenever it is read."""
    if is_method(value):
        return id(getattr(value, "__func__", None)), value.__name__, id(value.__self__)
    return id(value)


def is_method(value: Any) -> bool:
    """Whether it is bound to an object."""
    kind = type(value)
    return kind is types.MethodType or (
        kind is types.BuiltinMethodType and not isinstance(value.__self__, types.ModuleType)
    )


def is_iterator(kind: type) -> bool:
    """Whether it is one of Python's own iterators."""
    return hasattr(kind, "__next__") and kind.__module__ in _ITERATORS


def _text(value: Any, name: str) -> str | None:
    text = getattr(value, name, None)
    return text if isinstance(text, str) else None


def _class(kind: type, message: Message) -> list[Any]:
    """Name, docstring, bases, special and other methods, whether it is a library's, an exception's scalars."""
    own = type.__dict__["__dict__"].__get__(kind)
    special = [name for name, value in own.items() if name.startswith("__") and callable(value)]
    special += _inherited(kind)
    special += ["no hash"] if own.get("__hash__", 0) is None else []
    special += ["dataclass"] if _compares_fields(kind) else []
    methods = [
        name
        for name, value in own.items()
        if not name.startswith("__") and isinstance(value, types.FunctionType | staticmethod | classmethod)
    ]
    attributes = {}
    if issubclass(kind, BaseException):
        attributes = {
            name: value for name, value in own.items() if type(value) in _SCALARS and not name.startswith("__")
        }
    bases = [message.lower(base) for base in kind.__bases__]
    text = own.get("__doc__")
    text = text if isinstance(text, str) else None
    return [kind.__name__, text, bases, special, methods, is_of_library(kind), message.lower(attributes)]


def _inherited(kind: type) -> list[str]:
    """Special methods that it inherits from Python's own classes, except classes of data."""
    names: set[str] = set()
    for base in type.__dict__["__mro__"].__get__(kind)[1:-1]:
        if base.__module__ not in OWN_MODULES and base not in DATA:
            names.update(name for name in vars(base) if name.startswith("__") and callable(getattr(base, name)))
    return sorted(names - _OF_EVERY_OBJECT - ({"__hash__"} if issubclass(kind, enum.Enum) else set()))


def _compares_fields(kind: type) -> bool:
    """Whether it is a dataclass with the `==` and order that `dataclass` generates."""
    code = getattr(kind.__dict__.get("__eq__"), "__code__", None)
    return "__dataclass_fields__" in kind.__dict__ and getattr(code, "co_filename", "") == "<string>"


def is_of_library(kind: type) -> bool:
    """Whether an imported module other than the completion's has it under its name.

    Not if its objects may equal anything, such as `mock.ANY`: it is treated like the completion's own.
    """
    module = kind.__module__
    value: Any = None if module in OWN_MODULES or "mock" in module else sys.modules.get(module)
    for part in kind.__qualname__.split("."):
        value = getattr(value, part, None)
    return value is kind


def parameters(function: Any) -> tuple[Any, ...]:
    """From `inspect.signature`, for each parameter: name, kind, whether there is a default, and the default."""
    listed = inspect.signature(function).parameters.values()
    defaults = [(each.default is not each.empty, each.default) for each in listed]
    return tuple(
        (each.name, int(each.kind), has, default if has else None)
        for each, (has, default) in zip(listed, defaults, strict=True)
    )


def signature(described: tuple[Any, ...], annotations: dict[str, Any]) -> inspect.Signature:
    """The reverse of `parameters`, with a function's annotations."""
    kinds, empty = list(inspect._ParameterKind), inspect.Parameter.empty
    return inspect.Signature(
        [
            inspect.Parameter(
                name, kinds[kind], default=default if has else empty, annotation=annotations.get(name, empty)
            )
            for name, kind, has, default in described
        ],
        return_annotation=annotations.get("return", empty),
    )
