"""What a sandbox is asked for: how strict, which Python, and by which of the two ways it keeps code in."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

import msgspec

Strictness = Literal["strict", "degraded"]


class Way(StrEnum):
    """How code is kept in. Both have the same limits, system call filter and protocol."""

    NAMESPACES = "namespaces"
    """bubblewrap: user, process, mount, network and IPC namespaces; Landlock too, where the kernel has it."""
    LANDLOCK = "landlock"
    """Where user namespaces are refused: Landlock for files, another user when we are root, no new processes."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of a `Sandbox`."""

    strictness: Strictness = "strict"
    """strict: runs nothing unless files, network and process tree are proved; degraded: runs with what there is."""
    python: str | None = None
    """Path of the interpreter whose packages completions see; None: this process's own, with numpy."""
    way: Way | None = None
    """None: namespaces where they can be had, else Landlock."""


class Runner(msgspec.Struct, frozen=True):
    """A way to run completions that a grader brings along, in place of the sandbox's own."""

    name: str
    source: str
    """A module like those of `sandbox.inside`: `prepare()` is called once in the zygote; `serve(connection, order)`
    in each completion's process."""


class Warm(msgspec.Struct, frozen=True, kw_only=True):
    """What an interpreter is kept warm for. Completions and checks never share one."""

    suite: bool = False
    packages: tuple[str, ...] = ()
    """Of numpy and pandas, those that are imported beforehand."""
    system: bool = False
    """Whether the machine's own programs are shown (`/usr`), for completions that may start them."""
    runner: Runner | None = None


_PREPARED = ("numpy", "pandas")


def warm_for(*sources: str, suite: bool = False, system: bool = False, runner: Runner | None = None) -> Warm:
    """What these sources will want."""
    packages = tuple(name for name in _PREPARED if any(name in source for source in sources))
    return Warm(suite=suite, packages=packages, system=system, runner=runner)
