"""A zygote seen from the parent: started, asked for processes, ended."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Sequence

import msgspec

from evaluator.sandbox.launch import own_folder, spawn
from evaluator.sandbox.launch.memory_cgroup import MemoryCgroup, kills_on_machine
from evaluator.sandbox.launch.settings import Settings, Warm, Way
from evaluator.sandbox.launch.unavailable import SandboxUnavailable
from evaluator.sandbox.limits.starvation import usual_priority
from evaluator.sandbox.reports import Ended
from evaluator.sandbox.wire import BrokenFrameError, Connection, SilenceError, Watch

_START_S = 30.0
_ANSWER_CAP = 4096
_SHORT_OF = "see to free memory and disk, and to the limits of open files and processes (ulimit -a)"


class Zygote:
    """A warm interpreter in its own namespaces, with one child at a time. Not for several threads at once."""

    def __init__(self, settings: Settings, way: Way, warm: Warm) -> None:
        """Starts it and waits until it is warm. Raises `SandboxUnavailable` with bubblewrap's own words."""
        self.way = way
        self._killed = False
        self.memory: MemoryCgroup | None = None
        self._kills_on_machine = kills_on_machine()
        try:
            self._process, control, self._errors, self._folder = spawn.start(settings, way, warm)
        except (OSError, RuntimeError) as error:  # RuntimeError: no thread can be started
            if isinstance(error, SandboxUnavailable):
                raise
            raise SandboxUnavailable(f"it can't be started ({error})", _SHORT_OF) from error
        self._control = Connection(control)
        try:
            kind, answer = self._control.receive(time.monotonic() + _START_S, _ANSWER_CAP)
        except (EOFError, SilenceError, BrokenFrameError, OSError):
            kind, answer = b"", b""
        if kind != b"R":
            said = self._last_words()
            self.close()
            raise SandboxUnavailable(f"it does not start ({said})", _mend(said))
        self.landlock_abi = answer[0]
        self.asks = way is Way.LANDLOCK and not own_folder.has_users()
        """Whether the kernel asks about each new thread, for it can't count them."""
        self.folder = None if self._folder is None else str(self._folder / own_folder.HOME)
        self.memory = MemoryCgroup.around(self._process.pid)
        self.usual = usual_priority(self._process.pid)
        """What its children are started with; None where the kernel does not say how long they wait for a CPU."""

    @property
    def alive(self) -> bool:
        return not self._killed and self._process.poll() is None

    def limit_memory(self, memory_mb: float) -> None:
        """Sets what the next child may use, where the kernel can keep it to that."""
        if self.memory is not None:
            self.memory.limit(memory_mb)

    def out_of_memory(self) -> bool:
        """Whether, since this was last asked, the kernel has ended a process of ours that was over that limit."""
        if self.memory is None or not self.memory.has_killed():
            return False
        self._kills_on_machine = kills_on_machine()
        return True

    def machine_out_of_memory(self) -> bool:
        """Whether, since this was last asked, the kernel has ended anything else for want of memory."""
        before, self._kills_on_machine = self._kills_on_machine, kills_on_machine()
        return self._kills_on_machine > before

    def fork(self, descriptors: Sequence[int]) -> None:
        """Starts a child with the parent's connection and what becomes its 0, 1 and 2. Raises `OSError`."""
        self._control.send_descriptors(b"F", descriptors)

    def kill_child(self) -> None:
        """Kills the child with everything below it; `await_end` says when that is done. Raises `OSError`."""
        self._control.send_descriptors(b"K", [])

    def await_end(self, watch: Watch | float) -> Ended:
        """How the child ended, when it is gone. Raises `EOFError`, `SilenceError`, or what `watch` raises."""
        try:
            kind, payload = self._control.receive(watch, _ANSWER_CAP)
            if kind == b"E":
                return msgspec.json.decode(payload, type=Ended)
        except (BrokenFrameError, msgspec.DecodeError):
            pass
        raise EOFError("the zygote speaks nonsense")

    def kill(self) -> None:
        """Kills it and everything in its namespaces, at once; it must still be closed."""
        self._killed = True  # it takes a moment to end
        self._process.kill()

    def close(self) -> None:
        """Ends it and everything in its namespaces; returns when all of it is gone."""
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

    def _last_words(self) -> str:
        """What bubblewrap or Python wrote before it ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        self._errors.seek(0)
        lines = self._errors.read(4000).decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "it ended without a word"


def _mend(said: str) -> str:
    if any(word in said for word in ("namespace", "uid map", "not permitted")):
        settings = "user.max_user_namespaces=15000 kernel.apparmor_restrict_unprivileged_userns=0"
        return f"allow user namespaces, as root: sysctl -w {settings}"
    return "see `rollscope doctor`"
