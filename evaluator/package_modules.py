"""Finds what a package holds, so that a new checker, grader or format is a new file and no edit elsewhere."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType


def public_modules(package: str) -> dict[str, ModuleType]:
    """The modules of a package by name, in alphabetical order; not those whose name begins with an underscore."""
    return {name: importlib.import_module(f"{package}.{name}") for name in _names(package)}


def public_module(package: str, name: str) -> ModuleType | None:
    """The one of that name, where there is one; no other is imported, for some bring heavy packages with them."""
    return importlib.import_module(f"{package}.{name}") if name in _names(package) else None


@cache
def _names(package: str) -> tuple[str, ...]:
    path = importlib.import_module(package).__path__
    return tuple(sorted(found.name for found in pkgutil.iter_modules(path) if not found.name.startswith("_")))
