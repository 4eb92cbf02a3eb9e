"""A side's own objects that the other side knows by number alone, with what it is told of them."""

from __future__ import annotations

import collections
import enum
import functools
import inspect
import sys
import types
from typing import Any

from evaluator.sandbox.inside import encode
from evaluator.sandbox.inside.crossing import BadLetterError, Letter, Told

OWN_MODULES = ("solution", "__main__", "support")
"""Those whose classes are the completion's, or the dataset's."""
_ITERATORS = frozenset(("builtins", "itertools", "_collections", "_collections_abc", "collections"))
IMMUTABLE = (int, float, complex, str, bytes, tuple, frozenset)
DATA = frozenset((*IMMUTABLE, list, dict, set, bytearray, collections.OrderedDict))
DATA |= {collections.defaultdict, collections.Counter, collections.deque}
"""Classes of data: what a class has of these is done with the object's value, on the side that compares."""
_MADE = frozenset(
    """__new__ __init__ __init_subclass__ __class_getitem__ __subclasshook__ __reduce_ex__ __getattribute__ __setattr__
    __delattr__ __dir__ __copy__ __deepcopy__""".split()
)
_PLAIN = frozenset((type(None), bool, int, float, str))
_CALLED = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.MethodWrapperType,
    functools.partial,
    type(functools.cache(len)),
)


class Given:
    """Numbers of objects, and of what stands on this side for objects of the other."""

    def __init__(self) -> None:
        self._objects: list[Any] = []
        self._numbers: dict[Any, int] = {}
        self._stand_ins: dict[int, tuple[Any, int]] = {}

    def get(self, number: Any) -> Any:
        """Raises `BadLetterError` for a number that was never given."""
        if type(number) is not int or not 0 <= number < len(self._objects):
            raise BadLetterError("a number that was never given")
        return self._objects[number]

    def number(self, value: Any) -> int:
        known = self._numbers.get(_key(value))
        if known is None:
            known = self._numbers[_key(value)] = len(self._objects)
            self._objects.append(value)
        return known

    def number_of(self, value: Any) -> int | None:
        return self._numbers.get(_key(value))

    def stands_for(self, value: Any, number: int) -> None:
        """`value` stands here for the other side's object of that number."""
        self._stand_ins[id(value)] = (value, number)

    def number_of_stand_in(self, value: Any) -> int | None:
        found = self._stand_ins.get(id(value))
        return None if found is None else found[1]

    def described(self, value: Any, kind: type, letter: Letter, told: Told) -> list[Any]:
        """Number, what it is, and what there is to know of it; of a class that only once."""
        number = self.number(value)
        if issubclass(kind, type):
            return [number, "class", _class(value, letter) if told.is_news(number) else None]
        if issubclass(kind, _CALLED):
            return [number, "function", _function(value)]
        if issubclass(kind, types.GeneratorType) or is_iterator(kind):
            return [number, "iterator", issubclass(kind, types.GeneratorType)]
        if issubclass(kind, types.CoroutineType):
            return [number, "coroutine", None]
        if issubclass(kind, types.AsyncGeneratorType):
            return [number, "async iterator", None]
        plain = encode.base_value(value, kind) if issubclass(kind, IMMUTABLE) else None
        return [number, "object", [letter.lower(kind), letter.lower(plain)]]


def _key(value: Any) -> Any:
    """What tells it from others: a bound method is made anew whenever it is asked for."""
    if is_method(value):
        return id(getattr(value, "__func__", None)), value.__name__, id(value.__self__)
    return id(value)


def is_method(value: Any) -> bool:
    """Whether it is bound to an object: Python makes a new one whenever one is asked for."""
    kind = type(value)
    return kind is types.MethodType or (
        kind is types.BuiltinMethodType and not isinstance(value.__self__, types.ModuleType)
    )


def is_iterator(kind: type) -> bool:
    """Whether it is one of Python's own iterators."""
    return hasattr(kind, "__next__") and kind.__module__ in _ITERATORS


def _class(kind: type, letter: Letter) -> list[Any]:
    """Name, text, bases, special methods, other methods, whether it is a library's, an exception's plain attributes."""
    own = type.__dict__["__dict__"].__get__(kind)
    special = [name for name, value in own.items() if name.startswith("__") and callable(value)]
    special += _inherited(kind)
    methods = [
        name
        for name, value in own.items()
        if not name.startswith("__") and isinstance(value, types.FunctionType | staticmethod | classmethod)
    ]
    bases = [letter.lower(base) for base in kind.__bases__]
    if own.get("__hash__", 0) is None:
        special.append("no hash")
    text = own.get("__doc__")
    plain = {}
    if issubclass(kind, BaseException):
        plain = {name: value for name, value in own.items() if type(value) in _PLAIN and not name.startswith("__")}
    return [
        kind.__name__,
        text if isinstance(text, str) else None,
        bases,
        special,
        methods,
        is_of_library(kind),
        letter.lower(plain),
    ]


def _inherited(kind: type) -> list[str]:
    """Special methods that it has of Python's own classes, those apart whose values are data."""
    found: set[str] = set()
    for base in type.__dict__["__mro__"].__get__(kind)[1:-1]:
        if base.__module__ not in OWN_MODULES and base not in DATA:
            found.update(name for name in vars(base) if name.startswith("__") and callable(getattr(base, name)))
    return sorted(found - _MADE - ({"__hash__"} if issubclass(kind, enum.Enum) else set()))


def is_of_library(kind: type) -> bool:
    """Whether a module that was imported has it under its name, where the completion's own has not.

    One whose objects equal anything, such as `mock.ANY`, is as good as the completion's own.
    """
    module = kind.__module__
    found: Any = None if module in OWN_MODULES or "mock" in module else sys.modules.get(module)
    for part in kind.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is kind


def _function(value: Any) -> list[Any]:
    """Name, text, whether its call is to be awaited."""
    code = getattr(value, "__code__", None)
    name, text = getattr(value, "__name__", ""), getattr(value, "__doc__", None)
    awaited = bool(isinstance(code, types.CodeType) and code.co_flags & inspect.CO_COROUTINE)
    return [name if isinstance(name, str) else "", text if isinstance(text, str) else None, awaited]


def parameters(value: Any) -> tuple[Any, ...]:
    """What `inspect.signature` says: name, kind, whether there is a default, and that, of each parameter."""
    found = inspect.signature(value).parameters.values()
    return tuple(
        (
            each.name,
            int(each.kind),
            each.default is not each.empty,
            None if each.default is each.empty else each.default,
        )
        for each in found
    )


def signature(told: tuple[Any, ...], annotations: dict[str, Any]) -> inspect.Signature:
    """The reverse of `parameters`, with the annotations of a function."""
    kinds, empty = list(inspect._ParameterKind), inspect.Parameter.empty
    return inspect.Signature(
        [
            inspect.Parameter(
                name, kinds[kind], default=default if given else empty, annotation=annotations.get(name, empty)
            )
            for name, kind, given, default in told
        ],
        return_annotation=annotations.get("return", empty),
    )
