"""`rollscope convert`: writes a dataset, a file of rollouts or a graded run in another format."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from evaluator.commands.given_files import found_dataset
from evaluator.commands.output import CommandError, Exit, counted
from evaluator.commands.progress import FirstProblems
from evaluator.extraction import extract
from evaluator.formats import (
    Role,
    Source,
    load_rollouts,
    parse_field_map,
    require_rows,
)
from evaluator.formats import nemo_gym_files as nemo_gym
from evaluator.formats.nemo_gym_files import Place
from evaluator.formats.reading.dataset import Dataset, load_dataset, load_with_prompts
from evaluator.formats.reading.loader import sniff_each
from evaluator.formats.reading.parquet import ROLLOUT_COLUMNS, TASK_COLUMNS, Table
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
from evaluator.user_files import replacing

if TYPE_CHECKING:
    from evaluator.runs.reading import Run

Graded = tuple[Rollout, Grade | None]
"""A rollout as it came, with its own reward; and our grade of it, if there is one."""
Write = Callable[[JsonRow], object]

_WANT_PROGRAMS: Final = ("humaneval", "evalplus")
_ALL_LISTED: Final = "`rollscope formats FILE --check` lists them all"
_NO_TASK: Final = "the task is not in the dataset"
_SHOWN_FIELDS: Final = 12
_BATCH: Final = 500
_COLUMNS: Final = (
    "task_id", "sample_id", "sample_index", "group", "model", "step", "reward", "verdict", "verified", "pass_rate",
    "error_message", "flags", "code", "completion", "kind", "metadata", "expected_pass", "given_reward",
    "recorded_verdict", "recorded_word", "recorded_by",
)  # fmt: skip


class Request(NamedTuple):
    """The command line's options."""

    source: str
    """A run's directory, or as ROLLOUTS of `rollscope grade`."""
    out: Path
    to: str
    dataset: Path | None
    format_name: str | None
    field_map: str | None
    agent: str

    @property
    def target(self) -> str:
        """The format, by the name that its module has."""
        return self.to.replace("-", "_")

    @property
    def fields(self) -> dict[str, str] | None:
        """The source's names of our fields."""
        return parse_field_map(self.field_map) if self.field_map else None

    def files(self) -> list[Source]:
        """The source's."""
        return resolve(self.source, remote=True)

    def tasks(self) -> Dataset:
        """Those of the dataset."""
        assert self.dataset is not None
        return load_dataset(resolve(self.dataset), None, on_problem=FirstProblems(_ALL_LISTED))

    def output(self, what: str, columns: Mapping[str, str]) -> AbstractContextManager[_Output]:
        """The file to write; it is complete, and what it holds is said, at the end of the block."""
        return _output(self.out, self.to, what, columns if self.to == "parquet" else None)


def convert(**given: Any) -> int:
    """Write the file and its related files; stderr shows how many rows. Raises one-line errors."""
    out = given.pop("out_word")
    given["out"] = given["out"] or out
    if given["out"] is None:
        raise CommandError("give the file to write: --output FILE.jsonl")
    request = Request(**given)
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
    if request.out.exists():
        is_input = source.exists() and request.out.samefile(source)
        said = "is also the input: give" if is_input else "already exists: remove it, or give"
        raise CommandError(f"{request.out}: {said} another name to write to")


def _holds_tasks(request: Request) -> bool:
    if request.dataset is not None:
        return False
    first, *_ = sniff_each(request.files(), request.format_name, field_map=request.fields).values()
    return first.role is Role.TASKS


def _convert_tasks(request: Request) -> None:
    writer = WRITERS.get(request.target)
    if writer is not None and writer.task_row is None:
        raise CommandError(f"{request.source}: holds tasks, but {request.to} holds only rollouts: use another --to")
    problems = FirstProblems(_ALL_LISTED)
    tasks = load_dataset(request.files(), request.format_name, field_map=request.fields, on_problem=problems).tasks
    row_of: Callable[[Task], JsonRow] = writer.task_row if writer and writer.task_row else task_row
    if request.target == "nemo_gym":
        row_of = nemo_gym.task_row
    with request.output("task", TASK_COLUMNS) as out:
        for task in tasks:
            try:
                out.add(row_of(task), unheld_fields(task_fields(task), writer.task_held) if writer else ())
            except Unheld as error:
                out.left_out(task.task_id, str(error))
    if request.target == "nemo_gym":
        _report_prompts(tasks)


def _convert_rollouts(request: Request, tasks: list[Task], rollouts: Iterator[Graded]) -> None:
    if request.target == "nemo_gym":
        _write_nemo_gym(request, tasks, rollouts)
    elif request.target in WRITERS:
        _write_samples(request, tasks, rollouts)
    else:
        _write_native(request, rollouts)


