"""Whose extractor would have paid: what each rollout of a run earns if another part of its text is run."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from evaluator.auditing import Audit, Differing, Payer, audit_options
from evaluator.extraction import EXTRACTORS, extracted_by_others
from evaluator.model import Grade, Kind, Rollout, Verdict
from evaluator.workers.grade_stream import grade_all

if TYPE_CHECKING:
    from evaluator.runs.reading import Run

OURS: Final = "rollscope"
_BATCH: Final = 500
_NOTHING: Final = "it finds no code"


class _Case:
    """One rollout: what each extractor takes, and what that earns."""

    def __init__(
        self, task_id: str, sample_id: str, code: str | None, completion: str, *, expected: bool | None
    ) -> None:
        self.task_id, self.sample_id, self.expected_pass = task_id, sample_id, expected
        codes = extracted_by_others(completion)
        self.same = [name for name, found in codes.items() if _alike(found, code)]
        self.others: dict[str, list[str]] = {}
        """Extractors by the other code that they take."""
        self.rewards: dict[str, float | None] = {}
        self.reasons: dict[str, str] = {}
        for name, found in codes.items():
            if found is None and name not in self.same:
                self.rewards[name], self.reasons[name] = 0.0, _NOTHING
            elif name not in self.same:
                self.others.setdefault(found or "", []).append(name)

    def take(self, code: str, grade: Grade) -> None:
        for name in self.others.pop(code):
            self.rewards[name] = grade.reward
            self.reasons[name] = grade.error or grade.verdict.value


def _alike(found: str | None, code: str | None) -> bool:
    return (found is not None and code is not None and found.strip() == code.strip()) or found is code is None


def audit_extractors(
    run: Run,
    *,
    workers: int | None = None,
    limit: int | None = None,
    on_grade: Callable[[Grade], None] | None = None,
    stop: threading.Event | None = None,
) -> Audit:
    """The rollouts whose reward depends on the extractor, sorted by ids; those before `stop` was set.

    Only chat answers are compared: of a program or the rest of a prompt every extractor has to take all. Raises
    `SandboxUnavailable` where nothing can run.
    """
    names = (OURS, *EXTRACTORS)
    report = Audit(str(run.path), [Payer(name) for name in names])
    tasks = {task.task_id: task for task in run.tasks()}
    running: dict[str, tuple[_Case, str]] = {}
    numbers = itertools.count()

    def finish(case: _Case) -> None:
        rewards = {name: case.rewards.get(name) for name in names}
        report.add(Differing(case.task_id, case.sample_id, rewards, case.reasons, case.expected_pass))

    def to_run() -> Iterator[Rollout]:
        for case, reward in _cases(run, limit, report):
            if stop is not None and stop.is_set():
                return
            for name in (OURS, *case.same):
                case.rewards[name] = reward
            if not case.others or case.task_id not in tasks:
                finish(case)
                continue
            for code in case.others:
                number = str(next(numbers))
                running[number] = case, code
                yield Rollout(task_id=case.task_id, sample_id=number, completion=code, kind=Kind.FULL)

    for rollout, grade, _ in grade_all(tasks.values(), to_run(), audit_options(run), workers=workers, stop=stop):
        case, code = running.pop(rollout.sample_id)
        case.take(code, grade)
        if on_grade is not None:
            on_grade(grade)
        if not case.others:
            finish(case)
    report.differing.sort(key=lambda each: (each.task_id, each.sample_id))
    return report


def _cases(run: Run, limit: int | None, report: Audit) -> Iterator[tuple[_Case, float | None]]:
    with run.connect() as connection:
        rows = connection.execute(
            """SELECT task_id, sample_id, code, completion, kind, verdict, reward, expected_pass
               FROM rollouts ORDER BY "row" LIMIT ?""",
            [limit],
        )
        while batch := rows.fetchmany(_BATCH):
            for task_id, sample_id, code, completion, kind, verdict, reward, expected in batch:
                if kind == Kind.CHAT and Verdict(verdict).graded:
                    yield _Case(task_id, sample_id, code, completion, expected=expected), reward
                else:
                    why = f"its text is of kind {kind}" if kind != Kind.CHAT else f"its verdict is {verdict}"
                    report.leave_out(why)
