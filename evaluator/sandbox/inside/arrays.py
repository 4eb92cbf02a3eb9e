"""How numpy's and pandas' values cross between a completion's process and its check's: what `crossing` asks.

They cross bit for bit, by exact class: what would not be the same on the other side raises `UnfaithfulError`. Neither
module is imported to send a value, and no code of a value's class is run but numpy's and pandas' own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from evaluator.sandbox.inside import columns, dtypes, frames, ndarrays
from evaluator.sandbox.inside.dtypes import TooLargeError, UnfaithfulError

__all__ = (
    "TAGS",
    "TooLargeError",
    "UnfaithfulError",
    "build",
    "is_mutable",
    "lower",
    "replace",
    "snapshot",
    "unchanged",
)

TAGS = frozenset(("np", "no", "ns", "nm", "nd", "pd"))
_NO_LIMIT = sys.maxsize
_NAME = type.__dict__["__name__"].__get__

_lowerers: dict[type, ndarrays.Lower] = {}
_mutable: dict[type, Callable[[Any, Any], None]] = {}
"""The classes of what can be changed in place, and what changes it."""
_bases: list[type] = []
"""Whose subclasses are no plain data either."""
_learned: set[str] = set()


def _learn() -> None:
    """Notes numpy's and pandas' classes, once somebody has imported them."""
    for name, (mark, note) in _NOTES.items():
        module = sys.modules.get(name)
        if module is None or name in _learned or not isinstance(getattr(module, mark, None), type):
            continue
        try:
            note(module)
        except AttributeError:  # half imported
            continue
        _learned.add(name)


def _note_numpy(numpy: Any) -> None:
    _lowerers.update(ndarrays.lowerers(numpy))
    _mutable.update({numpy.ndarray: ndarrays.replace, numpy.matrix: ndarrays.replace_matrix})
    _bases.extend((numpy.ndarray, numpy.generic))


def _note_masked(masked: Any) -> None:
    _lowerers.update(ndarrays.masked_lowerers(masked))
    _mutable[masked.MaskedArray] = ndarrays.replace_masked


def _note_pandas(pandas: Any) -> None:
    _lowerers.update(frames.lowerers(pandas))
    changeable = (pandas.DataFrame, pandas.Series, *columns.index_classes(pandas), *frames.array_classes(pandas))
    _mutable.update(dict.fromkeys(changeable, frames.replace))
    scalars = (pandas.Timestamp, pandas.Timedelta, pandas.Period, pandas.Interval)
    _bases.extend((pandas.DataFrame, pandas.Series, pandas.Index, pandas.api.extensions.ExtensionArray, *scalars))


_NOTES: dict[str, tuple[str, Callable[[Any], None]]] = {
    "numpy": ("ndarray", _note_numpy),
    "numpy.ma": ("MaskedArray", _note_masked),
    "pandas": ("DataFrame", _note_pandas),
}
"""By module: the name of a class in it, by which it is known to be itself, and what to note."""


def lower(value: Any, kind: type, lower_item: Callable[[Any], Any], room: int = _NO_LIMIT) -> dict[str, object] | None:
    """The value as an object of one tag, or None where it is neither numpy's nor pandas'. `kind` is its type.

    Items of arrays of objects, labels and the like are lowered by `lower_item`, in the order in which `build` asks for
    them. Raises `UnfaithfulError`, and `TooLargeError` where it would surely take over `room` characters.
    """
    lowerer = _lowerers.get(kind)
    if lowerer is None:
        return _other(value, kind, lower_item, room)
    return lowerer(value, lower_item, room)


def _other(value: Any, kind: type, lower_item: Callable[[Any], Any], room: int) -> dict[str, object] | None:
    """A value of a class that has no lowerer yet, or never: a dtype, what somebody made a subclass for, no array."""
    if len(_learned) < len(_NOTES):
        _learn()
        if kind in _lowerers:
            return _lowerers[kind](value, lower_item, room)
        if not _learned:
            return None
    if issubclass(kind, dtypes.numpy().dtype):
        return ndarrays.lower_dtype(value)
    for base in _bases:
        if issubclass(kind, base):
            told = f"an object of class {_NAME(kind)}, which is a {base.__name__} of its own kind"
            raise UnfaithfulError(told, kind)
    return frames.lower_other(value, kind, lower_item, room) if "pandas" in _learned else None


def build(tag: str, payload: Any, build_item: Callable[[Any], Any]) -> Any:
    """The value that was lowered to this. Raises `ValueError`, whatever the payload is."""
    try:
        return frames.build(payload, build_item) if tag == "pd" else ndarrays.build(tag, payload, build_item)
    except ValueError:
        raise
    except Exception as error:  # what numpy and pandas raise for nonsense is many things
        raise ValueError(f"no {tag}: {type(error).__name__}") from None


def is_mutable(_value: Any, kind: type) -> bool:
    """Whether values of this type can be changed in place."""
    if kind in _mutable:
        return True
    if len(_learned) < len(_NOTES):
        _learn()
    return kind in _mutable


def snapshot(value: Any) -> tuple[Any, ...]:
    """What tells later whether a mutable value has changed: its numbers and texts, then the very objects in it."""
    kind = type(value)
    changer = _mutable[kind]
    if changer is frames.replace:
        return frames.contents(_lowerers[kind], value)
    if changer is ndarrays.replace:
        return ndarrays.contents(value)
    items: list[Any] = []
    return (_lowerers[kind](value, items.append, _NO_LIMIT), *items)


def unchanged(value: Any, before: tuple[Any, ...]) -> bool:
    """Whether the value is still what it was, to the bit, and holds the very same objects."""
    try:
        return ndarrays.is_same(snapshot(value), before)
    except UnfaithfulError:  # it was not so when it crossed
        return False


def replace(value: Any, new: Any) -> None:
    """Makes a mutable value equal to another of its class in place. Raises `UnfaithfulError` where that can't be."""
    if type(value) is not type(new):
        raise UnfaithfulError(f"an object of class {type(value).__name__} became one of class {type(new).__name__}")
    _mutable[type(value)](value, new)
