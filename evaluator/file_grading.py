"""Grades a file of rollouts into a run: the one way, for the command, the dashboard and callers of the library.

It knows nothing of terminals, signals and pages. Callers watch it through functions and stop it through an event.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

import evaluator
from evaluator.checkers import get_checker
from evaluator.engines import local
from evaluator.formats import (
    FormatError,
    OnProblem,
    Problem,
    Role,
    dataset_hash,
    known_formats,
    load_rollouts,
    require_rows,
    sniff,
)
from evaluator.formats.dataset import Dataset, load_dataset, load_with_prompts
from evaluator.formats.nemo_gym_sidecars import tasks_file
from evaluator.graders import get_grader, needs_tasks, shown_cases
from evaluator.graders.bench import Disagreements, Isolation, Options, Unverified
from evaluator.graders.spec import anchored
from evaluator.model import Grade, Limits, Rollout, Verdict
from evaluator.runs.files import RunError, is_run, read_manifest
from evaluator.runs.resuming import folder_from
from evaluator.runs.schema import Manifest, sample_key
from evaluator.sandbox import SandboxUnavailable, Settings, python_version

if TYPE_CHECKING:
    from evaluator.runs.writing import RunWriter

_SUFFIXES: Final = (".gz", ".zst", ".jsonl", ".json", ".rollouts")
_VIRTUAL_PER_RESIDENT: Final = 4
_JUDGE_FAILED: Final = "verdict = 'unknown' AND list_contains(flags, 'judge_failed')"
"""These have no reward because a judge did not answer, which it may by now."""


class GradedFile(msgspec.Struct, frozen=True):
    """What one call of `grade_file` did. A resumed run holds more than that."""

    run: Path
    graded: int
    """Rollouts."""
    seconds: float
    """Spent grading; reading the dataset is not in it."""
    stopped: bool
    bad_lines: int
    """Lines of the two files that could not be used; the run's `run.json` lists the first 1,000."""


