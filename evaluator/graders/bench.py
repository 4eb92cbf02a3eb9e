"""What a grader works with: a sandbox, the run's options, and a way to run alone on the machine for a moment."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from evaluator.options import Options
from evaluator.sandbox import Sandbox


@dataclass(frozen=True)
class Bench:
    """One worker's tools."""

    sandbox: Sandbox
    options: Options = field(default_factory=Options)
    alone: Callable[[], AbstractContextManager[object]] = nullcontext
    """A context in which no other worker of this process runs a completion."""
    all_or_nothing: bool = False
    """Whether the first failure of a test case decides the reward."""
