"""The imports that contest graders put before every completion, which those completions count on.

Sources, each a `testing_util.py`. LiveCodeBench's, of which NeMo Gym's code_gen has a copy: all names of 18 modules, 16
of them by their own names too, recursion to 50,000. ColossalAI's, and verl's for APPS, TACO and CodeContests: the same
modules, recursion to 600,000. APPS's and TACO's: some of those names, `time`, `fractions`, and `numpy as np`, which is
left out here, for not every interpreter has it.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from functools import cache
from typing import Final

_MODULES: Final = (
    "string re datetime collections heapq bisect copy math random statistics itertools functools operator io sys json"
).split()


def _header(starred: Iterable[str], plain: Iterable[str], recursion: str) -> str:
    lines = [*(f"from {name} import *" for name in starred), *(f"import {name}" for name in plain)]
    return "\n".join([*lines, f"sys.setrecursionlimit({recursion})", ""])


_STARRED: Final = ("typing", *_MODULES, "builtins")
"""typing first: its `Counter` is an alias that `match` does not take. builtins last: `pow` and `open` are Python's."""

LIVECODEBENCH: Final = _header(_STARRED, _MODULES, "50000")
"""LiveCodeBench, NeMo Gym's code_gen. Deeper recursion would let calls through C overflow the sandbox's stack."""

CONTEST: Final = _header(_STARRED, [*_MODULES, "time", "fractions"], "50000")
"""APPS, TACO, CodeContests, ColossalAI's tasks, and tests as trainers hand them over."""

COLOSSALAI: Final = _header([*_MODULES, "builtins", "typing"], _MODULES, "6*10**5")
"""In its own order: a function of it may be what is called."""


@cache
def names() -> frozenset[str]:
    """What LiveCodeBench's header defines beside Python's builtins."""
    found = set(_MODULES)
    for name in _STARRED[:-1]:
        module = importlib.import_module(name)
        found |= set(getattr(module, "__all__", None) or [each for each in vars(module) if not each.startswith("_")])
    return frozenset(found.difference(vars(importlib.import_module("builtins"))))
