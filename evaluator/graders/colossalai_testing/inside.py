"""Runs a completion as ColossalAI's `run_test` does: with its preamble's names, names removed, streams replaced.

It knows only inputs. Each answer is a tuple: `("ok", ...)`, or `("raised", repr, traceback, type's name)`.
Source of the changes to the program's names: ColossalAI's `testing_util.py`, as observed.
"""

from __future__ import annotations

import builtins
import contextlib
import io
import json
import os
import sys
import traceback
from collections.abc import Callable
from types import ModuleType
from typing import Any

from evaluator.sandbox.guest import calls, channel, loading

_STARRED = (
    "string re datetime collections heapq bisect copy math random statistics itertools functools operator io sys json "
    "builtins typing"
).split()
REFUSED = {
    "builtins": ("exit", "quit", "help"),
    "os": (
        "kill system putenv remove removedirs rmdir fchdir setuid fork forkpty killpg rename renames truncate replace "
        "unlink fchmod fchown chmod chown chroot lchflags lchmod lchown getcwd chdir"
    ).split(),
    "shutil": ("rmtree", "move", "chown"),
    "subprocess": ("Popen",),
}
"""The names that `reliability_guard` removes, by their modules."""
REFUSED_MODULES = ("ipdb", "joblib", "resource", "psutil", "tkinter")
_RECURSION = 600_000
_SHOWN = 200

_Answer = tuple[Any, ...]


def _preamble_names() -> dict[str, Any]:
    """Builtins, overridden by what the preamble imports.

    They are a program's builtins, not its globals: writing some 700 names into those would cost each process a
    millisecond, because it has to copy every page that it writes to.
    """
    names = dict(vars(builtins))
    for name in _STARRED:
        module = __import__(name)
        public = getattr(module, "__all__", None) or [each for each in vars(module) if not each.startswith("_")]
        names.update((each, getattr(module, each)) for each in public)
    names.update((name, __import__(name)) for name in _STARRED[:16])
    return names | dict.fromkeys(REFUSED["builtins"])


_PREAMBLE: dict[str, Any] = {}


def prepare() -> None:
    """Imports what a program may use, in the zygote: in each process this would take milliseconds.

    After `new_processes.refuse`, because subprocess keeps references from its import.
    """
    _PREAMBLE.update(_preamble_names())
    for name in REFUSED:
        __import__(name)


def serve(connection: int, order: dict[str, Any]) -> None:
    """Answers each `R` frame, a stage and its arguments (see `_Program`), as `calls` answers calls."""
    loading.take_streams()
    channel.send(connection, b"L", b"")
    program = _Program(order["source"])
    calls.answer_calls(connection, lambda: program.answer, order)


class _Program:
    """One completion; `load` it, then `call` it or `run` it, once for each test case."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._method: Any = None
        self._stages: dict[str, Callable[..., _Answer]] = {"load": self.load, "call": self.call, "run": self.run}

    def answer(self, stage: str, *arguments: Any) -> _Answer:
        _refuse("builtins")  # each time: builtins are restored between two test cases
        return self._stages[stage](*arguments)

    def load(self, imports: str, name: str, of_solution: bool, preamble_counts: bool) -> _Answer:
        """Runs the program. `imports`: lines to compile before it. `name`: the function. `of_solution`: a method.

        `preamble_counts`: whether a function of the preamble may replace a missing one.
        """
        _guard()
        namespace: dict[str, Any] = {"__builtins__": _PREAMBLE}
        try:
            exec(compile(imports + self._source, "<string>", "exec", dont_inherit=True), namespace)  # noqa: S102
            module = ModuleType("tmp_sol", "")
            module.__dict__.update(namespace)
            owner = module.Solution() if of_solution else module
        except BaseException as error:
            return _raised(error)
        if preamble_counts and not of_solution and name not in namespace and name in _PREAMBLE:
            module.__dict__[name] = _PREAMBLE[name]
        try:
            self._method = getattr(owner, name)
        except BaseException as error:
            return _raised(error, repr(sys.exc_info()))
        return ("ok",)

    def call(self, arguments: tuple[Any, ...]) -> _Answer:
        """Calls the function. Returns its value, and the beginning and end of that as JSON."""
        try:
            value = self._method(*arguments)
            text = json.dumps(value)
        except BaseException as error:
            return _raised(error)
        half = _SHOWN // 2
        return ("ok", value, text if len(text) <= _SHOWN else f"{text[:half]}...(truncated) ...{text[-half:]}")

    def run(self, text: str) -> _Answer:
        """Calls the program, wrapped in a function, with that input. Returns what it wrote to `sys.stdout`."""
        stdin, stdout, opened = sys.stdin, sys.stdout, builtins.open
        _feed(stdin, text)
        written = io.StringIO()
        setattr(written, "close", lambda _: 1)  # noqa: B010 - a program that closes it gets an error
        sys.stdin, sys.stdout = io.StringIO(text), written
        builtins.open = lambda *_, **__: io.StringIO(text)  # type: ignore[assignment]
        try:
            with contextlib.suppress(SystemExit):
                self._method()
        except BaseException as error:
            return _raised(error)
        finally:
            sys.stdin, sys.stdout, builtins.open = stdin, stdout, opened
        return ("ok", None, written.getvalue())


def _feed(stream: Any, text: str) -> None:
    """For a program that saved the old stream: it reads the text, line by line without line ends."""
    lines = iter(text.split("\n"))
    stream.readline = lambda *_: next(lines)
    stream.readlines = lambda *_: text.split("\n")
    stream.read = lambda *_: text


def _guard() -> None:
    """Removes what `reliability_guard` removes; this protects nothing."""
    os.environ["OMP_NUM_THREADS"] = "1"
    for name in REFUSED:
        _refuse(name)
    modules: dict[str, Any] = sys.modules
    modules.update(dict.fromkeys(REFUSED_MODULES))
    sys.setrecursionlimit(_RECURSION)


def _refuse(module: str) -> None:
    for name in REFUSED[module]:
        setattr(sys.modules[module], name, None)


def _raised(error: BaseException, description: str | None = None) -> _Answer:
    try:
        printed = "".join(traceback.format_exception(error))
        return ("raised", description or repr(error), printed, type(error).__name__)
    except BaseException:  # its own __repr__ or __str__ raises
        return ("raised", f"{type(error).__name__}()", "", type(error).__name__)
