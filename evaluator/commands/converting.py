"""`rollscope convert`: writes a dataset, a file of rollouts or a graded run in another format."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from evaluator.commands.converted import Converted, converted, json_lines, report, report_prompts
from evaluator.commands.failure import CommandError, Exit
from evaluator.commands.given_files import found_dataset
from evaluator.commands.progress import FirstProblems
from evaluator.extraction import extract
from evaluator.formats import (
    Role,
    Source,
    load_rollouts,
    parse_field_map,
    require_rows,
    sniff,
)
from evaluator.formats import nemo_gym_files as nemo_gym
from evaluator.formats.nemo_gym_files import Place
from evaluator.formats.reading.dataset import Dataset, load_dataset, load_with_prompts
from evaluator.formats.reading.parquet import ROLLOUT_COLUMNS, TASK_COLUMNS
from evaluator.formats.reading.sources import resolve
from evaluator.formats.writers import (
    WRITERS,
    JsonRow,
    Sample,
    Unheld,
    rollout_row,
    task_fields,
    task_row,
    unheld_fields,
)
from evaluator.model import Flag, Grade, Kind, Mode, Rollout, Task
from evaluator.runs.files import is_run
from evaluator.syntax import tree_of

if TYPE_CHECKING:
    from evaluator.runs.reading import Run

To = Literal["native", "nemo-gym", "nemo_gym", "humaneval", "evalplus", "verl", "parquet"]

_WANT_PROGRAMS: Final = ("humaneval", "evalplus")
_ALL_LISTED: Final = "`rollscope formats FILE --check` lists them all"
_NO_TASK: Final = "the task is not in the dataset"


@dataclass(frozen=True, kw_only=True)
class Request:
    """The command line's options."""

    source: str
    """A run's directory, or as ROLLOUTS of `rollscope grade`."""
    out: Path
    to: To
    dataset: Path | None = None
    format: str | None = None
    field_map: str | None = None
    agent: str = nemo_gym.DEFAULT_AGENT

    @property
    def target(self) -> str:
        """The format, by the name that its module has."""
        return self.to.replace("-", "_")


def convert(request: Request) -> int:
    """Write the file and its related files; stderr shows how many rows. Raises one-line errors."""
    _require_writable(request)
    if is_run(request.source):
        _convert_rollouts(request, *_from_run(request))
    elif _holds_tasks(request):
        _convert_tasks(request)
    else:
        _convert_rollouts(request, *_from_file(request))
    return Exit.DONE


def _require_writable(request: Request) -> None:
    suffix, what = (".parquet", "a Parquet file") if request.to == "parquet" else (".jsonl", "JSON lines")
    if request.out.suffix != suffix:
        raise CommandError(f"{request.out}: the output is {what}: give a name that ends in {suffix}")
    source = Path(request.source)
    if request.out.exists() and source.exists() and request.out.samefile(source):
        raise CommandError(f"{request.out}: is also the input: give another name to write to")
    if request.out.exists():
        raise CommandError(f"{request.out}: already exists: remove it, or give another name to write to")


def _holds_tasks(request: Request) -> bool:
    if request.dataset is not None:
        return False
    if request.field_map and request.format is None:
        return "completion" not in parse_field_map(request.field_map)
    found = sniff(_files(request)[0])
    readings = [reading for reading in (found, *found.others) if request.format in (None, reading.format)]
    return not readings or readings[0].role is Role.TASKS


def _convert_tasks(request: Request) -> None:
    writer = WRITERS.get(request.target)
    if writer is not None and writer.task_row is None:
        raise CommandError(f"{request.source}: holds tasks, but {request.to} holds only rollouts: use another --to")
    tasks = _load(request, _files(request), request.format).tasks
    row_of: Callable[[Task], JsonRow] = writer.task_row if writer and writer.task_row else task_row
    if request.target == "nemo_gym":
        row_of = nemo_gym.task_row
    with _output(request, "task", TASK_COLUMNS) as out:
        for task in tasks:
            try:
                out.add(row_of(task), unheld_fields(task_fields(task), writer.task_held) if writer else ())
            except Unheld as error:
                out.left_out(task.task_id, str(error))
    if request.target == "nemo_gym":
        report_prompts(tasks)


