"""Comparison rules: expected beside actual, equal or where they first differ.

One module of this package is one rule, known by the module's name. It defines

- `COMPARES`: `"text"` (expected and actual are `str`) or `"value"` (decoded Python objects),
- `check(expected, actual) -> Difference | None`: None means equal; it raises nothing on input of its kind,
- a docstring that says to the letter what it accepts.

A new rule is a new file here; nothing else names the rules. Comparing never runs a completion's code:
values are compared by exact type, and what is no data (`evaluator.model.Opaque`) equals nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any, Literal

from evaluator.checkers._families import why_no_data
from evaluator.checkers._rendering import brief, message, render, shortened
from evaluator.checkers._text import common_prefix
from evaluator.model import Difference
from evaluator.package_modules import public_modules

__all__ = [
    "Checker",
    "CheckerError",
    "brief",
    "common_prefix",
    "get_checker",
    "known_checkers",
    "message",
    "render",
    "shortened",
    "why_no_data",
]


class CheckerError(ValueError):
    """No checker has that name. The message lists those that exist."""


@dataclass(frozen=True)
class Checker:
    """One comparison rule."""

    name: str
    compares: Literal["text", "value"]
    """What `check` takes: two texts, or two decoded values."""
    check: Callable[[Any, Any], Difference | None]
    """`check(expected, actual)`: None when equal, else where they first differ."""
    summary: str
    """What it accepts, in one line."""


def get_checker(name: str) -> Checker:
    """The checker of that name. Raises `CheckerError`, naming those that exist."""
    found = known_checkers().get(name)
    if found is None:
        raise CheckerError(f"checker {name!r} is unknown: give one of {', '.join(known_checkers())}")
    return found


@cache
def known_checkers() -> dict[str, Checker]:
    """Every checker of this package by name, in alphabetical order."""
    return {name: _checker(name, module) for name, module in public_modules(__name__).items()}


def _checker(name: str, module: ModuleType) -> Checker:
    summary = (module.__doc__ or "").strip().partition("\n")[0]
    return Checker(name, module.COMPARES, module.check, summary)
