"""`rollscope compare`: two runs, or two models or training steps of one run, task by task."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from evaluator.commands.output import CommandError, Exit, counted, one_line, print_json, print_more, print_table
from evaluator.runs import task_names
from evaluator.runs.comparison import (
    Change,
    Comparison,
    Outcome,
    RewardChange,
    Setting,
    Side,
    TaskChange,
    compare,
    headline,
    minor_settings,
    obstacles,
    reward_changes,
    settings_that_decide,
    side,
    task_hashes,
)
from evaluator.runs.expressions import MODEL
from evaluator.runs.reading import Run

_PRINTED: Final = 50
_WIDEST: Final = 160
_LISTED: Final = (Change.FIXED, Change.BROKEN, Change.ONLY_A, Change.ONLY_B, Change.OTHER_TESTS, Change.NOT_GRADED)
"""Changes whose tasks are listed."""


def compare_runs(
    run_a: Path,
    run_b: Path | None,
    model_a: str | None,
    model_b: str | None,
    step_a: int | None,
    step_b: int | None,
    *,
    as_json: bool,
) -> int:
    """Print what B fixed and broke; exit status 1 if B is worse beyond chance, 2 if the two can't be compared."""
    if run_b is None and None in (model_a, model_b) and None in (step_a, step_b):
        raise CommandError("give a second run; or, for one run, --model-a and --model-b, or --step-a and --step-b")
    a, b = Run.open(run_a), Run.open(run_b or run_a)
    found = compare(_side(a, model_a, step_a, "a"), _side(b, model_b, step_b, "b"))
    deciding, minor = settings_that_decide(a.manifest, b.manifest), minor_settings(a.manifest, b.manifest)
    against = obstacles(found, deciding)
    whole = (model_a, model_b, step_a, step_b) == (None,) * 4
    changed = reward_changes(a, b) if whole and found.counts[Change.OTHER_TESTS] else None
    said = None if against else headline(found)
    if changed is not None and not deciding:
        said, against = _of_rewards(changed, found.counts[Change.OTHER_TESTS]), []
    sides = {
        "a": {"run": str(a.path), "model": model_a, "step": step_a, "mean": found.a_mean, "left_out": found.a_left_out},
        "b": {"run": str(b.path), "model": model_b, "step": step_b, "mean": found.b_mean, "left_out": found.b_left_out},
    }
    if as_json:
        about = {
            "headline": said, "obstacles": against, "better": None if against else found.better,
            "differing_settings": deciding, "minor_settings": minor,
            "reward_changes": None if changed is None else [each._asdict() for each in changed],
        }  # fmt: skip
        print_json({**sides, **about, **_figures(found)}, in_one_line=True)
    else:
        listed = _LISTED if changed is None else [each for each in _LISTED if each != Change.OTHER_TESTS]
        tasks = [task for task in found.tasks if task.change in listed]
        ids = {task.task_id for task in tasks[:_PRINTED]} | {each.task_id for each in (changed or [])[:_PRINTED]}
        names = _names(a, ids) | _names(b, ids)
        _print(found, sides, said, against, minor, [(names.get(task.task_id, task.task_id), task) for task in tasks])
        _print_rewards(changed or [], names)
    if said is None:
        raise CommandError(f"no headline: {'; '.join(against)}")
    return Exit.FINDING if found.better == "a" else Exit.DONE


def _side(run: Run, model: str | None, step: int | None, name: str) -> Side:
    with run.connect() as connection:
        if model is not None:
            names = [name for (name,) in connection.execute(f"SELECT DISTINCT {MODEL} FROM rollouts").fetchall()]  # noqa: S608
            if model not in names:
                known = ", ".join(sorted(names)[:8]) or "none"
                raise CommandError(f"--model-{name}: {run.path} has no rollouts of {model!r}; its models: {known}")
        found = side(connection, task_hashes(connection), model or "", step=step)
        if step is not None and not found.outcomes:
            low, high = connection.execute("SELECT min(step), max(step) FROM rollouts").fetchall()[0]
            known = "none of its rollouts has a step" if low is None else f"its steps: {low:,} to {high:,}"
            raise CommandError(f"--step-{name}: {run.path} has no rollouts at step {step:,}; {known}")
        return found


