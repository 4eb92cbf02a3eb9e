"""State that one run of a program could leave for the next run in the same process.

After a run of a program whose process is `reusable`, it is restored or compared. If that can't be done, or the process
is not reusable, the next test case gets a fresh one.
"""

from __future__ import annotations

import atexit
import builtins
import decimal
import itertools
import os
import random
import re
import resource
import select
import sys
import threading
from collections.abc import Callable, Collection, Iterable
from operator import is_
from types import FunctionType, ModuleType
from typing import Any

from evaluator.sandbox.guest import folders
from evaluator.sandbox.guest.header import STREAMS
from evaluator.sandbox.guest.reusable import BELOW, HARMLESS, OPENS_FILES, Reusable

_SEED = int(os.environ.get("PYTHONHASHSEED", "0"))
"""Of random numbers too, so that another one shows what depends on either."""
_FRESH_MEMORY_KIB = 64 * 1024

_CONTEXT = frozenset(("getcontext", "setcontext", "localcontext"))
_PATHS = frozenset(("path", "argv"))
_COMPUTES_NAMES = frozenset(("getattr", "attrgetter", "methodcaller"))
_REACHES_BUILTINS = _COMPUTES_NAMES | {"globals", "locals"}

_forget_ended_threads: Callable[[], None] = getattr(threading, "_maintain_shutdown_locks", lambda: None)
"""Up to Python 3.12, a thread that ends before another waits for it leaves a lock in a set for a while."""

_forget_patterns = re.purge
_set_context, _new_context = decimal.setcontext, decimal.Context

_BUILTINS: dict[str, object] = {}
_KEPT: dict[str, _Kept] = {}


def keep() -> None:
    """Records the builtin functions and the modules with their contents: once, in the zygote."""
    _BUILTINS.update(builtins.__dict__)
    _forget_patterns()
    for name in HARMLESS.union(*BELOW.values()) & sys.modules.keys():
        _KEPT[name] = _Kept(name)


def restore_builtins() -> None:
    """Restores the builtin functions; our own modules have a copy that a program can't reach."""
    if not _same(builtins.__dict__, _BUILTINS):
        builtins.__dict__.clear()
        builtins.__dict__.update(_BUILTINS)


class Snapshot:
    """The interpreter's state before the first run, to restore or compare after each."""

    def __init__(self, program: Reusable) -> None:
        names = list(program.names)  # see `reusable` for why
        computes_names = not _COMPUTES_NAMES.isdisjoint(names)
        self._reaches_builtins = not _REACHES_BUILTINS.isdisjoint(names)
        self._modules = _modules(_KEPT if computes_names else names)
        self._sets_attributes = program.sets_attributes or self._reaches_builtins
        self._reaches_path = computes_names or not _PATHS.isdisjoint(names)
        if self._reaches_path:
            self._path, self._arguments = list(sys.path), list(sys.argv)
        self._recursion_limit = sys.getrecursionlimit()
        self._digits, self._flags = sys.get_int_max_str_digits(), sys.flags
        self._exit_callbacks = atexit._ncallbacks()
        self.uses_random = "random" in names
        self._uses_threads = "threading" in names
        self._uses_patterns = "re" in names
        self._uses_context = not _CONTEXT.isdisjoint(names)
        self._opens_files = not OPENS_FILES.isdisjoint(names)
        self._files = self._files_and_descriptors()
        self._imported = list(sys.modules.values()) if computes_names else None
        self._imports = len(sys.modules)
        self._memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def restore(self) -> bool:
        """Restores what can be restored; False if something remains that a fresh process would not have."""
        if self._reaches_builtins:
            restore_builtins()
        sys.setrecursionlimit(self._recursion_limit)
        sys.set_int_max_str_digits(self._digits)
        sys.flags = self._flags  # which Python 3.14 renews when digits are set
        threading.stack_size(0)
        if self._uses_threads:
            threading._counter = itertools.count(1).__next__  # type: ignore[attr-defined]
            _forget_ended_threads()
        if self._uses_patterns:
            _forget_patterns()
        if self._uses_context:
            _set_context(_new_context())
        if self._reaches_path:
            sys.path[:], sys.argv[:] = self._path, self._arguments
        return (
            len(threading._active) == 1  # type: ignore[attr-defined]
            and not threading._limbo  # type: ignore[attr-defined]
            and atexit._ncallbacks() == self._exit_callbacks
            and len(sys.modules) == self._imports
            and (self._imported is None or _identical(sys.modules.values(), self._imported))
            and self._files_and_descriptors() == self._files
            and self._modules_unchanged()
            and resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - self._memory < _FRESH_MEMORY_KIB
        )

    def _modules_unchanged(self) -> bool:
        for module in self._modules:  # noqa: SIM110 - a generator would cost pages
            if not module.unchanged(self._sets_attributes):
                return False
        return True

    def _files_and_descriptors(self) -> tuple[FileState, list[tuple[int, int]]] | None:
        """None also if the program has locked us out of its folder, which it had not before its first run."""
        if not self._opens_files:
            return None
        try:
            return files_left(), _descriptors.poll(0)
        except OSError:
            return None


