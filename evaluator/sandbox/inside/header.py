"""A preamble that only imports and sets constants: run once, its names given to each run of the program."""

from __future__ import annotations

import sys
from types import CodeType

Import = tuple[str, str, str]
"""The name that it binds, the module, the attribute; twice `*` for `from module import *`, "" for the module itself."""

STREAMS = ("stdin", "stdout", "stderr", "__stdin__", "__stdout__", "__stderr__")
"""What of `sys` is made anew for each run."""


_LISTS_GLOBALS = frozenset(("globals", "locals"))
"""By these a program reaches names of a header that it does not name itself."""


class Header:
    """What a header imports and, once it has run, what it has bound. Where there is no preamble, nothing."""

    def __init__(self, code: CodeType | None, imports: list[Import]) -> None:
        self._code = code
        self._imports = imports
        self._names: dict[str, object] = {}
        self._streams: dict[str, str] = {}

    def behind(self, names: set[str]) -> set[str]:
        """The modules, and their attributes, that a program which uses these names has from here.

        Not `builtins`: what is in there a program has anyway.
        """
        found: set[str] = set()
        everything = not names.isdisjoint(_LISTS_GLOBALS)
        for bound, module, attribute in self._imports:
            binds = _public(module) if bound == "*" else {bound}
            if everything:
                found |= binds
            elif names.isdisjoint(binds):
                continue
            found.add(attribute)
            if module != "builtins" or not attribute:
                found.update(module.split("."))
        return found

    def run(self) -> bool:
        """Runs it, once; false where that fails or loads a module: then it has to be run in each process anew.

        Something else stands in the streams' place meanwhile, to see which names are bound to them.
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
        """Gives a run's `__main__` these names, and among them its own streams."""
        namespace.update(self._names)
        for name, stream in self._streams.items():
            namespace[name] = getattr(sys, stream)


def _public(module: str) -> set[str]:
    """What `from module import *` binds."""
    names = vars(sys.modules[module]) if module in sys.modules else {}
    return set(names.get("__all__") or (name for name in names if not name.startswith("_")))
