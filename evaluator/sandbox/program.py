"""Code to run, and how; and the errors of a sandbox that fails to run it."""

from __future__ import annotations

import msgspec

from evaluator.sandbox.assertions.suite_code import SuiteCode
from evaluator.sandbox.launch.settings import Runner


class Program(msgspec.Struct, frozen=True):
    """Code to run: a function to call (`entry_point`), a program that reads stdin, or what a suite tests."""

    source: str
    entry_point: str | None = None
    preamble: str = ""
    suite: SuiteCode | None = None
    """The suite that tests it, in another process; it learns next to nothing of that."""
    plain: bool = False
    """Whether the suite runs in the program's own process after all."""
    audits: bool = False
    """Whether the suite's run notes what the program wants of the machine and can't have in the sandbox."""
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
