"""Code to run, and how; and the errors of a sandbox that fails to run it."""

from __future__ import annotations

import msgspec

from evaluator.sandbox.assertions.suite_code import SuiteCode
from evaluator.sandbox.launch.settings import Runner


class Program(msgspec.Struct, frozen=True):
    """Code to run: a function to call (`entry_point`), or a program that reads stdin; or what a check works with."""

    source: str
    entry_point: str | None = None
    preamble: str = ""
    check: SuiteCode | None = None
    """The check that works with it, which runs in another process and of which it is told next to nothing."""
    together: bool = False
    """Whether that check is run in the program's own process after all."""
    audits: bool = False
    """Whether that check notes what the program asks of the machine that is not to be had in here."""
    system: bool = False
    """Whether it sees the machine's own programs, where that can be."""
    loopback: bool = False
    """Whether it may use the loopback interface of a network of its own, where that can be."""
    runner: Runner | None = None
    """What runs it in place of the sandbox's own way; inputs are then calls that this runner answers."""


class FaultError(Exception):
    """The sandbox itself failed: a fault of ours or the machine's, never of the completion."""


class UndecidedError(FaultError):
    """The machine, as busy as it is, does not let it be said what the program would do. To try again gains nothing."""
