"""A check as it goes into the sandbox: plain data, read from a task's test by who plans it."""

from __future__ import annotations

import msgspec


class SuiteCode(msgspec.Struct, frozen=True):
    """What the process that runs a check is told of it, and what the completion's process may know of that."""

    test: str
    """Source of the test module."""
    form: str
    """"statements" of `check`; "module", its own; "methods" of its suites, or its test functions."""
    spans: tuple[tuple[int, int, bool], ...]
    """Of statements: each case's first and last, and whether the last one judges; (0, -1, True) is the whole body."""
    methods: tuple[tuple[str, str], ...]
    """Of methods: class and method of each case; the class of a function is empty."""
    preamble: str
    definitions: str
    """Source of what the prompt defines beside what it asks for, and imports that the test relies on without them."""
    entry_point: str | None
    names: tuple[str, ...]
    """Names that the test reads and nothing of the dataset defines: the completion's. Too many rather than too few."""
    classes: tuple[str, ...]
    """The dataset's classes whose objects cross as data."""
    mentioned: tuple[str, ...]
    """Names of classes that the task itself speaks of, which a completion may therefore have been asked to write."""
    uses: tuple[str, ...]
    """Of: environment, exits, files, identity, mocks, numpy, numpy_random, pandas, random."""
    touched: tuple[str, ...] = ()
    """Names of the test that may mean something of the completion's: for what is said of a failure."""
    imports: tuple[str, ...] = ()
    """The test module's own imports, which the completion has too, as where both are one module."""

    records: bool = False
    """Whether the calls of the completion's names are noted."""

    def for_completion(self) -> dict[str, object]:
        """What the completion's process is told: how the dataset's data looks, nothing of what is asked."""
        told = ("classes", "mentioned", "uses", "imports")
        return {name: getattr(self, name) for name in told}
