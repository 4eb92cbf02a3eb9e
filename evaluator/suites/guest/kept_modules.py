"""Modules of the standard library that many suites import, loaded once in the zygote and not in each process.

On real sets every suite imports `unittest`, and three in ten `unittest.mock`, whose import takes 30 ms, in the test's
process and again in the completion's. A process finds no module where it would not without this: `unittest.mock`
can be reached only if the test imports it, or the program itself, which then loads another one.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

_IMPORTED = ("unittest", "unittest.mock")
_HIDDEN = ("unittest.mock", "importlib.util", "importlib._abc")
"""Below packages that a program may have imported without them."""

_hidden: dict[str, ModuleType] = {}


def prepare() -> None:
    """Called once, in the zygote."""
    before = set(sys.modules)
    for name in _IMPORTED:
        importlib.import_module(name)
    for name in [name for name in _HIDDEN if name not in before]:
        package, _, last = name.rpartition(".")
        _hidden[name] = sys.modules.pop(name)
        delattr(sys.modules[package], last)


def give(imports: list[str]) -> None:
    """Makes what is hidden visible, if these import statements would do that. Called before any other code runs."""
    if not any("mock" in statement for statement in imports):
        return
    sys.modules.update(_hidden)
    for name, module in _hidden.items():
        package, _, last = name.rpartition(".")
        setattr(sys.modules[package], last, module)