def _write_native(request: Request, rollouts: Iterator[Graded]) -> None:
    with request.output("rollout", ROLLOUT_COLUMNS) as out:
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
    with request.output("rollout", {}) as out:
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
    with request.output("rollout", {}) as out, _json_lines(inputs_path) as write_input:
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
    _report(inputs_path, repeats.total(), "input")
    _report_prompts([tasks[index] for index in repeats])


def _from_file(request: Request) -> tuple[list[Task], Iterator[Graded]]:
    """Rollouts with the tasks of their dataset, which native rollouts do not need."""
    dataset, files, fields = Dataset(()), request.files(), request.fields
    found = resolve(request.dataset) if request.dataset else found_dataset(files)
    if found is not None:
        dataset = load_dataset(found, None, on_problem=FirstProblems(_ALL_LISTED))
    elif request.target == "nemo_gym":
        raise CommandError(f"{request.source}: holds rollouts: name their task file with --dataset")
    elif request.target in WRITERS:
        dataset = load_with_prompts(files, None, rollouts_format=request.format_name, field_map=fields)
    problems = FirstProblems(_ALL_LISTED)
    rollouts = load_rollouts(files, request.format_name, field_map=fields, on_problem=problems)
    return dataset.tasks, ((rollout, None) for rollout in dataset.named(require_rows(rollouts, files)))


def _from_run(request: Request) -> tuple[list[Task], Iterator[Graded]]:
    from evaluator.runs.reading import Run

    run = Run.open(request.source)
    return request.tasks().tasks if request.dataset else run.tasks(), rollouts_of(run)


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


# --- The files that are written, and what is said about them on stderr ----------------------------


@contextmanager
def _json_lines(path: Path) -> Iterator[Write]:
    """Writes rows to a file that appears under its name only when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as partial, partial.open("w", encoding="ascii") as file:
        yield lambda row: file.write(json.dumps(row) + "\n")


@contextmanager
def _table(path: Path, columns: Mapping[str, str]) -> Iterator[Write]:
    """The same for a Parquet file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as partial:
        with Table(partial, columns) as rows:
            yield rows.write
        if rows.escaped:
            print(f"rows whose half surrogate pairs are written as \\udXXX: {rows.escaped:,}", file=sys.stderr)


class _Output:
    """The rows of a file that is written, and what the target has no place for, counted."""

    def __init__(self, target: str, write: Write) -> None:
        self._target = target
        self._write = write
        self.rows = 0
        self._fields: Counter[str] = Counter()
        self._left_out: Counter[str] = Counter()
        self._first: dict[str, str] = {}
        self._of_task: Counter[str] = Counter()

    def add(self, row: JsonRow, lost: Iterable[str] = ()) -> None:
        """Write a row. `lost`: fields of its record that are not in it."""
        self._write(row)
        self.rows += 1
        self._fields.update(set(lost))

    def made_anew(self, rollout: Rollout) -> frozenset[str]:
        """Which of its numbers a reader makes again, from the file's order. To be called once for each, in order."""
        number = self._of_task[rollout.task_id]
        self._of_task[rollout.task_id] += 1
        same = {"sample_id": f"{rollout.task_id}#{number}", "sample_index": number}
        return frozenset(name for name, value in same.items() if getattr(rollout, name) == value)

    def left_out(self, name: str, why: str) -> None:
        """A record that is not in the file."""
        self._left_out[why] += 1
        self._first.setdefault(why, name)

    def tell(self, what: str) -> None:
        """Print one line about fields and one for each reason to leave records out."""
        for why, count in self._left_out.items():
            print(f"{counted(count, what)} left out: {why}; the first is {self._first[why]}", file=sys.stderr)
        if self._fields:
            shown = [f"{name} {count:,}" for name, count in self._fields.most_common(_SHOWN_FIELDS)]
            rest = len(self._fields) - len(shown)
            more = f" and {counted(rest, 'more field')}" if rest else ""
            print(f"not in {self._target}'s rows: {', '.join(shown)}{more}", file=sys.stderr)


@contextmanager
def _output(path: Path, target: str, what: str, columns: Mapping[str, str] | None = None) -> Iterator[_Output]:
    """A file of JSON lines, or of Parquet with `columns`; when it is complete, tells what is in it and what is not."""
    with _json_lines(path) if columns is None else _table(path, columns) as write:
        rows = _Output(target, write)
        yield rows
    rows.tell(what)
    _report(path, rows.rows, what)


def _report(path: Path, count: int, what: str) -> None:
    """Print how many rows a file has."""
    print(f"{path}: {counted(count, what)}", file=sys.stderr)


def _report_prompts(tasks: Iterable[Task]) -> None:
    """NeMo Gym rollouts identify their task by the prompt alone."""
    prompts = Counter(task.prompt for task in tasks)
    empty = prompts.pop("", 0)
    if empty:
        print(f"tasks without a prompt: {empty:,}: a model would get an empty question", file=sys.stderr)
    repeated = sum(count for count in prompts.values() if count > 1)
    if repeated:
        print(f"tasks that share a prompt with another: {repeated:,}: give each its own", file=sys.stderr)
