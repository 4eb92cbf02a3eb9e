"""Another name of the package `evaluator`: `from rollscope import grade`, `from rollscope.interop import trl`.

Where a file of the user's own has that package's name and hides it, this says so in one line.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evaluator import *  # noqa: F403


class _SameModules(MetaPathFinder, Loader):
    """Finds `rollscope.x` as the module `evaluator.x`: a second copy would have other classes."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        is_ours = fullname.startswith("rollscope.") and fullname != "rollscope.__main__"  # which is run, not imported
        return ModuleSpec(fullname, self) if is_ours else None

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = import_module(module.__name__.replace("rollscope", "evaluator", 1))


def _refuse_another() -> None:
    """Raises `ImportError`, or ends the command, where the `evaluator` that Python finds is not the one beside this."""
    found = find_spec("evaluator")
    origin = Path(found.origin) if found and found.origin else None
    if origin is None or origin.resolve().parent == Path(__file__).resolve().parent.with_name("evaluator"):
        return
    other = origin.parent if origin.name == "__init__.py" else origin
    told = f"{other} hides Rollscope's package evaluator: rename it, or take its folder off Python's path"
    if sys.argv[:1] == ["-m"] or Path(*sys.argv[:1]).name == "rollscope":  # `python -m rollscope`, `rollscope`
        print(f"rollscope: {told}", file=sys.stderr)
        sys.exit(2)
    raise ImportError(told)


_refuse_another()
sys.meta_path.insert(0, _SameModules())
sys.modules[__name__] = import_module("evaluator")
