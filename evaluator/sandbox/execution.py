"""One completion in the sandbox: its inputs go in one by one, and an `Outcome` comes back for each.

The parent holds the clock and measures CPU time and memory itself; it sends input i+1 only after the answer to i, and
kills the whole tree when a limit is passed. What the completion's process says is display or a candidate answer.
"""

from __future__ import annotations

import marshal
import math
import os
import signal
import socket
import time
from collections.abc import Callable

import msgspec

from evaluator.model import Frame, Limits, Traceback
from evaluator.sandbox import values
from evaluator.sandbox.outcomes import Outcome, Status
from evaluator.sandbox.streams import MemoryFile
from evaluator.sandbox.wire import BrokenFrameError, Connection, SilenceError

_MIB = 2**20
_COMPILE_S = 10.0
_GRACE_S = 2.0
_FILES_MB = 64
_OPEN_FILES = 128
_REPORT_CAP = 256 * 1024
_FIRST_LOOK_S = 0.05
_LOOK_S = 0.1


class Program(msgspec.Struct, frozen=True):
    """Code to run: a function to call (`entry_point`), or a program that reads stdin."""

    source: str
    entry_point: str | None = None
    preamble: str = ""


class _Report(msgspec.Struct):
    failure: tuple[str, str, list[tuple[int, str]], int] | None = None
    exit_status: int = 0
    memory_kib: int = 0
    clean: bool = False
    cpu_s: float = 0.0


class _LimitPassed(Exception):  # noqa: N818 - not an error
    def __init__(self, status: Status, message: str) -> None:
        self.status = status
        self.message = message


class FaultError(Exception):
    """The zygote or the template failed: a fault of ours or the machine's."""


