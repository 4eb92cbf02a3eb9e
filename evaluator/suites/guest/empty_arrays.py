"""Detects comparisons with an empty array, which numpy finds equal to anything of a fitting shape."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

_COMPARING = {
    "numpy": ("allclose", "isclose", "array_equiv"),
    "numpy.testing": (
        "assert_allclose", "assert_array_equal", "assert_array_almost_equal", "assert_equal", "assert_almost_equal",
    ),
}  # fmt: skip


def is_vacuous(one: Any, other: Any) -> bool:
    """Whether one of the two is an empty array and the other is not empty."""
    if "ndarray" not in (type(one).__name__, type(other).__name__) or "numpy" not in sys.modules:
        return False
    sizes = {_is_empty(one), _is_empty(other)}
    return sizes == {True, False}


def _is_empty(value: Any) -> bool:
    try:
        return bool(sys.modules["numpy"].size(value) == 0)
    except Exception:  # not an array
        return False


def watch(report: Callable[[], None]) -> None:
    """Makes numpy's own functions call `report` for such a comparison."""

    def watching(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def compare(*arguments: Any, **keywords: Any) -> Any:
            if is_vacuous(*[*arguments, *keywords.values()][:2]):
                report()
            return function(*arguments, **keywords)

        return compare

    import numpy.testing  # the test needs it anyway

    for module, names in _COMPARING.items():
        for name in names:
            setattr(sys.modules[module], name, watching(getattr(numpy if module == "numpy" else numpy.testing, name)))