def _modules(names: Iterable[str]) -> list[_Kept]:
    """What is kept of the modules among these names, and of those that are reached through them."""
    modules = []
    for name in names:
        if name in _KEPT:
            modules.append(_KEPT[name])
            for below in BELOW.get(name, ()):
                modules.append(_KEPT[below])
    return modules


class _Kept:
    """A module as it was at first: its attributes, and the contents of what a program could change in it.

    Compared by identity: an object of the program's could claim to be equal to anything.
    """

    def __init__(self, name: str) -> None:
        self._module = sys.modules[name].__dict__
        self._attributes = dict(self._module)
        self._renewed = [each for each in _RENEWED if each in self._module]
        members = [] if name == "sys" else _members(self._module)
        containers = [value for value in members if isinstance(value, list | dict | set)]
        self._containers = [(value, value.copy()) for value in containers]
        others = [vars(value) for value in members if not isinstance(value, list | dict | set)]
        self._others = [(attributes, dict(attributes)) for attributes in others]

    def unchanged(self, attributes_too: bool) -> bool:
        """`attributes_too`: also its own and those of its members: for a program that sets some."""
        for value, kept in self._containers:
            if not _equal(value, kept):
                return False
        if not attributes_too:
            return True
        for name in self._renewed:
            self._attributes[name] = self._module.get(name)
        return _same(self._module, self._attributes) and all(_same(now, kept) for now, kept in self._others)


def _members(attributes: dict[str, Any]) -> list[Any]:
    """What a program could change in a module: its Python classes and functions, its objects with attributes, its
    small containers.

    Not those of `sys`: they are restored, or their names are in the list of what lasts.
    """
    return [
        value
        for name, value in attributes.items()
        if isinstance(value, FunctionType)
        or (isinstance(value, type) and value.__flags__ & _HEAP_TYPE and not value.__flags__ & _IMMUTABLE_TYPE)
        or (isinstance(value, list | dict | set) and len(value) < _SMALL and value is not builtins.__dict__)
        or (name not in _OF_IMPORT and not isinstance(value, type | ModuleType) and type(vars_of(value)) is dict)
    ]


def vars_of(value: object) -> object:
    return getattr(value, "__dict__", None)


_HEAP_TYPE, _IMMUTABLE_TYPE = 1 << 9, 1 << 8
_SMALL = 1000
_OF_IMPORT = ("__spec__", "__loader__")


def _same(now: Any, kept: dict[str, object]) -> bool:
    """Whether a mapping has the same keys and values as at first, in the same order."""
    return len(now) == len(kept) and _identical(now, kept) and _identical(now.values(), kept.values())


def _identical(now: Collection[object], kept: Collection[object]) -> bool:
    return len(now) == len(kept) and all(map(is_, now, kept))


def _equal(now: Any, kept: Any) -> bool:
    if isinstance(kept, dict):
        return _same(now, kept)
    return _identical(now, kept) if isinstance(kept, list) else now == kept


FileState = list[tuple[str, int, int]]


def files_left() -> FileState:
    """Name, size and time of change of each file in the folders that a program can write to; the folders' modes.

    A program can't set the time of change.
    """
    files = []
    for folder in folders.writable:
        files.append((folder, os.stat(folder).st_mode, 0))
        for entry in os.scandir(folder):
            status = entry.stat(follow_symlinks=False)
            files.append((entry.path, status.st_size, status.st_ctime_ns))
    return files


_RENEWED = (*STREAMS, "_counter")
"""Created anew for each run: attributes of `sys`, and the counter for the names of threads."""

_descriptors = select.poll()
"""Reports each descriptor that is not open. There may be no others: see `RLIMIT_NOFILE`."""
for _descriptor in range(128):
    _descriptors.register(_descriptor, 0)


def seed() -> None:
    """Makes random numbers the same in every run."""
    random.seed(_SEED)
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed(_SEED)
