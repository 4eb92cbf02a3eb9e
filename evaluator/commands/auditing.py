"""`rollscope audit`: runs a run's completions again and compares which checkers would pay for each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from evaluator.checkers import get_checker
from evaluator.commands.failure import CommandError, Exit
from evaluator.commands.progress import meter
from evaluator.commands.tables import counted, new_table, one_line, print_table
from evaluator.engines.local import grade_all
from evaluator.graders import GraderError, grader_of
from evaluator.graders.bench import Isolation, Options
from evaluator.model import Component, Grade, Kind, Rollout, Task
from evaluator.runs.reading import Run
from evaluator.sandbox import Settings, Strictness

_BATCH: Final = 500
_PRINTED: Final = 50
_REASONS_PRINTED: Final = 5
_WIDEST: Final = 120
_LETTERS: Final = {1.0: "P", 0.0: "W", None: "?"}
_EXPECTED: Final = {True: "pass", False: "fail", None: ""}
_BY_TESTS: Final = ("tests", "audit", "colossalai")


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
    not_compared: dict[str, int] = {}
    """Rollouts by reason."""
    differ: int = 0
    differing: list[Differing] = []


def audit(path: Path, checkers: str, *, workers: int | None, limit: int | None, as_json: bool) -> int:
    """Print the rollouts whose reward depends on the checker; exit status 1 if there are any."""
    names = list(dict.fromkeys(name.strip() for name in checkers.split(",") if name.strip()))
    for name in names:
        get_checker(name)
    if len(names) < 2:
        raise CommandError("--checkers: give two or more, such as floats,livecodebench,colossalai")
    run = Run.open(path)
    report = Audit(str(path), [Payer(name) for name in names])
    tasks = run.tasks()
    others = {task.task_id: other for task in tasks if (other := _other_grader(task, run.manifest.grader))}
    audited = [msgspec.structs.replace(task, grader=None) for task in tasks if task.task_id not in others]
    rollouts = _without(others, _rollouts(run, limit), report)
    with meter(_count(run, limit)) as progress:
        for rollout, grade, _ in grade_all(audited, rollouts, _options(run, names), workers=workers):
            progress.count(grade.passed)
            _take(report, rollout, grade)
    report.differing.sort(key=lambda each: (each.task_id, each.sample_id))
    if as_json:
        print(msgspec.json.encode(report).decode())
    else:
        _print(report)
    return Exit.FINDING if report.differ else Exit.DONE


def _options(run: Run, names: list[str]) -> Options:
    """Like the run's, except the grader. Never fail-fast: each checker must see every answer."""
    given = run.manifest
    return Options(
        limits=given.limits,
        checker=given.checker,
        grader=json.dumps({"name": "audit", "checkers": names}),
        isolation=msgspec.convert(given.isolation, Isolation),
        sandbox=Settings(strictness=msgspec.convert(given.sandbox, Strictness), python=given.interpreter),
    )


def _without(others: dict[str, str], rollouts: Iterator[Rollout], report: Audit) -> Iterator[Rollout]:
    """The rollouts graded by tests; the others are counted under their grader."""
    for rollout in rollouts:
        other = others.get(rollout.task_id)
        if other is None:
            yield rollout
        else:
            _leave_out(report, f"graded by {other}, which uses no checker")


def _leave_out(report: Audit, why: str) -> None:
    report.rollouts += 1
    report.not_compared[why] = report.not_compared.get(why, 0) + 1


def _other_grader(task: Task, requested: str | None) -> str | None:
    """The name of the task's grader if it does not run tests."""
    try:
        name = grader_of(task, requested).name
    except GraderError:
        return "an unknown grader"
    return None if name in _BY_TESTS else name


def _rollouts(run: Run, limit: int | None) -> Iterator[Rollout]:
    with run.connect() as connection:
        rows = connection.execute(
            'SELECT task_id, sample_id, completion, kind, expected_pass FROM rollouts ORDER BY "row" LIMIT ?', [limit]
        )
        while batch := rows.fetchmany(_BATCH):
            for task_id, sample_id, completion, kind, expected_pass in batch:
                yield Rollout(
                    task_id=task_id,
                    sample_id=sample_id,
                    completion=completion,
                    kind=Kind(kind) if kind else None,
                    expected_pass=expected_pass,
                )


def _count(run: Run, limit: int | None) -> int:
    total = run.manifest.counts.get("rollouts", 0)
    return min(total, limit) if limit else total


def _take(report: Audit, rollout: Rollout, grade: Grade) -> None:
    if not grade.components:
        _leave_out(report, " ".join((grade.error_message or grade.verdict.value).split()))
        return
    report.rollouts += 1
    report.compared += 1
    for payer, part in zip(report.checkers, grade.components, strict=True):
        payer.compared += part.reward is not None
        payer.passed += part.reward == 1.0
    known = {part.reward for part in grade.components if part.reward is not None}
    if len(known) > 1:
        report.differ += 1
        report.differing.append(_differing(rollout, grade.components))


def _differing(rollout: Rollout, parts: tuple[Component, ...]) -> Differing:
    rewards = {part.name: part.reward for part in parts}
    reasons = {part.name: part.message for part in parts if part.message and part.reward != 1.0}
    return Differing(rollout.task_id, rollout.sample_id, rewards, reasons, rollout.expected_pass)


def _print(report: Audit) -> None:
    if report.differing:
        table = new_table("task", "sample", *(payer.checker for payer in report.checkers), "expected", "why not")
        for each in report.differing[:_PRINTED]:
            letters = map(_LETTERS.__getitem__, each.rewards.values())
            table.add_row(each.task_id, each.sample_id, *letters, _EXPECTED[each.expected_pass], _reason(each))
        print_table(table)
        if report.differ > _PRINTED:
            print(f"... and {report.differ - _PRINTED:,} more: --json lists all")
        print()
    passed = new_table("checker", "passed", "of", "share", numbers=("passed", "of", "share"))
    for payer in report.checkers:
        share = f"{payer.passed / payer.compared:.1%}" if payer.compared else "none"
        passed.add_row(payer.checker, f"{payer.passed:,}", f"{payer.compared:,}", share)
    print_table(passed)
    print()
    depend = "depends" if report.differ == 1 else "depend"
    print(f"{report.differ:,} of {counted(report.compared, 'rollout')} {depend} on the checker")
    reasons = sorted(report.not_compared.items(), key=lambda item: -item[1])
    for why, count in reasons[:_REASONS_PRINTED]:
        print(f"not compared: {count:,}: {one_line(why, _WIDEST)}")
    if others := sum(count for _, count in reasons[_REASONS_PRINTED:]):
        print(f"not compared: {others:,} for other reasons: --json lists all")


def _reason(each: Differing) -> str:
    """The first rejection, with the names of all checkers that give the same reason."""
    rejecting = {name: why for name, why in each.reasons.items() if each.rewards[name] == 0.0}
    why = next(iter(rejecting.values()))
    names = [name for name, same in rejecting.items() if same == why]
    return one_line(f"{', '.join(names)}: {' '.join(why.split())}", _WIDEST)
