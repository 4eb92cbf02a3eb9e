"""Zygotes and templates, seen from the parent: they are started, fork processes, and are ended."""

from __future__ import annotations

import contextlib
import marshal
import os
import platform
import subprocess
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence

import msgspec

from evaluator.options import Settings, Way
from evaluator.sandbox.guest.sharing import ENDED
from evaluator.sandbox.host.child import GRACE_S, Child
from evaluator.sandbox.host.launch import own_folder, spawn
from evaluator.sandbox.host.launch.memory_cgroup import MemoryCgroup, kills_on_machine
from evaluator.sandbox.host.launch.seccomp import CLONE
from evaluator.sandbox.host.launch.settings import SandboxUnavailable, Warm
from evaluator.sandbox.host.limits.process_table import chain
from evaluator.sandbox.host.limits.starvation import priority_of
from evaluator.sandbox.host.outcomes import Ended
from evaluator.sandbox.host.program import SuiteNeeds, rehearsals
from evaluator.sandbox.host.wire import CONNECTION_ERRORS, BrokenFrameError, Connection, Watch

_ANSWER_CAP = 4096


class Template:
    """Forks processes like a zygote, but is already confined and has compiled the program."""

    def __init__(self, child: Child) -> None:
        """`child`: a process that has compiled the program and waits."""
        self.child = child
        self.folder, self.memory, self.priority = child.folder, child.memory, child.priority
        self.usable = True
        """Whether it can fork another: it is alive, and its files are unchanged."""

    def fork(self, descriptors: Sequence[int]) -> None:
        """Starts a child with the parent's connection and its descriptors 0, 1 and 2. Raises `OSError`."""
        self.child.connection.send_descriptors(b"F", descriptors)

    def kill_child(self) -> None:
        """Kills the child and the template. Raises `OSError`, `EOFError`, or `SilenceError`."""
        self.usable = False
        self.child.kill()

    def await_end(self, watch: Watch | float) -> Ended:
        """Waits for the child's end and returns how it ended.

        Raises what `watch` raises, or `EOFError` if the template has ended, which no child of it can cause.
        """
        if self.child.ended is not None:
            return self.child.ended
        try:
            _, payload = self.child.connection.receive(watch, _ANSWER_CAP)
            ended = msgspec.json.decode(payload, type=Ended)
        except (BrokenFrameError, msgspec.DecodeError, UnicodeDecodeError):
            raise EOFError("the template sent a malformed reply") from None
        self.usable = self.usable and ended.clean
        return ended

    def close(self) -> None:
        """Ends it. Raises `OSError`, `EOFError`, or `SilenceError`."""
        self.child.end()


_START_S = 60.0
"""Also for large packages, from a disk that is not in memory yet."""
_RESOURCES = "check free memory and disk space, and the limits of open files and processes (ulimit -a)"


class Zygote:
    """A warm interpreter in its own namespaces, with one child at a time. For one thread at a time."""

    def __init__(self, settings: Settings, way: Way, warm: Warm) -> None:
        """Starts it and waits until it is warm. Raises `SandboxUnavailable` with bubblewrap's own message."""
        if platform.machine() not in CLONE:
            raise SandboxUnavailable(f"it has no system call filter for {platform.machine()}", "use x86_64 or aarch64")
        self._killed = False
        self.memory: MemoryCgroup | None = None
        self._kills_on_machine = kills_on_machine()
        try:
            self._process, control, self._errors, self._folder = spawn.start(settings, way, warm, rehearsals())
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
        except (BrokenFrameError, msgspec.DecodeError, UnicodeDecodeError):
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


