"""`rollscope strengthen`: which tasks' tests would pay wrong programs, and the dataset with tests that don't."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from evaluator.commands.output import CommandError, Exit, counted, one_line, print_json, print_more, print_table
from evaluator.commands.progress import FirstProblems, Meter, stopping_on_signal
from evaluator.extraction import extract
from evaluator.formats import load_rollouts
from evaluator.formats.reading.dataset import Dataset, load_dataset, map_of
from evaluator.formats.reading.sources import resolve
from evaluator.formats.writers import task_row
from evaluator.model import Rollout, Task
from evaluator.options import Options
from evaluator.runs.files import is_run
from evaluator.sandbox import Settings
from evaluator.strengthening.differences import Request
from evaluator.strengthening.in_parallel import strengthened
from evaluator.strengthening.report import Program, TaskReport, is_weak, shown_in_line, totals
from evaluator.user_files import replacing

_PRINTED: Final = 50
_WIDEST: Final = 100
_REASONS: Final = 12
_MOST_PROGRAMS: Final = 64
"""Different codes per task; of more the first ones are run."""


class Done(NamedTuple):
    """What is kept of a task, so that a stopped command can be resumed."""

    report: TaskReport
    row: dict[str, Any]


def strengthen_dataset(
    dataset: str,
    *,
    rollouts: str | None,
    out: Path,
    budget: float,
    seed: int,
    format_name: str | None,
    field_map: str | None,
    python: str | None,
    workers: int | None,
    as_json: bool,
) -> int:
    """Write the dataset with added test cases, and print what was found; exit status 1 if there is something.

    `dataset`, `rollouts`: as ROLLOUTS of `rollscope grade`; `rollouts` may be a run too. What was done for each task is
    kept beside `out` until all are done, and used again if the same command is given once more.
    """
    problems = FirstProblems("`rollscope formats FILE --check` lists them all")
    data = load_dataset(resolve(dataset, remote=True), format_name, field_map=map_of(field_map), on_problem=problems)
    programs = _programs(data, rollouts, problems) if rollouts is not None else {}
    request = Request(budget_s=budget, seed=seed)
    kept_in = out.with_name(out.name + ".part")
    keys = {task.task_id: task_key(task, programs.get(task.task_id, ()), request) for task in data.tasks}
    done = kept_tasks(kept_in, keys)
    left = [task for task in data.tasks if task.task_id not in done]
    stop = threading.Event()
    options = Options(sandbox=Settings(python=python))
    with (
        kept_in.open("a", encoding="utf-8") as kept,
        Meter(len(left), "tasks", lambda mean: f"{mean or 0.0:.0%} with weak tests") as progress,
        stopping_on_signal(stop.set, "the tasks that are done"),
    ):
        for report, stronger in strengthened(left, programs, request, options, stop, workers):
            found = done[report.task_id] = Done(report, task_row(stronger))
            line = {"key": keys[report.task_id], "report": report, "row": found.row}
            kept.write(msgspec.json.encode(line).decode() + "\n")
            kept.flush()
            progress.count(float(is_weak(report)))
    if stop.is_set() and len(done) < len(data.tasks):
        raise CommandError(
            f"stopped after {counted(len(done), 'task')}: the same command does the others", Exit.STOPPED
        )
    reports = [done[task.task_id].report for task in data.tasks]
    if reports and all(each.status == "not strengthened" for each in reports):
        kept_in.unlink()
        ((reason, count),) = Counter(each.reason for each in reports).most_common(1)
        raise CommandError(f"none of {counted(len(reports), 'task')} was searched: {count:,} as {reason}")
    with replacing(out) as temporary, temporary.open("w", encoding="utf-8") as file:
        for task in data.tasks:
            file.write(json.dumps(done[task.task_id].row, ensure_ascii=False) + "\n")
    kept_in.unlink()
    if as_json:
        print_json({"out": str(out), **totals(reports), "by_task": reports}, in_one_line=True)
    else:
        _print(reports, out)
    return Exit.FINDING if any(map(is_weak, reports)) else Exit.DONE


def _programs(data: Dataset, rollouts: str, problems: FirstProblems) -> dict[str, list[Program]]:
    """The different codes of each task's rollouts."""
    tasks = {task.task_id: task for task in data.tasks}
    found: dict[str, dict[str, tuple[list[str], list[str]]]] = {}
    for rollout in _rollouts(data, rollouts, problems):
        task = tasks.get(rollout.task_id)
        code = extract(rollout.completion, task=task, kind=rollout.kind).code if task is not None else None
        if code is None:
            continue
        of_task = found.setdefault(rollout.task_id, {})
        if code in of_task or len(of_task) < _MOST_PROGRAMS:
            samples, models = of_task.setdefault(code, ([], []))
            samples.append(rollout.sample_id)
            models.append(rollout.model or "")
    return {
        task_id: [Program(code, tuple(samples), tuple(models)) for code, (samples, models) in codes.items()]
        for task_id, codes in found.items()
    }


