"""Values that are not data: those that cross by name, and descriptions of those that stay and are known by number.

Both sides have Python's functions and classes and the dataset's own classes, so a name is enough, and no code of the
other side is called through it. An exception's class crosses by name, and its arguments as data.
"""

from __future__ import annotations

import collections
import contextlib
import enum
import functools
import importlib
import inspect
import sys
import types
from collections.abc import Callable
from functools import cache
from typing import Any

from evaluator.sandbox.guest import encode
from evaluator.sandbox.guest.encode import OWN_MODULES
from evaluator.suites.guest.errors import BadMessageError, NotDataError
from evaluator.suites.guest.serialization import Message

_FUNCTION_MODULES = frozenset(
    """builtins math cmath operator functools itertools string statistics re json copy bisect heapq collections
    datetime decimal fractions textwrap""".split()
)
_CLASS_MODULES = frozenset(
    """builtins collections datetime decimal fractions numbers types re pathlib io array functools itertools string
    uuid ipaddress enum typing abc operator random time queue copy math""".split()
)
"""None of their classes equals objects of other classes. Exceptions may be of any module except unittest, whose own
would end a test as if the test had raised them."""
_NOT_PASSED = frozenset(
    """eval exec compile open input print __import__ breakpoint exit quit globals locals vars dir getattr setattr
    delattr help super memoryview __build_class__ aiter anext""".split()
)
_NEVER_IMPORTED = frozenset(
    "antigravity this idlelib turtledemo tkinter turtle lib2to3 test ensurepip __main__".split()
)
_FUNCTIONS = (types.BuiltinFunctionType, types.FunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)
_PUBLIC = {"_operator": "operator", "_functools": "functools", "_heapq": "heapq", "_bisect": "bisect"}
_CALLED = (*_FUNCTIONS, types.MethodType, types.MethodWrapperType, functools.partial, type(functools.cache(len)))
_ITERATORS = frozenset(("builtins", "itertools", "_collections", "_collections_abc", "collections"))
_OF_EVERY_OBJECT = frozenset(
    """__new__ __init__ __init_subclass__ __class_getitem__ __subclasshook__ __reduce_ex__ __getattribute__ __setattr__
    __delattr__ __dir__""".split()
)


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

    def described(self, value: Any, kind: type, message: Message) -> list[Any]:
        """Number, kind, and details; the details of a class are sent only once. Raises `NotDataError`."""
        number, announced = self.number(value), message.side.announced
        if issubclass(kind, type):
            details = None if number in announced else _class(value, message)
            announced.add(number)
            return [number, "class", details]
        if issubclass(kind, _CALLED):
            return [number, "function", [_text(value, "__name__") or "", _text(value, "__doc__")]]
        if issubclass(kind, types.GeneratorType) or is_iterator(kind):
            return [number, "iterator", issubclass(kind, types.GeneratorType)]
        if encode.base_value(value, kind) is not encode.NOT_DATA:
            raise NotDataError(f"an object of class {kind.__name__}, which is derived from a class of data")
        return [number, "object", message.lower(kind)]


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
    special = [*(name for name, value in own.items() if name.startswith("__") and callable(value)), *_inherited(kind)]
    special += ["no hash"] if own.get("__hash__", 0) is None else []
    methods = [
        name
        for name, value in own.items()
        if not name.startswith("__") and isinstance(value, types.FunctionType | staticmethod | classmethod)
    ]
    attributes = {}
    if issubclass(kind, BaseException):
        scalars = (type(None), bool, int, float, str)
        attributes = {name: value for name, value in own.items() if type(value) in scalars and name[:2] != "__"}
    bases = [message.lower(base) for base in kind.__bases__]
    text = own.get("__doc__")
    text = text if isinstance(text, str) else None
    return [kind.__name__, text, bases, special, methods, is_of_library(kind), message.lower(attributes)]


def _inherited(kind: type) -> list[str]:
    """Special methods that it inherits from Python's own classes."""
    names: set[str] = set()
    for base in type.__dict__["__mro__"].__get__(kind)[1:-1]:
        if base.__module__ not in OWN_MODULES:
            names.update(name for name in vars(base) if name.startswith("__") and callable(getattr(base, name)))
    return sorted(names - _OF_EVERY_OBJECT - ({"__hash__"} if issubclass(kind, enum.Enum) else set()))


def is_of_library(kind: type) -> bool:
    """Whether an imported module other than the completion's has it under its name.

    Not if its objects may equal anything, such as `mock.ANY`: it is treated like the completion's own.
    """
    module = kind.__module__
    value: Any = None if module in OWN_MODULES or "mock" in module else sys.modules.get(module)
    for part in kind.__qualname__.split("."):
        value = getattr(value, part, None)
    return value is kind


def description(function: Any, message: Message) -> list[Any]:
    """Name, docstring, parameters if they are known, and annotations, if all are data or classes."""
    texts = [getattr(function, name, None) for name in ("__name__", "__doc__")]
    parameters = None
    with contextlib.suppress(ValueError, TypeError):
        parameters = _parameters(function)
    shown = [text if isinstance(text, str) else "" for text in texts]
    annotations = getattr(function, "__annotations__", {})
    return [*shown, message.lower_or(parameters, None), message.lower_or(annotations, {})]


def _parameters(function: Any) -> tuple[Any, ...]:
    """From `inspect.signature`, for each parameter: name, kind, and its default, if there is one, in a tuple."""
    listed = inspect.signature(function).parameters.values()
    return tuple((one.name, int(one.kind), () if one.default is one.empty else (one.default,)) for one in listed)


