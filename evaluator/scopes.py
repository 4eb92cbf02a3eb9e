"""Which names of a module are its globals, according to Python's symbol tables. Runs nothing."""

from __future__ import annotations

import builtins
import symtable
import warnings
from collections.abc import Iterator

from evaluator.syntax import NOT_PYTHON, names_in

FILE = "<names>"
BUILTINS = frozenset(dir(builtins))
_OF_MODULE = frozenset(("__name__", "__file__", "__doc__", "__builtins__", "__annotations__", "__spec__"))

# `"\\d"` in a text is not our user's mistake. Set once: `catch_warnings` is not thread-safe.
warnings.filterwarnings("ignore", module=FILE)


class Scopes:
    """The scopes of one module."""

    def __init__(self, source: str) -> None:
        """Raises `SyntaxError` if a name is used in contradictory ways."""
        try:
            self._module = names_in(source, FILE)
        except NOT_PYTHON as error:
            raise SyntaxError(str(error)) from None

    def defined(self) -> frozenset[str]:
        """Names that the module or a function's `global` assigns."""
        own = (one.get_name() for one in self._module.get_symbols() if one.is_assigned() or one.is_imported())
        declared = (
            one.get_name()
            for table in _inner(self._module)
            for one in table.get_symbols()
            if one.is_declared_global() and one.is_assigned()
        )
        return frozenset((*own, *declared))

    def free(self) -> frozenset[str]:
        """Globals that the module reads and does not define, without builtins."""
        own = {one.get_name() for one in self._module.get_symbols() if one.is_referenced()}
        inner = {
            one.get_name()
            for table in _inner(self._module)
            for one in table.get_symbols()
            if one.is_global() and one.is_referenced()
        }
        return frozenset((own | inner) - self.defined() - BUILTINS - _OF_MODULE)


def _inner(module: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    pending = list(module.get_children())
    while pending:
        table = pending.pop()
        yield table
        pending.extend(table.get_children())
