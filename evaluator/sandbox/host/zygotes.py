"""A zygote seen from the parent: it is started, forks processes, and is ended."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Sequence

import msgspec

from evaluator.options import Settings, Way
from evaluator.sandbox.host.child import Child
from evaluator.sandbox.host.launch import own_folder, spawn
from evaluator.sandbox.host.launch.memory_cgroup import MemoryCgroup, kills_on_machine
from evaluator.sandbox.host.launch.settings import Warm
from evaluator.sandbox.host.launch.unavailable import SandboxUnavailable
from evaluator.sandbox.host.limits.process_table import chain
from evaluator.sandbox.host.limits.starvation import priority_of
from evaluator.sandbox.host.reports import Ended
from evaluator.sandbox.host.wire import CONNECTION_ERRORS, BrokenFrameError, Connection, Watch

_START_S = 30.0
_ANSWER_CAP = 4096
_RESOURCES = "check free memory and disk space, and the limits of open files and processes (ulimit -a)"


class Zygote:
    """A warm interpreter in its own namespaces, with one child at a time. For one thread at a time."""

    def __init__(self, settings: Settings, way: Way, warm: Warm) -> None:
        """Starts it and waits until it is warm. Raises `SandboxUnavailable` with bubblewrap's own message."""
        self._killed = False
        self.memory: MemoryCgroup | None = None
        self._kills_on_machine = kills_on_machine()
        try:
            self._process, control, self._errors, self._folder = spawn.start(settings, way, warm)
        except (OSError, RuntimeError) as error:  # RuntimeError: no thread can be started
            if isinstance(error, SandboxUnavailable):
                raise
            raise SandboxUnavailable(f"it can't be started ({error})", _RESOURCES) from error
        self._control = Connection(control)
        try:
            kind, answer = self._control.receive(time.monotonic() + _START_S, _ANSWER_CAP)
        except CONNECTION_ERRORS:
            kind, answer = b"", b""
        if kind != b"R":
            message = self._last_line()
            self.close()
            raise SandboxUnavailable(f"it does not start ({message})", _fix(message))
        self.landlock_abi = answer[0]
        self.folder = None if self._folder is None else str(self._folder / own_folder.HOME)
        self.memory = MemoryCgroup.around(self._process.pid)
        self.priority = priority_of(self._process.pid)
        """The priority of its children; None if the kernel does not count how long they wait for a CPU."""

    @property
    def alive(self) -> bool:
        return not self._killed and self._process.poll() is None

    def limit_memory(self, memory_mb: float) -> None:
        """Sets what the next child may use, if the kernel can enforce it."""
        if self.memory is not None:
            self.memory.limit(memory_mb)

    def out_of_memory(self) -> bool:
        """Whether the kernel has killed a process of ours over that limit since the last call."""
        if self.memory is None or not self.memory.has_killed():
            return False
        self._kills_on_machine = kills_on_machine()
        return True

    def machine_out_of_memory(self) -> bool:
        """Whether the kernel has killed any process because of memory since the last call."""
        before, self._kills_on_machine = self._kills_on_machine, kills_on_machine()
        return self._kills_on_machine > before

    def take(self) -> Child:
        """A process that waits for its order. Raises `OSError`, `EOFError`, or `SilenceError`."""
        return Child.started(self)

    def prepare_next(self) -> None:
        """Called when the process that was taken has its order. Raises `OSError`."""

    def stay(self, core: int) -> None:
        """Called from any thread: keeps it and its children on a core, except one that may start processes."""
        with contextlib.suppress(OSError):  # it has ended, or the core is not ours any more
            for process in chain(self._process.pid):
                os.sched_setaffinity(process, {core})

    def part_with(self, child: Child) -> None:
        """Ends the process that was taken. Raises `OSError`, `EOFError`, or `SilenceError`."""
        child.end()

    def fork(self, descriptors: Sequence[int]) -> None:
        """Starts a child with the parent's connection and its descriptors 0, 1 and 2. Raises `OSError`."""
        self._control.send_descriptors(b"F", descriptors)

    def kill_child(self) -> None:
        """Kills the child and all processes below it; `await_end` returns when that is done. Raises `OSError`."""
        self._control.send_descriptors(b"K", [])

    def await_end(self, watch: Watch | float) -> Ended:
        """Waits for the child's end and returns how. Raises `EOFError`, `SilenceError`, or what `watch` raises."""
        try:
            kind, payload = self._control.receive(watch, _ANSWER_CAP)
            if kind == b"E":
                return msgspec.json.decode(payload, type=Ended)
        except (BrokenFrameError, msgspec.DecodeError):
            pass
        raise EOFError("the zygote sent a malformed reply")

    def kill(self) -> None:
        """Kills it and everything in its namespaces at once; it must still be closed."""
        self._killed = True  # it takes a moment to end
        self._process.kill()

    def close(self) -> None:
        """Ends it and everything in its namespaces; returns when all have ended."""
        self._control.close()
        try:
            self._process.wait(2.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.close()
        if self.memory is not None:
            self.memory.remove()
        if self._folder is not None:
            own_folder.remove(self._folder)

    def _last_line(self) -> str:
        """The last line that bubblewrap or Python wrote."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        self._errors.seek(0)
        lines = self._errors.read(4000).decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "it ended without a message"


def _fix(message: str) -> str:
    if any(word in message for word in ("namespace", "uid map", "not permitted")):
        settings = "user.max_user_namespaces=15000 kernel.apparmor_restrict_unprivileged_userns=0"
        return f"allow user namespaces, as root: sysctl -w {settings}"
    return "see `rollscope doctor`"
