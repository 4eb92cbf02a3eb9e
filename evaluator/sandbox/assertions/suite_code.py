"""A test suite as it is sent into the sandbox: plain data, planned from a task's test."""

from __future__ import annotations

import msgspec


class SuiteCode(msgspec.Struct, frozen=True):
    """What the process that runs a suite gets; `for_completion` is the part for the completion's process."""

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
    classes: tuple[str, ...]
    """The dataset's classes whose objects cross as data."""
    mentioned: tuple[str, ...]
    """Names of classes that the task mentions, which a completion may therefore have to write."""
    uses: tuple[str, ...]
    """Some of: environment, exits, files, identity, mocks, numpy, numpy_random, pandas, random."""
    touched: tuple[str, ...] = ()
    """Names of the test that may refer to the completion: for the description of a failure."""
    imports: tuple[str, ...] = ()
    """The test module's own imports. The completion gets them too, as if both were one module."""

    records: bool = False
    """Whether calls of the completion's names are recorded."""

    def for_completion(self) -> dict[str, object]:
        """The part for the completion's process: about the dataset's data, nothing of the test."""
        return {name: getattr(self, name) for name in ("classes", "mentioned", "uses", "imports")}
