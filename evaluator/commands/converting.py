"""`rollscope convert`: writes a dataset, a file of rollouts or a graded run in another format."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Literal

from evaluator.commands.failure import CommandError, Exit
from evaluator.commands.sidecars import found_dataset
from evaluator.formats import Problem, Role, load_rollouts, parse_field_map, require_rows, sniff
from evaluator.formats import native_writer as native
from evaluator.formats import nemo_gym_writer as nemo_gym
from evaluator.formats.dataset import Dataset, load_dataset
from evaluator.formats.nemo_gym_writer import Place
from evaluator.model import Flag, Grade, JsonValue, Kind, Rollout, Task, Verdict
from evaluator.runs.files import is_run

if TYPE_CHECKING:
    from evaluator.runs.reading import Run

To = Literal["nemo_gym", "native"]
Row = dict[str, JsonValue]
Graded = tuple[Rollout, Grade | None]

_SHOWN_PROBLEMS: Final = 20
_BATCH: Final = 500
_COLUMNS: Final = (
    "task_id", "sample_id", "sample_index", "group", "model", "step", "reward", "verdict", "verified", "pass_rate",
    "error_message", "flags", "code", "completion", "kind", "metadata",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Request:
    """The command line's options."""

    source: Path
    out: Path
    to: To
    dataset: Path | None = None
    format: str | None = None
    field_map: str | None = None
    agent: str = nemo_gym.DEFAULT_AGENT


def convert(request: Request) -> int:
    """Write the file and those that belong with it; stderr shows how many rows. Raises one-line errors."""
    _require_writable(request)
    if is_run(request.source):
        _convert_rollouts(request, *_from_run(request))
    elif _holds_tasks(request):
        _convert_tasks(request)
    else:
        _convert_rollouts(request, *_from_file(request))
    return Exit.DONE


def _require_writable(request: Request) -> None:
    if request.out.suffix != ".jsonl":
        raise CommandError(f"{request.out}: the output is JSON lines: give a name that ends in .jsonl")
    if request.out.exists() and request.source.exists() and request.out.samefile(request.source):
        raise CommandError(f"{request.out}: is also the input: give another name to write to")
    if request.out.exists():
        raise CommandError(f"{request.out}: already exists: remove it, or give another name to write to")


def _holds_tasks(request: Request) -> bool:
    if request.dataset is not None:
        return False
    if request.field_map and request.format is None:
        return "completion" not in parse_field_map(request.field_map)
    found = sniff(request.source)
    readings = [reading for reading in (found, *found.others) if request.format in (None, reading.format)]
    return not readings or readings[0].role is Role.TASKS


def _convert_tasks(request: Request) -> None:
    tasks = _load(request, request.source, request.format).tasks
    row_of: Callable[[Task], Row] = nemo_gym.task_row if request.to == "nemo_gym" else native.task_row
    with _complete(request.out) as file:
        for task in tasks:
            _write(file, row_of(task))
    _report(request.out, len(tasks), "task")
    if request.to == "nemo_gym":
        _report_prompts(tasks)


def _convert_rollouts(request: Request, tasks: list[Task], rollouts: Iterator[Graded]) -> None:
    if request.to == "native":
        _write_native(request.out, rollouts)
    else:
        _write_nemo_gym(request, tasks, rollouts)


def _write_native(out: Path, rollouts: Iterator[Graded]) -> None:
    count = 0
    with _complete(out) as file:
        for rollout, grade in rollouts:
            if grade is not None:
                rollout.given_reward = grade.reward
                rollout.expected_pass = None if grade.reward is None else grade.passed
            _write(file, native.rollout_row(rollout))
            count += 1
    _report(out, count, "rollout")


def _write_nemo_gym(request: Request, tasks: list[Task], rollouts: Iterator[Graded]) -> None:
    indices = {task.task_id: index for index, task in enumerate(tasks)}
    repeats: Counter[int] = Counter()
    missing: list[str] = []
    inputs_path = request.out.with_name(f"{request.out.stem}_materialized_inputs.jsonl")
    with _complete(request.out) as file, _complete(inputs_path) as inputs:
        for rollout, grade in rollouts:
            index = indices.get(rollout.task_id)
            if index is None:
                missing.append(rollout.sample_id)
                continue
            place = Place(index, repeats[index], request.agent)
            repeats[index] += 1
            _write(file, nemo_gym.rollout_record(rollout, tasks[index], place, grade))
            _write(inputs, nemo_gym.materialized_input(tasks[index], place))
    if missing:
        count = f"{len(missing):,} rollout{'' if len(missing) == 1 else 's'}"
        print(f"{count} left out: the task is not in the dataset; the first is {missing[0]}", file=sys.stderr)
    _report(request.out, repeats.total(), "rollout")
    _report(inputs_path, repeats.total(), "input")
    _report_prompts([tasks[index] for index in repeats])


