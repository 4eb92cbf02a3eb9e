"""A test suite as it is sent into the sandbox: plain data, planned from a task's test."""

from __future__ import annotations

from evaluator.sandbox.host.program import SuiteNeeds


class SuiteCode(SuiteNeeds, frozen=True, kw_only=True):
    """What the process that runs a suite gets."""

    test: str
    """Source of the test module."""
    form: str
    """"statements" of `check`; "module" for top-level statements; "methods" of classes, or test functions."""
    spans: tuple[tuple[int, int, bool], ...]
    """For statements: each case's first and last, and whether the last one judges; (0, -1, True) is the whole body."""
    methods: tuple[tuple[str, str], ...]
    """For methods: class and method of each case; the class of a function is empty."""
    preamble: str
    definitions: str
    """Source of the prompt's helpers, and of imports that the test needs but lacks."""
    entry_point: str | None
    names: tuple[str, ...]
    """Names that the test reads and the dataset does not define: the completion's. Rather too many than too few."""
    touched: tuple[str, ...] = ()
    """Names of the test that may refer to the completion: for the description of a failure."""
