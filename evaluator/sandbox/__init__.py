"""Runs a program on inputs and returns what it did. Knows nothing of expected outputs or rewards.

A `Sandbox` is one worker's: it keeps warm interpreters (zygotes) in namespaces of their own, and forks a fresh process
from them for each completion. See docs/sandbox.md for the layers.
"""

from __future__ import annotations

import contextlib
from types import TracebackType

from evaluator.model import Limits
from evaluator.sandbox.execution import Execution, FaultError, Program
from evaluator.sandbox.outcomes import Outcome, Status, Stream
from evaluator.sandbox.self_test import Layer, prove, self_test
from evaluator.sandbox.settings import Settings, Strictness, Way
from evaluator.sandbox.unavailable import SandboxUnavailable
from evaluator.sandbox.values import BadValueError, encoded_call
from evaluator.sandbox.zygotes import Zygote

__all__ = [
    "BadValueError",
    "Execution",
    "FaultError",
    "Layer",
    "Outcome",
    "Program",
    "Sandbox",
    "SandboxUnavailable",
    "Settings",
    "Status",
    "Stream",
    "Strictness",
    "Way",
    "encoded_call",
    "self_test",
]


class Sandbox:
    """One worker's warm interpreters. For one thread at a time; close it, or use it with `with`."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self._zygotes: dict[bool, Zygote] = {}
        self._closed = False
        self._proved = False

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def execute(self, program: Program, limits: Limits, *, reuse: bool = True, several: bool = True) -> Execution:
        """Makes ready to run one program; see `Execution`. With `reuse`, `several` test cases may share a process.

        Raises `SandboxUnavailable` when no sandbox can be had, `FaultError` when it failed this time.
        """
        zygote = self._zygote(numpy="numpy" in program.source or "numpy" in program.preamble)
        return Execution(zygote, program, limits, reuse=reuse, several=several)

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers that hold for what runs here."""
        names = ["userns", "pidns", "mntns", "netns", "ipcns", "rlimits", "seccomp"]
        if any(zygote.landlock_abi for zygote in self._zygotes.values()):
            names.append("landlock")
        return tuple(names)

    def warm_up(self) -> None:
        """Starts the interpreter that most completions need, and proves, once, that nothing gets out of it.

        Raises `SandboxUnavailable` when there is none or a layer does not hold.
        """
        try:
            self._warm_up()
        except FaultError:
            self.renew()
            try:
                self._warm_up()
            except FaultError as error:
                raise SandboxUnavailable(f"it starts, but fails ({error})", "see `rollscope doctor`") from error

    def _warm_up(self) -> None:
        self._zygote(numpy=False)
        if not self._proved:
            prove(self)
            self._proved = True

    def renew(self) -> None:
        """Ends every interpreter, after a fault; the next completion starts new ones."""
        for zygote in self._zygotes.values():
            with contextlib.suppress(OSError):
                zygote.close()
        self._zygotes.clear()

    def close(self) -> None:
        """Ends every interpreter; nothing can be run any more."""
        self._closed = True
        self.renew()

    def abort(self) -> None:
        """From another thread: kills what runs, so that the thread that waits for it gets `FaultError`."""
        self._closed = True
        for zygote in list(self._zygotes.values()):
            zygote.kill()

    def _zygote(self, *, numpy: bool) -> Zygote:
        if self._closed:
            raise FaultError("the sandbox is closed")
        zygote = self._zygotes.get(numpy)
        if zygote is not None and not zygote.alive:
            zygote.close()
            zygote = None
        if zygote is None:
            zygote = self._zygotes[numpy] = Zygote(numpy=numpy)
            if self._closed:  # by `abort`, which did not see the one that was just starting
                self.renew()
                raise FaultError("the sandbox is closed")
        return zygote