class Execution:
    """A template made from one program. Use it with `with`; `run` is called once for each input."""

    def __init__(self, fork: Callable[[], socket.socket], program: Program, limits: Limits, *, reuse: bool) -> None:
        """Compiles the program in a new template. Raises `FaultError`; a compile error comes with each `run`."""
        self._fork_template = fork
        self._reuse = reuse
        self._program = program
        self._limits = limits
        self._output_bytes = int(limits.output_mb * _MIB)
        self._process: _Process | None = None
        self._not_loaded: Outcome | None = None
        self._control: Connection | None = None
        self._start_template()

    def __enter__(self) -> Execution:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.forget()
        self._end_template()

    def _start_template(self) -> None:
        try:
            self._control = Connection(self._fork_template())
            self._control.send(b"I", self._order())
            self._read_compilation()
        except (OSError, BrokenFrameError, EOFError) as error:
            raise FaultError(f"no template: {error!r}") from error

    def _end_template(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None

    def _order(self) -> bytes:
        limits = self._limits
        order = {
            "source": self._program.source,
            "entry_point": self._program.entry_point,
            "preamble": self._program.preamble,
            "reuse": self._reuse,
            "files_mb": _FILES_MB,
            "virtual_bytes": int(limits.virtual_mb * _MIB),
            "output_bytes": self._output_bytes,
            "cpu_s": math.ceil(limits.total_s) + 2,
            "open_files": _OPEN_FILES,
            "tasks": limits.threads + limits.processes + 4,
        }
        return marshal.dumps(order, 2)

    def _read_compilation(self) -> None:
        assert self._control is not None
        try:
            kind, payload = self._control.receive(time.monotonic() + _COMPILE_S, _REPORT_CAP)
        except SilenceError:
            self._not_loaded = Outcome(status=Status.NOT_LOADED, message=f"compiling took over {_COMPILE_S:g} s")
            return
        except EOFError:
            self._not_loaded = Outcome(status=Status.NOT_LOADED, message="Python's compiler crashed on it")
            return
        if kind == b"C":
            failure = _failure(_report(payload), self._program.source)
            self._not_loaded = Outcome(status=Status.NOT_LOADED, failure=failure)
        elif kind != b"L":
            raise FaultError(payload.decode("utf-8", "replace"))

    def run(self, payload: bytes, *, wall_s: float) -> Outcome:
        """Runs the program on one input: stdin's bytes, or a call's arguments as `values.encoded_call` writes them.

        Raises `FaultError`.
        """
        if self._not_loaded is not None:
            return self._not_loaded
        if self._control is None:
            self._start_template()
        try:
            if self._process is None:
                self._process = self._fork(payload)
            outcome = self._run_in(self._process, payload, wall_s)
        except (OSError, BrokenFrameError, EOFError, SilenceError) as error:
            raise FaultError(f"the template does not answer: {error!r}") from error
        if outcome.status is Status.NOT_LOADED:
            self._not_loaded = outcome
        return outcome

    def fresh(self) -> None:
        """The next run gets a new process."""
        if self._process is not None:
            self._kill(self._process)

    def finish(self) -> str:
        """Lets the last process end by itself; what it still says against the protocol, else an empty text."""
        process, self._process = self._process, None
        if process is None:
            return ""
        process.connection.end_sending()
        try:
            process.connection.receive(time.monotonic() + _GRACE_S, 0)
        except EOFError:
            return ""
        except (SilenceError, BrokenFrameError, OSError):
            pass
        finally:
            process.forget()
        return "it wrote to the protocol descriptor after its last answer"

    def _fork(self, stdin: bytes) -> _Process:
        assert self._control is not None
        ours, theirs = socket.socketpair()
        # The kernel tells the process's number with its first frame.
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        is_call = self._program.entry_point is not None
        process = _Process(Connection(ours), MemoryFile(b"" if is_call else stdin), MemoryFile(), MemoryFile())
        with theirs:
            handed = [theirs.fileno(), *(file.descriptor for file in process.files)]
            self._control.send_descriptors(b"F", handed)
        return process

    def _run_in(self, process: _Process, payload: bytes, wall_s: float) -> Outcome:
        is_call = self._program.entry_point is not None
        outcome = Outcome(status=Status.ANSWERED)
        started = time.monotonic()
        watch = _Watch(process, self._limits, started + wall_s)
        try:
            if process.used:
                process.renew(b"" if is_call else payload)
            else:
                self._hello(process, watch)
            process.connection.send(b"R", payload if is_call else b"", watch)
            self._answer(process, watch, outcome)
        except _LimitPassed as passed:
            outcome.status, outcome.message = passed.status, passed.message
        except EOFError:
            self._ended(process, outcome)
        except BrokenFrameError as error:
            outcome.status, outcome.message = Status.REJECTED, str(error)
        outcome.wall_s = time.monotonic() - started
        outcome.cpu_s = max(watch.cpu_s(), outcome.cpu_s)
        outcome.memory_mb = max(outcome.memory_mb, watch.peak_mb)
        outcome.stdout, outcome.stderr = (file.read(self._output_bytes) for file in process.files[1:])
        process.used = True
        self._judge_limits(outcome)
        if self._process is None:
            process.forget()
        elif outcome.status in (Status.TIME, Status.MEMORY, Status.REJECTED):
            self._kill(process)
        return outcome

    def _hello(self, process: _Process, watch: _Watch) -> None:
        """Waits for the process's first frame and learns its number."""
        try:
            process.number = process.connection.receive_hello(watch)
        except EOFError:
            raise FaultError("the process ended before it ran any of the code") from None
        watch.begin()

    def _answer(self, process: _Process, watch: _Watch, outcome: Outcome) -> None:
        expected = b"D"
        if self._program.entry_point is not None:
            expected = b"VXO"
            if not process.loaded:
                self._loading(process, watch, outcome)
                if outcome.status is Status.NOT_LOADED:
                    return
        kind, payload = process.connection.receive(watch, self._output_bytes + 1024)
        if kind not in expected or not kind:
            raise BrokenFrameError("a frame of a kind that has no place here")
        if kind == b"D":
            self._program_ended(_report(payload), outcome)
            return
        outcome.memory_mb = int.from_bytes(payload[:8], "big") / 1024
        if kind == b"V":
            outcome.value = _value(payload[8:])
        elif kind == b"O":
            outcome.status, outcome.message = (
                Status.OUTPUT,
                "the returned value is larger than the output limit",
            )
        else:
            outcome.status = Status.RAISED
            outcome.failure = _failure(_report(payload[8:]), self._program.source)

    def _loading(self, process: _Process, watch: _Watch, outcome: Outcome) -> None:
        kind, payload = process.connection.receive(watch, _REPORT_CAP)
        if kind == b"C":
            outcome.status = Status.NOT_LOADED
            outcome.failure = _failure(_report(payload), self._program.source)
        elif kind != b"L":
            raise BrokenFrameError("a frame before the code was loaded")
        process.loaded = True

    def _program_ended(self, report: _Report, outcome: Outcome) -> None:
        outcome.exit_status = report.exit_status
        outcome.memory_mb = report.memory_kib / 1024
        if report.failure is not None:
            outcome.status = Status.RAISED
            outcome.failure = _failure(report, self._program.source)
        if not report.clean and self._process is not None:
            self._await_end(self._process, outcome)

    def _ended(self, process: _Process, outcome: Outcome) -> None:
        """The process is gone without an answer: a call died; a program ended in its own way."""
        report = self._await_end(process, outcome)
        outcome.exit_status = report.exit_status
        is_call = self._program.entry_point is not None
        if report.exit_status < 0 or is_call:
            outcome.status = Status.DIED
            outcome.message = _how_it_ended(report.exit_status)

    def _await_end(self, process: _Process, outcome: Outcome) -> _Report:
        assert self._control is not None
        kind, payload = self._control.receive(time.monotonic() + _GRACE_S, _REPORT_CAP)
        if kind != b"E":
            raise BrokenFrameError("the template says something else than the end")
        self._process = None
        report = _report(payload)
        outcome.cpu_s = report.cpu_s - process.cpu_before
        outcome.memory_mb = report.memory_kib / 1024
        process.forget_connection()
        if not report.clean:  # files stay that only a new template has not
            self._end_template()
        return report

    def _kill(self, process: _Process) -> None:
        assert self._control is not None
        self._control.send_descriptors(b"K", [])
        self._await_end(process, Outcome(status=Status.DIED))
        process.forget()

    def _judge_limits(self, outcome: Outcome) -> None:
        limits = self._limits
        full = outcome.stdout.size >= self._output_bytes or outcome.stderr.size >= self._output_bytes
        raised_memory = outcome.failure is not None and outcome.failure.type == "MemoryError"
        if outcome.status in (Status.REJECTED, Status.TIME):
            return
        if full:
            outcome.status, outcome.message = Status.OUTPUT, f"it wrote {limits.output_mb:g} MiB or more"
        elif outcome.memory_mb > limits.memory_mb or raised_memory:
            outcome.status = Status.MEMORY
            outcome.message = outcome.message or f"over {limits.memory_mb:g} MiB"
        elif outcome.cpu_s > limits.cpu_s:
            outcome.status, outcome.message = Status.TIME, f"{outcome.cpu_s:.2f} s of CPU time"


class _Process:
    """A process that runs the program, with its connection and its files 0, 1 and 2."""

    def __init__(self, connection: Connection, *files: MemoryFile) -> None:
        self.connection = connection
        self.files = files
        self.number = 0
        self.loaded = False
        self.used = False
        self.cpu_before = 0.0

    def renew(self, stdin: bytes) -> None:
        """Makes the files as new for the next input. Raises `BrokenFrameError` when a frame came unasked."""
        if self.connection.has_input():
            raise BrokenFrameError("a frame that nobody asked for")
        for file, content in zip(self.files, (stdin, b"", b""), strict=True):
            file.replace(content)

    def forget_connection(self) -> None:
        self.connection.close()

    def forget(self) -> None:
        self.connection.close()
        for file in self.files:
            file.close()


class _Watch:
    """The clock of one run, asked while the parent waits: raises `_LimitPassed` as soon as a limit is."""

    def __init__(self, process: _Process, limits: Limits, deadline: float) -> None:
        self._process = process
        self._limits = limits
        self._deadline = deadline
        self._cpu_start = self._cpu() if process.number else 0.0
        self._look = _FIRST_LOOK_S
        self.peak_mb = 0.0
        process.cpu_before = self._cpu_start

    def begin(self) -> None:
        """Counts CPU from now: what the harness took to start is not the completion's."""
        self._cpu_start = self._process.cpu_before = self._cpu()

    def cpu_s(self) -> float:
        """CPU seconds since the start, all threads; 0 once the process is gone."""
        return max(0.0, self._cpu() - self._cpu_start) if self._process.number else 0.0

    def _cpu(self) -> float:
        try:
            return time.clock_gettime((~self._process.number << 3) | 2)
        except OSError:
            return 0.0

    def patience_ms(self) -> float:
        """How long to wait before the next look, in milliseconds. Raises `_LimitPassed`."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise _LimitPassed(Status.TIME, "wall time")
        patience = min(left, self._look)
        self._look = _LOOK_S
        return max(patience * 1000, 1)

    def look(self) -> None:
        """Raises `_LimitPassed` when CPU time or resident memory is over its limit."""
        if not self._process.number:
            return
        cpu = self.cpu_s()
        if cpu > self._limits.cpu_s:
            raise _LimitPassed(Status.TIME, f"{cpu:.2f} s of CPU time")
        self.peak_mb = max(self.peak_mb, _resident_mb(self._process.number))
        if self.peak_mb > self._limits.memory_mb:
            raise _LimitPassed(Status.MEMORY, f"{self.peak_mb:.0f} MiB resident")


def _resident_mb(number: int) -> float:
    try:
        with open(f"/proc/{number}/statm", "rb") as file:  # noqa: PTH123 - ten times a second
            return int(file.read().split()[1]) * _PAGE / _MIB
    except (OSError, IndexError):
        return 0.0


_PAGE = os.sysconf("SC_PAGE_SIZE")


def _report(payload: bytes) -> _Report:
    try:
        return msgspec.json.decode(payload, type=_Report)
    except msgspec.DecodeError:
        raise BrokenFrameError("a report that can't be read") from None


def _value(payload: bytes) -> object:
    try:
        return values.decoded(payload)
    except values.BadValueError as error:
        raise BrokenFrameError(str(error)) from None


def _failure(report: _Report, source: str) -> Traceback | None:
    if report.failure is None:
        return None
    kind, message, frames, omitted = report.failure
    lines = source.splitlines()
    shown = tuple(
        Frame(line, function[:200], lines[line - 1].strip()[:500] if 0 < line <= len(lines) else "")
        for line, function in frames
    )
    return Traceback(kind[:200], message, shown, omitted)


def _how_it_ended(exit_status: int) -> str:
    if exit_status < 0:
        try:
            return f"ended by {signal.Signals(-exit_status).name}"
        except ValueError:
            return f"ended by signal {-exit_status}"
    return f"the process ended with status {exit_status} before it answered"