def _from_file(request: Request) -> tuple[list[Task], Iterator[Graded]]:
    """Rollouts with the tasks of their dataset, which native rollouts do not need."""
    dataset = Dataset(())
    path = request.dataset or found_dataset(request.source)
    if path is not None:
        dataset = _load(request, path, None)
    elif request.to == "nemo_gym":
        raise CommandError(f"{request.source}: holds rollouts: name their task file with --dataset")
    field_map = parse_field_map(request.field_map) if request.field_map else None
    rollouts = load_rollouts(request.source, request.format, field_map=field_map, on_problem=_Problems())
    return dataset.tasks, ((rollout, None) for rollout in dataset.named(require_rows(rollouts, request.source)))


def _from_run(request: Request) -> tuple[list[Task], Iterator[Graded]]:
    from evaluator.runs.reading import Run

    run = Run.open(request.source)
    tasks = _load(request, request.dataset, None).tasks if request.dataset else run.tasks()
    return tasks, _rows_of(run)


def _rows_of(run: Run) -> Iterator[Graded]:
    with run.connect() as connection:
        names = ", ".join(f'"{name}"' for name in _COLUMNS)
        found = connection.view("rollouts").order("row").project(names)
        for batch in found.to_arrow_reader(_BATCH):
            yield from map(_graded, batch.to_pylist())


def _graded(row: dict[str, Any]) -> Graded:
    kind = Kind(row["kind"]) if row["kind"] else None
    rollout = Rollout(
        task_id=row["task_id"],
        completion=row["completion"] or "",
        sample_id=row["sample_id"],
        sample_index=row["sample_index"],
        kind=kind,
        model=row["model"],
        group=row["group"],
        step=row["step"],
        metadata=json.loads(row["metadata"]) if row["metadata"] else {},
    )
    grade = Grade(
        task_id=row["task_id"],
        sample_id=row["sample_id"],
        verdict=Verdict(row["verdict"]),
        reward=row["reward"],
        verified=row["verified"],
        pass_rate=row["pass_rate"],
        flags=tuple(Flag(word, "") for word in row["flags"] or ()),
        error_message=row["error_message"],
        code=row["code"],
        kind=kind,
    )
    return rollout, grade


def _load(request: Request, path: Path, format_name: str | None) -> Dataset:
    field_map = parse_field_map(request.field_map) if request.field_map and path == request.source else None
    return load_dataset(path, format_name, field_map=field_map, on_problem=_Problems())


class _Problems:
    """Prints the first bad lines."""

    def __init__(self) -> None:
        self._count = 0

    def __call__(self, problem: Problem) -> None:
        self._count += 1
        if self._count <= _SHOWN_PROBLEMS:
            print(problem, file=sys.stderr)
        elif self._count == _SHOWN_PROBLEMS + 1:
            print("... more bad lines: `rollscope formats FILE --check` lists them all", file=sys.stderr)


@contextlib.contextmanager
def _complete(path: Path) -> Iterator[IO[str]]:
    """A file that appears under its name only when it is complete."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with partial.open("w", encoding="ascii") as file:
            yield file
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _write(file: IO[str], row: Row) -> None:
    file.write(json.dumps(row) + "\n")


def _report(path: Path, count: int, what: str) -> None:
    print(f"{path}: {count:,} {what}{'' if count == 1 else 's'}", file=sys.stderr)


def _report_prompts(tasks: Iterable[Task]) -> None:
    """NeMo Gym rollouts identify their task by the prompt alone."""
    prompts = Counter(task.prompt for task in tasks)
    empty = prompts.pop("", 0)
    if empty:
        print(f"tasks without a prompt: {empty:,}: a model would get an empty question", file=sys.stderr)
    repeated = sum(count for count in prompts.values() if count > 1)
    if repeated:
        print(f"tasks that share a prompt with another: {repeated:,}: give each its own", file=sys.stderr)
