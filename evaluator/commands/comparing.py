"""`rollscope compare`: two runs, or two models of one run, task by task."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from evaluator.commands.failure import CommandError, Exit
from evaluator.commands.tables import new_table, one_line, print_more, print_table
from evaluator.metrics import known
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
_Figures = tuple[Run, str | None, float, int]
"""Of a side: the run, the model, the mean pass rate over the compared tasks, and the rollouts that are left out."""
_LISTED: Final = (Change.FIXED, Change.BROKEN, Change.ONLY_A, Change.ONLY_B, Change.OTHER_TESTS, Change.NOT_GRADED)


def compare_runs(run_a: Path, run_b: Path | None, model_a: str | None, model_b: str | None, *, as_json: bool) -> int:
    """Print what B fixed and broke; exit status 1 if B is worse beyond chance, 2 if the two can't be compared."""
    if run_b is None and (model_a is None or model_b is None):
        raise CommandError("give a second run, or --model-a and --model-b to compare two models of one run")
    a, b = Run.open(run_a), Run.open(run_b or run_a)
    found = compare(_side(a, model_a, "--model-a"), _side(b, model_b, "--model-b"))
    deciding, minor = settings_that_decide(a.manifest, b.manifest), minor_settings(a.manifest, b.manifest)
    against = obstacles(found, deciding)
    said = None if against else headline(found)
    sides = {"a": (a, model_a, found.a_mean, found.a_left_out), "b": (b, model_b, found.b_mean, found.b_left_out)}
    if as_json:
        print(msgspec.json.encode(_report(found, sides, said, against, deciding, minor)).decode())
    else:
        _print(found, sides, said, against, minor)
    if said is None:
        raise CommandError(f"no headline: {'; '.join(against)}")
    return Exit.FINDING if found.better == "a" else Exit.DONE


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
    sides: Mapping[str, _Figures],
    said: str | None,
    against: list[str],
    deciding: list[Setting],
    minor: list[Setting],
) -> dict[str, object]:
    """What `--json` prints. Differences are B minus A, from -1 to 1; a figure that can't be had is null.

    A side's `mean` is over the compared tasks; its `left_out` rollouts are unknown or sandbox_error. Each task has
    [passed, graded] for `a` and `b`, null where the side has no rollout of it.
    """
    shown = found.difference
    return {
        **{
            name: {"run": str(run.path), "model": model, "mean": known(mean), "left_out": left_out}
            for name, (run, model, mean, left_out) in sides.items()
        },
        "headline": said,
        "obstacles": against,
        "better": None if against else found.better,
        "difference": known(shown.value),
        "low": known(shown.low),
        "high": known(shown.high),
        "method": shown.method,
        "mcnemar_p": found.p,
        "compared": shown.n,
        "counts": found.counts,
        "differing_settings": deciding,
        "minor_settings": minor,
        "tasks": [
            {"task_id": each.task_id, "change": each.change, "a": _pair(each.a), "b": _pair(each.b)}
            for each in found.tasks
        ],
    }


def _pair(outcome: Outcome | None) -> tuple[int, int] | None:
    return None if outcome is None else (outcome.passed, outcome.graded)


def _print(
    found: Comparison, sides: Mapping[str, _Figures], said: str | None, against: list[str], minor: list[Setting]
) -> None:
    print(said or "No headline: the two can't be compared.")
    for line in against:
        print(f"  {one_line(line, _WIDEST)}")
    print()
    table = new_table("", "run", "model", "mean pass rate", "not graded", numbers=("mean pass rate", "not graded"))
    for name, (run, model, mean, left_out) in sides.items():
        rate = "none" if math.isnan(mean) else f"{mean:.1%}"
        table.add_row(name.upper(), str(run.path), model or "all", rate, f"{left_out:,}")
    print_table(table)
    print()
    counts = new_table("tasks", "", numbers=("",))
    for change, count in found.counts.items():
        if count or change in (Change.FIXED, Change.BROKEN, Change.SAME):
            counts.add_row(change.words, f"{count:,}")
    print_table(counts)
    _print_tasks([task for task in found.tasks if task.change in _LISTED])
    for setting in minor:
        print(f"also differs: {setting.name}: {one_line(setting.a, _WIDEST)} in A, {one_line(setting.b, _WIDEST)} in B")


def _print_tasks(tasks: list[TaskChange]) -> None:
    if not tasks:
        return
    print()
    table = new_table("task", "A", "B", "change", numbers=("A", "B"))
    for each in tasks[:_PRINTED]:
        table.add_row(one_line(each.task_id, _WIDEST), _of(each.a), _of(each.b), each.change.words)
    print_table(table)
    print_more(len(tasks), _PRINTED)


def _of(outcome: Outcome | None) -> str:
    return "" if outcome is None else f"{outcome.passed}/{outcome.graded}"
