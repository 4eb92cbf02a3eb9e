"""A preamble that only imports and sets constants: it runs once, and each run of the program gets its names.

Two thirds of the tasks of real sets have one.

A program gets only those names that it uses, because each object that is touched costs a forked process a page.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

Import = tuple[str, str, str]
"""The bound name, the module, the attribute; twice `*` for `from module import *`, "" for the module itself."""

STREAMS = ("stdin", "stdout", "stderr", "__stdin__", "__stdout__", "__stderr__")
"""The attributes of `sys` that are created anew for each run."""

_REACHES_GLOBALS = frozenset(("globals", "locals"))
"""With these a program reaches what a header binds without naming it."""

_SEES_NAMES = _REACHES_GLOBALS | {
    "dir", "annotations", "dataclass", "get_type_hints", "ForwardRef", "signature", "get_annotations", "timeit",
    "doctest", "singledispatch", "singledispatchmethod", "from_callable", "attrgetter",
}  # fmt: skip
"""With these it sees which names there are, or looks one up that only a text has."""

_USED_BY_TEXTS = frozenset("sys setrecursionlimit set_int_max_str_digits float int".split())

_EXPORTED: dict[str, dict[str, None]] = {}
_EXPORTING: dict[str, set[str]] = {}


def keep(modules: Iterable[str]) -> None:
    """Records what `from module import *` binds, and which of the modules bind a name: once, in the zygote."""
    for module in modules:
        _EXPORTED[module] = _public(module)
        for name in _EXPORTED[module]:
            _EXPORTING.setdefault(name, set()).add(module)
            getattr(sys.modules.get(module), name, None)  # `typing` makes some when they are first asked for


class Header:
    """What a header does for a program that uses some names: nothing without a preamble."""

    def __init__(self, steps: list[Import | str], names: set[str]) -> None:
        """`steps`: imports and, as text, other statements, in order."""
        self._steps = steps
        self._bound: dict[str, object] = {}
        self._streams: dict[str, str] = {}
        self.reached: set[str] = set()
        """The modules, and their attributes, that the program gets from it; not `builtins`, which every program has."""
        if not steps:
            return
        listed = list(names)  # see `reusable` for why
        self._names = names if _SEES_NAMES.isdisjoint(listed) else None
        used = _Used(names if _REACHES_GLOBALS.isdisjoint(listed) else None)
        for step in steps:
            for _, module, attribute in used.of(step) if isinstance(step, tuple) else ():
                self.reached.add(attribute)
                if module != "builtins" or not attribute:
                    self.reached.update(module.split("."))

    def run(self) -> bool:
        """Runs it once. False if that fails or would load a module: then each process has to run all of it."""
        if not self._steps:
            return True
        names = self._names
        if names is not None and any(isinstance(step, str) for step in self._steps):
            names = names | _USED_BY_TEXTS
        used = _Used(names)
        try:
            for step in self._steps:
                if isinstance(step, str):
                    exec(compile(step, "preamble.py", "exec", dont_inherit=True), self._bound)  # noqa: S102 - a task's
                elif not _can_import(step):
                    return False
                else:
                    for bound, module, attribute in used.of(step):
                        self._bind(bound, module, attribute)
        except Exception:
            return False
        self._bound.pop("__builtins__", None)
        return True

    def _bind(self, bound: str, module: str, attribute: str) -> None:
        """`import a.b` binds `a`."""
        found = sys.modules[module if attribute else module.partition(".")[0]]
        self._bound[bound] = vars(found)[attribute] if attribute else found
        self._streams.pop(bound, None)
        if module == "sys" and attribute in STREAMS:
            self._streams[bound] = attribute

    def bind(self, namespace: dict[str, object]) -> None:
        """Gives these names to a run's `__main__`, with that run's own streams."""
        namespace.update(self._bound)
        for name, stream in self._streams.items():
            namespace[name] = getattr(sys, stream)


class _Used:
    """Finds what a program uses of an import: of all that a `*` binds, only its names."""

    def __init__(self, names: set[str] | None) -> None:
        """None: all names."""
        self._names = names
        self._exporting = [(name, _EXPORTING[name]) for name in names or () if name in _EXPORTING]

    def of(self, step: Import) -> list[Import]:
        bound, module, _ = step
        if bound != "*":
            return [step] if self._names is None or bound in self._names else []
        if self._names is not None and module in _EXPORTED:
            return [(name, module, name) for name, modules in self._exporting if module in modules]
        exported = _EXPORTED.get(module) or _public(module)
        return [(name, module, name) for name in exported if self._names is None or name in self._names]


def _can_import(step: Import) -> bool:
    """Whether it neither fails nor loads a module."""
    bound, module, attribute = step
    return module in sys.modules and (bound == "*" or not attribute or attribute in vars(sys.modules[module]))


def _public(module: str) -> dict[str, None]:
    """The names that `from module import *` binds, in its order."""
    names = vars(sys.modules[module]) if module in sys.modules else {}
    return dict.fromkeys(names.get("__all__") or [name for name in names if not name.startswith("_")])
