"""Sends values of numpy and pandas bit for bit by exact class, or not at all: see `ndarrays` and `frames`.

Neither library is imported to send a value, and only numpy's and pandas' own code runs, none of other classes.
"""

from __future__ import annotations

import sys
from typing import Any

from evaluator.suites.guest import frames, ndarrays
from evaluator.suites.guest.errors import NotDataError
from evaluator.suites.guest.ndarrays import Item

TAGS = frozenset(("np", "no", "ns", "nd", "pd"))


def lower(value: Any, kind: type, lower_item: Item, room: int = sys.maxsize) -> dict[str, object] | None:
    """The value as an object with one tag, or None if it is neither numpy's nor pandas'. `kind` is its type.

    Raises `NotDataError`, or `TooLargeError` if it would surely take over `room` characters.
    """
    numpy: Any = sys.modules.get("numpy")
    if not isinstance(getattr(numpy, "dtype", None), type):
        return None
    lowered = ndarrays.lower(numpy, value, kind, lower_item, room)
    return frames.lower(value, kind, lower_item, room) if lowered is None else lowered


def build(tag: str, payload: Any, build_item: Item) -> Any:
    """The value that was lowered to this. Raises `ValueError` for any malformed payload."""
    try:
        return (frames.build if tag == "pd" else lambda *parts: ndarrays.build(tag, *parts))(payload, build_item)
    except ValueError:
        raise
    except Exception as error:  # numpy and pandas raise many kinds
        raise ValueError(f"{tag}: {type(error).__name__}") from None


def is_mutable(kind: type) -> bool:
    """Whether values of this type can be changed in place."""
    return kind.__name__ in ("ndarray", "DataFrame", "Series") and kind.__module__ in ("numpy", "pandas")


def snapshot(value: Any) -> tuple[Any, ...]:
    """What shows later whether a mutable value has changed: its numbers and texts, then the objects in it."""
    items: list[Any] = []
    try:
        return (lower(value, type(value), items.append), *items)
    except NotDataError:  # it can no longer cross
        return (None,)


def replace(value: Any, new: Any) -> None:
    """Makes a mutable value equal to another of its class in place. Raises `NotDataError` if that is impossible."""
    if type(value) is not type(new):
        raise NotDataError(f"an object of class {type(value).__name__} became one of class {type(new).__name__}")
    if type(value).__name__ != "ndarray":
        value._update_inplace(new)
    elif value.shape == new.shape and value.dtype == new.dtype and value.flags.writeable:
        value[...] = new
    else:
        raise NotDataError("an array whose shape or dtype was changed in place")


def module_of_nan(value: float) -> str | None:
    """Whose NaN this is: of two lists with the same object in them, Python says that they are equal."""
    return next((name for name in _WITH_NAN if value is nan_of(name)), None)


def nan_of(module: str | None) -> float:
    """The module's NaN, if that is loaded; else a new one."""
    found = vars(sys.modules[module]).get("nan") if module in _WITH_NAN and module in sys.modules else None
    return found if isinstance(found, float) else float("nan")


_WITH_NAN = ("math", "numpy")
