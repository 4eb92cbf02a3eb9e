"""Code to run, how to run it, and the errors of a sandbox that fails to run it."""

from __future__ import annotations

import msgspec

from evaluator.sandbox.host.launch.settings import Runner


class SuiteNeeds(msgspec.Struct, frozen=True, kw_only=True):
    """What the completion's process gets of a test suite: about the dataset's data, nothing of the test."""

    classes: tuple[str, ...]
    """The dataset's classes whose objects cross as data."""
    mentioned: tuple[str, ...]
    """Names of classes that the task mentions, which a completion may therefore have to write."""
    uses: tuple[str, ...]
    """Some of: environment, exits, files, identity, mocks, numpy, numpy_random, pandas, random."""
    imports: tuple[str, ...] = ()
    """The test module's own imports. The completion gets them too, as if both were one module."""


class Program(msgspec.Struct, frozen=True):
    """Code to run: a function to call (`entry_point`), a program that reads stdin, or code for a test suite."""

    source: str
    entry_point: str | None = None
    preamble: str = ""
    suite: SuiteNeeds | None = None
    """The suite that tests it from another process; it sees next to nothing of the suite."""
    shares_process: bool = False
    """Whether the suite runs in the program's own process instead."""
    audits: bool = False
    """Whether to note what the program needs from the machine and can't get in the sandbox."""
    system: bool = False
    """Whether it sees the machine's own programs, if the sandbox can show them."""
    loopback: bool = False
    """Whether it may use the loopback interface of a separate network, if the sandbox has one."""
    runner: Runner | None = None
    """Runs it in place of the sandbox's own code; inputs are then calls that this runner answers."""


class FaultError(Exception):
    """The sandbox itself failed: our fault or the machine's, never the completion's."""


class UndecidedError(FaultError):
    """The machine is too busy to decide what the program would do. Trying again does not help."""
