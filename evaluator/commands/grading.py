"""`rollscope grade`: reads, grades and keeps the grades; can be stopped at any time and gone on with."""

from __future__ import annotations

import itertools
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any, Final

import msgspec

import evaluator
from evaluator.checkers import get_checker
from evaluator.commands.failure import CommandError, Exit
from evaluator.commands.grader_option import grader_text
from evaluator.commands.preamble_option import preamble_text, put_before
from evaluator.commands.progress import meter
from evaluator.commands.sidecars import found_dataset, required_dataset, tell_failures
from evaluator.commands.summary import Summary, print_summary, summarise
from evaluator.engines.local import grade_all
from evaluator.formats import (
    FormatError,
    OnProblem,
    Problem,
    Role,
    dataset_hash,
    known_formats,
    load_rollouts,
    parse_field_map,
    require_rows,
    sniff,
)
from evaluator.formats.joining import Dataset, load_dataset, load_with_prompts
from evaluator.graders import needs_tasks, shown_cases
from evaluator.graders.bench import Disagreements, Isolation, Options, Unverified
from evaluator.model import Limits, Rollout, Task, Verdict
from evaluator.resuming import folder_from, resume_command
from evaluator.runs import Manifest, Run, RunError, RunWriter, is_run, rows_where, sample_key
from evaluator.sandbox import SandboxUnavailable, Settings, Strictness, python_version

__all__ = ["Done", "Request", "dataset_for", "default_out", "grade", "grade_quietly", "summarise_written"]

_PRINTED_PROBLEMS: Final = 20
_VIRTUAL_PER_RESIDENT: Final = 4
_SUFFIXES: Final = (".gz", ".zst", ".jsonl", ".json", ".rollouts")


@dataclass(frozen=True, kw_only=True)
class Request:
    """What the command line asked for."""

    rollouts: Path
    dataset: Path
    """The rollouts again where these alone are graded, by what they came with."""
    out: Path
    workers: int | None = None
    timeout: float | None = None
    memory: float | None = None
    checker: str | None = None
    fail_fast: bool = False
    resume: bool = False
    only: str | None = None
    format: str | None = None
    field_map: str | None = None
    limit: int | None = None
    grader: str | None = None
    isolation: Isolation = "completion"
    sandbox: Strictness = "strict"
    python: str | None = None
    unverified: Unverified = "keep"
    disagreement: Disagreements = "unknown"
    preamble: str | None = None
    """`none`, `lcb` or a file; once it has been read, the code itself."""


def default_out(rollouts: Path) -> Path:
    """`runs/<stem>-<UTC time>`."""
    stem = rollouts.name
    for suffix in _SUFFIXES:
        stem = stem.removesuffix(suffix)
    return Path("runs") / f"{stem or 'rollouts'}-{datetime.now(UTC).strftime('%Y%m%dT%H%M%SZ')}"


def dataset_for(rollouts: Path, format_name: str | None, grader: str | None) -> Path:
    """The tasks where no `--dataset` was given. Raises `CommandError` where a grader that needs some has none."""
    if needs_tasks(grader_text(grader)):
        return required_dataset(rollouts, format_name)
    return found_dataset(rollouts, format_name) or rollouts


def grade(request: Request, *, as_json: bool) -> int:
    """Grade and print the figures. Raises errors with one line each for bad arguments and input."""
    done = grade_quietly(request)
    summary = summarise_written(request.out, done)
    if as_json:
        print(msgspec.json.encode(summary).decode())
    else:
        print_summary(summary)
    if done.stopped:
        command = resume_command(request.out, Run.open(request.out).manifest)
        print(f"stopped; go on with: {command}", file=sys.stderr)
        return Exit.STOPPED
    return Exit.DONE


@dataclass(frozen=True)
class Done:
    """What one session of grading came to."""

    graded: int
    seconds: float
    stopped: bool


def summarise_written(out: Path, done: Done) -> Summary:
    """The figures of the run that was just written. Raises `RunError` where somebody took it away meanwhile."""
    import duckdb

    try:
        return summarise(Run.open(out), seconds=done.seconds, graded_now=done.graded)
    except (RunError, duckdb.IOException) as error:
        if isinstance(error, RunError) and is_run(out):
            raise
        raise RunError(f"{out}: taken away while it was graded, with its grades: grade again") from None


