"""Finds the modules of a package, so that a new checker, grader or format is one new file and no other edit."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache
from types import ModuleType


def public_modules(package: str) -> dict[str, ModuleType]:
    """The modules of a package by name, in alphabetical order, without those whose name begins with an underscore."""
    return {name: importlib.import_module(f"{package}.{name}") for name in _names(package)}


def public_module(package: str, name: str) -> ModuleType | None:
    """The module of that name, if there is one. No other is imported, because some need heavy packages."""
    return importlib.import_module(f"{package}.{name}") if name in _names(package) else None


def near(name: str, known: Iterable[str]) -> str:
    """` (did you mean ...?)` of the known names that are like an unknown one; empty without any."""
    found = get_close_matches(name.lower(), known, cutoff=0.62)  # `exact` is like exact_match; parquet is not like art
    return f" (did you mean {' or '.join(found)}?)" if found else ""


@cache
def _names(package: str) -> tuple[str, ...]:
    path = importlib.import_module(package).__path__
    names = sorted(found.name for found in pkgutil.iter_modules(path) if not found.name.startswith("_"))
    if not names:  # `pkgutil` says nothing of a folder that can't be read now, such as without a free descriptor
        raise OSError(f"the modules of {package} can't be listed")
    return tuple(names)
