"""State that one run of a program could leave for the next run in the same process.

A program is *plain* if everything that it can reach is known here: it imports no module outside `_HARMLESS` and gets
none from another, uses none of the names in `_LASTING`, and sets no attribute of a global object. A header's name that
it uses (see `header`) counts as its own import. After a run of a plain program the state below is restored or compared.
If it can't be restored, or the program is not plain, the next test case gets a fresh process. So a name that is missing
from `_HARMLESS` costs time, never a wrong verdict.
"""

from __future__ import annotations

import atexit
import builtins
import dis
import itertools
import os
import random
import resource
import sys
import threading
from collections.abc import Callable
from types import CodeType, FunctionType

from evaluator.sandbox.inside import places
from evaluator.sandbox.inside.header import STREAMS, Header

_HARMLESS = frozenset(
    """__future__ abc array bisect calendar cmath collections copy dataclasses datetime decimal enum fractions
    functools hashlib heapq io itertools json math numbers operator os pprint queue random re readline statistics
    string struct sys textwrap threading time types typing unicodedata""".split()
)

_UNDER_OS = frozenset(("posixpath", "posix"))

_LASTING = frozenset(
    """__builtins__ __dict__ __globals__ __code__ __subclasses__ __bases__ __mro__ __base__ __defaults__
    __kwdefaults__ __closure__ __getattribute__ __setattr__ __import__ __del__ __loader__ __spec__ __reduce__
    __self__
    f_globals f_back f_builtins f_locals gi_frame cr_frame ag_frame tb_frame _getframe _current_frames
    setattr delattr vars eval exec compile breakpoint register
    modules settrace setprofile setswitchinterval meta_path path_hooks path_importer_cache excepthook displayhook
    unraisablehook addaudithook audit set_asyncgen_hooks set_coroutine_origin_tracking_depth setdlopenflags
    environ putenv unsetenv chdir fchdir umask close closerange dup dup2 pipe pipe2 openpty fdopen set_blocking
    set_inheritable mkfifo nice sched_setaffinity setpriority memfd_create fork posix_spawn eventfd
    register_at_fork getcontext setcontext localcontext DefaultContext BasicContext ExtendedContext
    singledispatch setfirstweekday tzset _thread detach _inst""".split()
)

_OPENS_FILES = frozenset("open os io readline getattr raw".split())
"""Without one of these a plain program can't reach a file or a descriptor."""

_STREAMS = frozenset(("stdin", "stdout", "stderr"))
_FROM_GLOBAL = frozenset(dis.opmap[name] for name in ("LOAD_NAME", "LOAD_GLOBAL") if name in dis.opmap)
_STORES = tuple(dis.opmap[name] for name in ("STORE_ATTR", "DELETE_ATTR"))
_FRESH_MEMORY_KIB = 64 * 1024

_forget_ended_threads: Callable[[], None] = getattr(threading, "_maintain_shutdown_locks", lambda: None)
"""Up to Python 3.12, a thread that ends before another waits for it leaves a lock in a set for a while."""


def is_plain(code: CodeType, header: Header) -> bool:
    """Whether we can clean up after a run of this program (see the module's docstring)."""
    codes = _with_nested(code)
    own = _names(codes)
    from_header = header.reached_by(own)
    names = own | from_header
    if not names.isdisjoint(_LASTING):
        return False
    modules = (names - _HARMLESS) & _MODULES
    if modules and not modules.isdisjoint(_imported(codes) | from_header):
        return False
    return not any(_sets_attribute_of_global(each) for each in codes)


def _with_nested(code: CodeType) -> list[CodeType]:
    codes = [code]
    for each in codes:  # grows while it is walked
        codes.extend(constant for constant in each.co_consts if isinstance(constant, CodeType))
    return codes


def _names(codes: list[CodeType]) -> set[str]:
    """Every global, attribute and module that the code names; each part of a dotted module."""
    return {part for code in codes for name in code.co_names for part in name.split(".")}


def _imported(codes: list[CodeType]) -> set[str]:
    """Names that may be modules: imports and attributes. A global may have a module's name by chance."""
    instructions = (instruction for code in codes for instruction in dis.get_instructions(code))
    names = (instruction.argval for instruction in instructions if instruction.opname in _GETS_MODULE)
    return {part for name in names for part in name.split(".")}


_GETS_MODULE = frozenset(("IMPORT_NAME", "IMPORT_FROM", "LOAD_ATTR", "LOAD_METHOD"))


def _sets_attribute_of_global(code: CodeType) -> bool:
    operations = code.co_code[::2]
    if not any(store in operations for store in _STORES):
        return False
    previous = None
    for instruction in dis.get_instructions(code):
        if instruction.opcode in _STORES and previous in _FROM_GLOBAL and instruction.argval not in _STREAMS:
            return True
        previous = instruction.opcode
    return False


_BUILTINS: dict[str, object] = {}
_MODULES: set[str] = set()
_ATTRIBUTES: dict[str, dict[str, object]] = {}
_MEMBERS: dict[str, list[_Member]] = {}