def grade_quietly(request: Request) -> Done:
    """Grade into the run, with progress on stderr and nothing on stdout."""
    request = replace(request, grader=grader_text(request.grader), preamble=preamble_text(request.preamble))
    if (request.resume or request.only) and is_run(request.out):
        request = _as_before(request)
    problems = _Problems()
    field_map = parse_field_map(request.field_map) if request.field_map else None
    manifest = _manifest(request)
    tell_failures(request.rollouts, request.format)
    dataset = _dataset(request, field_map, problems)
    tasks = dataset.tasks
    put_before(tasks, request.preamble)
    rollouts = load_rollouts(request.rollouts, _rollouts_format(request), field_map=field_map, on_problem=problems)
    rollouts = dataset.named(require_rows(rollouts, request.rollouts))
    again = _chosen_again(request) if request.only else None
    writer = RunWriter.create(request.out, manifest, resume=request.resume or request.only is not None)
    try:
        problems.keep_in(writer)
        for task in tasks:
            writer.add_task(task, shown_cases(task, request.grader))
        wanted = _Wanted(rollouts, request, writer, again)
        return _grade_into(writer, tasks, wanted, request)
    except SandboxUnavailable:
        writer.discard()
        raise
    finally:
        writer.close("stopped")  # no effect after a good end


def _as_before(request: Request) -> Request:
    """With the run's own grader, checker and preamble where none was named: the rest is graded alike."""
    earlier = Run.open(request.out).manifest
    return replace(
        request,
        grader=request.grader or earlier.grader,
        checker=request.checker or earlier.checker,
        preamble=earlier.preamble if request.preamble is None else request.preamble,
    )


class _Problems:
    """Bad lines: the first ones are printed as they are met, and the run keeps them."""

    def __init__(self) -> None:
        self._told = 0
        self._waiting: list[Problem] = []
        self._writer: RunWriter | None = None

    def __call__(self, problem: Problem) -> None:
        self._told += 1
        if self._told <= _PRINTED_PROBLEMS:
            print(problem, file=sys.stderr)
        elif self._told == _PRINTED_PROBLEMS + 1:
            print("... more bad lines: they are listed in the run's run.json", file=sys.stderr)
        if self._writer is None:
            self._waiting.append(problem)
        else:
            self._writer.problem(problem.path, problem.line, problem.message, problem.snippet)

    def keep_in(self, writer: RunWriter) -> None:
        """Hand over those met so far, and from now on each one at once."""
        self._writer = writer
        for problem in self._waiting:
            writer.problem(problem.path, problem.line, problem.message, problem.snippet)
        self._waiting.clear()


class _Wanted:
    """The rollouts to grade, as a stream, with the ordinal that each one has in its file."""

    def __init__(
        self, rollouts: Iterator[Rollout], request: Request, writer: RunWriter, again: set[int] | None
    ) -> None:
        self._rollouts = itertools.islice(rollouts, request.limit)
        self._again = again
        resumes = request.resume and again is None
        judged_badly = _judge_failed(request.out) if resumes else set()
        self._done = writer.graded_samples() - judged_badly if resumes else set()
        self._rows: dict[int, int] = {}
        self.total = None if request.limit is None else request.limit
        if again is not None:
            self.total = len(again)
        if again is not None or judged_badly:
            writer.regrade()

    def __iter__(self) -> Iterator[Rollout]:
        places = itertools.count()
        for row, rollout in enumerate(self._rollouts):
            key = sample_key(rollout.task_id, rollout.sample_id)
            if key in self._done or (self._again is not None and key not in self._again):
                continue
            self._rows[next(places)] = row
            yield rollout

    @property
    def done(self) -> int:
        """How many of the file were graded before."""
        return len(self._done)

    def row(self, place: int) -> int:
        """The ordinal in the file of what came at a place of this stream; asked for once."""
        return self._rows.pop(place)


def _grade_into(writer: RunWriter, tasks: list[Task], wanted: _Wanted, request: Request) -> Done:
    total = wanted.total if wanted.total is not None else _estimate(request, wanted.done)
    options = Options(
        limits=writer.manifest.limits,
        checker=request.checker,
        grader=request.grader,
        fail_fast=request.fail_fast,
        isolation=request.isolation,
        sandbox=Settings(strictness=request.sandbox, python=writer.manifest.interpreter),
        unverified=request.unverified,
        disagreement=request.disagreement,
    )
    with _stop_on_signal() as stop, meter(total) as progress:
        for rollout, one, place in grade_all(tasks, iter(wanted), options, workers=request.workers, stop=stop):
            writer.add(rollout, one, wanted.row(place))
            progress.count(one.verdict)
        writer.close("stopped" if stop.is_set() else "finished")
        return Done(progress.graded, progress.seconds, stop.is_set())


