"""`grade`, `grade_all` and `agrade`: the library's front door."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from evaluator.engines import local
from evaluator.engines.single import grade_one
from evaluator.graders.bench import Disagreements, Isolation, Options, Unverified
from evaluator.model import Grade, Kind, Limits, Rollout, Task
from evaluator.sandbox import Settings


def grade(
    task: Task,
    completion: str,
    *,
    limits: Limits | None = None,
    checker: str | None = None,
    grader: str | None = None,
    kind: Kind | str | None = None,
    sandbox: Settings | None = None,
    unverified: Unverified = "keep",
    disagreement: Disagreements = "unknown",
) -> Grade:
    """Grades one completion of a task. Safe to call from several threads; the sandbox stays warm between calls.

    `kind` says what the text is (full, continuation or chat); None: it is told from the text. `sandbox`: how strict it
    is and which Python it shows; None: strict, with this process's own. `unverified`: whether a grade that is not
    verified keeps its reward, or is `unknown` and has none. `disagreement`: what becomes of a completion that its
    suite fails from a process of its own and passes in one process: `unknown`, passed but not verified, or failed.
    Raises `SandboxUnavailable` when no sandbox can be had, `ValueError` for an unknown kind.
    """
    options = Options(
        limits=limits or Limits(),
        checker=checker,
        grader=grader,
        sandbox=sandbox or Settings(),
        unverified=unverified,
        disagreement=disagreement,
    )
    rollout = Rollout(
        task_id=task.task_id,
        sample_id=f"{task.task_id}#0",
        completion=completion,
        kind=Kind(kind) if kind else None,
    )
    return grade_one(task, rollout, options)


async def agrade(
    task: Task,
    completion: str,
    *,
    limits: Limits | None = None,
    checker: str | None = None,
    grader: str | None = None,
    kind: Kind | str | None = None,
    sandbox: Settings | None = None,
    unverified: Unverified = "keep",
    disagreement: Disagreements = "unknown",
) -> Grade:
    """`grade`, for `await`: the event loop goes on meanwhile. As many run at once as this process has CPUs."""
    import asyncio  # a third of what importing this package would cost

    return await asyncio.to_thread(
        grade,
        task,
        completion,
        limits=limits,
        checker=checker,
        grader=grader,
        kind=kind,
        sandbox=sandbox,
        unverified=unverified,
        disagreement=disagreement,
    )


def grade_all(
    tasks: Mapping[str, Task] | Iterable[Task],
    rollouts: Iterable[Rollout],
    *,
    workers: int | None = None,
    limits: Limits | None = None,
    checker: str | None = None,
    grader: str | None = None,
    fail_fast: bool = False,
    isolation: Isolation = "completion",
    sandbox: Settings | None = None,
    unverified: Unverified = "keep",
    disagreement: Disagreements = "unknown",
) -> Iterator[Grade]:
    """Grades many rollouts: streams, and yields each grade when it is done (see `evaluator.engines.local`)."""
    options = Options(
        limits=limits or Limits(),
        checker=checker,
        grader=grader,
        fail_fast=fail_fast,
        isolation=isolation,
        sandbox=sandbox or Settings(),
        unverified=unverified,
        disagreement=disagreement,
    )
    graded = local.grade_all(tasks, rollouts, options, workers=workers)
    return (each.grade for each in graded)
