"""Whether a program's process can run it again: a run leaves only state that `leftovers` can restore or compare.

This runs in each process of a program. So it walks through a program's own names, and asks the large sets of names for
each: to walk through those would copy the pages that they are in. A comprehension would cost pages, too.

Asked for stdin programs alone; on real sets, of those with several tests, it said yes to all.

It can if all that the program reaches is known here: it imports no module outside `HARMLESS` and gets none from
another, uses none of the names in `_LASTING`, and sets no attribute of a global object. A header's name that it uses
(see `header`) counts as its own import. A name that is missing from `HARMLESS` costs time, never a wrong verdict.
"""

from __future__ import annotations

import dis
import sys
from types import CodeType, ModuleType
from typing import NamedTuple

from evaluator.sandbox.guest.header import Header, Import

HARMLESS = frozenset(
    """__future__ abc array bisect calendar cmath collections copy dataclasses datetime decimal enum fractions
    functools heapq io itertools json math numbers operator os pprint queue random re readline statistics
    string struct sys textwrap threading time types typing unicodedata""".split()
)

BELOW = {"os": ("posixpath", "posix"), "collections": ("collections.abc",)}
"""Modules that are reached through a harmless one, and are as harmless."""

_LASTING = frozenset(
    """__builtins__ __dict__ __globals__ __code__ __subclasses__ __bases__ __mro__ __base__ __defaults__
    __kwdefaults__ __closure__ __getattribute__ __setattr__ __import__ __del__ __loader__ __spec__ __reduce__
    __self__ CodeType
    f_globals f_back f_builtins f_locals gi_frame cr_frame ag_frame tb_frame _getframe _current_frames
    setattr delattr vars eval exec compile breakpoint register
    modules settrace setprofile setswitchinterval meta_path path_hooks path_importer_cache excepthook displayhook
    unraisablehook addaudithook audit set_asyncgen_hooks set_coroutine_origin_tracking_depth setdlopenflags
    settrace_all_threads setprofile_all_threads monitoring activate_stack_trampoline
    environ putenv unsetenv chdir fchdir umask close closerange dup dup2 pipe pipe2 openpty fdopen set_blocking
    set_inheritable mkfifo nice sched_setaffinity setpriority memfd_create fork posix_spawn eventfd
    register_at_fork DefaultContext BasicContext ExtendedContext
    process_time process_time_ns thread_time thread_time_ns clock_gettime clock_gettime_ns
    singledispatch setfirstweekday tzset _thread detach _inst setsid setpgid setpgrp setName RegexFlag""".split()
)
"""The clocks among them count from the start of a process or thread."""

OPENS_FILES = frozenset("open os io getattr raw".split())
"""Without one of these a reusable program can't reach a file or a descriptor."""

_MAKES_STREAMS = OPENS_FILES | {"type", "__class__"}

_SUSPENDS = 0x20 | 0x80 | 0x200
"""Flags of the code of generators, coroutines and generators that are coroutines."""

_STREAMS = frozenset(("stdin", "stdout", "stderr"))
_FROM_GLOBAL = frozenset(
    dis.opmap[name] for name in ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS") if name in dis.opmap
)
_STORES = tuple(dis.opmap[name] for name in ("STORE_ATTR", "DELETE_ATTR"))
_MATCH_CLASS = dis.opmap["MATCH_CLASS"]
_EXTENDED_ARG = dis.opmap["EXTENDED_ARG"]
_NO_OPERATIONS = (0, _EXTENDED_ARG)
"""Between two operations: caches, and the upper bytes of the next one's argument."""
_GETS_MODULE = frozenset(("IMPORT_NAME", "IMPORT_FROM", "LOAD_ATTR", "LOAD_METHOD"))

_MODULES: set[str] = set()
_INNER: set[str] = set()