def keep() -> None:
    """Records the builtin functions and the modules with their contents: once, in the zygote."""
    _BUILTINS.update(builtins.__dict__)
    _MODULES.update(sys.stdlib_module_names, sys.modules)
    for name in (_HARMLESS | _UNDER_OS) & sys.modules.keys():
        _ATTRIBUTES[name] = _attributes(name)
        _MEMBERS[name] = [_Member(value) for value in _members(name)]


def restore_builtins() -> None:
    """Restores the builtin functions; our own modules have a copy that a program can't reach."""
    if builtins.__dict__ != _BUILTINS:
        builtins.__dict__.clear()
        builtins.__dict__.update(_BUILTINS)


class Snapshot:
    """The interpreter's state before the first run, to restore or compare after each."""

    def __init__(self, code: CodeType, header: Header) -> None:
        codes = _with_nested(code)
        names = _names(codes)
        names |= header.reached_by(names)
        named = names & _HARMLESS
        self._modules = (named | {"sys"} | (_UNDER_OS if "os" in named else set())) & _ATTRIBUTES.keys()
        self._sets_attributes = any(store in each.co_code[::2] for each in codes for store in _STORES)
        self._path, self._arguments = list(sys.path), list(sys.argv)
        self._recursion_limit = sys.getrecursionlimit()
        self._digits = sys.get_int_max_str_digits()
        self._exit_callbacks = atexit._ncallbacks()
        self.uses_random = "random" in names
        self._opens_files = not names.isdisjoint(_OPENS_FILES)
        self._files = self._files_and_descriptors()
        self._imported = len(sys.modules)
        self._memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def restore(self) -> bool:
        """Restores what can be restored; False if something remains that a fresh process would not have."""
        sys.setrecursionlimit(self._recursion_limit)
        sys.set_int_max_str_digits(self._digits)
        threading.stack_size(0)
        if "threading" in self._modules:
            threading._counter = itertools.count(1).__next__  # type: ignore[attr-defined]
            _forget_ended_threads()
        sys.path[:], sys.argv[:] = self._path, self._arguments
        return (
            len(threading._active) == 1  # type: ignore[attr-defined]
            and not threading._limbo  # type: ignore[attr-defined]
            and atexit._ncallbacks() == self._exit_callbacks
            and len(sys.modules) == self._imported
            and self._files_and_descriptors() == self._files
            and all(_attributes(name) == _ATTRIBUTES[name] for name in self._modules)
            and all(member.unchanged(self._sets_attributes) for name in self._modules for member in _MEMBERS[name])
            and resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - self._memory < _FRESH_MEMORY_KIB
        )

    def _files_and_descriptors(self) -> tuple[FileState, int] | None:
        return (files_left(), _lowest_descriptor()) if self._opens_files else None


class _Member:
    """A class, function or container of a module: its contents, and whether they are unchanged."""

    def __init__(self, value: object) -> None:
        self._value = value
        self._is_container = isinstance(value, list | dict | set)
        self._contents: object = value.copy() if isinstance(value, list | dict | set) else dict(vars(value))

    def unchanged(self, attributes_too: bool) -> bool:
        if self._is_container:
            return self._value == self._contents
        return not attributes_too or dict(vars(self._value)) == self._contents


def _members(module: str) -> list[object]:
    """The members of a module that a program could change: its Python classes and functions, its small containers.

    Not those of `sys`: they are restored, or their names are in `_LASTING`.
    """
    if module == "sys":
        return []
    values = vars(sys.modules[module]).values()
    return [
        value
        for value in values
        if isinstance(value, FunctionType)
        or (isinstance(value, type) and value.__flags__ & _HEAP_TYPE and not value.__flags__ & _IMMUTABLE_TYPE)
        or (isinstance(value, list | dict | set) and len(value) < _SMALL and value is not builtins.__dict__)
    ]


_HEAP_TYPE, _IMMUTABLE_TYPE = 1 << 9, 1 << 8
_SMALL = 1000

FileState = list[tuple[str, int, int]]


def files_left() -> FileState:
    """Name, size and time of each file in the folders that a program can write to."""
    files = []
    for folder in places.writable:
        for entry in os.scandir(folder):
            status = entry.stat(follow_symlinks=False)
            files.append((entry.path, status.st_size, status.st_mtime_ns))
    return files


_RENEWED = (*STREAMS, "_counter")
"""Created anew for each run: attributes of `sys`, and the counter for the names of threads."""


def _attributes(module: str) -> dict[str, object]:
    attributes = dict(sys.modules[module].__dict__)
    for name in _RENEWED:
        attributes.pop(name, None)
    return attributes


def _lowest_descriptor() -> int:
    descriptor = os.dup(0)
    os.close(descriptor)
    return descriptor


def seed() -> None:
    """Makes random numbers the same in every run."""
    random.seed(0)
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed(0)
