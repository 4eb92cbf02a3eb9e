"""The header that contest graders put before every completion: imports, then constants and a recursion limit."""

_MODULES = (
    "string re datetime collections heapq bisect copy math random statistics itertools functools operator io sys json"
).split()

HEADER = (
    "".join(f"from {name} import *\n" for name in [*_MODULES, "builtins", "typing"])
    + "".join(f"import {name}\n" for name in _MODULES)
    + "inf = float('inf')\nMOD = 10**9 + 7\nsys.setrecursionlimit(6 * 10**5)\n"
)
"""As LiveCodeBench's and ColossalAI's graders have it, and a task's own constants."""
