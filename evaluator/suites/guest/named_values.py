"""Values that cross between the two processes by name: functions and classes of Python, the dataset's own classes.

Both sides have these, so a name is enough, and no code of the other side is called through it. Also exceptions, whose
class crosses by name and whose arguments cross as data.
"""

from __future__ import annotations

import collections
import enum
import importlib
import sys
import types
from collections.abc import Callable
from functools import cache
from typing import Any

from evaluator.suites.guest.errors import BadMessageError
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