def _names(run: Run, ids: Collection[str]) -> dict[str, str]:
    with run.connect() as connection:
        return task_names.names(lambda sql, params: connection.execute(sql, params).fetchall(), ids)


def _figures(found: Comparison) -> dict[str, object]:
    """What `--json` prints of it. Differences are B minus A, from -1 to 1; a figure that can't be had is null.

    A side's `mean` is over the compared tasks; its `left_out` rollouts are unknown or sandbox_error. Each task has
    [passed, graded] for `a` and `b`, null where the side has no rollout of it.
    """
    shown = found.difference
    tasks = [{"task_id": t.task_id, "change": t.change, "a": _pair(t.a), "b": _pair(t.b)} for t in found.tasks]
    return {
        "difference": shown.value, "low": shown.low, "high": shown.high, "method": shown.method, "mcnemar_p": found.p,
        "compared": shown.n, "counts": found.counts, "tasks": tasks,
    }  # fmt: skip


def _pair(outcome: Outcome | None) -> tuple[int, int] | None:
    return None if outcome is None else (outcome.passed, outcome.graded)


def _print(
    found: Comparison,
    sides: Mapping[str, Mapping[str, Any]],
    said: str | None,
    against: list[str],
    minor: list[Setting],
    listed: Sequence[tuple[str, TaskChange]],
) -> None:
    print(said or "No headline: the two can't be compared.")
    for line in against:
        print(f"  {one_line(line, _WIDEST)}")
    print()
    rows = [
        (
            name.upper(), side["run"], side["model"] or "all", "all" if side["step"] is None else f"{side['step']:,}",
            "none" if math.isnan(side["mean"]) else f"{side['mean']:.1%}", f"{side['left_out']:,}",
        )
        for name, side in sides.items()
    ]  # fmt: skip
    figures = ("mean pass rate", "not graded")
    print_table(("", "run", "model", "step", *figures), rows, numbers=figures)
    if found.counts[Change.OTHER_TESTS] and found.difference.n:
        print(f"mean pass rate: over the {counted(found.difference.n, 'task')} with the same tests on both sides")
    print()
    counts = [
        (change.words, f"{count:,}")
        for change, count in found.counts.items()
        if count or change in (Change.FIXED, Change.BROKEN, Change.SAME)
    ]
    print_table(("tasks", ""), counts, numbers=("",))
    if listed:
        print()
        tasks = [(one_line(name, _WIDEST), _of(t.a), _of(t.b), t.change.words) for name, t in listed[:_PRINTED]]
        print_table(("task", "A", "B", "change"), tasks, numbers=("A", "B"))
        print_more(len(listed), _PRINTED)
    for setting in minor:
        print(f"also differs: {setting.name}: {one_line(setting.a, _WIDEST)} in A, {one_line(setting.b, _WIDEST)} in B")


def _of_rewards(changed: list[RewardChange], tasks: int) -> str:
    """The headline where the same rollouts were graded with other tests."""
    fell = sum(each.after < each.before for each in changed)
    said = f"{counted(fell, 'reward')} fell and {len(changed) - fell:,} rose in B"
    return f"{said}: the same rollouts, with other tests for {counted(tasks, 'task')}"


def _print_rewards(changed: list[RewardChange], names: Mapping[str, str]) -> None:
    if changed:
        print()
        rows = [
            (_sample(each, names), f"{each.before:g}", f"{each.after:g}", one_line(each.why, _WIDEST) or "passed")
            for each in changed[:_PRINTED]
        ]
        print_table(("sample", "A", "B", "in B"), rows, numbers=("A", "B"))
        print_more(len(changed), _PRINTED)


def _sample(change: RewardChange, names: Mapping[str, str]) -> str:
    name = names.get(change.task_id)
    return one_line(f"{name} {change.sample_id.removeprefix(change.task_id)}" if name else change.sample_id, _WIDEST)


def _of(outcome: Outcome | None) -> str:
    return "" if outcome is None else f"{outcome.passed}/{outcome.graded}"
