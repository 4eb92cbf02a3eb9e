"""Comparison rules: whether expected and actual are equal, or where they first differ.

A module of this package is one rule, with the module's name. It defines

- `COMPARES`: `"text"` (expected and actual are `str`), `"value"` (decoded Python objects) or `"both"`,
- `check(expected, actual) -> Difference | None`: None means equal; it never raises on input of its kind,
- `check_value`, the same for values, if it compares both and `check` is for text,
- a docstring that says exactly what it accepts,

or several small rules, each a `Checker` in `CHECKERS`. A name may have options: `floats:tolerance=1e-4:case=ignore`.
`tolerance` and `repeats` are for rules whose `check` takes them, `case` is for those that compare text.

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
from evaluator.package_modules import near, public_modules

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

    @property
    def compares(self) -> str:
        return " or ".join(self.rules)


@lru_cache(maxsize=64)
def get_checker(name: str) -> Checker:
    """The checker of that name, with the options that it names. Raises `CheckerError` if there is none."""
    base, *options = name.split(":")
    found = known_checkers().get(base)
    if found is None:
        known = known_checkers()
        raise CheckerError(f"checker {brief(name)} is unknown{near(base, known)}: use one of {', '.join(known)}")
    rules = found.rules
    for option in sorted(options, key=lambda each: each == _CASE):  # it wraps what takes the others
        rules = _with_option(rules, option)
        if not rules:
            raise CheckerError(f"checker {brief(name)} can't be read: {base} does not take {option!r}; {_OPTIONS}")
    return replace(found, name=name, rules=rules) if options else found


_CASE = "case=ignore"
_REPEATS = "repeats=ignore"
_OPTIONS = (
    f"floats and value take tolerance=1e-5 or another number below 1, unordered takes {_REPEATS} for text, and what "
    f"compares text {_CASE}"
)


def _with_option(rules: Mapping[Kind, Check], option: str) -> dict[Kind, Check]:
    """Those of the rules that take the option, with it."""
    name, _, text = option.partition("=")
    if option == _CASE:
        return {"text": partial(_ignoring_case, rules["text"])} if "text" in rules else {}
    value: float | bool = False
    if name == "tolerance":
        with contextlib.suppress(ValueError):
            value = float(text)
    if option != _REPEATS and not (name == "tolerance" and text and 0 <= value < 1):
        return {}
    takes = {kind: cast("Any", check) for kind, check in rules.items() if name in signature(check).parameters}
    return {kind: partial(check, **{name: value}) for kind, check in takes.items()}


def _ignoring_case(check: Check, expected: str, actual: str) -> Difference | None:
    return check(expected.lower(), actual.lower())


@cache
def known_checkers() -> dict[str, Checker]:
    """Every checker of this package by name, in alphabetical order."""
    found = [each for name, module in public_modules(__name__).items() for each in _checkers(name, module)]
    return {each.name: each for each in sorted(found, key=lambda each: each.name)}


def _checkers(name: str, module: ModuleType) -> Iterable[Checker]:
    if hasattr(module, "CHECKERS"):
        return cast("Iterable[Checker]", module.CHECKERS)
    if module.COMPARES == "both":
        return [Checker(name, {"text": module.check, "value": module.check_value})]
    return [Checker(name, {module.COMPARES: module.check})]