def keep() -> None:
    """Records the names of all modules, also those under which a harmless module has others: once, in the zygote."""
    _MODULES.update(sys.stdlib_module_names, sys.modules)
    known = {sys.modules[name] for name in HARMLESS & sys.modules.keys()}
    known |= {sys.modules[name] for below in BELOW.values() for name in below}
    for module in known:
        inner = {name for name, value in vars(module).items() if isinstance(value, ModuleType)}
        _INNER.update(name for name in inner if sys.modules.get(name) is not vars(module)[name])
    _INNER.difference_update(("path", "abc"))  # those in `BELOW`


class Reusable(NamedTuple):
    """A reusable program, and the header before it."""

    header: Header
    names: set[str]
    """All that it reaches: globals, attributes, modules and each part of their names; also through the header."""
    sets_attributes: bool
    may_end_late: bool
    """Whether objects that it leaves may do something when they are freed: streams write what they hold, a generator
    runs its `finally`."""


def examine(code: CodeType, steps: list[Import | str]) -> Reusable | str:
    """What a program may leave behind; if it is not reusable, why. `steps`: the header before it."""
    codes = _with_nested(code)
    own = _names(codes)
    header = Header(steps, own)
    names = own | header.reached
    listed = list(names)
    if not _LASTING.isdisjoint(listed):
        return f"it uses {', '.join(sorted(names & _LASTING))}"
    modules = _MODULES.intersection(listed) - HARMLESS | _INNER.intersection(list(own))
    if modules:
        modules &= _imported(codes) | header.reached
    if modules:
        return f"it uses the module {', '.join(sorted(modules))}"
    sets_attributes, may_end_late = False, not _MAKES_STREAMS.isdisjoint(listed)
    for each in codes:
        if _stores(each):
            sets_attributes = True
            if _sets_attribute_of_global(each):
                return "it sets an attribute of a global object"
        may_end_late = may_end_late or _suspends(each)
    return Reusable(header, names, sets_attributes, may_end_late)


def header_for(code: CodeType, steps: list[Import | str]) -> Header | None:
    """What a header does for code that is loaded once; None if the code could find its names without naming them."""
    names = _names(_with_nested(code))
    return Header(steps, names) if _LASTING.isdisjoint(list(names)) else None


def _names(codes: list[CodeType]) -> set[str]:
    names: set[str] = set()
    for each in codes:
        names.update(each.co_names)
        if _MATCH_CLASS in each.co_code[::2]:
            names.update(_matched(each))
    for name in list(names):
        if "." in name:
            names.update(name.split("."))
    return names


def _with_nested(code: CodeType) -> list[CodeType]:
    codes = [code]
    for each in codes:  # grows while it is walked
        for constant in each.co_consts:
            if isinstance(constant, CodeType):
                codes.append(constant)
    return codes


def _matched(code: CodeType) -> list[str]:
    """Names of attributes in `case` patterns, and maybe other texts."""
    texts = [constant for constant in code.co_consts if isinstance(constant, tuple)]
    return [name for text in texts for name in text if isinstance(name, str)]


def _imported(codes: list[CodeType]) -> set[str]:
    """Names that may be modules: imports and attributes. A global may have a module's name by chance."""
    instructions = (instruction for code in codes for instruction in dis.get_instructions(code))
    names = (instruction.argval for instruction in instructions if instruction.opname in _GETS_MODULE)
    return {part for name in names for part in name.split(".")}


def _suspends(code: CodeType) -> bool:
    return code.co_flags & _SUSPENDS != 0 and code.co_name != "<genexpr>"


def _stores(code: CodeType) -> bool:
    operations = code.co_code[::2]
    return _STORES[0] in operations or _STORES[1] in operations


def _sets_attribute_of_global(code: CodeType) -> bool:
    operations, arguments = code.co_code[::2], code.co_code[1::2]
    for store in _STORES:
        place = operations.find(store)
        while place >= 0:
            before = place - 1
            argument = arguments[place]
            while operations[before] in _NO_OPERATIONS:
                if operations[before] == _EXTENDED_ARG:
                    argument |= arguments[before] << 8 * (place - before)
                before -= 1
            if operations[before] in _FROM_GLOBAL and code.co_names[argument] not in _STREAMS:
                return True
            place = operations.find(store, place + 1)
    return False