def grade_file(
    rollouts: str | Path,
    dataset: str | Path | None = None,
    *,
    out: str | Path | None = None,
    workers: int | None = None,
    limits: Limits | None = None,
    checker: str | None = None,
    grader: str | None = None,
    preamble: str | None = None,
    fail_fast: bool = False,
    isolation: Isolation = "completion",
    sandbox: Settings | None = None,
    unverified: Unverified = "keep",
    disagreement: Disagreements = "unknown",
    format: str | None = None,  # noqa: A002 - as in `load_rollouts`
    field_map: Mapping[str, str] | None = None,
    limit: int | None = None,
    resume: bool = False,
    only: str | None = None,
    on_start: Callable[[int | None], object] | None = None,
    on_grade: Callable[[Grade], object] | None = None,
    on_problem: OnProblem | None = None,
    stop: threading.Event | None = None,
) -> GradedFile:
    """Grades a file of rollouts and keeps the grades as a run, as `rollscope grade` does.

    >>> from evaluator import grade_file
    >>> done = grade_file("rollouts.jsonl", "tasks.jsonl", out="runs/mine", limit=100)
    >>> done.run, done.graded, done.stopped
    (PosixPath('runs/mine'), 2, False)

    The files are read as streams and the grades are written every few seconds, so memory does not grow with the
    rollouts (the tasks are held in memory). A process that is killed loses a few seconds of work; `resume` does the
    rest. Callbacks run in the calling thread, one at a time; what one raises ends the grading, and the run can be
    resumed. Any thread may call this.

    Args:
        rollouts: JSON lines or a JSON list, also packed by gzip or Zstandard.
        dataset: The file of tasks. None: what NeMo Gym left beside its rollouts, or tests in the rollouts' own rows;
            for a grader that needs no tasks (`stored`), the rollouts alone.
        out: The run's directory, which must be empty or not exist. None: `runs/<stem>-<UTC time>` in the working
            directory, with a number at its end where that is taken.
        workers, fail_fast, isolation: As in `grade_all`.
        limits, checker, grader, sandbox, unverified, disagreement: As in `grade`. Files that `grader` and `sandbox`
            name are looked for from the working directory.
        preamble: Code before every completion, in place of what the tasks say. None: what they say; "": nothing.
        format: The name of the rollouts' format, or of the dataset's. None: it is detected.
        field_map: Our names of fields to the file's, such as `{"task_id": "uid"}`; see `load_rollouts`.
        limit: Grade the first so many rollouts of the file. None: all.
        resume: Grade what `out` has no grade of, and what a judge did not answer for. The grader, the checker and the
            preamble of the run hold where none is given. Without a run in `out` a new one is begun.
        only: Grade again what is in `out` and has one of these verdicts ("sandbox_error,time_limit"), or meets this
            DuckDB condition over the columns of `rollouts`. It wins over `resume`.
        on_start: Called once, before the first grade, with about how many rollouts are to be graded; None where
            that would take reading the file.
        on_grade: Called with each grade, in the order in which they are done.
        on_problem: Called with each line that can't be used. None: they are only kept in the run.
        stop: Set it, from anywhere, to end the grading soon. What has been graded is kept.

    Raises:
        FormatError: A file can't be read as a whole or has no usable row, or there are no tasks for the rollouts.
        RunError: `out` holds something else, was graded otherwise, is being written, or can't be written (any more).
        GraderError, CheckerError: No grader or checker has that name, or it does not take these options.
        QueryError: `only` is no condition.
        InterpreterError: `sandbox` names a Python that completions can't run on.
        SandboxUnavailable: No sandbox can be had. Nothing was graded, and a new run's directory is removed again.
    """
    from evaluator.runs.writing import RunWriter

    rollouts = Path(rollouts)
    run = default_run(rollouts) if out is None else Path(out)
    if resume or only:
        if out is None:
            raise RunError("resume and only are about a run: name its directory with out")
        if is_run(run):
            earlier = read_manifest(run)
            grader, checker = grader or earlier.grader, checker or earlier.checker
            preamble = earlier.preamble if preamble is None else preamble
        elif only:
            raise RunError(f"--only: {run} is no run: grade it first")
    if checker is not None:
        get_checker(checker)
    options = Options(
        limits=limits or Limits(),
        checker=checker,
        grader=_grader_text(grader),
        fail_fast=fail_fast,
        isolation=isolation,
        sandbox=_anchored(sandbox or Settings()),
        unverified=unverified,
        disagreement=disagreement,
    )
    tasks_path = _dataset_path(rollouts, dataset, format, options.grader)
    manifest = Manifest(
        dataset=str(tasks_path),
        dataset_hash=dataset_hash(tasks_path),
        rollouts=str(rollouts),
        checker=checker,
        grader=options.grader,
        preamble=preamble,
        limits=options.limits,
        sandbox=options.sandbox.strictness,
        isolation=isolation,
        unverified=unverified,
        disagreement=disagreement,
        fail_fast=fail_fast,
        evaluator_version=evaluator.__version__,
        python=python_version(options.sandbox.python),
        folder=folder_from(run),
        workers=workers,
        format=format,
        field_map=",".join(f"{ours}={theirs}" for ours, theirs in field_map.items()) if field_map else None,
        limit=limit,
        only=only,
        interpreter=options.sandbox.python,
    )

    def bad_line(problem: Problem) -> None:
        manifest.add_problem(problem.path, problem.line, problem.message, problem.snippet)
        if on_problem is not None:
            on_problem(problem)

    data = _dataset(manifest, field_map, bad_line)
    if preamble is not None:
        for task in data.tasks:
            task.preamble = preamble
    found = load_rollouts(rollouts, _rollouts_format(format), field_map=field_map, on_problem=bad_line)
    found = itertools.islice(data.named(require_rows(found, rollouts)), limit)
    again = _chosen_again(run, only) if only else None
    writer = RunWriter.create(run, manifest, resume=resume or bool(only))
    manifest = writer.manifest  # of a resumed run, the one that is there
    try:
        for task in data.tasks:
            writer.add_task(task, shown_cases(task, options.grader))
        wanted = _Wanted(found, writer, again, resume=resume)
        stop = stop or threading.Event()
        if on_start is not None:
            on_start(wanted.total(limit, rollouts))
        began, graded = time.monotonic(), 0
        graded_now = local.grade_all(
            data.tasks, iter(wanted), options, workers=workers, stop=stop, on_wait=writer.flush_when_due
        )
        for rollout, grade, place in graded_now:
            writer.add(rollout, grade, wanted.row(place))
            graded += 1
            if on_grade is not None:
                on_grade(grade)
        writer.close("stopped" if stop.is_set() else "finished")
        seconds = time.monotonic() - began
        return GradedFile(run, graded, seconds, stop.is_set(), manifest.problems_total)
    except SandboxUnavailable:
        writer.discard()
        raise
    finally:
        writer.close("stopped")  # no effect after a good end


def limits_of(timeout: float | None, memory: float | None) -> Limits:
    """The limits for `--timeout` seconds and `--memory` MiB. Raises `RecordError` for a bad number."""
    limits = Limits()
    changes: dict[str, float] = {}
    if timeout is not None:
        changes |= {"wall_s": timeout, "cpu_s": timeout, "total_s": max(limits.total_s, timeout)}
    if memory is not None:
        changes |= {"memory_mb": memory, "virtual_mb": max(limits.virtual_mb, _VIRTUAL_PER_RESIDENT * memory)}
    return limits.replaced(changes)


def default_run(rollouts: Path) -> Path:
    """`runs/<stem>-<UTC time>`, with a number at its end where there is one by that name."""
    base = run_stem(rollouts)
    base = base.with_name(f"{base.name}-{datetime.now(UTC).strftime('%Y%m%dT%H%M%SZ')}")
    names = itertools.chain([base], (base.with_name(f"{base.name}-{number}") for number in itertools.count(2)))
    return next(path for path in names if not path.exists())


