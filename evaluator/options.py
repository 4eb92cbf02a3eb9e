"""How a run grades: one record, made once from keywords or flags, kept in the run, sent to workers, part of a grade's
key in the cache.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, Literal, TypedDict

import msgspec

from evaluator.model import Limits, Task

_VIRTUAL_PER_RESIDENT: Final = 4
_CASES_IN_TOTAL: Final = 6
"""How many test cases of the longest time `total_s` has room for, as in the default limits."""
Strictness = Literal["strict", "degraded"]
Isolation = Literal["completion", "test"]
Unverified = Literal["keep", "unknown"]
Disagreements = Literal["unknown", "keep", "fail"]
UnfinishedThinking = Literal["no_code", "grade"]


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
    hash_seed: int = 0
    """Of Python's hashes of texts and of random numbers; with another one a program that depends on these, or on the
    order of a set, answers otherwise."""


class CacheSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run keeps its grades, and those of earlier runs: see `evaluator.workers.cached_grades`."""

    folder: str
    run: str
    """A word of this run's own: of all its processes one says what is wrong with the cache."""
    reads: bool = True
    """False: every rollout is graded anew, and only kept."""
    most_bytes: int = 2**30


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """How a run grades. A task's own `limits`, `checker` and `grader` override these."""

    limits: Limits = msgspec.field(default_factory=Limits)
    time_factor: float = 5.0
    """Times a dataset's own `time_limit`, which is for compiled programs: see `task_limits`."""
    checker: str | None = None
    """Used for the test cases whose kind (text or value) it compares."""
    grader: str | None = None
    preamble: str | None = None
    """Code before every completion, in place of what the tasks say; None: what they say; "": nothing."""
    fail_fast: bool = False
    isolation: Isolation = "completion"
    """stdin: whether the test cases of a completion may share a process (see docs/concepts/sandbox.md)."""
    unverified: Unverified = "keep"
    """Unverified grades: "keep" verdict and reward, or make them `unknown`, without a reward."""
    disagreement: Disagreements = "unknown"
    """The grade of a suite that fails in two processes and passes in one: `unknown`; "keep": passed, not verified;
    "fail": the verdict of two processes, not verified."""
    unfinished_thinking: UnfinishedThinking = "no_code"
    """A completion that ends while the model is thinking has no code; "grade": the code in its thoughts counts."""
    sandbox: Settings = msgspec.field(default_factory=Settings)
    cache: CacheSettings | None = None


class Given(TypedDict, total=False):
    """Fields of `Options`, or the command's options, as the keywords of `grade`, `grade_all` and `grade_file`; None is
    as not given."""

    limits: Limits | Mapping[str, float] | None
    timeout: float | None
    memory: float | None
    time_factor: float
    checker: str | None
    grader: str | None
    preamble: str | None
    fail_fast: bool
    isolation: Isolation
    unverified: Unverified
    disagreement: Disagreements
    unfinished_thinking: UnfinishedThinking
    sandbox: Settings | None
    python: str | os.PathLike[str] | None


def options_of(options: Options | None, given: Given) -> Options:
    """These options, or the default ones, with what was given beside them.

    Raises `TypeError` for another keyword, `RecordError` for bad limits.
    """
    options = options or Options()
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    limits = changes.get("limits", options.limits)
    limits = options.limits.replaced(limits) if isinstance(limits, Mapping) else limits
    changes["limits"] = limits_of(changes.pop("timeout", None), changes.pop("memory", None), limits)
    if "python" in changes:
        settings = changes.get("sandbox", options.sandbox)
        changes["sandbox"] = msgspec.structs.replace(settings, python=os.fspath(changes.pop("python")))
    return msgspec.structs.replace(options, **changes)


def limits_of(timeout: float | None, memory: float | None, limits: Limits | None = None) -> Limits:
    """The limits for `--timeout` seconds and `--memory` MiB, else these. Raises `RecordError` for a bad number."""
    limits = limits or Limits()
    changes: dict[str, float] = {}
    if timeout is not None:
        changes |= {"wall_s": timeout, "cpu_s": timeout, "total_s": max(limits.total_s, timeout)}
    if memory is not None:
        changes |= {"memory_mb": memory, "virtual_mb": max(limits.virtual_mb, _VIRTUAL_PER_RESIDENT * memory)}
    return limits.replaced(changes)


def task_limits(task: Task, options: Options) -> Limits:
    """The run's limits, raised to what the task's dataset states; the task's own `limits` are exact.

    A dataset's limit lowers none: it is for compiled programs and another machine. Raises `RecordError`.
    """
    limits = options.limits
    seconds, memory_mb = options.time_factor * (task.time_limit or 0), task.memory_limit or 0
    changes: dict[str, float] = {}
    if seconds > limits.wall_s:
        changes = {"wall_s": seconds, "total_s": max(limits.total_s, _CASES_IN_TOTAL * seconds)}
    if seconds > limits.cpu_s:
        changes["cpu_s"] = seconds
    if memory_mb > limits.memory_mb:
        changes |= {"memory_mb": memory_mb, "virtual_mb": max(limits.virtual_mb, _VIRTUAL_PER_RESIDENT * memory_mb)}
    return limits.replaced(changes | (task.limits or {}))


def with_preamble(task: Task, options: Options) -> Task:
    """The task as these options have it."""
    return task if options.preamble is None else msgspec.structs.replace(task, preamble=options.preamble)


def by_name(options: Options) -> dict[str, Any]:
    """All but the cache, by name; of the sandbox its strictness as `sandbox`, and its Python as `interpreter`."""
    found = {name: getattr(options, name) for name in Options.__struct_fields__ if name != "cache"}
    return found | {"sandbox": options.sandbox.strictness, "interpreter": options.sandbox.python}


def choices(options: Options) -> list[tuple[str, str]]:
    """The options that are a choice between words, or yes or no, to be shown: names and values."""
    shown = {False: "no", True: "yes"}
    others = ("limits", "checker", "grader", "preamble", "sandbox", "interpreter")
    found = {name: value for name, value in by_name(options).items() if name not in others}
    return [(name.replace("_", " "), shown.get(value, str(value))) for name, value in found.items()]
