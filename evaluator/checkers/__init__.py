"""Comparison rules: whether expected and actual are equal, or where they first differ.

A module of this package is one rule, with the module's name. It defines

- `COMPARES`: `"text"` (expected and actual are `str`), `"value"` (decoded Python objects) or `"both"`,
- `check(expected, actual) -> Difference | None`: None means equal; it never raises on input of its kind,
- `check_value`, the same for values, if it compares both and `check` is for text,
- a docstring that says exactly what it accepts,

or several small rules, each a `Checker` in `CHECKERS`. One whose `check` takes a `tolerance` may be named with it:
`value:tolerance=1e-5`.

To add a rule, add a file here; nothing else lists the rules. Comparing never runs a completion's code: values are
compared by exact type, and what is not data (`evaluator.model.Opaque`) equals nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from inspect import signature
from types import ModuleType
from typing import Any, Literal, cast

from evaluator.checkers._rendering import brief, message, render, shortened
from evaluator.checkers._text import common_prefix
from evaluator.checkers._values import why_no_data
from evaluator.model import Difference
from evaluator.package_modules import public_modules

__all__ = [
    "Check",
    "Checker",
    "CheckerError",
    "Kind",
    "brief",
    "common_prefix",
    "get_checker",
    "known_checkers",
    "message",
    "render",
    "shortened",
    "why_no_data",
]


Kind = Literal["text", "value"]
Check = Callable[[Any, Any], Difference | None]
"""`check(expected, actual)`: None when equal, else where they first differ."""


class CheckerError(ValueError):
    """No checker has that name. The message lists all names."""


@dataclass(frozen=True)
class Checker:
    """One comparison rule."""

    name: str
    rules: Mapping[Kind, Check]
    """How it compares two texts, two decoded values, or either."""
    summary: str
    """What it accepts, in one line."""

    @property
    def compares(self) -> str:
        return " or ".join(self.rules)


@lru_cache(maxsize=64)
def get_checker(name: str) -> Checker:
    """The checker of that name, with its tolerance if it names one. Raises `CheckerError` if there is none."""
    base, _, option = name.partition(":")
    found = known_checkers().get(base)
    if found is None:
        raise CheckerError(f"checker {name!r} is unknown: use one of {', '.join(known_checkers())}")
    return _within(found, name, option) if option else found


def _within(checker: Checker, name: str, option: str) -> Checker:
    takes_one = all("tolerance" in signature(check).parameters for check in checker.rules.values())
    with contextlib.suppress(ValueError):
        tolerance = float(option.removeprefix("tolerance="))
        if takes_one and option.startswith("tolerance=") and 0 <= tolerance < 1:
            rules = {kind: partial(cast("Any", check), tolerance=tolerance) for kind, check in checker.rules.items()}
            return replace(checker, name=name, rules=rules)
    raise CheckerError(f"checker {name!r} can't be read: only value takes an option, such as value:tolerance=1e-5")


@cache
def known_checkers() -> dict[str, Checker]:
    """Every checker of this package by name, in alphabetical order."""
    found = [each for name, module in public_modules(__name__).items() for each in _checkers(name, module)]
    return {each.name: each for each in sorted(found, key=lambda each: each.name)}


def _checkers(name: str, module: ModuleType) -> Iterable[Checker]:
    if hasattr(module, "CHECKERS"):
        return cast("Iterable[Checker]", module.CHECKERS)
    summary = (module.__doc__ or "").strip().partition("\n")[0]
    if module.COMPARES == "both":
        return [Checker(name, {"text": module.check, "value": module.check_value}, summary)]
    return [Checker(name, {module.COMPARES: module.check}, summary)]
