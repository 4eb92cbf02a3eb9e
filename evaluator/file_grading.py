"""Grades a file of rollouts into a run: the one way, for the command, the dashboard and callers of the library.

It knows nothing of terminals, signals and pages. Callers watch it through functions and stop it through an event.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Unpack

import msgspec

from evaluator.formats import (
    FileLike,
    Files,
    FormatError,
    OnProblem,
    Problem,
    Source,
    dataset_hash,
    load_rollouts,
    require_rows,
)
from evaluator.formats.nemo_gym_files import tasks_files
from evaluator.formats.reading.dataset import (
    Dataset,
    dataset_reading,
    load_dataset,
    load_with_prompts,
    map_of,
    map_text,
    rollouts_format,
)
from evaluator.formats.reading.sources import Extent, extent_after, resolve, same_files, source_names
from evaluator.graders import needs_tasks, shown_cases, with_known_names
from evaluator.model import Grade, Rollout
from evaluator.options import Given, Options, Settings, options_of, with_preamble
from evaluator.runs.files import RunError, default_run, is_run, read_manifest
from evaluator.runs.resuming import Remaining, chosen_again, folder_from
from evaluator.runs.schema import Manifest
from evaluator.sandbox import SandboxUnavailable, python_version
from evaluator.version import VERSION
from evaluator.workers.batches import Batch
from evaluator.workers.cached_grades import cache_settings
from evaluator.workers.engine import EngineError, EngineName
from evaluator.workers.grade_stream import grade_batches
from evaluator.workers.single import engine_for

if TYPE_CHECKING:
    from evaluator.runs.writing import RunWriter


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
    cached: int = 0
    """How many of the graded ones have a grade from the cache."""


def grade_file(
    rollouts: Files,
    dataset: FileLike | None = None,
    *,
    out: str | Path | None = None,
    workers: int | None = None,
    engine: EngineName = "local",
    address: str | None = None,
    format: str | None = None,  # noqa: A002 - as in `load_rollouts`
    field_map: Mapping[str, str] | None = None,
    dataset_format: str | None = None,
    dataset_map: Mapping[str, str] | None = None,
    limit: int | None = None,
    resume: bool = False,
    only: str | None = None,
    cache: bool | str | Path | None = True,
    on_start: Callable[[int | None], object] | None = None,
    on_grade: Callable[[Grade], object] | None = None,
    on_verdicts: Callable[[Mapping[str, int]], object] | None = None,
    on_problem: OnProblem | None = None,
    stop: threading.Event | None = None,
    options: Options | None = None,
    **given: Unpack[Given],
) -> GradedFile:
    """Grades a file of rollouts and keeps the grades as a run, as `rollscope grade` does.

    >>> from evaluator import grade_file
    >>> done = grade_file("rollouts.jsonl", "tasks.jsonl", out="runs/mine", limit=100)
    >>> done.run, done.graded, done.stopped
    (PosixPath('runs/mine'), 2, False)

    The files are read as streams and the grades are written every few seconds, so memory does not grow with the
    rollouts (the tasks are held in memory). A process that is killed loses what it was grading; `resume` does the
    rest. Callbacks run in the calling thread, one at a time; what one raises ends the grading, and the run can be
    resumed. Any thread may call this.

    Args:
        rollouts: A file of any kind in docs/reference/formats.md, a folder of such files, a pattern such as
            `steps/*.jsonl`, or several of these, which are graded as one file.
        dataset: The file of tasks. None: what NeMo Gym left beside its rollouts, or tests in the rollouts' own rows;
            for a grader that needs no tasks (`stored`), the rollouts alone.
        out: The run's directory, which must be empty or not exist. None: `runs/<stem>-<UTC time>` in the working
            directory, with a number at its end where that is taken.
        workers, engine, address, fail_fast, isolation: As in `grade_all`.
        limits, timeout, memory, time_factor, sandbox, python, unverified, disagreement, options: As in `grade`.
        checker, grader, unfinished_thinking: As in `grade`; files in the working directory.
        preamble: Code before every completion, in place of what the tasks say. None: what they say; "": nothing.
        format: The name of the rollouts' format, or of the dataset's. None: it is detected.
        field_map: Our names of fields to the file's, such as `{"task_id": "uid"}`; see `load_rollouts`.
        dataset_format, dataset_map: The same two for the dataset. None: `format` if it is a format of tasks alone, and
            `field_map` if the dataset is of no known format.
        limit: Grade the first so many rollouts of the file. None: all.
        resume: Grade what `out` has no grade of, and what a judge did not answer for. The grader, the checker and the
            preamble of the run, and how its dataset is read, hold where none is given. Without a run in `out` a new one
            is begun.
        only: Grade again what is in `out` and has one of these verdicts ("sandbox_error,time_limit"), or meets this
            DuckDB condition over the columns of `rollouts`. It wins over `resume`.
        cache: As in `grade_all`. With `only` grades are kept there, but none is looked for.
        on_start: Called once, before the first grade, with about how many rollouts are to be graded; None where
            that would take reading the file.
        on_grade: Called with each grade, in the order in which they are done.
        on_verdicts: Called with how many more were graded, by verdict. It costs less than `on_grade`.
        on_problem: Called with each line that can't be used. None: they are only kept in the run.
        stop: Set it, from anywhere, to end the grading soon. What has been graded is kept.

    Raises:
        FormatError: A file can't be read as a whole or has no usable row, or there are no tasks for the rollouts.
        RunError: `out` holds something else, was graded otherwise, is being written, or can't be written (any more).
        GraderError, CheckerError: No grader or checker has that name, or it does not take these options.
        QueryError: `only` is no condition.
        InterpreterError: `sandbox` names a Python that completions can't run on.
        EngineError, MissingExtraError: As in `grade_all`. Before the first grade, no run is made.
        SandboxUnavailable: No sandbox can be had. Nothing was graded, and a new run's directory is removed again.
    """
    from evaluator.runs.writing import RunWriter

    files = resolve(rollouts)
    words = source_names(files)
    run = default_run(Path(words[0])) if out is None else Path(out)
    earlier = _earlier(out, resume=resume, only=only)
    if earlier is not None and not dataset_format and not dataset_map:
        dataset_format, dataset_map = earlier.dataset_format, map_of(earlier.dataset_map)
    options = _settled(options_of(options, given), earlier, cache, reads=only is None)
    inputs = _Inputs(files, dataset, _Reading(format, field_map), _Reading(dataset_format, dataset_map), options.grader)
    extent, grown = inputs.extent(earlier)
    manifest = Manifest(
        dataset=str(dataset or source_names(inputs.tasks)[0]),
        dataset_hash=extent.digest if extent else dataset_hash(inputs.tasks),
        dataset_bytes=extent.size if extent else None,
        rollouts=words[0],
        more_rollouts=tuple(words[1:]),
        options=msgspec.structs.replace(options, cache=None),
        evaluator_version=VERSION,
        python=python_version(options.sandbox.python),
        folder=folder_from(run),
        workers=workers,
        engine=engine,
        address=address,
        format=format,
        field_map=map_text(field_map),
        dataset_format=dataset_format,
        dataset_map=map_text(dataset_map),
        limit=limit,
        only=only,
        cache=_cache_text(cache),
    )
    bad_lines = _BadLines(manifest, on_problem)
    data = inputs.read_tasks(bad_lines.add)
    tasks = [with_preamble(task, options) for task in data.tasks]
    found = inputs.read_rollouts(data, limit, bad_lines.add)
    again = chosen_again(run, only) if only else None
    found_engine = engine_for(engine, address, options, workers)
    writer = RunWriter.create(run, manifest, resume=resume or bool(only), grown=grown)
    bad_lines.manifest = writer.manifest  # of a resumed run, the one that is there
    stop = stop or threading.Event()
    with _closing(writer):
        for task in tasks:
            writer.add_task(task, shown_cases(task, options.grader))
        writer.finish_tasks()
        remaining = Remaining(found, writer, again, resume=resume)
        if on_start is not None:
            on_start(remaining.total(limit, [file.path for file in files]))
        began = time.monotonic()
        batches = grade_batches(
            tasks, iter(remaining), options, workers=workers, stop=stop, on_wait=writer.flush_when_due, columns=True,
            engine=found_engine,
        )  # fmt: skip
        graded, cached = _write(batches, remaining, writer, on_grade, on_verdicts)
        writer.close("stopped" if stop.is_set() else "finished")
        seconds = time.monotonic() - began
        return GradedFile(run, graded, seconds, stop.is_set(), writer.manifest.problems_total, cached)


def _write(
    batches: Iterator[Batch],
    remaining: Remaining,
    writer: RunWriter,
    on_grade: Callable[[Grade], object] | None,
    on_verdicts: Callable[[Mapping[str, int]], object] | None,
) -> tuple[int, int]:
    """Puts the grades into the run as they arrive; how many, and how many of them are from the cache."""
    graded = cached = 0
    for batch in batches:
        writer.add_columns([remaining.row(place) for place in batch.places], batch.columns, batch.verdicts)
        graded += len(batch)
        cached += batch.cached
        writer.manifest.cached += batch.cached
        if on_verdicts is not None:
            on_verdicts(batch.verdicts)
        if on_grade is not None:
            for grade in batch.grades:
                on_grade(grade)
    return graded, cached


class _Reading(NamedTuple):
    """How a file is read; see `load_rollouts`."""

    format: str | None
    field_map: Mapping[str, str] | None


class _Inputs:
    """The two files of a grading, and how they are read: rollouts, and the tasks that decide about them."""

    def __init__(
        self,
        rollouts: list[Source],
        dataset: FileLike | None,
        how: _Reading,
        how_dataset: _Reading,
        grader: str | None,
    ) -> None:
        """Raises `FormatError` if there are no tasks for the rollouts."""
        self.rollouts = rollouts
        self.how = how
        self.how_dataset = how_dataset
        self._needs_tasks = needs_tasks(grader)
        self.tasks = self._dataset_files(dataset)

    def extent(self, earlier: Manifest | None) -> tuple[Extent | None, bool]:
        """What there is of rollouts that are the dataset too; and whether the run's tasks may be more than before.

        Raises `FormatError` if the rollouts are the dataset, and are not those of before with perhaps more at their
        end.
        """
        if not same_files(self.tasks, self.rollouts):
            is_same = earlier is not None and dataset_hash(self.tasks) == earlier.dataset_hash
            return None, is_same and not self._needs_tasks
        size = earlier.dataset_bytes if earlier is not None else None
        before = Extent(size, earlier.dataset_hash) if earlier is not None and size else Extent(0, "")
        return extent_after(self.rollouts, before), size is not None

    def read_tasks(self, on_problem: OnProblem) -> Dataset:
        name, names = dataset_reading(self.tasks[0], self.how_dataset, self.how)
        if self._needs_tasks:
            return load_dataset(self.tasks, name, field_map=names, on_problem=on_problem)
        return load_with_prompts(
            self.rollouts,
            self.tasks,
            rollouts_format=self._rollouts_format,
            dataset_format=name,
            field_map=self.how.field_map,
            dataset_map=names,
        )

    def read_rollouts(self, data: Dataset, limit: int | None, on_problem: OnProblem) -> Iterator[Rollout]:
        """The first so many. Raises `FormatError` if there is no usable row."""
        found = load_rollouts(self.rollouts, self._rollouts_format, field_map=self.how.field_map, on_problem=on_problem)
        return islice(data.named(require_rows(found, self.rollouts)), limit)

    @property
    def _rollouts_format(self) -> str | None:
        return rollouts_format(self.how.format, self.how_dataset.format)

    def _dataset_files(self, dataset: FileLike | None) -> list[Source]:
        """The rollouts again where these alone are graded, by what they came with."""
        if dataset is not None:
            return resolve(dataset)
        found = tasks_files(self.rollouts, self.how.format)
        if found is None and self._needs_tasks:
            raise FormatError(f"{self.rollouts[0]}: has no tests: name the dataset with its tasks as well")
        return found or self.rollouts


@contextmanager
def _closing(writer: RunWriter) -> Iterator[None]:
    """Keeps what was graded, however this ends; a new run of which nothing was graded is removed again."""
    try:
        yield
    except (SandboxUnavailable, EngineError):
        if not writer.manifest.counts:
            writer.discard()
        raise
    finally:
        writer.close("stopped")  # no effect after a good end


class _BadLines:
    """Notes lines that can't be used, in the run and for the caller."""

    def __init__(self, manifest: Manifest, on_problem: OnProblem | None) -> None:
        self.manifest = manifest
        self._on_problem = on_problem

    def add(self, problem: Problem) -> None:
        self.manifest.add_problem(
            problem.path, problem.line, problem.message, problem.snippet, offset=problem.offset, reason=problem.reason
        )
        if self._on_problem is not None:
            self._on_problem(problem)