class SharedZygote(Zygote):
    """Has one process that runs, one that waits, and perhaps one whose end nobody waits for yet."""

    def __init__(self, settings: Settings, way: Way, warm: Warm) -> None:
        """Raises as `Zygote` does."""
        self._forked = 0
        self._taken = 0
        self._ended = 0
        """How many processes have started, were taken, and have ended. They end in the order in which they started."""
        self._ready: Child | None = None
        super().__init__(settings, way, warm)

    def take(self) -> Child:
        """The process that waits, or a new one. The one before it ends before this returns.

        Raises `OSError`, `EOFError`, or `SilenceError`.
        """
        child, self._ready = self._ready, None
        child = child or Child(self)
        try:
            child.greet()
            while self._ended < self._taken:
                self._receive_end(time.monotonic() + GRACE_S)
        except BaseException:
            child.close()
            raise
        self._taken += 1
        return child

    def prepare_next(self) -> None:
        """Starts the process after the one that was taken. Raises `OSError`."""
        if self._ready is None:
            self._ready = Child(self)

    def part_with(self, child: Child) -> None:
        """Ends the process that was taken, and waits for its end only before the next order. Raises `OSError`."""
        try:
            if child.ended is None:
                self.kill_child()
        finally:
            child.close()

    def fork(self, descriptors: Sequence[int]) -> None:
        self._control.send_descriptors(b"F" + bytes([self._forked % 256]), descriptors)
        self._forked += 1

    def kill_child(self) -> None:
        self._control.send_descriptors(b"K" + bytes([(self._taken - 1) % 256]), [])

    def await_end(self, watch: Watch | float) -> Ended:
        """Raises also `EOFError` if another process has ended: only the waiting one can, and should not."""
        return self._receive_end(watch)

    def _receive_end(self, watch: Watch | float) -> Ended:
        try:
            kind, record = self._control.receive(watch, _ANSWER_CAP)
        except BrokenFrameError:
            kind, record = b"", b""
        if kind != b"E":
            raise EOFError("the zygote sent a malformed reply")
        number, exit_status, cpu_s, memory_kib = ENDED.unpack(record)
        if number != self._ended % 256:
            raise EOFError("a process ended before it got its order")
        self._ended += 1
        return Ended(exit_status, cpu_s, memory_kib)

    def close(self) -> None:
        if self._ready is not None:
            self._ready.close()
            self._ready = None
        super().close()


_TEMPLATE_START_S = 10.0


class SuiteZygote(Zygote):
    """A zygote whose only child is usually a template: already confined, it forks the processes of suites."""

    def __init__(self, settings: Settings, way: Way, warm: Warm) -> None:
        """Raises as `Zygote` does."""
        self._template: Template | None = None
        self._confined = b""
        super().__init__(settings, way, warm)

    def template(self, confinement: Mapping[str, object]) -> Template:
        """A template with this confinement.

        Raises `OSError`, `EOFError`, `SilenceError`, `BrokenFrameError`.
        """
        order = marshal.dumps(dict(confinement), 2)
        if self._template is None or not self._template.usable or order != self._confined:
            self.end_template()
            self._template, self._confined = self._start(order), order
        return self._template

    def end_template(self) -> None:
        """Ends the template, so that another child can start. Raises `OSError`, `EOFError`, `SilenceError`."""
        template, self._template = self._template, None
        if template is not None:
            template.close()

    def close(self) -> None:
        super().close()
        if self._template is not None:
            self._template.child.close()
            self._template = None

    def _start(self, order: bytes) -> Template:
        child = Child.started(self)
        try:
            child.connection.send(b"I", order)
            kind, _ = child.connection.receive(time.monotonic() + _TEMPLATE_START_S, _ANSWER_CAP)
            if kind != b"L":
                raise BrokenFrameError("the template does not start")
        except BaseException:
            child.close()
            raise
        return Template(child)


_MOST_CODE = 64 * 2**20


class CompiledSuites:
    """The code of the latest suites, compiled by their processes before these got any message of a completion."""

    def __init__(self) -> None:
        self._codes: OrderedDict[SuiteNeeds, bytes] = OrderedDict()
        self._size = 0

    def of(self, suite: SuiteNeeds) -> bytes:
        """The suite's code; empty if it is not known."""
        code = self._codes.get(suite, b"")
        if code:
            self._codes.move_to_end(suite)
        return code

    def keep(self, suite: SuiteNeeds, code: bytes) -> None:
        self._size += len(code) - len(self._codes.pop(suite, b""))
        self._codes[suite] = code
        while self._size > _MOST_CODE:
            self._size -= len(self._codes.popitem(last=False)[1])