def signature(described: tuple[Any, ...], annotations: dict[str, Any]) -> inspect.Signature:
    """The reverse of `_parameters`, with a function's annotations."""
    kinds, parameter, empty = list(inspect._ParameterKind), inspect.Parameter, inspect.Parameter.empty
    listed = [
        parameter(name, kinds[kind], default=[*default, empty][0], annotation=annotations.get(name, empty))
        for name, kind, default in described
    ]
    return inspect.Signature(listed, return_annotation=annotations.get("return", empty))


def _place_of(value: Any) -> tuple[str, str]:
    """The module and dotted name that a function or class states as its own."""
    owner = getattr(value, "__objclass__", value)
    module = str(getattr(owner, "__module__", ""))
    return _PUBLIC.get(module, module), str(getattr(value, "__qualname__", ""))


def _name_of(value: Any) -> str | None:
    """The name by which the other side finds this function or class of Python; None if there is none."""
    if not isinstance(value, (type, *_FUNCTIONS)):
        return None
    name = ":".join(_place_of(value))
    try:
        return name if _find(name) is value else None
    except BadMessageError:
        return None


@cache
def _find(name: str) -> Any:
    """The function or class of that name. Raises `BadMessageError` if there is none that may be passed."""
    module, _, dotted = name.partition(":")
    root = module.partition(".")[0]
    if root not in sys.stdlib_module_names or root in _NEVER_IMPORTED or "__main__" in module:
        raise BadMessageError(f"no module {module!r}")
    try:
        value: Any = sys.modules.get(module) or importlib.import_module(module)
        for part in dotted.split("."):
            value = getattr(value, part)
    except (ImportError, AttributeError) as error:
        raise BadMessageError(str(error)) from None
    if isinstance(value, type):
        allowed = root in _CLASS_MODULES or (issubclass(value, BaseException) and root != "unittest")
    else:
        builtin = module == "builtins" and dotted in _NOT_PASSED
        allowed = isinstance(value, _FUNCTIONS) and module in _FUNCTION_MODULES and not builtin
    if not allowed or _place_of(value) != (module, dotted):  # a module may contain other modules
        raise BadMessageError(f"{name!r} may not be passed")
    return value


@cache
def _tuple_class(name: str, fields: tuple[str, ...]) -> type:
    return collections.namedtuple(name, fields)


def lower_named(value: Any, kind: type, message: Message, is_dataset_class: Callable[[Any], bool]) -> Any:
    """Lowers a value in the way that both sides share; None if it has no name."""
    if issubclass(kind, enum.Enum) and is_dataset_class(kind):
        return {"E": [kind.__name__, value.name]}
    fields = getattr(kind, "_fields", None)
    if issubclass(kind, tuple) and isinstance(fields, tuple):
        return {"N": [kind.__name__, list(fields), message.items(tuple.__iter__(value), 1)]}
    if issubclass(kind, type) and is_dataset_class(value):
        return {"K": value.__name__}
    if is_dataset_class(kind) and not issubclass(kind, BaseException):
        message.later(value)
        return {"D": kind.__name__}
    name = _name_of(value)
    return None if name is None else {"Q": name}


def build_named(tag: str, payload: Any, message: Message, classes: dict[str, type]) -> Any:
    """The reverse. Raises `BadMessageError` for another tag, and various errors for a malformed payload."""
    if tag == "Q":
        return _find(payload)
    if tag == "K":
        return classes[payload]
    if tag == "E":
        name, member = payload
        members: Any = classes[name]
        if not issubclass(members, enum.Enum):
            raise BadMessageError(f"{name} has no members")
        return members[member]
    if tag != "N":
        raise BadMessageError(f"unknown tag {tag!r}")
    name, fields, items = payload
    parts, own = message.parts(items), classes.get(name)
    kind: Any = own if own is not None and hasattr(own, "_make") else _tuple_class(name, tuple(fields))
    if len(parts) != len(kind._fields):
        raise BadMessageError(f"{len(parts)} fields for {name}")
    return tuple.__new__(kind, parts)


_OWN_ATTRIBUTES = ("filename", "filename2", "name", "path", "__notes__")
"""Attributes of Python's own exceptions that do not cross with the arguments and `__dict__`."""


def lower_exception(error: BaseException, message: Message) -> list[Any]:
    """Arguments, class, text, other attributes, its cause."""
    state = {name: value for name, value in vars(error).items() if not name.startswith(("__", "_rollscope"))}
    state.update((name, getattr(error, name)) for name in _OWN_ATTRIBUTES if getattr(error, name, None) is not None)
    try:
        text = str(error)
    except Exception:
        text = ""
    arguments = message.lower_or(error.args, (text,))
    parts = [message.lower(type(error)), text, message.lower_or(state, {})]
    return [arguments, *parts, message.lower_or(error.__cause__, None)]


def build_exception(parts: Any, message: Message) -> BaseException:
    arguments, kind, text, state, cause = map(message.build, parts)
    if not (isinstance(kind, type) and issubclass(kind, BaseException)):
        raise BadMessageError("an exception's class was expected")
    if type(arguments) is not tuple or type(text) is not str or type(state) is not dict:
        raise BadMessageError("a malformed exception")
    error: BaseException
    try:
        error = type.__call__(kind, *arguments)  # calling a proxy would create it on the other side
    except Exception:
        error = kind.__new__(kind, *arguments)
    error.args = arguments
    for name, value in state.items():
        try:
            object.__setattr__(error, name, value)
        except (AttributeError, TypeError):
            continue
    if isinstance(cause, BaseException):
        error.__cause__ = cause
    if hasattr(kind, "_rollscope_has_text"):
        error.__dict__["_rollscope_text"] = text
    return error