def _earlier(out: str | Path | None, *, resume: bool, only: str | None) -> Manifest | None:
    """Of the run that is resumed, or graded again in part; None for a new one. Raises `RunError`."""
    if not (resume or only):
        return None
    if out is None:
        raise RunError("resume and only are about a run: name its directory with out")
    if is_run(Path(out)):
        return read_manifest(Path(out))
    if only:
        raise RunError(f"--only: {out} is not a run: grade it first")
    return None


def _settled(options: Options, earlier: Manifest | None, cache: bool | str | Path | None, *, reads: bool) -> Options:
    """With full paths, and what holds of an earlier run where it is not given. Raises `CheckerError`, `GraderError`."""
    if earlier is not None:
        kept = [name for name in ("grader", "checker", "preamble") if getattr(options, name) is None]
        options = msgspec.structs.replace(options, **{name: getattr(earlier.options, name) for name in kept})
    return msgspec.structs.replace(
        with_known_names(options), sandbox=_anchored(options.sandbox), cache=cache_settings(cache, reads=reads)
    )


def _cache_text(cache: bool | str | Path | None) -> str | None:
    """As the command's option: a full path, or `none`; None for the user's own."""
    if cache is True:
        return None
    return os.path.abspath(Path(cache).expanduser()) if cache else "none"  # noqa: PTH100


def _anchored(settings: Settings) -> Settings:
    if settings.python is None:
        return settings
    path = os.path.abspath(Path(settings.python).expanduser())  # noqa: PTH100 - a link is a virtual environment's
    return msgspec.structs.replace(settings, python=path)
