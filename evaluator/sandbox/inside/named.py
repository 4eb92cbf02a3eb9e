"""What crosses between the two processes by its name: functions and classes of Python, and the dataset's own classes.

Both sides have these, so a name is enough: nothing of either side is called through it. Also exceptions, whose class
crosses by name and whose arguments cross as data.
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

from evaluator.sandbox.inside.crossing import BadLetterError, Letter

_PURE = frozenset(
    """builtins math cmath operator functools itertools string statistics re json copy bisect heapq collections
    datetime decimal fractions textwrap""".split()
)
"""Modules whose functions may be given from one side to the other."""
_DATA = frozenset(
    """builtins collections datetime decimal fractions numbers types re pathlib io array functools itertools string
    uuid ipaddress enum typing abc operator random time queue copy math""".split()
)
"""Modules whose classes may be given: none that holds its objects for equal to others. Exceptions may be of any
module but unittest's, which would end a test as if by itself."""
_NOT_GIVEN = frozenset(
    """eval exec compile open input print __import__ breakpoint exit quit globals locals vars dir getattr setattr
    delattr help super memoryview __build_class__ aiter anext""".split()
)
_NEVER_IMPORTED = frozenset(
    "antigravity this idlelib turtledemo tkinter turtle lib2to3 test ensurepip __main__".split()
)
_FUNCTIONS = (types.BuiltinFunctionType, types.FunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)
_MISSING = object()


def name_of(value: Any) -> str | None:
    """The dotted name by which the other side finds this function or class of Python; None where it has none."""
    kind = type(value)
    if kind in _FUNCTIONS:
        module, dotted = _place_of_function(value)
        allowed = module in _PURE and not (module == "builtins" and dotted in _NOT_GIVEN)
    elif kind is type or issubclass(kind, type):
        module, dotted = _place_of_class(value)
        allowed = isinstance(module, str) and module.partition(".")[0] in sys.stdlib_module_names
    else:
        return None
    if not allowed or not isinstance(dotted, str) or "__main__" in module:
        return None
    name = f"{module}:{dotted}"
    try:
        return name if found(name) is value else None
    except BadLetterError:
        return None


def _place_of_class(value: Any) -> tuple[Any, Any]:
    return value.__module__, value.__qualname__


def _place_of_function(value: Any) -> tuple[Any, Any]:
    owner = getattr(value, "__objclass__", None)
    if owner is not None:
        return owner.__module__, value.__qualname__
    module = getattr(value, "__module__", None)
    return _PUBLIC.get(str(module), module), value.__qualname__


_PUBLIC = {"_operator": "operator", "_functools": "functools", "_heapq": "heapq", "_bisect": "bisect"}


@cache
def found(name: str) -> Any:
    """The function or class of that name. Raises `BadLetterError` where there is none that may be given."""
    module_name, _, dotted = name.partition(":")
    root = module_name.partition(".")[0]
    if root not in sys.stdlib_module_names or root in _NEVER_IMPORTED or "__main__" in module_name:
        raise BadLetterError(f"no module {module_name!r}")
    module = sys.modules.get(module_name)
    value: Any = module
    try:
        if module is None:
            value = importlib.import_module(module_name)
        for part in dotted.split("."):
            value = getattr(value, part)
    except (ImportError, AttributeError) as error:
        raise BadLetterError(str(error)) from None
    is_class = isinstance(value, type)
    if not (is_class or isinstance(value, _FUNCTIONS)):
        raise BadLetterError(f"{name!r} is no function")
    if (_place_of_class(value) if is_class else _place_of_function(value)) != (module_name, dotted):
        raise BadLetterError(f"{name!r} has another name")  # a module holds others, and all that is in those
    if is_class and root not in _DATA and (not issubclass(value, BaseException) or root == "unittest"):
        raise BadLetterError(f"{name!r} may not be given")
    if not is_class and (module_name not in _PURE or (root == "builtins" and dotted in _NOT_GIVEN)):
        raise BadLetterError(f"{name!r} may not be given")
    return value


@cache
def _tuple_class(name: str, fields: tuple[str, ...]) -> type:
    return collections.namedtuple(name, fields)


