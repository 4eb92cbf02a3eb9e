"""Runs a program on inputs, or next to a test suite, and returns what it did. Judges nothing and knows no rewards.

A `Sandbox` belongs to one worker: it keeps warm interpreters (zygotes) in separate namespaces, and forks a fresh
process from them for each completion. See docs/concepts/sandbox.md for the layers.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Sequence
from types import TracebackType

import msgspec

from evaluator.model import Limits
from evaluator.options import Settings, Strictness, Way
from evaluator.sandbox.host.execution import Execution
from evaluator.sandbox.host.launch.interpreter import fingerprint, python_version
from evaluator.sandbox.host.launch.interpreter_probe import InterpreterError
from evaluator.sandbox.host.launch.settings import Runner, SandboxUnavailable, Warm, warm_for
from evaluator.sandbox.host.outcomes import Outcome, Status, Stream
from evaluator.sandbox.host.program import FaultError, Program, UndecidedError, setup_for
from evaluator.sandbox.host.values import BadValueError, decoded, encoded_answer, encoded_call
from evaluator.sandbox.host.zygotes import CompiledSuites, SharedZygote, SuiteZygote, Zygote
from evaluator.sandbox.proof import Layer, layers_of, unproved

__all__ = [
    "BadValueError",
    "Execution",
    "FaultError",
    "InterpreterError",
    "Layer",
    "Outcome",
    "Program",
    "Runner",
    "Sandbox",
    "SandboxUnavailable",
    "Settings",
    "Status",
    "Stream",
    "Strictness",
    "UndecidedError",
    "Way",
    "decoded",
    "encoded_answer",
    "encoded_call",
    "fingerprint",
    "python_version",
    "self_test",
]


class Sandbox:
    """The warm interpreters of one worker. For one thread at a time; close it, or use it with `with`."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self.compiled = CompiledSuites()
        """The code of test suites, as their processes compiled it."""
        self._zygotes: OrderedDict[Warm, Zygote] = OrderedDict()
        """The last one was used last."""
        self._closed = False
        self._unproved: tuple[str, ...] = ()
        self._proved = False
        self._core: int | None = None
        self._landlock: bool | None = None
        """None before the first interpreter."""

    @property
    def proof(self) -> tuple[Settings, tuple[str, ...]] | None:
        """The settings that were proved here, and the layers that were not; None before `warm_up`."""
        return (self.settings, self._unproved) if self._proved else None

    @classmethod
    def trusting(cls, settings: Settings, unproved: Sequence[str]) -> Sandbox:
        """A sandbox for another worker on this machine, which keeps what the first one proved (see `proof`)."""
        made = cls(settings)
        made._proved, made._unproved = True, tuple(unproved)
        return made

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def execute(self, program: Program, limits: Limits, *, reuse: bool = True, several: bool = True) -> Execution:
        """Prepares to run one program; see `Execution`. With `reuse`, `several` test cases may share a process.

        Raises `SandboxUnavailable` if this machine has no sandbox, `FaultError` if it failed this time.
        """
        way = self._known_way()
        setup = setup_for(program, limits, way, reuse=reuse, several=several)
        warm = warm_for(
            program.source,
            program.preamble,
            *(program.suite.imports if program.suite else ()),
            own_python=self.settings.python is None,
            system=program.system and way is Way.NAMESPACES,
            runner=program.runner,
            shared=setup.shared,
        )
        return Execution(setup, self._zygote(warm))

    def suite_zygote(self, *sources: str) -> SuiteZygote:
        """The interpreter for a test suite of these sources. Raises as `execute` does."""
        self._known_way()
        zygote = self._zygote(warm_for(*sources, suite=True, own_python=self.settings.python is None))
        assert isinstance(zygote, SuiteZygote)
        return zygote

    @property
    def allows_processes(self) -> bool:
        """Whether a completion may start processes, all of which end with it. Raises `SandboxUnavailable`."""
        return self._known_way() is Way.NAMESPACES

    @property
    def shares_files(self) -> bool:
        """Whether two processes can share files. Raises `SandboxUnavailable`."""
        return self.allows_processes

    def _known_way(self) -> Way:
        if self.settings.way is None:
            self.warm_up()
        assert self.settings.way is not None
        return self.settings.way

    @property
    def counts_waits(self) -> bool:
        """Whether the kernel counts how long a completion waits for a CPU; otherwise a wall time-out proves nothing."""
        return all(zygote.priority is not None for zygote in self._zygotes.values())

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers that hold here; in degraded mode also `degraded` and what could not be proved."""
        names = [*_LAYERS[self.settings.way]] if self.settings.way else []
        if self._landlock:
            names.append("landlock")
        if self.settings.strictness == "degraded":
            names += ["degraded", *(f"unproved: {name}" for name in self._unproved)]
        return tuple(names)

    def require_proof(self) -> None:
        """Sees to it that `layers` are known and proved. Raises `SandboxUnavailable`."""
        if not self._proved or self._landlock is None:
            self.warm_up()

    def warm_up(self) -> None:
        """Starts the interpreter that most completions need, and proves once that nothing gets out of it.

        Uses the first way that holds and stores it in `settings`. Raises `SandboxUnavailable` if none does.
        """
        if self._proved:
            self._zygote(Warm(shared=self.settings.way is Way.NAMESPACES))
            return
        ways = list(Way) if self.settings.way is None else [self.settings.way]
        requested = self.settings
        refusals: list[SandboxUnavailable] = []
        for allow_unproved in (False, True)[: 1 + (requested.strictness == "degraded")]:
            for way in ways:
                self.settings = msgspec.structs.replace(requested, way=way)
                try:
                    self._prove_twice(allow_unproved)
                    return
                except SandboxUnavailable as refusal:
                    refusals.append(refusal)
                    self.renew()
        self.settings = requested
        raise _all_refused(refusals[: len(ways)])

    def _prove_twice(self, allow_unproved: bool) -> None:
        try:
            self._prove(allow_unproved)
        except FaultError:
            self.renew()
            try:
                self._prove(allow_unproved)
            except FaultError as error:
                raise SandboxUnavailable(f"it starts, but fails ({error})", "see `rollscope doctor`") from error

    def _prove(self, allow_unproved: bool) -> None:
        layers = unproved(self)
        if layers and not allow_unproved:
            first = layers[0]
            raise SandboxUnavailable(f"{first.name}: {first.proof}", first.mend or "see `rollscope doctor`")
        self._unproved = tuple(layer.name for layer in layers)
        self._proved = True

    def renew(self) -> None:
        """Ends every interpreter after a fault; the next completion starts new ones."""
        for zygote in self._zygotes.values():
            with contextlib.suppress(OSError):
                zygote.close()
        self._zygotes.clear()

    @property
    def closed(self) -> bool:
        """Whether it was closed by `close`, or by `abort` from another thread."""
        return self._closed

    def close(self) -> None:
        """Ends every interpreter; nothing can be run afterwards."""
        self._closed = True
        self.renew()

    def abort(self) -> None:
        """Called from another thread: kills what runs, so the thread that waits for it gets `FaultError`."""
        self._closed = True
        for zygote in list(self._zygotes.values()):
            zygote.kill()

    def stay(self, core: int) -> None:
        """Called from any thread: completions that can start no processes run on this core from here on."""
        self._core = core
        for zygote in list(self._zygotes.values()):
            zygote.stay(core)

    def _zygote(self, warm: Warm) -> Zygote:
        if self._closed:
            raise FaultError("the sandbox is closed")
        zygote = self._zygotes.get(warm)
        if zygote is not None and not zygote.alive:
            zygote.close()
            zygote = None
        if zygote is None:
            zygote = self._zygotes[warm] = self._start(warm)
            self._landlock = bool(zygote.landlock_abi)
            if self._core is not None:
                zygote.stay(self._core)
            if self._closed:  # `abort` did not see the zygote that was starting
                self.renew()
                raise FaultError("the sandbox is closed")
            self._close_unused()
        self._zygotes.move_to_end(warm)
        return zygote

    def _close_unused(self) -> None:
        """Ends those with packages that were not used for longest: one may hold two hundred MiB."""
        large = [warm for warm in self._zygotes if warm.packages]
        for warm in large[:-_MOST_LARGE]:
            self._zygotes.pop(warm).close()

    def _start(self, warm: Warm) -> Zygote:
        assert self.settings.way is not None
        kind = SuiteZygote if warm.suite else SharedZygote if warm.shared else Zygote
        return kind(self.settings, self.settings.way, warm)


_MOST_LARGE = 6
"""At most two are in use at once: a completion's, and its test suite's."""
_LAYERS = {
    Way.NAMESPACES: ("userns", "pidns", "mntns", "netns", "ipcns", "rlimits", "seccomp"),
    Way.LANDLOCK: ("rlimits", "seccomp"),
}


def _all_refused(refusals: list[SandboxUnavailable]) -> SandboxUnavailable:
    """Why each way was refused, with the fix for the first, which is the better one."""
    reasons = [refusal.reason for refusal in refusals]
    return SandboxUnavailable("; without user namespaces: ".join(reasons), refusals[0].mend)


def self_test(settings: Settings | None = None) -> list[Layer]:
    """Tries to break out and to exceed each limit, in some seconds; one `Layer` for each kind of attempt."""
    return layers_of(Sandbox, settings or Settings())
