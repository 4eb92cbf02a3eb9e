"""Modules of the standard library that many suites import, loaded once in the zygote and not in each process.

On real sets every suite of classes imports `unittest`, and three in ten `unittest.mock`, whose import takes 30 ms, in
the test's process and again in the completion's. Neither is to be found where the test does not import it. A program
that imports it by itself then loads another one.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

_MOCKS = ("unittest.mock", "importlib.util", "importlib._abc")
"""With what a program would find below `importlib` without having imported it."""

_unittest: dict[str, ModuleType] = {}
_mocks: dict[str, ModuleType] = {}


def prepare() -> None:
    """Called once, in the zygote, after the rehearsal, which also imports `unittest`."""
    of_mocks = [name for name in _MOCKS if name not in sys.modules]
    importlib.import_module("unittest.mock")
    for name in of_mocks:
        package, _, last = name.rpartition(".")
        delattr(sys.modules[package], last)
        _mocks[name] = sys.modules.pop(name)
    for name in [name for name in sys.modules if name.partition(".")[0] == "unittest"]:
        _unittest[name] = sys.modules.pop(name)


def give(imports: list[str]) -> None:
    """Makes visible what these import statements would load. Called before any other code runs."""
    text = " ".join(imports)
    if "unittest" not in text:
        return
    sys.modules.update(_unittest)
    if "mock" not in text:
        return
    sys.modules.update(_mocks)
    for name, module in _mocks.items():
        package, _, last = name.rpartition(".")
        setattr(sys.modules[package], last, module)