def lower_named(value: Any, kind: type, letter: Letter, own: Callable[[Any], bool]) -> Any:
    """What both sides lower alike; None where it is nothing of that kind. `own(kind)`: it is the dataset's class."""
    if issubclass(kind, enum.Enum) and own(kind):
        return {"E": [kind.__name__, value.name]}
    fields = getattr(kind, "_fields", None)
    if issubclass(kind, tuple) and isinstance(fields, tuple):
        return {"N": [kind.__name__, list(fields), letter.items(tuple.__iter__(value), 1)]}
    if issubclass(kind, type):
        if own(value):
            return {"K": value.__name__}
        name = name_of(value)
        return None if name is None else {"Q": name}
    if own(kind) and not issubclass(kind, BaseException):
        letter.table.add(value)
        letter.body_later(value)
        return {"D": kind.__name__}
    name = name_of(value)
    return None if name is None else {"Q": name}


def build_named(tag: str, payload: Any, letter: Letter, classes: dict[str, type]) -> Any:
    """The reverse; `NotImplemented` for another tag."""
    if tag == "Q":
        return found(payload)
    if tag == "K":
        return classes[payload]
    if tag == "E":
        name, member = payload
        kind = classes[name]
        if not issubclass(kind, enum.Enum):
            raise BadLetterError(f"{name} has no members")
        return kind[member]
    if tag == "N":
        name, fields, items = payload
        parts = letter._parts(items)
        own = classes.get(name)
        kind = own if own is not None and hasattr(own, "_make") else _tuple_class(name, tuple(fields))
        if len(parts) != len(kind._fields):  # type: ignore[attr-defined]
            raise BadLetterError(f"{len(parts)} fields for {name}")
        return tuple.__new__(kind, parts)
    return NotImplemented


_TOLD_APART = ("filename", "filename2", "name", "path", "__notes__")
"""Attributes of Python's own exceptions that do not cross with the arguments and `__dict__`."""
_OF_ARGUMENTS = (BaseException.__str__, KeyError.__str__)
"""What makes an exception's text of its arguments alone: the other side makes it of what they are there."""
_TOLD = "_rollscope_told"
"""Marks a class that differs from its base in nothing but what its one exception says."""


def lower_exception(error: BaseException, letter: Letter) -> list[Any]:
    """Class, arguments, what it says, other attributes, its cause."""
    state = {name: value for name, value in vars(error).items() if not name.startswith(("__", "_rollscope"))}
    state.update((name, getattr(error, name)) for name in _TOLD_APART if getattr(error, name, None) is not None)
    arguments = letter.lower_or(error.args, ())
    kind = type(error)
    lost = bool(error.args) and arguments == letter.lower(())
    said = None if kind.__str__ in _OF_ARGUMENTS and not lost else _said(error)
    kind = kind.__base__ if _TOLD in vars(kind) else kind  # type: ignore[assignment]
    parts = [letter.lower(kind), letter.lower(said), letter.lower_or(state, {})]
    return [arguments, *parts, letter.lower_or(error.__cause__, None)]


def _said(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return ""


def build_exception(parts: Any, letter: Letter) -> BaseException:
    arguments, kind, said, state, cause = map(letter.build, parts)
    if not (isinstance(kind, type) and issubclass(kind, BaseException)):
        raise BadLetterError("no exception")
    if type(arguments) is not tuple or not (said is None or type(said) is str) or type(state) is not dict:
        raise BadLetterError("no parts of an exception")
    error = _made_exception(kind, arguments, said, state)
    if isinstance(cause, BaseException):
        error.__cause__ = cause
    return error


def _made_exception(
    kind: type[BaseException], arguments: tuple[Any, ...], said: str | None, state: dict[str, Any]
) -> BaseException:
    """An exception of that class that says the same. `said`: None where its arguments say it."""
    try:
        error = type.__call__(kind, *arguments)  # a stand-in's own way of being called asks for it over there
    except Exception:
        error = kind.__new__(kind, *arguments)
    error.args = arguments
    for name, value in state.items():
        try:
            object.__setattr__(error, name, value)
        except (AttributeError, TypeError):
            continue
    return error if said is None or _said(error) == said else _saying(kind, arguments, said, state)


def _saying(kind: type[BaseException], arguments: tuple[Any, ...], said: str, state: dict[str, Any]) -> BaseException:
    """Of a subclass that is told apart from the class by nothing but what it says."""
    told = type(kind.__name__, (kind,), {"__str__": lambda _: said, "__module__": kind.__module__, _TOLD: True})
    error: BaseException = told.__new__(told, *arguments)
    error.args = arguments
    error.__dict__.update(state)
    return error
