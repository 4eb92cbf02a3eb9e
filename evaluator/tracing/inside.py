"""Runs a completion with line tracing, inside the sandbox: a program on its own, whose last line calls `main`.

Each step is written to stderr's file as it happens, one JSON array a line after a random word, so that the steps are
there however the process ends.
"""

from __future__ import annotations

import ast
import contextlib
import dis
import json
import marshal
import os
import re
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any

from evaluator.tracing.shown import FIXED, MISSING, arguments_of, name_of, operands, shown, value_of

_FILE = "completion.py"
_VALUE_ROOM = 4_000
"""Characters of what a call returns."""
_MESSAGE_ROOM = _NAME_ROOM = 200
_LINES_COUNTED = 200
_MOST_NAMES = 30
_WHOLE_EVERY = 200
"""After so many steps, a step comes with all names of its frame: earlier steps may be dropped."""
_CAREFUL = 20_000
"""After so many steps, a value that can change in place is looked at only on lines that name it."""
_NOT_SHOWN = (ModuleType, FunctionType, BuiltinFunctionType, MethodType, type)
_GENERATES = 0x20 | 0x80 | 0x200
"""Code of a generator or a coroutine."""
_COROUTINE = 0x80
_RETURNS = {dis.opmap[name] for name in ("RETURN_VALUE", "RETURN_CONST") if name in dis.opmap}
"""A `return` event of a generator that is at another instruction is a `yield`, or an exception that leaves it."""
_ITERATES = {dis.opmap[name] for name in ("FOR_ITER", "SEND", "END_SEND") if name in dis.opmap}


