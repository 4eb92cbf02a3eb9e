"""A stdin program, run as `python main.py < in > out` would run it, any number of times in one process."""

from __future__ import annotations

import atexit
import builtins
import gc
import io
import os
import resource
import sys
import threading
import weakref
from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any

from evaluator.sandbox.guest import ahead, channel, failures, folders, leftovers
from evaluator.sandbox.guest.loading import text_layer
from evaluator.sandbox.guest.reusable import Reusable

_DESCRIPTORS = (0, 1, 2)
_COPIES = 7
"""The first of our own copies of them, for programs that close theirs."""


class _Outcome:
    """How a run of the program ended."""

    def __init__(self) -> None:
        self.exit_status = 0
        self.failure: failures.Report | None = None


def serve(
    connection: int, code: CodeType, preamble: CodeType | None, order: dict[str, Any], shared: Reusable | None
) -> None:
    """Runs the preamble and the program once for each input.

    Answers those of the order with a `Z`, each `R` frame with a `D`, the closing `G` with a `G`. `shared`: the
    program, its header already run, if the process may be used again; else it ends after the first run.
    """
    for descriptor in _DESCRIPTORS:
        os.dup2(descriptor, _COPIES + descriptor)
    snapshot = leftovers.Snapshot(shared) if shared is not None else None
    exit_callbacks = atexit._ncallbacks()
    lines = failures.lines_of(order["source"])
    write, read, leave, usage = os.write, os.read, os._exit, resource.getrusage
    answers = ahead.Answers()

    def run() -> tuple[_Outcome, bool]:
        _fresh_streams()
        if snapshot is None or snapshot.uses_random:
            leftovers.seed()
        outcome = _run(code, preamble, shared, lines, exit_callbacks)
        return outcome, snapshot is not None and _restored() and snapshot.restore()

    inputs = order["inputs"]
    while True:
        if inputs is not None:
            done, outcome, clean = _run_all(inputs, answers, run)
            inputs, kind, answer = None, b"Z", done.to_bytes(4, "big")
        else:
            channel.next_request(connection, write, read, leave)
            outcome, clean = run()
            kind, answer = b"D", _answer(outcome, usage(resource.RUSAGE_SELF).ru_maxrss, clean)
        try:
            channel.send(connection, kind, answer, write)
        except OSError:
            leave(outcome.exit_status)
        if not clean:
            leave(outcome.exit_status)


def _run_all(
    inputs: list[bytes], answers: ahead.Answers, run: Callable[[], tuple[_Outcome, bool]]
) -> tuple[int, _Outcome, bool]:
    """Runs on one input after another: how many, how the last run ended, and whether the process can go on."""
    answers.begin()
    outcome, clean = _Outcome(), True
    for place, stdin in enumerate(inputs, 1):
        answers.give(stdin)
        outcome, clean = run()
        usual = clean and outcome.exit_status == 0 and outcome.failure is None
        if not (answers.add(b"D", b"" if usual else _answer(outcome, 0, clean)) and clean):
            return place, outcome, clean
    return len(inputs), outcome, clean


def _answer(outcome: _Outcome, memory: int, clean: bool) -> bytes:
    record = {
        "exit_status": outcome.exit_status,
        "memory_kib": memory,
        "clean": clean,
        "failure": outcome.failure,
    }
    return channel.as_json(record)


def _restored() -> bool:
    """Restores 0, 1 and 2: `open(0).read()` closes 0. False if our copies are closed too."""
    # Now the program's own streams are freed, which closes their descriptors.
    sys.stdin, sys.stdout, sys.stderr = _REPLACED
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = _REPLACED  # type: ignore[assignment,misc]
    try:
        for descriptor in _DESCRIPTORS:
            os.dup2(_COPIES + descriptor, descriptor)
    except OSError:
        return False
    return True


def _fresh_streams() -> None:
    """Rewinds descriptors 0, 1 and 2 and creates new text layers over them."""
    for descriptor in _DESCRIPTORS:
        os.lseek(descriptor, 0, os.SEEK_SET)
    streams = _READY.pop() if _READY else _text_streams()
    sys.stdin = sys.__stdin__ = streams[0]  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = streams[1]  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = streams[2]  # type: ignore[misc]


def _text_streams() -> tuple[io.TextIOWrapper, io.TextIOWrapper, io.TextIOWrapper]:
    escaped = "surrogateescape"
    return text_layer(0, "r", escaped), text_layer(1, "w", escaped), text_layer(2, "w", "backslashreplace")


