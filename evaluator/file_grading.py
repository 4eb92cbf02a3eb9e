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
from typing import TYPE_CHECKING, Final, Unpack

import msgspec

from evaluator.checkers import get_checker
from evaluator.engines import local
from evaluator.engines.choice import EngineName, engine_named
from evaluator.engines.kept_grades import cache_settings
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
from evaluator.formats.dataset import Dataset, load_dataset, load_with_prompts
from evaluator.formats.growth import Extent, extent_after, same_files
from evaluator.formats.nemo_gym_sidecars import tasks_file
from evaluator.formats.readings import dataset_reading, map_of, map_text, rollouts_format
from evaluator.formats.sources import resolve, source_names
from evaluator.graders import get_grader, needs_tasks, shown_cases
from evaluator.graders.spec import anchored
from evaluator.model import Grade, Limits, Rollout, Verdict
from evaluator.options import Given, Options, Settings, options_of, with_preamble
from evaluator.runs.files import RunError, is_run, read_manifest
from evaluator.runs.resuming import folder_from
from evaluator.runs.schema import Manifest, sample_key
from evaluator.sandbox import SandboxUnavailable, python_version
from evaluator.version import VERSION

if TYPE_CHECKING:
    from evaluator.runs.writing import RunWriter

_SUFFIXES: Final = (
    ".gz", ".zst", ".bz2", ".xz", ".jsonl", ".ndjson", ".json", ".parquet", ".csv", ".tsv", ".eval", ".rollouts",
)  # fmt: skip
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
        rollouts: A file of any kind in docs/formats.md, a folder of such files, a pattern such as `steps/*.jsonl`, or
            several of these, which are graded as one file.
        dataset: The file of tasks. None: what NeMo Gym left beside its rollouts, or tests in the rollouts' own rows;
            for a grader that needs no tasks (`stored`), the rollouts alone.
        out: The run's directory, which must be empty or not exist. None: `runs/<stem>-<UTC time>` in the working
            directory, with a number at its end where that is taken.
        workers, engine, address, fail_fast, isolation: As in `grade_all`.
        limits, checker, grader, sandbox, unverified, disagreement, unfinished_thinking, options: As in `grade`; files
            in the working directory.
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
    options = options_of(options, given)
    earlier: Manifest | None = None
    if resume or only:
        if out is None:
            raise RunError("resume and only are about a run: name its directory with out")
        if is_run(run):
            earlier = read_manifest(run)
            options = _as_before(options, earlier.options)
            if not dataset_format and not dataset_map:
                dataset_format, dataset_map = earlier.dataset_format, map_of(earlier.dataset_map)
        elif only:
            raise RunError(f"--only: {run} is no run: grade it first")
    if options.checker is not None:
        get_checker(options.checker)
    options = msgspec.structs.replace(
        options,
        grader=_grader_text(options.grader),
        sandbox=_anchored(options.sandbox),
        cache=cache_settings(cache, reads=only is None),
    )
    tasks = _dataset_files(files, dataset, format, options.grader)
    extent, grown = _extent(tasks, files, options.grader, earlier)
    manifest = Manifest(
        dataset=str(dataset or source_names(tasks)[0]),
        dataset_hash=extent.digest if extent else dataset_hash(tasks),
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

    def bad_line(problem: Problem) -> None:
        manifest.add_problem(
            problem.path, problem.line, problem.message, problem.snippet, offset=problem.offset, reason=problem.reason
        )
        if on_problem is not None:
            on_problem(problem)

    data = _dataset(manifest, files, tasks, field_map, dataset_map, bad_line)
    given_tasks = [with_preamble(task, options) for task in data.tasks]
    rows_format = rollouts_format(format, dataset_format)
    found = load_rollouts(files, rows_format, field_map=field_map, on_problem=bad_line)
    found = itertools.islice(data.named(require_rows(found, files)), limit)
    again = _chosen_again(run, only) if only else None
    hands = engine_named(engine, address, options, workers)
    writer = RunWriter.create(run, manifest, resume=resume or bool(only), grown=grown)
    manifest = writer.manifest  # of a resumed run, the one that is there
    try:
        for task in given_tasks:
            writer.add_task(task, shown_cases(task, options.grader))
        wanted = _Wanted(found, writer, again, resume=resume)
        stop = stop or threading.Event()
        if on_start is not None:
            on_start(wanted.total(limit, files))
        began, graded, cached = time.monotonic(), 0, 0
        batches = local.grade_batches(
            given_tasks,
            iter(wanted),
            options,
            workers=workers,
            stop=stop,
            on_wait=writer.flush_when_due,
            columns=True,
            engine=hands,
        )
        for batch in batches:
            writer.add_columns([wanted.row(place) for place in batch.places], batch.columns, batch.verdicts)
            graded += len(batch)
            cached += batch.cached
            manifest.cached += batch.cached
            if on_verdicts is not None:
                on_verdicts(batch.verdicts)
            if on_grade is not None:
                for grade in batch.grades:
                    on_grade(grade)
        writer.close("stopped" if stop.is_set() else "finished")
        seconds = time.monotonic() - began
        return GradedFile(run, graded, seconds, stop.is_set(), manifest.problems_total, cached)
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


def cache_of(text: str | None) -> str | bool | None:
    """The `cache` of `grade_file` for `--cache`: a folder, or `none`; the user's own if the option was not given."""
    return True if text is None else None if text in ("none", "") else text


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
    if {*stem} & {*"*?["}:
        stem = rollouts.parent.name
    return Path("runs") / (stem.strip("*?[]-") or "rollouts")


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
        self._run = writer.path
        resume = resume and again is None
        unanswered = _samples_where(writer.path, _JUDGE_FAILED) if resume else set()
        self._done = writer.graded_samples() - unanswered if resume else set()
        self._rows: dict[int, int] = {}
        if again is not None or unanswered:
            writer.regrade()

    def __iter__(self) -> Iterator[Rollout]:
        places = itertools.count()
        chosen = bool(self._done) or self._again is not None
        for row, rollout in enumerate(self._rollouts):
            if chosen:
                key = sample_key(rollout.task_id, rollout.sample_id)
                if key in self._done or (self._again is not None and key not in self._again):
                    continue
            self._rows[next(places)] = row
            yield rollout

    def row(self, place: int) -> int:
        """The ordinal in the file of the rollout at a place of this stream; to be called once for each."""
        return self._rows.pop(place)

    def total(self, limit: int | None, files: list[Source]) -> int | None:
        """About how many they are; None where that would take reading the files."""
        again, done = self._again, self._done
        if limit is not None and (again or done):
            within = _samples_where(self._run, f'"row" < {limit}')  # a grade of a later rollout is not one fewer to do
            again, done = (None if again is None else again & within), done & within
        if again is not None:
            return len(again)
        counts = [count_lines(file.path) for file in files]
        total = None if None in counts else sum(count for count in counts if count is not None)
        known = [count for count in (total, limit) if count is not None]
        return max(min(known) - len(done), 0) if known else None


def _as_before(options: Options, earlier: Options) -> Options:
    """The options of a resumed run: what is not given holds as before."""
    kept = ("grader", "checker", "preamble")
    changes = {name: getattr(earlier, name) for name in kept if getattr(options, name) is None}
    return msgspec.structs.replace(options, **changes)


def _grader_text(grader: str | None) -> str | None:
    """The grader in a text that means the same in every folder. Raises `GraderError`."""
    if grader is None:
        return None
    text = anchored(grader.strip(), Path.cwd())
    get_grader(text)
    return text


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


def _dataset_files(
    files: list[Source], dataset: FileLike | None, format_name: str | None, grader: str | None
) -> list[Source]:
    """The rollouts again where these alone are graded, by what they came with."""
    if dataset is not None:
        return resolve(dataset)
    found = tasks_file(files[0].path, format_name) if len(files) == 1 else None
    if found is None and needs_tasks(grader):
        raise FormatError(f"{files[0]}: has no tests: name the dataset with its tasks as well")
    return files if found is None or found == files[0].path else resolve(found)


def _extent(
    tasks: list[Source], files: list[Source], grader: str | None, earlier: Manifest | None
) -> tuple[Extent | None, bool]:
    """What there is of rollouts that are the dataset too; and whether the run's tasks may be more than before.

    Raises `FormatError` if the rollouts are the dataset, and are not those of before with perhaps more at their end.
    """
    if not same_files(tasks, files):
        return None, not needs_tasks(grader) and earlier is not None and dataset_hash(tasks) == earlier.dataset_hash
    size = earlier.dataset_bytes if earlier is not None else None
    before = Extent(size, earlier.dataset_hash) if earlier is not None and size else Extent(0, "")
    return extent_after(files, before), size is not None


def _dataset(
    manifest: Manifest,
    rollouts: list[Source],
    tasks: list[Source],
    field_map: Mapping[str, str] | None,
    dataset_map: Mapping[str, str] | None,
    tell: OnProblem,
) -> Dataset:
    own, of_rollouts = (manifest.dataset_format, dataset_map), (manifest.format, field_map)
    name, names = dataset_reading(tasks[0], own, of_rollouts)
    if needs_tasks(manifest.options.grader):
        return load_dataset(tasks, name, field_map=names, on_problem=tell)
    return load_with_prompts(
        rollouts,
        tasks,
        rollouts_format=rollouts_format(manifest.format, manifest.dataset_format),
        dataset_format=name,
        field_map=field_map,
        dataset_map=names,
    )


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