@contextmanager
def _stop_on_signal() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C or SIGTERM sets; the second one ends the process at once."""
    stop = threading.Event()
    signals = (signal.SIGINT, signal.SIGTERM)

    def ask(number: int, frame: FrameType | None) -> None:
        del number, frame
        for each in signals:
            signal.signal(each, signal.SIG_DFL)
        stop.set()
        print("\nstopping: what has been graded is kept (again to end at once)", file=sys.stderr, flush=True)

    before: dict[signal.Signals, Any] = {each: signal.signal(each, ask) for each in signals}
    try:
        yield stop
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _manifest(request: Request) -> Manifest:
    if request.checker is not None:
        get_checker(request.checker)
    interpreter = None if request.python is None else os.path.abspath(Path(request.python).expanduser())  # noqa: PTH100
    return Manifest(
        dataset=str(request.dataset),
        dataset_hash=dataset_hash(request.dataset),
        rollouts=str(request.rollouts),
        checker=request.checker,
        grader=request.grader,
        preamble=request.preamble,
        limits=_limits(request),
        sandbox=request.sandbox,
        isolation=request.isolation,
        unverified=request.unverified,
        disagreement=request.disagreement,
        fail_fast=request.fail_fast,
        evaluator_version=evaluator.__version__,
        python=python_version(interpreter),
        folder=folder_from(request.out),
        workers=request.workers,
        format=request.format,
        field_map=request.field_map,
        limit=request.limit,
        only=request.only,
        interpreter=interpreter,
    )


def _limits(request: Request) -> Limits:
    limits = Limits()
    changes: dict[str, float] = {}
    if request.timeout is not None:
        changes |= {"wall_s": request.timeout, "cpu_s": request.timeout}
        changes["total_s"] = max(limits.total_s, request.timeout)
    if request.memory is not None:
        changes |= {"memory_mb": request.memory}
        changes["virtual_mb"] = max(limits.virtual_mb, _VIRTUAL_PER_RESIDENT * request.memory)
    return limits.replaced(changes)


def _dataset(request: Request, field_map: dict[str, str] | None, tell: OnProblem) -> Dataset:
    name = _dataset_format(request)
    if not needs_tasks(request.grader):
        return load_with_prompts(
            request.rollouts,
            request.dataset,
            rollouts_format=_rollouts_format(request),
            dataset_format=name,
            field_map=field_map,
        )
    names = field_map if name == "mapped" else None
    return load_dataset(request.dataset, name, field_map=names, on_problem=tell)


def _rollouts_format(request: Request) -> str | None:
    named = known_formats().get(request.format or "")
    if named is not None and Role.ROLLOUTS not in named.roles:
        return None  # --format named the dataset's
    return request.format


def _dataset_format(request: Request) -> str | None:
    """None where the dataset tells its format itself; --format and --map are about the rollouts then."""
    name = request.format or ("mapped" if request.field_map else None)
    named = known_formats().get(name or "")
    if named is None or Role.TASKS not in named.roles:
        return None  # an unknown name is told when the rollouts are read
    if Role.ROLLOUTS not in named.roles:
        return name
    try:
        found = sniff(request.dataset)
    except FormatError:
        return name
    return None if Role.TASKS in {found.role, *(other.role for other in found.others)} else name


def _chosen_again(request: Request) -> set[int]:
    """The keys of the samples in the run that --only names, by verdicts or by a condition."""
    assert request.only is not None
    if not is_run(request.out):
        raise CommandError(f"--only: {request.out} is no run: grade it first")
    words = [word.strip() for word in request.only.split(",")]
    if set(words) <= {verdict.value for verdict in Verdict}:
        condition = f"verdict IN ({', '.join(repr(word) for word in words)})"
    else:
        condition = request.only
    return _samples_where(request.out, condition)


def _judge_failed(run: Path) -> set[int]:
    """The keys of the samples that have no reward because a judge did not answer: it may by now."""
    return _samples_where(run, "verdict = 'unknown' AND list_contains(flags, 'judge_failed')")


def _samples_where(run: Path, condition: str) -> set[int]:
    connection = Run.open(run).connect()
    try:
        chosen = rows_where(connection, "rollouts", condition).project("task_id, sample_id").fetchall()
    finally:
        connection.close()
    return {sample_key(task_id, sample_id) for task_id, sample_id in chosen}


def _estimate(request: Request, done: int) -> int | None:
    """About how many rollouts there are, from the lines of a plain file; None for other files."""
    if request.rollouts.suffix != ".jsonl":
        return None
    with request.rollouts.open("rb") as file:
        lines = sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))
    return max(lines - done, 1)
