"""Writes a run: grades go in as columns, Parquet parts come out, complete or not at all.

A part is written every 10,000 rollouts, 64 MiB of text or 5 seconds, whichever comes first. So memory stays flat, and a
run can be read while it grows. What is not in a part yet is in a journal (`runs.parts`), so that a killed run loses
nothing that had arrived here.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Self

from evaluator.model import Grade, Limits, Rollout, Task, TestCase
from evaluator.options import by_name
from evaluator.runs.files import (
    LOCK,
    MANIFEST,
    TASKS,
    RunError,
    RunLock,
    part_ordinals,
    read_manifest,
    release_space,
    remove_leftovers,
    reserve_space,
    write_manifest,
)
from evaluator.runs.parts import Part, TaskFile, recover
from evaluator.runs.reading import Run
from evaluator.runs.schema import Manifest, RunState, TaskRow, columns_of

PART_ROWS: Final = 10_000
PART_BYTES: Final = 64 << 20
PART_SECONDS: Final = 5.0
_FIRST_PART_SECONDS: Final = 1.0

_MAY_CHANGE: Final = (
    "rollouts", "dataset", "folder", "workers", "format", "field_map", "limit", "only",
    "dataset_format", "dataset_map", "cache",
)  # fmt: skip
"""What may differ each time, as may `isolation`; the last value is kept, so that it can be resumed in the same way."""

_GROWS: Final = ("dataset_hash", "dataset_bytes")


class RunWriter:
    """The one writer of a run. Call `create` to get it; `close` it, or use it as a context manager."""

    def __init__(self, path: Path, manifest: Manifest, lock: RunLock, *, fresh: bool, grown: bool = False) -> None:
        self.path = path
        self.manifest = manifest
        self._lock = lock
        self._fresh = fresh
        # A resumed run already has its tasks: the dataset is the same.
        self._tasks = None if (path / TASKS).exists() and not grown else TaskFile(path / TASKS)
        self._next_part = max(part_ordinals(path, "rollouts"), default=-1) + 1
        self._part = Part(path, self._next_part)
        self._due = time.monotonic() + _FIRST_PART_SECONDS  # soon, so that the dashboard has something to show
        self._closed = False
        self._fault: str | None = None  # why it could not be written any more

    @classmethod
    def create(cls, path: Path | str, manifest: Manifest, *, resume: bool = False, grown: bool = False) -> Self:
        """A writer of a new run, or with `resume` of an existing one that was graded in the same way.

        `grown`: the dataset is the one of before, and may have more tasks now: all are to be added again.
        Raises `RunError` if the directory is not empty and not to be resumed, if its run was graded differently
        (dataset, checker, grader, preamble, limits, sandbox, interpreter), or if another process is writing it.
        """
        run = Path(path)
        earlier = _earlier_manifest(run, resume=resume)
        try:
            for table in ("rollouts", "cases"):
                (run / table).mkdir(parents=True, exist_ok=True)
            lock = RunLock(run)
        except OSError as error:
            raise RunError(f"{run}: can't be written: {error.strerror}") from None
        if earlier is not None:
            _require_same(run, earlier, manifest, lock, _GROWS if grown else ())
            remove_leftovers(run)
            recover(run, earlier)
            changing = (*_MAY_CHANGE, *(_GROWS if grown else ()))
            for name in (*changing, "problems", "problems_total", "problem_reasons"):  # the files are read again
                setattr(earlier, name, getattr(manifest, name))
            earlier.options = manifest.options
            manifest = earlier
            manifest.counts = Run.open(run).counts()  # outdated if the process was killed
        manifest.state, manifest.stopped_by = "running", None
        write_manifest(run, manifest)
        reserve_space(run)
        return cls(run, manifest, lock, fresh=earlier is None, grown=grown)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close("stopped")

    def graded_samples(self) -> set[int]:
        """The keys (`schema.sample_key`) of the samples that have a grade in a written part: 8 bytes each."""
        return Run.open(self.path).samples_where(None)

    def regrade(self) -> None:
        """Declare that rollouts added from now on may replace grades in earlier parts."""
        if self.manifest.regraded_from is None:
            self.manifest.regraded_from = self._next_part
            write_manifest(self.path, self.manifest)

    def add_task(self, task: Task, cases: Sequence[TestCase]) -> None:
        """Add a task with the test cases as the grader runs them. Add all tasks before the first rollout."""
        if self._tasks is not None:
            with self._reporting():
                self._tasks.add(TaskRow(task, cases))

    def add(self, rollout: Rollout, grade: Grade, row: int) -> None:
        """Add a graded rollout; `row` is its ordinal in its file, from 0. Raises `RunError`."""
        self.add_columns([row], columns_of([rollout], [grade]), {grade.verdict.value: 1})

    def add_columns(self, rows: Sequence[int], columns: bytes, verdicts: Mapping[str, int]) -> None:
        """Add graded rollouts whose columns are made (`runs.schema`); `verdicts`: how many of each there are.

        `rows`: the ordinal of each in its file. They are on disk when this returns. Raises `RunError`.
        """
        with self._reporting():
            self._finish_tasks()
            self._part.add(rows, columns)
        counts = self.manifest.counts
        counts["rollouts"] = counts.get("rollouts", 0) + len(rows)
        for verdict, count in verdicts.items():
            counts[verdict] = counts.get(verdict, 0) + count
        self.flush_when_due()

    def finish_tasks(self) -> None:
        """All tasks are added: what was held of them is written. Raises `RunError`."""
        with self._reporting():
            self._finish_tasks()

    def _finish_tasks(self) -> None:
        if self._tasks is not None:
            self._tasks.finish()
            self._tasks = None

    def _abandon_tasks(self) -> None:
        if self._tasks is not None:
            self._tasks.abandon()

    def flush(self) -> None:
        """Write what has been added, so that readers see it. Raises `RunError` if it can't be written."""
        with self._reporting():
            if self._part.rows:
                layers = self._part.write(self.manifest)
                self.manifest.layers = self.manifest.layers or layers
                self._next_part += 1
                self._part = Part(self.path, self._next_part)
                write_manifest(self.path, self.manifest)
        self._due = time.monotonic() + PART_SECONDS

    def close(self, state: RunState = "finished") -> None:
        """Write the rest, count exactly and release the run. A second call does nothing.

        Raises `RunError` if it can't be written: the run stays as it was before, with the reason in its manifest if
        that much can be written, and can be resumed.
        """
        if self._closed:
            return
        self._closed = True
        try:
            with self._reporting():
                self._finish_tasks()
                self.flush()
                if self.manifest.regraded_from is not None:
                    self.manifest.counts = Run.open(self.path).counts()
                self.manifest.state, self.manifest.stopped_by = state, self._fault
                write_manifest(self.path, self.manifest)
        except RunError:
            self._tell_why()
            raise
        finally:
            release_space(self.path)
            self._lock.release()

    def _tell_why(self) -> None:
        """Make the manifest say what stopped the run, and count what is written. The space for it was reserved."""
        with contextlib.suppress(OSError):
            self._abandon_tasks()
        release_space(self.path)
        self.manifest.state, self.manifest.stopped_by = "stopped", self._fault
        with contextlib.suppress(OSError, RunError):
            self.manifest.counts = Run.open(self.path).counts()
            write_manifest(self.path, self.manifest)

    def discard(self) -> None:
        """Give up. A run that this writer created is removed; a resumed one stays as it was before."""
        if self._closed:
            return
        if not self._fresh:
            self.close("stopped")
            return
        self._closed = True
        self._part.forget()
        self._abandon_tasks()
        shutil.rmtree(self.path, ignore_errors=True)  # it was empty before
        self._lock.release()

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Raises `RunError`, with one line, for an `OSError` while the run is written."""
        try:
            yield
        except OSError as error:
            why = self._fault = os.strerror(error.errno) if error.errno else str(error)
            raise RunError(f"{self.path}: can't be written any more ({why}): fix that, then use --resume") from error

    def flush_when_due(self) -> None:
        """Write what has been added, if it is much or old. To be called also while no grade arrives."""
        full = self._part.rows >= PART_ROWS or self._part.bytes >= PART_BYTES
        if full or time.monotonic() >= self._due:
            self.flush()


def _earlier_manifest(run: Path, *, resume: bool) -> Manifest | None:
    if not run.exists():
        return None
    if not run.is_dir():
        raise RunError(f"{run}: is a file: use another --output")
    if (run / MANIFEST).exists():
        if not resume:
            raise RunError(f"{run}: already holds a run: use --resume to continue it, or another --output")
        return read_manifest(run)
    if any(path.name not in (LOCK, "rollouts", "cases", f"{MANIFEST}.tmp") for path in run.iterdir()):
        raise RunError(f"{run}: not empty and not a run: use another --output")
    return None


def _require_same(run: Path, earlier: Manifest, manifest: Manifest, lock: RunLock, grows: Sequence[str]) -> None:
    pairs: list[tuple[str, Any, Any]] = [("dataset_hash", earlier.dataset_hash, manifest.dataset_hash)]
    now = by_name(manifest.options)
    pairs += [(name, value, now[name]) for name, value in by_name(earlier.options).items() if name != "isolation"]
    for name, before, after in pairs:
        if before != after and name not in grows:
            lock.release()
            what = name.replace("_", " ")
            values = f"{_shown(name, before)}, not {_shown(name, after)}"
            difference = _differing_limits(before, after) if name == "limits" else values
            raise RunError(f"{run}: was graded with {what} {difference}: use another --output")


def _differing_limits(before: Limits, now: Limits) -> str:
    pairs = ((name, getattr(before, name), getattr(now, name)) for name in before.__struct_fields__)
    return ", ".join(f"{name} {old:g}, not {new:g}" for name, old, new in pairs if old != new)


def _shown(name: str, value: object) -> str:
    if value is None:
        return "Rollscope's own" if name == "interpreter" else "the task's own"
    if name == "preamble":
        return f"one of {len(str(value).splitlines())} lines"
    return str(value)
