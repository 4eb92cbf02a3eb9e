"""A preamble that only imports and sets constants: it runs once, and each run of the program gets its names."""

from __future__ import annotations

import sys
from types import CodeType

Import = tuple[str, str, str]
"""The bound name, the module, the attribute; twice `*` for `from module import *`, "" for the module itself."""

STREAMS = ("stdin", "stdout", "stderr", "__stdin__", "__stdout__", "__stderr__")
"""The attributes of `sys` that are created anew for each run."""


_LISTS_GLOBALS = frozenset(("globals", "locals"))
"""With these a program reaches names of a header without naming them."""


class Header:
    """A header's imports and, once it has run, the names it bound. Both are empty without a preamble."""

    def __init__(self, code: CodeType | None, imports: list[Import]) -> None:
        self._code = code
        self._imports = imports
        self._names: dict[str, object] = {}
        self._streams: dict[str, str] = {}

    def reached_by(self, names: set[str]) -> set[str]:
        """The modules, and their attributes, that a program gets from this header if it uses these names.

        Without `builtins`, which every program has.
        """
        reached: set[str] = set()
        everything = not names.isdisjoint(_LISTS_GLOBALS)
        for bound, module, attribute in self._imports:
            binds = _public(module) if bound == "*" else {bound}
            if everything:
                reached |= binds
            elif names.isdisjoint(binds):
                continue
            reached.add(attribute)
            if module != "builtins" or not attribute:
                reached.update(module.split("."))
        return reached

    def run(self) -> bool:
        """Runs it once. False if that fails or loads a module: then each process has to run it anew.

        Marks replace the streams meanwhile, to find the names that are bound to them.
        """
        if self._code is None:
            return True
        loaded = len(sys.modules)
        streams = {name: getattr(sys, name) for name in STREAMS}
        marks: dict[str, object] = {name: object() for name in STREAMS}
        vars(sys).update(marks)
        try:
            exec(self._code, self._names)  # noqa: S102 - the dataset's own
        except Exception:
            return False
        finally:
            vars(sys).update(streams)
        del self._names["__builtins__"]
        stream_of = {mark: name for name, mark in marks.items()}
        for name, value in self._names.items():
            if type(value) is object and value in stream_of:
                self._streams[name] = stream_of[value]
        return len(sys.modules) == loaded

    def bind(self, namespace: dict[str, object]) -> None:
        """Gives these names to a run's `__main__`, with that run's own streams."""
        namespace.update(self._names)
        for name, stream in self._streams.items():
            namespace[name] = getattr(sys, stream)


def _public(module: str) -> set[str]:
    """The names that `from module import *` binds."""
    names = vars(sys.modules[module]) if module in sys.modules else {}
    return set(names.get("__all__") or (name for name in names if not name.startswith("_")))
