"""Whose checker would have paid: several checkers judge the same answers of a run's completions. And whose extractor:
what each rollout of a run earns if another part of its text is run.

Where the run stored a program's answers whole, checkers judge these. Every other completion runs once more.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from evaluator.checkers import get_checker
from evaluator.extraction import EXTRACTORS, extracted_by_others
from evaluator.graders import grader_or_refusal
from evaluator.graders.audit import components_of_kept
from evaluator.model import CaseResult, Component, Grade, Kind, Rollout, Task, Verdict
from evaluator.options import Options
from evaluator.workers.grade_stream import grade_all

if TYPE_CHECKING:
    import duckdb

    from evaluator.runs.reading import Run

_BATCH: Final = 500
BY_TESTS: Final = ("tests", "audit", "colossalai")
"""The graders whose grades depend on a checker."""


class Differing(msgspec.Struct):
    """A rollout whose reward depends on the checker."""

    task_id: str
    sample_id: str
    rewards: dict[str, float | None]
    """By checker; None where it can't compare such answers."""
    reasons: dict[str, str]
    """By checker that does not pay: the first test case it rejects, and why."""
    expected_pass: bool | None


class Payer(msgspec.Struct):
    """A checker, how many rollouts it could compare, and how many of them it would pay for."""

    checker: str
    compared: int = 0
    passed: int = 0


class Audit(msgspec.Struct):
    """The result, as `--json` prints it."""

    run: str
    checkers: list[Payer]
    rollouts: int = 0
    compared: int = 0
    kept: int = 0
    """How many of the compared ones were not run again."""
    not_compared: dict[str, int] = {}
    """Rollouts by reason."""
    differ: int = 0
    differing: list[Differing] = []

    def leave_out(self, why: str) -> None:
        """A rollout that can't be compared."""
        self.rollouts += 1
        self.not_compared[why] = self.not_compared.get(why, 0) + 1

    def add(self, each: Differing) -> None:
        """A rollout that was compared; it is listed if its rewards differ."""
        self.rollouts += 1
        self.compared += 1
        for payer in self.checkers:
            reward = each.rewards[payer.checker]
            payer.compared += reward is not None
            payer.passed += reward == 1.0
        if len({reward for reward in each.rewards.values() if reward is not None}) > 1:
            self.differ += 1
            self.differing.append(each)


def audit_run(
    run: Run,
    checkers: Sequence[str],
    *,
    on_grade: Callable[[Grade], None],
    workers: int | None = None,
    limit: int | None = None,
    stop: threading.Event | None = None,
) -> Audit:
    """The rollouts whose reward depends on the checker, sorted by ids; those before `stop` was set.

    `on_grade` is called with each one's grade, of those that are not run again with verdict and components alone.
    Raises `CheckerError` for an unknown checker, and `SandboxUnavailable` where nothing can run.
    """
    for name in checkers:
        get_checker(name)
    report = Audit(str(run.path), [Payer(name) for name in checkers])
    tasks = run.tasks()
    others = {task.task_id: other for task in tasks if (other := _other_grader(task, run.manifest.options.grader))}
    audited = [msgspec.structs.replace(task, grader=None) for task in tasks if task.task_id not in others]
    by_id = {task.task_id: task for task in audited}

    def take(rollout: Rollout, grade: Grade) -> None:
        on_grade(grade)
        _take(report, rollout, grade)

    def to_run() -> Iterator[Rollout]:
        for rollout, cases in _rollouts(run, limit):
            if stop is not None and stop.is_set():
                return
            task, other = by_id.get(rollout.task_id), others.get(rollout.task_id)
            parts = components_of_kept(checkers, task, cases) if task is not None else None
            if other is not None:
                report.leave_out(f"graded by {other}, which uses no checker")
            elif parts is not None:
                report.kept += 1
                take(rollout, _kept_grade(rollout, cases, parts))
            else:
                yield rollout

    options = audit_options(run, json.dumps({"name": "audit", "checkers": list(checkers)}))
    for rollout, grade, _ in grade_all(audited, to_run(), options, workers=workers, stop=stop):
        take(rollout, grade)
    report.differing.sort(key=lambda each: (each.task_id, each.sample_id))
    return report


def audited_count(run: Run, limit: int | None = None) -> int:
    """How many rollouts an audit goes through."""
    total = run.manifest.counts.get("rollouts", 0)
    return min(total, limit) if limit else total


def audit_options(run: Run, grader: str | None = None) -> Options:
    """Like the run's, with this grader instead, if any. Never fail-fast: each checker must see every answer."""
    given = run.manifest.options
    return msgspec.structs.replace(
        given, grader=grader or given.grader, fail_fast=False, preamble=None
    )  # tasks have it


def _kept_grade(rollout: Rollout, cases: Sequence[CaseResult], parts: tuple[Component, ...]) -> Grade:
    verdict = next((case.verdict for case in cases if case.verdict is not Verdict.PASSED), Verdict.PASSED)
    return Grade(
        task_id=rollout.task_id,
        sample_id=rollout.sample_id,
        verdict=verdict,
        reward=float(verdict is Verdict.PASSED),
        components=parts,
    )


def _other_grader(task: Task, requested: str | None) -> str | None:
    """The name of the task's grader if it does not run tests."""
    name = grader_or_refusal(task, requested).name
    return None if name in BY_TESTS else name


