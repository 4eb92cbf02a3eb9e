"""A sandbox's settings: how strict it is, which Python it runs, and which of the two ways confines the code."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

import msgspec

Strictness = Literal["strict", "degraded"]


class Way(StrEnum):
    """How code is confined. Both ways have the same limits, system call filter and protocol."""

    NAMESPACES = "namespaces"
    """bubblewrap: user, process, mount, network and IPC namespaces; also Landlock, if the kernel has it."""
    LANDLOCK = "landlock"
    """Without user namespaces: Landlock for files, another user if we are root, no new processes."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a `Sandbox`."""

    strictness: Strictness = "strict"
    """strict: runs nothing unless files, network and process tree are proved; degraded: runs with whatever works."""
    python: str | None = None
    """Path of the interpreter that completions run on, with its packages; None: this process's own, with numpy."""
    way: Way | None = None
    """None: namespaces if they are available, else Landlock."""


class Runner(msgspec.Struct, frozen=True):
    """Code of a grader that runs completions in place of the sandbox's own."""

    name: str
    source: str
    """A module like those of `sandbox.inside`: the zygote calls `prepare()` once, each completion's process
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