_READY: list[tuple[io.TextIOWrapper, io.TextIOWrapper, io.TextIOWrapper]] = []


def prepare() -> None:
    """Creates the streams of the first run, in the zygote, and leaves it as it is between two runs."""
    _READY[:] = [_text_streams()]
    sys.modules["__main__"] = _EMPTY_MAIN


_REPLACED = sys.stdin, sys.stdout, sys.stderr
"""The interpreter's first streams, kept so that no process has to free them."""


def _run(
    code: CodeType, preamble: CodeType | None, shared: Reusable | None, lines: list[str], exit_callbacks: int
) -> _Outcome:
    outcome = _Outcome()
    original = sys.stdout, sys.stderr
    sys.modules["__main__"] = ModuleType("__main__")
    file = f"{folders.home}/main.py"
    names: dict[str, Any] = {} if sys.version_info >= (3, 14) else {"__annotations__": {}}  # made when it is read
    sys.modules["__main__"].__dict__.update(__builtins__=builtins, __file__=file, __cached__=None, **names)
    try:
        if shared is not None:
            shared.header.bind(sys.modules["__main__"].__dict__)
        elif preamble is not None:
            exec(preamble, sys.modules["__main__"].__dict__)  # noqa: S102 - this process exists for it
        exec(code, sys.modules["__main__"].__dict__)  # noqa: S102
    except SystemExit as error:
        outcome.exit_status = failures.exit_status(error)
    except BaseException as error:
        outcome.exit_status = 1
        outcome.failure = failures.report(error)
        if (end := _print_traceback(error, lines)) is not None:
            outcome.exit_status, outcome.failure = failures.exit_status(end), None
    _finish(outcome, exit_callbacks)
    sys.stdout, sys.stderr = original  # the program's own may need the globals that are freed now
    _drop_main(collect=shared is None or shared.may_end_late)
    _flush(outcome, *original)
    return outcome


def _print_traceback(error: BaseException, lines: list[str]) -> SystemExit | None:
    """Returns how a hook of the program's own ended it."""
    try:
        if sys.excepthook is sys.__excepthook__:
            sys.stderr.write(failures.printed(error, lines))
        else:
            sys.excepthook(type(error), error, error.__traceback__)
    except SystemExit as end:
        return end
    except BaseException:
        return None
    finally:
        error.__traceback__ = None
    return None


def _finish(outcome: _Outcome, exit_callbacks: int) -> None:
    """Does what the interpreter does at the end: wait for threads, run atexit, flush."""
    try:
        _join_threads()
    except BaseException as error:
        failures.report(error)
    if atexit._ncallbacks() != exit_callbacks:
        atexit._run_exitfuncs()
    _flush(outcome, sys.stdout, sys.stderr)


_EMPTY_MAIN = ModuleType("__main__")
"""A placeholder between two runs, so that the number of imported modules stays the same."""


def _drop_main(*, collect: bool) -> None:
    """Frees the globals. With `collect`, a `__del__` still finds them, because the collector calls it first."""
    module: ModuleType | None = sys.modules["__main__"]
    sys.modules["__main__"] = _EMPTY_MAIN
    if collect:
        left = weakref.ref(module)
        module = None
        gc.collect()
        module = left()
    if module is not None:
        module.__dict__.clear()


def _join_threads() -> None:
    """First the hooks of `threading`: a pool that was not shut down ends its threads then."""
    if len(threading._active) == 1 and not threading._limbo and not threading._threading_atexits:  # type: ignore[attr-defined]
        return
    while threading._threading_atexits:  # type: ignore[attr-defined]
        threading._threading_atexits.pop()()  # type: ignore[attr-defined]
    main = threading.current_thread()
    while True:
        others = [thread for thread in threading.enumerate() if thread is not main and not thread.daemon]
        if not others:
            return
        for thread in others:
            thread.join()


def _is_detached(stream: object) -> bool:
    """Whether the program took its buffer, for a stream of its own: that is flushed by then."""
    try:
        return isinstance(stream, io.TextIOWrapper) and stream.buffer is None
    except ValueError:
        return True


def _flush(outcome: _Outcome, *streams: object) -> None:
    for stream in streams:
        try:
            if stream is not None and not _is_detached(stream) and not stream.closed:  # type: ignore[attr-defined]
                stream.flush()  # type: ignore[attr-defined]
        except Exception as error:
            if outcome.failure is None:
                outcome.failure = failures.report(error)
                outcome.exit_status = 120
