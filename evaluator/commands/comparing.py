"""`rollscope compare`: two runs, or two models of one run, task by task."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from evaluator.commands.failure import CommandError, Exit
from evaluator.commands.tables import new_table, one_line, print_table
from evaluator.metrics import Interval, known
from evaluator.runs.comparison import (
    Change,
    Comparison,
    Outcome,
    Setting,
    Side,
    TaskChange,
    compare,
    headline,
    minor_settings,
    obstacles,
    settings_that_decide,
    side,
    task_hashes,
)
from evaluator.runs.expressions import MODEL
from evaluator.runs.reading import Run

_PRINTED: Final = 50
_WIDEST: Final = 160
_LISTED: Final = (Change.FIXED, Change.BROKEN, Change.ONLY_A, Change.ONLY_B, Change.OTHER_TESTS, Change.NOT_GRADED)


class SideFigures(msgspec.Struct):
    """One side. `mean` is over the compared tasks; `left_out` rollouts are unknown or sandbox_error."""

    run: str
    model: str | None
    mean: float | None
    left_out: int


class TaskLine(msgspec.Struct):
    """A task; `a` and `b` are (passed, graded), None where the side has no rollout of it."""

    task_id: str
    change: Change
    a: tuple[int, int] | None
    b: tuple[int, int] | None


class Report(msgspec.Struct):
    """The result, as `--json` prints it. Differences are B minus A, from -1 to 1."""

    a: SideFigures
    b: SideFigures
    headline: str | None
    """None if the sides can't be compared: `obstacles` says why."""
    obstacles: list[str]
    better: str | None
    """`a` or `b`, if the difference is more than chance."""
    difference: float | None
    low: float | None
    high: float | None
    method: str
    mcnemar_p: float | None
    """None if a compared task has several samples."""
    compared: int
    counts: dict[Change, int]
    differing_settings: list[Setting]
    """Those that decide verdicts."""
    minor_settings: list[Setting]
    tasks: list[TaskLine]


def compare_runs(run_a: Path, run_b: Path | None, model_a: str | None, model_b: str | None, *, as_json: bool) -> int:
    """Print what B fixed and broke; exit status 1 if B is worse beyond chance, 2 if the two can't be compared."""
    if run_b is None and (model_a is None or model_b is None):
        raise CommandError("give a second run, or --model-a and --model-b to compare two models of one run")
    a, b = Run.open(run_a), Run.open(run_b or run_a)
    found = compare(_side(a, model_a, "--model-a"), _side(b, model_b, "--model-b"))
    deciding = settings_that_decide(a.manifest, b.manifest)
    report = _report(found, deciding, minor_settings(a.manifest, b.manifest), (a, model_a), (b, model_b))
    if as_json:
        print(msgspec.json.encode(report).decode())
    else:
        _print(report)
    if report.headline is None:
        raise CommandError(f"no headline: {'; '.join(report.obstacles)}")
    return Exit.FINDING if report.better == "a" else Exit.DONE


def _side(run: Run, model: str | None, option: str) -> Side:
    with run.connect() as connection:
        if model is not None:
            names = [name for (name,) in connection.execute(f"SELECT DISTINCT {MODEL} FROM rollouts").fetchall()]  # noqa: S608
            if model not in names:
                known = ", ".join(sorted(names)[:8]) or "none"
                raise CommandError(f"{option}: {run.path} has no rollouts of {model!r}; its models: {known}")
        return side(connection, task_hashes(connection), model or "")


def _report(
    found: Comparison,
    deciding: list[Setting],
    minor: list[Setting],
    a: tuple[Run, str | None],
    b: tuple[Run, str | None],
) -> Report:
    against = obstacles(found, deciding)
    shown: Interval = found.difference
    return Report(
        a=SideFigures(str(a[0].path), a[1], known(found.a_mean), found.a_left_out),
        b=SideFigures(str(b[0].path), b[1], known(found.b_mean), found.b_left_out),
        headline=None if against else headline(found),
        obstacles=against,
        better=None if against else found.better,
        difference=known(shown.value),
        low=known(shown.low),
        high=known(shown.high),
        method=shown.method,
        mcnemar_p=found.p,
        compared=shown.n,
        counts=found.counts,
        differing_settings=deciding,
        minor_settings=minor,
        tasks=[_line(each) for each in found.tasks],
    )


def _line(each: TaskChange) -> TaskLine:
    return TaskLine(each.task_id, each.change, _pair(each.a), _pair(each.b))


def _pair(outcome: Outcome | None) -> tuple[int, int] | None:
    return None if outcome is None else (outcome.passed, outcome.graded)


def _print(report: Report) -> None:
    print(report.headline or "No headline: the two can't be compared.")
    for line in report.obstacles:
        print(f"  {one_line(line, _WIDEST)}")
    print()
    sides = new_table("", "run", "model", "mean pass rate", "not graded", numbers=("mean pass rate", "not graded"))
    for name, each in (("A", report.a), ("B", report.b)):
        mean = "none" if each.mean is None else f"{each.mean:.1%}"
        sides.add_row(name, each.run, each.model or "all", mean, f"{each.left_out:,}")
    print_table(sides)
    print()
    counts = new_table("tasks", "", numbers=("",))
    for change, count in report.counts.items():
        if count or change in (Change.FIXED, Change.BROKEN, Change.SAME):
            counts.add_row(change.words, f"{count:,}")
    print_table(counts)
    _print_tasks([task for task in report.tasks if task.change in _LISTED])
    for setting in report.minor_settings:
        print(f"also differs: {setting.name}: {one_line(setting.a, _WIDEST)} in A, {one_line(setting.b, _WIDEST)} in B")


def _print_tasks(tasks: list[TaskLine]) -> None:
    if not tasks:
        return
    print()
    table = new_table("task", "A", "B", "change", numbers=("A", "B"))
    for each in tasks[:_PRINTED]:
        table.add_row(one_line(each.task_id, _WIDEST), _of(each.a), _of(each.b), each.change.words)
    print_table(table)
    if len(tasks) > _PRINTED:
        print(f"... and {len(tasks) - _PRINTED:,} more: --json lists all")


def _of(pair: tuple[int, int] | None) -> str:
    return "" if pair is None else f"{pair[0]}/{pair[1]}"
