"""What a grader works with: a sandbox, the run's options, and a way to run alone on the machine for a moment."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from evaluator.model import Limits
from evaluator.sandbox import Sandbox, Settings

Isolation = Literal["completion", "test"]
Unverified = Literal["keep", "unknown"]
Disagreements = Literal["unknown", "keep", "fail"]
UnfinishedThinking = Literal["no_code", "grade"]


class CacheSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run keeps its grades, and those of earlier runs: see `evaluator.engines.kept_grades`."""

    folder: str
    run: str
    """A word of this run's own: of all its processes one says what is wrong with the cache."""
    reads: bool = True
    """False: every rollout is graded anew, and only kept."""
    most_bytes: int = 2**30


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """How a run grades. A task's own `limits`, `checker` and `grader` override these."""

    limits: Limits = msgspec.field(default_factory=Limits)
    checker: str | None = None
    """Used for the test cases whose kind (text or value) it compares."""
    grader: str | None = None
    fail_fast: bool = False
    isolation: Isolation = "completion"
    """stdin: whether the test cases of a completion may share a process (see docs/sandbox.md)."""
    unverified: Unverified = "keep"
    """Unverified grades: "keep" verdict and reward, or make them `unknown`, without a reward."""
    disagreement: Disagreements = "unknown"
    """The grade of a suite that fails in two processes and passes in one: `unknown`; "keep": passed, not verified;
    "fail": the verdict of two processes, not verified."""
    unfinished_thinking: UnfinishedThinking = "no_code"
    """A completion that ends while the model is thinking has no code; "grade": the code in its thoughts counts."""
    sandbox: Settings = msgspec.field(default_factory=Settings)
    cache: CacheSettings | None = None


@dataclass(frozen=True)
class Bench:
    """One worker's tools."""

    sandbox: Sandbox
    options: Options = field(default_factory=Options)
    alone: Callable[[], AbstractContextManager[object]] = nullcontext
    """A context in which no other worker of this process runs a completion."""
    all_or_nothing: bool = False
    """Whether the first failure of a test case decides the reward."""
