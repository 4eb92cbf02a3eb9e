"""Finds what a package holds, so that a new checker, grader or format is a new file and no edit elsewhere."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType


def public_modules(package: str) -> dict[str, ModuleType]:
    """The modules of a package by name, in alphabetical order; not those whose name begins with an underscore."""
    path = importlib.import_module(package).__path__
    names = sorted(found.name for found in pkgutil.iter_modules(path) if not found.name.startswith("_"))
    return {name: importlib.import_module(f"{package}.{name}") for name in names}
