"""What an interpreter is kept warm for, and the code of a grader that runs in place of the sandbox's own."""

from __future__ import annotations

from collections.abc import Sequence

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
    """What is imported in advance: see `spawn`."""
    system: bool = False
    """Whether it shows the machine's own programs (`/usr`), for completions that may start them."""
    runner: Runner | None = None
    shared: bool = False
    """Whether completions follow one another in its namespaces, so that the next one is ready while one runs."""


_PREPARED = {"numpy": "numpy", "pandas": "pandas"}
_OF_OTHER_PYTHONS = {"pyplot": "plots", "seaborn": "plots", "scipy": "science", "sklearn": "science"}
"""Without `--python` completions have numpy alone. These two have pandas, too: of few kinds each is used often."""


def warm_for(
    *sources: str,
    suite: bool = False,
    system: bool = False,
    runner: Runner | None = None,
    shared: bool = False,
    own_python: bool = True,
) -> Warm:
    """The kind of interpreter that these sources need."""
    large = {} if own_python else _named(_OF_OTHER_PYTHONS, sources)
    packages = tuple(large or _named(_PREPARED, sources))
    return Warm(suite=suite, packages=packages, system=system, runner=runner, shared=shared)


def _named(kinds: dict[str, str], sources: Sequence[str]) -> dict[str, None]:
    """The kinds whose words the sources have."""
    return {kind: None for word, kind in kinds.items() if any(word in source for source in sources)}


class SandboxUnavailable(RuntimeError):  # noqa: N818 - a state of the machine, and the name that callers know
    """This machine has no sandbox. `mend` says in one line how to fix it."""

    def __init__(self, reason: str, mend: str) -> None:
        super().__init__(f"no sandbox: {reason}; {mend}")
        self.reason = reason
        self.mend = mend

    def __reduce__(self) -> tuple[type[SandboxUnavailable], tuple[str, str]]:
        return type(self), (self.reason, self.mend)