def _rollouts(run: Run, limit: int | None) -> Iterator[tuple[Rollout, list[CaseResult]]]:
    """Each with the results that the run has of it, if they are those of the `tests` grader."""
    with run.connect(parts=True) as connection:
        rows = connection.execute(
            """SELECT task_id, sample_id, completion, kind, expected_pass, grader = 'tests', part_file
               FROM rollouts ORDER BY "row" LIMIT ?""",
            [limit],
        )
        beside = connection.cursor()
        while batch := rows.fetchmany(_BATCH):
            kept = _kept_results(run, beside, [(row[0], row[1], row[-1]) for row in batch if row[-2]])
            for task_id, sample_id, completion, kind, expected_pass, *_ in batch:
                rollout = Rollout(
                    task_id=task_id,
                    sample_id=sample_id,
                    completion=completion,
                    kind=Kind(kind) if kind else None,
                    expected_pass=expected_pass,
                )
                yield rollout, kept.get((task_id, sample_id), [])


def _kept_results(
    run: Run, connection: duckdb.DuckDBPyConnection, samples: Iterable[tuple[str, str, str]]
) -> dict[tuple[str, str], list[CaseResult]]:
    """By task and sample, in the order of the test cases: verdict, what was printed, its size, and the error's message.

    `samples`: of each its task, its id and its `part_file`. `connection`: made with `parts`, and not used meanwhile.
    """
    files = {(task_id, sample_id): file for task_id, sample_id, file in samples}
    results: dict[tuple[str, str], list[CaseResult]] = {sample: [] for sample in files}
    if not files:
        return results
    ordinals = sorted({int(Path(file).stem.removeprefix("part-")) for file in files.values()})
    run.view_parts(connection, ordinals, run.parts)
    rows = connection.execute(
        """SELECT task_id, sample_id, test_index, verdict, actual, stdout_bytes, error_message FROM part_cases
           WHERE sample_id IN (SELECT unnest($samples)) ORDER BY test_index""",
        {"samples": [sample_id for _, sample_id in files]},
    )
    for task_id, sample_id, index, verdict, actual, size, message in rows.fetchall():
        if (task_id, sample_id) in results:
            results[task_id, sample_id].append(
                CaseResult(
                    index=index, verdict=Verdict(verdict), actual=actual, stdout_bytes=size, error_message=message
                )
            )
    return results


def _take(report: Audit, rollout: Rollout, grade: Grade) -> None:
    if not grade.components:
        report.leave_out(" ".join((grade.error_message or grade.verdict.value).split()))
        return
    parts = dict(zip((payer.checker for payer in report.checkers), grade.components, strict=True))
    rewards = {name: part.reward for name, part in parts.items()}
    reasons = {name: part.message for name, part in parts.items() if part.message and part.reward != 1.0}
    report.add(Differing(rollout.task_id, rollout.sample_id, rewards, reasons, rollout.expected_pass))


OURS: Final = "rollscope"
_ALL: Final = (OURS, *EXTRACTORS)
_NOTHING: Final = "it finds no code"


def audit_extractors(
    run: Run,
    *,
    on_grade: Callable[[Grade], None],
    workers: int | None = None,
    limit: int | None = None,
) -> Audit:
    """The rollouts whose reward depends on the extractor, sorted by ids.

    Only chat answers are compared: of a program or the rest of a prompt every extractor has to take all. Raises
    `SandboxUnavailable` where nothing can run.
    """
    report = Audit(str(run.path), [Payer(name) for name in _ALL])
    tasks = {task.task_id: task for task in run.tasks()}
    running: dict[str, tuple[Differing, dict[str, list[str]], str]] = {}
    """By number: a rollout, the other codes that are found in it and by which extractors, and the one that is run."""
    numbers = itertools.count()

    def to_run() -> Iterator[Rollout]:
        for found, others in _chat_answers(run, limit, report):
            if not others or found.task_id not in tasks:
                report.add(found)
                continue
            for code in list(others):
                number = str(next(numbers))
                running[number] = found, others, code
                yield Rollout(task_id=found.task_id, sample_id=number, completion=code, kind=Kind.FULL)

    for rollout, grade, _ in grade_all(tasks.values(), to_run(), audit_options(run), workers=workers):
        found, others, code = running.pop(rollout.sample_id)
        for name in others.pop(code):
            found.rewards[name], found.reasons[name] = grade.reward, grade.error or grade.verdict.value
        on_grade(grade)
        if not others:
            report.add(found)
    report.differing.sort(key=lambda each: (each.task_id, each.sample_id))
    return report


def _chat_answers(run: Run, limit: int | None, report: Audit) -> Iterator[tuple[Differing, dict[str, list[str]]]]:
    """Rollouts with the rewards that are known; and what has to run: extractors by the code that they take."""
    with run.connect() as connection:
        rows = connection.execute(
            """SELECT task_id, sample_id, code, completion, kind, verdict, reward, expected_pass
               FROM rollouts ORDER BY "row" LIMIT ?""",
            [limit],
        )
        while batch := rows.fetchmany(_BATCH):
            for task_id, sample_id, code, completion, kind, verdict, reward, expected in batch:
                if kind != Kind.CHAT or not Verdict(verdict).graded:
                    why = f"its text is of kind {kind}" if kind != Kind.CHAT else f"its verdict is {verdict}"
                    report.leave_out(why)
                    continue
                found = Differing(task_id, sample_id, dict.fromkeys(_ALL), {}, expected)
                found.rewards[OURS] = reward
                others: dict[str, list[str]] = {}
                for name, theirs in extracted_by_others(completion).items():
                    if theirs == code or (theirs is not None and code is not None and theirs.strip() == code.strip()):
                        found.rewards[name] = reward
                    elif theirs is None:
                        found.rewards[name], found.reasons[name] = 0.0, _NOTHING
                    else:
                        others.setdefault(theirs, []).append(name)
                yield found, others