def run_stem(rollouts: Path) -> Path:
    """`runs/<stem>`: the name of a run of these rollouts up to the time in it."""
    stem = rollouts.name
    for suffix in _SUFFIXES:
        stem = stem.removesuffix(suffix)
    return Path("runs") / (stem or "rollouts")


def count_lines(path: Path) -> int | None:
    """How many lines a plain file of JSON lines has; None for other files, which would have to be read for it."""
    if path.suffix != ".jsonl":
        return None
    count, last = 0, b"\n"
    with path.open("rb") as file:
        for chunk in iter(lambda: file.read(1 << 20), b""):
            count, last = count + chunk.count(b"\n"), chunk[-1:]
    return count + (last != b"\n")


class _Wanted:
    """The rollouts to grade, as a stream, with the ordinal that each one has in its file."""

    def __init__(self, rollouts: Iterator[Rollout], writer: RunWriter, again: set[int] | None, *, resume: bool) -> None:
        self._rollouts = rollouts
        self._again = again
        resume = resume and again is None
        unanswered = _samples_where(writer.path, _JUDGE_FAILED) if resume else set()
        self._done = writer.graded_samples() - unanswered if resume else set()
        self._rows: dict[int, int] = {}
        if again is not None or unanswered:
            writer.regrade()

    def __iter__(self) -> Iterator[Rollout]:
        places = itertools.count()
        for row, rollout in enumerate(self._rollouts):
            key = sample_key(rollout.task_id, rollout.sample_id)
            if key in self._done or (self._again is not None and key not in self._again):
                continue
            self._rows[next(places)] = row
            yield rollout

    def row(self, place: int) -> int:
        """The ordinal in the file of the rollout at a place of this stream; to be called once for each."""
        return self._rows.pop(place)

    def total(self, limit: int | None, path: Path) -> int | None:
        """About how many they are; None where that would take reading the file."""
        if self._again is not None:
            return len(self._again)
        known = [count for count in (count_lines(path), limit) if count is not None]
        return max(min(known) - len(self._done), 1) if known else None


def _grader_text(grader: str | None) -> str | None:
    """The grader in a text that means the same in every folder. Raises `GraderError`."""
    if grader is None:
        return None
    text = anchored(grader.strip(), Path.cwd())
    get_grader(text)
    return text


def _anchored(settings: Settings) -> Settings:
    if settings.python is None:
        return settings
    path = os.path.abspath(Path(settings.python).expanduser())  # noqa: PTH100 - a link is a virtual environment's
    return msgspec.structs.replace(settings, python=path)


def _dataset_path(rollouts: Path, dataset: str | Path | None, format_name: str | None, grader: str | None) -> Path:
    """The rollouts again where these alone are graded, by what they came with."""
    if dataset is not None:
        return Path(dataset)
    found = tasks_file(rollouts, format_name)
    if found is None and needs_tasks(grader):
        raise FormatError(f"{rollouts}: has no tests: name the dataset with its tasks as well")
    return found or rollouts


def _dataset(manifest: Manifest, field_map: Mapping[str, str] | None, tell: OnProblem) -> Dataset:
    name = _dataset_format(manifest)
    if needs_tasks(manifest.grader):
        return load_dataset(manifest.dataset, name, field_map=field_map if name == "mapped" else None, on_problem=tell)
    return load_with_prompts(
        manifest.rollouts,
        manifest.dataset,
        rollouts_format=_rollouts_format(manifest.format),
        dataset_format=name,
        field_map=field_map,
    )


def _rollouts_format(name: str | None) -> str | None:
    """None where the format that was named is the dataset's."""
    named = known_formats().get(name or "")
    return None if named is not None and Role.ROLLOUTS not in named.roles else name


def _dataset_format(manifest: Manifest) -> str | None:
    """None where the dataset's format is detected: the format and the field map are about the rollouts then."""
    name = manifest.format or ("mapped" if manifest.field_map else None)
    named = known_formats().get(name or "")
    if named is None or Role.TASKS not in named.roles:
        return None  # an unknown name is refused when the rollouts are read
    if Role.ROLLOUTS not in named.roles:
        return name
    try:
        found = sniff(manifest.dataset)
    except FormatError:
        return name
    return None if Role.TASKS in {found.role, *(other.role for other in found.others)} else name


def _chosen_again(run: Path, only: str) -> set[int]:
    """The keys of the samples in the run that have these verdicts or meet this condition."""
    words = [word.strip() for word in only.split(",")]
    if set(words) <= {verdict.value for verdict in Verdict}:
        only = f"verdict IN ({', '.join(map(repr, words))})"
    return _samples_where(run, only)


def _samples_where(run: Path, condition: str) -> set[int]:
    from evaluator.runs.reading import Run, rows_where

    with Run.open(run).connect() as connection:
        chosen = rows_where(connection, "rollouts", condition).project("task_id, sample_id").fetchall()
    return {sample_key(task_id, sample_id) for task_id, sample_id in chosen}