def _convert_rollouts(request: Request, tasks: list[Task], rollouts: Iterator[Graded]) -> None:
    if request.target == "nemo_gym":
        _write_nemo_gym(request, tasks, rollouts)
    elif request.target in WRITERS:
        _write_samples(request, tasks, rollouts)
    else:
        _write_native(request, rollouts)


def _output(request: Request, what: str, columns: dict[str, str] | None = None) -> AbstractContextManager[Converted]:
    return converted(request.out, request.to, what, columns if request.to == "parquet" else None)


def _write_native(request: Request, rollouts: Iterator[Graded]) -> None:
    with _output(request, "rollout", ROLLOUT_COLUMNS) as out:
        for rollout, grade in rollouts:
            if grade is not None:
                rollout.metadata |= _grade_fields(rollout, grade)
                _take_reward(rollout, grade)
            out.add(rollout_row(rollout))


def _take_reward(rollout: Rollout, grade: Grade) -> None:
    rollout.given_reward = grade.reward
    rollout.expected_pass = None if grade.reward is None else grade.passed


def _grade_fields(rollout: Rollout, grade: Grade) -> JsonRow:
    """Our grade as the `stored` grader reads it, and the source's own reward where ours takes its place."""
    fields: JsonRow = {
        "verdict": grade.verdict.value,
        "verified": grade.verified,
        "pass_rate": grade.pass_rate,
        "flags": [flag.word for flag in grade.flags] or None,
        "error_message": grade.error_message,
        "source_reward": rollout.given_reward,
        "source_pass": rollout.expected_pass,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _write_samples(request: Request, tasks: list[Task], rollouts: Iterator[Graded]) -> None:
    writer = WRITERS[request.target]
    by_id = {task.task_id: task for task in tasks}
    with _output(request, "rollout") as out:
        for rollout, grade in rollouts:
            if grade is not None:
                _take_reward(rollout, grade)
            task = by_id.get(rollout.task_id)
            sample = Sample(rollout, task, grade)
            row = writer.rollout_row(_with_program(sample) if request.target in _WANT_PROGRAMS else sample)
            out.add(row, _lost(rollout, row, writer.held | out.made_anew(rollout)))


def _lost(rollout: Rollout, row: JsonRow, held: frozenset[str]) -> Iterator[str]:
    if "passed" in row and rollout.given_reward == float(row["passed"]):
        held |= {"given_reward"}
    yield from unheld_fields(rollout_row(rollout), held)
    if row.get("input") == "":
        yield "prompt"
    if "completion" in held and rollout.completion not in row.values():
        yield "text around the program"


def _with_program(sample: Sample) -> Sample:
    """The same with its program, unless it has none, or may go on with a prompt that is not known."""
    rollout, task, grade = sample.rollout, sample.task, sample.grade
    if grade is not None:
        return sample._replace(program=grade.code, kind=grade.kind)
    stand_in = Task(task_id=rollout.task_id, mode=Mode.STDIN)
    found = extract(rollout.completion, task=task or stand_in, kind=rollout.kind)
    lacks_prompt = found.kind is Kind.CONTINUATION and (task is None or not task.prompt)
    unsure = found.kind is Kind.FULL and rollout.kind is None and not _is_tested(task)
    if lacks_prompt or (unsure and not tree_of(rollout.completion)):
        return sample._replace(kind=found.kind)
    return sample._replace(program=found.code, kind=found.kind)


def _is_tested(task: Task | None) -> bool:
    """Whether the task shows what its programs must define."""
    return task is not None and (task.mode is Mode.STDIN or task.entry_point is not None)


def _write_nemo_gym(request: Request, tasks: list[Task], rollouts: Iterator[Graded]) -> None:
    indices = {task.task_id: index for index, task in enumerate(tasks)}
    repeats: Counter[int] = Counter()
    inputs_path = request.out.with_name(f"{request.out.stem}_materialized_inputs.jsonl")
    with _output(request, "rollout") as out, json_lines(inputs_path) as write_input:
        for rollout, grade in rollouts:
            index = indices.get(rollout.task_id)
            if index is None:
                out.left_out(rollout.sample_id, _NO_TASK)
                continue
            place = Place(index, repeats[index], request.agent)
            repeats[index] += 1
            lost = unheld_fields(rollout_row(rollout), nemo_gym.HELD | out.made_anew(rollout))
            out.add(nemo_gym.rollout_record(rollout, tasks[index], place, grade), lost)
            write_input(nemo_gym.materialized_input(tasks[index], place))
    report(inputs_path, repeats.total(), "input")
    report_prompts([tasks[index] for index in repeats])


def _from_file(request: Request) -> tuple[list[Task], Iterator[Graded]]:
    """Rollouts with the tasks of their dataset, which native rollouts do not need."""
    dataset = Dataset(())
    field_map = parse_field_map(request.field_map) if request.field_map else None
    files = _files(request)
    path = request.dataset or (found_dataset(files[0]) if len(files) == 1 else None)
    if path is not None:
        dataset = _load(request, resolve(path), None)
    elif request.target == "nemo_gym":
        raise CommandError(f"{request.source}: holds rollouts: name their task file with --dataset")
    elif request.target in WRITERS:
        dataset = load_with_prompts(files, None, rollouts_format=request.format, field_map=field_map)
    rollouts = load_rollouts(files, request.format, field_map=field_map, on_problem=FirstProblems(_ALL_LISTED))
    return dataset.tasks, ((rollout, None) for rollout in dataset.named(require_rows(rollouts, files)))


def _from_run(request: Request) -> tuple[list[Task], Iterator[Graded]]:
    from evaluator.runs.reading import Run

    run = Run.open(request.source)
    tasks = _load(request, resolve(request.dataset), None).tasks if request.dataset else run.tasks()
    return tasks, rollouts_of(run)


def _files(request: Request) -> list[Source]:
    return resolve(request.source, remote=True)


def _load(request: Request, files: list[Source], format_name: str | None) -> Dataset:
    field_map = parse_field_map(request.field_map) if request.field_map and files == _files(request) else None
    return load_dataset(files, format_name, field_map=field_map, on_problem=FirstProblems(_ALL_LISTED))


Graded = tuple[Rollout, Grade | None]
"""A rollout as it came, with its own reward; and our grade of it, if there is one."""

_BATCH: Final = 500
_COLUMNS: Final = (
    "task_id", "sample_id", "sample_index", "group", "model", "step", "reward", "verdict", "verified", "pass_rate",
    "error_message", "flags", "code", "completion", "kind", "metadata", "expected_pass", "given_reward",
    "recorded_verdict", "recorded_word", "recorded_by",
)  # fmt: skip


def rollouts_of(run: Run) -> Iterator[Graded]:
    """The rollouts in the order of their file."""
    with run.connect() as connection:
        names = ", ".join(f'"{name}"' for name in _COLUMNS)
        found = connection.view("rollouts").order("row").project(names)
        for batch in found.to_arrow_reader(_BATCH):
            yield from map(_graded, batch.to_pylist())


def _graded(row: dict[str, Any]) -> Graded:
    row["completion"] = row["completion"] or ""
    row["metadata"] = json.loads(row["metadata"] or "{}")
    row["flags"] = [Flag(word, "") for word in row["flags"] or ()]
    return msgspec.convert(row, Rollout), msgspec.convert(row, Grade)
