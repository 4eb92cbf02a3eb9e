"""The smallest input on which a completion fails, looked for on demand."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from functools import partial
from typing import Final

from dashboard import background, facts, sandbox_state, state, widgets
from dashboard.background import Job
from dashboard.controls import Screen
from dashboard.queries import answers, records
from dashboard.queries.records import CaseRecord, RolloutRecord, TaskRecord
from dashboard.workspace import OpenRun
from evaluator.model import Mode, Task, Verdict
from evaluator.options import Options
from evaluator.strengthening.smallest import Smallest, smallest_failing
from evaluator.workers.single import in_worker

_FAILED: Final = (Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR, Verdict.TIME_LIMIT)


def offer(screen: Screen, rollout: RolloutRecord, task: TaskRecord, test: CaseRecord) -> None:
    """A button for a test case that failed, and what it found. A right program says what is expected: the task's
    reference, else a sample that passed."""
    if test.verdict not in _FAILED or task.mode not in (Mode.CALL, Mode.STDIN, Mode.ASSERT) or not rollout.code:
        return
    key = key_of(screen.run, rollout.task_id, rollout.sample_id, test.test_index)
    passing = answers.passing(screen.run, rollout.task_id, rollout.sample_id)
    right = task.reference or next((each.code for each in passing), None)
    given = records.decoded(task.task, Task)
    if right is None or given is None or sandbox_state.refusal():
        return
    job: Job[Smallest] | None = background.find(*key)
    if job is None or job.failure:
        work = partial(_find, given, rollout.code, right, test.test_index, screen.run.manifest.options)
        make = partial(Job[Smallest], "Inputs made smaller", 1, work)
        widgets.button("Smallest failing input", "smallest", background.start, key, make,
                       help="The smallest input on which it still fails, looked for in the sandbox.")  # fmt: skip
        if job is not None:
            facts.note(str(job.failure))
    elif job.running:
        background.watch(job)
    elif (found := job.results[0]).refusal:
        facts.note(f"Smallest failing input: {found.refusal}.")
    else:
        facts.banner(
            f"Smallest input that fails: {found.input}\nexpected {found.expected}\ngot {found.actual}", code=True
        )
        here = screen.view.but(task=rollout.task_id, sample=rollout.sample_id, test=test.test_index)
        state.link("completion", here.but(tab="why"), "Why, on this input")


def known(screen: Screen, rollout: RolloutRecord, test: CaseRecord) -> Smallest | None:
    """What was found for a test case, if it was looked for."""
    key = key_of(screen.run, rollout.task_id, rollout.sample_id, test.test_index)
    job: Job[Smallest] | None = background.find(*key)
    found = job.results[0] if job is not None and job.results else None
    return found if found is not None and found.task is not None else None


def key_of(run: OpenRun, task_id: str, sample_id: str, test: int) -> tuple[Hashable, ...]:
    """Of the job, in `background`."""
    return "smallest", str(run.path), run.stamp, task_id, sample_id, test


def _find(
    task: Task, code: str, right: str, test: int, options: Options,
    add: Callable[[Smallest], None], stop: threading.Event,
) -> None:  # fmt: skip
    del stop  # it ends within seconds
    add(in_worker(smallest_failing, task, code, right, test, options=sandbox_state.options_of(options)))