class _Log:
    """Where the steps are written: the first ones stay, of the others the last."""

    def __init__(self, word: str, first: int, last: int, cap: int) -> None:
        self._write, self._cut, self._dumps = os.pwrite, os.ftruncate, json.dumps
        self._file = os.dup(2)
        self._word = word.encode()
        self._cap = cap
        self._first = first
        self._last: deque[bytes] = deque(maxlen=last)
        self.clear()

    def clear(self) -> None:
        """Begins anew."""
        self._cut(self._file, 0)
        self._size = self._head = 0
        self._over = False
        """Whether the first steps are all there."""
        self._last.clear()

    def add(self, number: int, record: list[object]) -> None:
        line = self._word + self._dumps(record).encode() + b"\n"
        self._over = self._over or number > self._first or self._head > self._cap // 4
        if not self._over:
            self._head = self._size + len(line)
        elif self._last.maxlen:
            self._last.append(line)
        else:
            return
        if self._size + len(line) > self._cap:
            self._fold()
        else:
            self._write(self._file, line, self._size)
            self._size += len(line)

    def end(self, record: list[object]) -> None:
        self._write(self._file, self._word + self._dumps(record).encode() + b"\n", self._size)

    def _fold(self) -> None:
        """Writes the last steps again, right after the first ones."""
        while sum(map(len, self._last)) > self._cap // 2:
            for _ in range(len(self._last) // 4 + 1):
                self._last.popleft()
        text = b"".join(self._last)
        self._cut(self._file, self._head)
        self._write(self._file, text, self._head)
        self._size = self._head + len(text)


class _Tracer:
    """Counts the steps of all frames of the completion."""

    def __init__(self, log: _Log, source: str, budget_s: float) -> None:
        self.log = log
        self.lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self.steps = self.frames = self.depth = 0
        self.now, self.leave = time.monotonic, os._exit
        self.reads = operands(source)
        self.started = self.now()
        self.budget_s = budget_s
        self.hits: dict[int, int] = {}
        self._names: dict[int, frozenset[str]] = {}
        self._stored: dict[CodeType, tuple[tuple[str, ...], tuple[str, ...]]] = {}

    def call(self, frame: FrameType, event: str, arg: object) -> Any:
        """The global trace function."""
        del event, arg
        if frame.f_code.co_filename != _FILE:
            return None
        self.depth += 1
        known = getattr(frame.f_trace, "__self__", None)
        if isinstance(known, _Frame):  # a generator that continues
            known.depth = self.depth
            return known.trace
        self.frames += 1
        return _Frame(self, frame, self.frames, self.depth).trace

    def look_at_clock(self) -> None:
        if self.now() - self.started > self.budget_s:
            self.log.end(["end", "stopped", self.steps, "", "", 0, self.most_hit()])
            with contextlib.suppress(BaseException):  # it may be the completion's own
                sys.stdout.flush()
            self.leave(0)

    def most_hit(self) -> list[tuple[int, int]]:
        """The lines that ran most often, and how often each did."""
        return sorted(self.hits.items(), key=lambda each: -each[1])[:_LINES_COUNTED]

    def names_of(self, line: int) -> frozenset[str]:
        found = self._names.get(line)
        if found is None:
            text = "".join(self.lines[line - 1 : line])
            found = self._names[line] = frozenset(re.findall(r"[A-Za-z_]\w*", text))
        return found

    def stored(self, code: CodeType) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names that a module's, or a class's, code sets; the global names that code sets."""
        found = self._stored.get(code)
        if found is None:
            names: dict[str, set[str]] = {"STORE_NAME": set(), "STORE_GLOBAL": set()}
            for instruction in dis.get_instructions(code):
                if instruction.opname in names:
                    names[instruction.opname].add(instruction.argval)
            own, shared = (tuple(sorted(each)) for each in names.values())
            found = self._stored[code] = own, shared
        return found


class _Frame:
    """A function that runs, or the module: its values so far, and the step that it is at."""

    def __init__(self, tracer: _Tracer, frame: FrameType, number: int, depth: int) -> None:
        self.tracer, self.number, self.depth = tracer, number, depth
        code = frame.f_code
        self.function = code.co_name
        self.generates = bool(code.co_flags & _GENERATES)
        self.is_coroutine = bool(code.co_flags & _COROUTINE)
        self.own, self.shared = tracer.stored(code)
        self.is_module = bool(not code.co_flags & 2)  # neither module nor class has fast locals
        self.texts: dict[str, str] = {}
        self.values: dict[str, object] = {}
        self.at = self.line = 0
        self.whole = 0
        self.raised = False

    def trace(self, frame: FrameType, event: str, arg: Any) -> Any:
        """The frame's own trace function."""
        with contextlib.suppress(RecursionError):  # the program is about to get its own
            self._event(frame, event, arg)
        return self.trace

    def _event(self, frame: FrameType, event: str, arg: Any) -> None:
        tracer = self.tracer
        if event == "line":
            tracer.look_at_clock()
            changed = self._changed(frame)
            tracer.steps += 1
            number, line, self.raised = tracer.steps, frame.f_lineno, False
            tracer.hits[line] = tracer.hits.get(line, 0) + 1
            before, self.at, self.line = self.at, number, line
            reads = tracer.reads.get(line)
            items = self._items(frame, reads) if reads else {}
            whole: dict[str, str] = {}
            if number - self.whole >= _WHOLE_EVERY or not before:
                self.whole, whole = number, dict(list(self.texts.items())[-_MOST_NAMES:])
            record = ["step", number, line, self.function, self.depth, self.number, before, changed, items, whole]
            tracer.log.add(number, record)
        elif event == "exception":
            if arg[0] is StopIteration and _instruction(frame) in _ITERATES:
                return  # what a loop goes through has ended
            changed = self._changed(frame)
            self.raised = True
            message = _message(arg[1])
            said = f"raised {name_of(arg[0])[:_NAME_ROOM]}" + (f": {message}" if message else "")
            tracer.log.add(self.at, ["said", self.at, changed, said])
        elif event == "return":
            tracer.depth -= 1
            returns = _instruction(frame) in _RETURNS
            if returns or not self.raised or arg is not None:
                tracer.log.add(self.at, ["said", self.at, self._changed(frame), self._said(arg, returns=returns)])

    def _said(self, value: object, *, returns: bool) -> str:
        """What it returned or yielded. A generator without a result has ended."""
        if self.generates and not returns:
            return f"yielded {shown(value)}"
        if self.generates and not self.is_coroutine and value is None:
            return "ended"
        return "" if self.is_module else f"returned {shown(value)}"

    def _changed(self, frame: FrameType) -> dict[str, str]:
        """The names whose values differ from those at the frame's last event."""
        mentioned = self.tracer.names_of(self.line) if self.tracer.steps > _CAREFUL else None
        changed: dict[str, str] = {}
        found = frame.f_locals
        names: Iterable[str] = self.own if self.is_module else found
        self._compare(found, names, mentioned, changed)
        if self.shared:
            self._compare(frame.f_globals, self.shared, mentioned, changed)
        return changed

    def _compare(
        self, scope: Any, names: Iterable[str], mentioned: frozenset[str] | None, changed: dict[str, str]
    ) -> None:
        values, texts, get = self.values, self.texts, self._getter(scope)
        for name in names:
            value = get(name, MISSING)
            if value is values.get(name, MISSING) and (
                type(value) in FIXED or (mentioned is not None and name not in mentioned)
            ):
                continue
            if value is MISSING or name[0] == "." or name[:2] == "__" or issubclass(type(value), _NOT_SHOWN):
                continue
            values[name] = value
            text = shown(value)
            if texts.get(name) != text:
                texts[name] = text
                if len(changed) < _MOST_NAMES:
                    changed[name] = text

    def _items(self, frame: FrameType, reads: list[tuple[str, ast.expr]]) -> dict[str, str]:
        """The values that a line is about to read."""
        own, shared = self._getter(frame.f_locals), frame.f_globals

        def names(name: str) -> Any:
            value = own(name, MISSING)
            return dict.get(shared, name, MISSING) if value is MISSING else value

        found = ((text, value_of(read, names)) for text, read in reads)
        return {text: shown(value, 60) for text, value in found if value is not MISSING}

    def _getter(self, scope: Any) -> Callable[[str, object], Any]:
        """Looks names up. Those of a class may be kept in an object of the completion's own, which is not asked."""
        if issubclass(type(scope), dict):
            return partial(dict.get, scope)
        get: Callable[[str, object], Any] = {}.get if self.is_module else scope.get
        return get


def _instruction(frame: FrameType) -> int:
    return frame.f_code.co_code[frame.f_lasti]


def _message(error: object) -> str:
    """An exception's text without its own code."""
    kind = type(error)
    args = arguments_of(error) if issubclass(kind, BaseException) else (error,)
    if issubclass(kind, KeyError) and len(args) == 1:
        return shown(args[0])
    if args and type(args[0]) is str and (len(args) == 1 or issubclass(kind, SyntaxError)):
        return args[0][:_MESSAGE_ROOM]
    return ", ".join(shown(each) for each in args[:5])[:_MESSAGE_ROOM]


def _line_of(error: BaseException) -> int:
    """The innermost line of the completion."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == _FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    if not line and isinstance(error, SyntaxError) and error.filename == _FILE:
        line = error.lineno or 0
    return line


class _Run:
    """A completion and what to do with it; `order` is what `evaluator.tracing.traced_run` sends."""

    def __init__(self, order: dict[str, Any], tracer: _Tracer) -> None:
        self.order, self.tracer = order, tracer
        name = "__main__" if order["mode"] == "stdin" else "solution"
        module = ModuleType(name)
        module.__dict__["__file__"] = "main.py" if name == "__main__" else "solution.py"
        sys.modules[name] = module
        self.names = module.__dict__

    def run(self, payload: bytes) -> str:
        """Does it; returns what a call returned, as text."""
        order, names = self.order, self.names
        if order["preamble"]:
            exec(compile(order["preamble"], "preamble.py", "exec", dont_inherit=True), names)  # noqa: S102
        of_preamble = names.pop(order["entry_point"] or "", MISSING)
        code = compile(order["source"], _FILE, "exec", dont_inherit=True)
        self._traced(lambda: exec(code, names))  # noqa: S102
        if order["mode"] == "stdin":
            return ""
        function = self._function(order["entry_point"])
        if order["entry_point"] and of_preamble is not MISSING:
            names.setdefault(order["entry_point"], of_preamble)
        self._forget()
        if order["mode"] == "call":
            arguments, keywords = marshal.loads(payload)  # noqa: S302 - of the parent
            return shown(self._traced(lambda: function()(*arguments, **keywords)), _VALUE_ROOM)
        self._run_test(function)
        return ""

    def _forget(self) -> None:
        """Loading is not part of the test case."""
        self.tracer.log.clear()
        self.tracer.steps = self.tracer.frames = self.tracer.depth = 0

    def _run_test(self, function: Callable[[], Any]) -> None:
        order, names = self.order, self.names
        if order["entry_point"]:
            names["candidate"] = names[order["entry_point"]] = function()
        for text in order["setup"]:
            exec(compile(text, "test.py", "exec", dont_inherit=True), names)  # noqa: S102
        if order["mode"] == "statement":
            statement = compile(order["statement"], "test.py", "exec", dont_inherit=True)
            self._traced(lambda: exec(statement, names))  # noqa: S102
        else:
            suite, method = order["method"]
            self._traced(names[suite](method).debug if suite else names[method])

    def _traced(self, work: Callable[[], Any]) -> Any:
        threading.settrace(self.tracer.call)
        sys.settrace(self.tracer.call)
        try:
            return work()
        finally:
            sys.settrace(None)
            threading.settrace(None)

    def _function(self, entry_point: str | None) -> Callable[[], Any]:
        """As the sandbox looks it up: the module's function, else a method of `Solution`."""
        if entry_point is None:
            return lambda: None
        solution: Any = self.names.get("Solution")
        is_method = solution is not None and hasattr(solution, entry_point)
        if entry_point not in self.names and not is_method:
            raise NameError(f"the code defines no {entry_point!r}")
        if not is_method or getattr(self.names.get(entry_point), "__module__", None) == "solution":
            return lambda: self.names[entry_point]
        return lambda: lambda *arguments, **keywords: getattr(solution(), entry_point)(*arguments, **keywords)


def main(text: str) -> None:
    """Runs what the order says, and writes the last record."""
    order = json.loads(text)
    log = _Log(order["word"], order["first"], order["last"], order["cap"])
    tracer = _Tracer(log, order["source"], order["budget_s"])
    payload = b""
    if order["mode"] != "stdin":
        payload = sys.stdin.buffer.read()
        sys.stdin = open(os.devnull)  # noqa: SIM115
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    sys.setrecursionlimit(sys.getrecursionlimit() + 60)  # our own frames
    try:
        value = _Run(order, tracer).run(payload)
        for thread in threading.enumerate():
            if thread is not threading.current_thread() and not thread.daemon:
                thread.join()
        end: list[object] = ["end", "ended", tracer.steps, value, "", 0]
    except SystemExit:
        end = ["end", "exited", tracer.steps, "", "", 0]
    except BaseException as error:
        end = ["end", "raised", tracer.steps, _message(error), name_of(type(error)), _line_of(error)]
    log.end(end)