def _rollouts(data: Dataset, rollouts: str, problems: FirstProblems) -> Iterable[Rollout]:
    if not is_run(Path(rollouts)):
        return data.named(load_rollouts(resolve(rollouts, remote=True), on_problem=problems))
    from evaluator.runs.reading import Run  # which imports DuckDB

    with Run.open(Path(rollouts)).connect() as connection:
        rows = connection.execute(
            'SELECT task_id, sample_id, completion, kind, model FROM rollouts ORDER BY "row"'
        ).fetchall()
    return [Rollout(task_id=t, sample_id=s, completion=c, kind=k, model=m) for t, s, c, k, m in rows]


def task_key(task: Task, programs: Sequence[Program], request: Request) -> str:
    """The same for a task that would be strengthened in the same way."""
    return hashlib.sha256(msgspec.json.encode([task_row(task), list(programs), request])).hexdigest()[:32]


def kept_tasks(path: Path, keys: Mapping[str, str]) -> dict[str, Done]:
    """What an earlier, stopped command has done of these tasks, whose keys are given. A line may be unfinished."""
    found: dict[str, Done] = {}
    if not path.exists():
        return found
    for line in path.read_bytes().splitlines():
        try:
            row = msgspec.json.decode(line)
            report = msgspec.convert(row["report"], TaskReport)
        except (msgspec.MsgspecError, KeyError, TypeError, ValueError):
            continue
        if keys.get(report.task_id) == row.get("key"):
            found[report.task_id] = Done(report, row["row"])
    return found


def _print(reports: Sequence[TaskReport], out: Path) -> None:
    shown = list(filter(is_weak, reports))
    if shown:
        columns = ("task", "found", "tests", "added", "passing", "wrong", "mutants killed", "an input that shows it")
        print_table(columns, map(_row, shown[:_PRINTED]), numbers=("tests", "added", "passing", "wrong"))
        print_more(len(shown), _PRINTED)
        print()
    all_ = totals(reports)
    said = Counter(": ".join(filter(None, (each.status, each.reason))) for each in reports)
    for text, count in said.most_common(_REASONS):
        print(f"{count:,} {one_line(text, _WIDEST)}")
    print_more(len(said), _REASONS)
    if all_["passing"]:
        by_model = ", ".join(f"{model or 'no model'} {count:,}" for model, count in all_["wrong"].items())
        wrong = sum(all_["wrong"].values())
        print(f"wrong passes: {wrong:,} of {all_['passing']:,}{f' ({by_model})' if by_model else ''}")
    print(f"mutants killed: {all_['killed_before']:,} before, {all_['killed_after']:,} after, of {all_['mutants']:,}")
    print(f"{out}: {counted(all_['tests'], 'test case')}, and {all_['added']:,} added")


def _row(report: TaskReport) -> tuple[str, ...]:
    share = f"{report.killed_before} to {report.killed_after} of {report.mutants}"
    wrong = str(sum(report.wrong.values())) if report.passing else ""
    return (
        one_line(report.task_id, _WIDEST), report.status, str(report.tests), str(len(report.added)),
        str(report.passing or ""), wrong, share, one_line(shown_in_line(report), _WIDEST),
    )  # fmt: skip
