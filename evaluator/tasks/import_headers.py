"""The imports that contest graders put before every completion, and that completions rely on.

Each comes from a `testing_util.py`. LiveCodeBench's, copied by NeMo Gym's code_gen: all names of 18 modules, 16 of them
by their own names too, recursion to 50,000. ColossalAI's, and verl's for APPS, TACO and CodeContests: the same modules,
recursion to 600,000. APPS's and TACO's: some of those names, `time`, `fractions`, and `numpy as np`, which is left out
here because not every interpreter has it.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from functools import cache
from typing import Final

_MODULES: Final = (
    "string re datetime collections heapq bisect copy math random statistics itertools functools operator io sys json"
).split()


def _header(starred: Iterable[str], whole: Iterable[str], recursion: str) -> str:
    lines = [*(f"from {name} import *" for name in starred), *(f"import {name}" for name in whole)]
    return "\n".join([*lines, f"sys.setrecursionlimit({recursion})", ""])


_STARRED: Final = ("typing", *_MODULES, "builtins")
"""typing first: its `Counter` is an alias that `match` rejects. builtins last: `pow` and `open` are Python's."""

LIVECODEBENCH: Final = _header(_STARRED, _MODULES, "50000")
"""LiveCodeBench, NeMo Gym's code_gen. With deeper recursion, calls through C could overflow the sandbox's stack."""

CONTEST: Final = _header(_STARRED, [*_MODULES, "time", "fractions"], "50000")
"""APPS, TACO, CodeContests, ColossalAI's tasks, and tests passed in by trainers."""

COLOSSALAI: Final = _header([*_MODULES, "builtins", "typing"], _MODULES, "6*10**5")
"""In its original order, because a task may call one of its functions."""


@cache
def names() -> frozenset[str]:
    """The names that LiveCodeBench's header defines besides Python's builtins."""
    found = set(_MODULES)
    for name in _STARRED[:-1]:
        module = importlib.import_module(name)
        found |= set(getattr(module, "__all__", None) or [each for each in vars(module) if not each.startswith("_")])
    return frozenset(found.difference(vars(importlib.import_module("builtins"))))
