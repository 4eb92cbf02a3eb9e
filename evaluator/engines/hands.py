"""The engine interface: who may grade for a `Dispatcher`, and how that works.

An engine is a way to get *hands*. A hand grades rollouts one after the other with a sandbox of its own: a process of
this machine (`local_hand`), one that a server lends (`borrowed_hand`), or a worker on another machine. The `Dispatcher`
(`dispatching`) reads rollouts, hands them out and gets grades back; it knows no processes, sockets or sandboxes.

A hand gets and gives messages (`messages`) in this order:

1. It gets a `Setup` and answers `Ready`. Until then it gets no work. If `Ready.reason` says that it has no sandbox, it
   is closed; if no hand has one, the run ends with `SandboxUnavailable` before anything was graded.
2. It gets `Work` and answers `Done`. It may answer several rollouts in one `Done`, and must answer each exactly once,
   in any order. The grades of equal completions of a task are made once and marked `duplicate_of`; the dispatcher
   sends them to the same hand.
3. It may get `Withdraw` at any time, also while it grades, and answers `Withdrawn` with those that it had not begun.
4. It may get `Stay`, if the engine has named its machine's cores.
5. When it is lost, for whichever reason, `receive` raises `HandLostError`. Its rollouts are handed out again, one at a
   time; one that is under way when a hand is lost for the second time is a `sandbox_error`.

What a hand does with a message, whatever carries it, is `desk.Desk`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from evaluator.engines.messages import FromHand, ToHand


class EngineError(Exception):
    """An engine can't be had, or has no hands any more. The message is one line that says why, and what would help."""


class HandLostError(Exception):
    """A hand has ended, with what it was told to do. The message says how, in one line."""

    def __init__(self, message: str, *, suspicious: bool = True) -> None:
        """`suspicious`: what it was doing may be why, so that is handed out with care from here on."""
        super().__init__(message)
        self.suspicious = suspicious


class Hand(Protocol):
    """One who grades. For one thread at a time."""

    def fileno(self) -> int:
        """A descriptor that can be read from when `receive` has something to give, for `select`."""

    def send(self, message: ToHand) -> None:
        """Sends a message and never waits; what can't be sent yet goes out with `flush`. Never raises."""

    def flush(self) -> bool:
        """Sends what waits, as far as it can be sent now. Whether something still waits."""

    def receive(self) -> list[FromHand]:
        """What has arrived; does not wait. Raises `HandLostError`, after everything that arrived before."""

    def end(self) -> None:
        """Tells it to end at once, with whatever it is doing; does not wait."""

    def gone(self) -> bool:
        """Whether nothing of it is left, after `end`; does not wait."""

    def close(self) -> None:
        """Ends it; nothing of it is left when this returns."""


StartHand = Callable[[], Hand]
"""Starts one, which waits for its `Setup`. Raises `HandLostError` if it can't be started."""


class Engine(NamedTuple):
    """Where hands come from."""

    start: StartHand
    hands: int
    """At most so many."""
    same_machine: bool = True
    """Whether what the sandbox of one hand proves holds for all of them."""
    cores: tuple[int, ...] = ()
    """The cores of the machine, if each is to have a hand of its own."""
    is_full: Callable[[], bool] | None = None
    """Whether other processes leave no room for one more hand now; None: there are no others."""
