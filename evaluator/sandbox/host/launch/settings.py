"""What an interpreter is kept warm for, and the code of a grader that runs in place of the sandbox's own."""

from __future__ import annotations

import msgspec


class Runner(msgspec.Struct, frozen=True):
    """Code of a grader that runs completions in place of the sandbox's own."""

    name: str
    source: str
    """A module like those of `sandbox.guest`: the zygote calls `prepare()` once, each completion's process
    `serve(connection, order)`."""


class Warm(msgspec.Struct, frozen=True, kw_only=True):
    """What an interpreter is kept warm for. Completions and test suites never share one."""

    suite: bool = False
    packages: tuple[str, ...] = ()
    """Those of numpy and pandas that are imported in advance."""
    system: bool = False
    """Whether it shows the machine's own programs (`/usr`), for completions that may start them."""
    runner: Runner | None = None
    shared: bool = False
    """Whether completions follow one another in its namespaces, so that the next one is ready while one runs."""


_PREPARED = ("numpy", "pandas")


def warm_for(
    *sources: str, suite: bool = False, system: bool = False, runner: Runner | None = None, shared: bool = False
) -> Warm:
    """The kind of interpreter that these sources need."""
    packages = tuple(name for name in _PREPARED if any(name in source for source in sources))
    return Warm(suite=suite, packages=packages, system=system, runner=runner, shared=shared)


class SandboxUnavailable(RuntimeError):  # noqa: N818 - a state of the machine, and the name that callers know
    """This machine has no sandbox. `mend` says in one line how to fix it."""

    def __init__(self, reason: str, mend: str) -> None:
        super().__init__(f"no sandbox: {reason}; {mend}")
        self.reason = reason
        self.mend = mend

    def __reduce__(self) -> tuple[type[SandboxUnavailable], tuple[str, str]]:
        return type(self), (self.reason, self.mend)
