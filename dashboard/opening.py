"""Reads the rollouts files that are open: a thread for each, shared by all visitors, so that pages need not wait.

What is read so far can be shown. A file is looked at again each time a page is drawn, and while it is followed twice a
second: as long as a page follows it, or something is to be done with new rollouts, which needs no page.
"""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final
from weakref import WeakSet

import msgspec
import streamlit as st

from evaluator.formats import FormatError
from evaluator.formats.reading.sources import resolve
from evaluator.graders import shown_cases
from evaluator.model import Task, TestCase
from evaluator.runs.files import RunError
from evaluator.runs.indexing import BuildStoppedError, File, Indexer, RolloutSource, State, read_state
from evaluator.runs.ungraded import Dataset, IndexedFile, tasks_file

_AT_ONCE_S: Final = 5.0
"""How long the first visitor waits, at most, for something to see."""
_MOMENT_S: Final = 0.2
_STEP_S: Final = 0.01
_REST_S: Final = 0.5
_END_S: Final = 2.0
_FOLLOWED_S: Final = 5.0
"""So long after a page last asked for it a file is followed: the page may be closed."""


class Rollouts(msgspec.Struct, frozen=True):
    """What was opened: a file, a folder or a pattern, how it is read, and the dataset beside it."""

    word: str
    """As `evaluator.formats.reading.sources` takes it."""
    name: str = ""
    """What it is called if it is a copy: of a pipe, or of an object in a store."""
    format: str | None = None
    field_map: dict[str, str] | None = None
    dataset: Dataset | None = None

    @property
    def folder(self) -> Path:
        """Where its index is, and what people note about it."""
        return self.source(()).folder

    def source(self, files: tuple[File, ...]) -> RolloutSource:
        """As the index takes it."""
        return RolloutSource(self.name or self.word, files, self.format, self.field_map)


_over: Final = threading.Event()
_threads: Final[WeakSet[threading.Thread]] = WeakSet()


@atexit.register
def _end() -> None:
    """DuckDB's binding prints a page of warnings if a thread that has used it outlives the interpreter."""
    _over.set()
    for thread in list(_threads):
        thread.join(_END_S)


class Reading:
    """The reading of one of them. Any thread may ask."""

    def __init__(self, rollouts: Rollouts) -> None:
        self._rollouts = rollouts
        self._indexer = Indexer(rollouts.source(()))
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._halt = threading.Event()
        self._since: int | None = None
        self._followed_until = 0.0
        self.on_read: Callable[[], object] | None = None
        """Called after each look at the file; while there is one the file is followed without a page."""
        self.fault = ""
        """Why it can't be read, in one line."""
        self.dataset_fault = ""
        """Why the dataset can't be read, in one line; the rollouts are shown without it."""
        self.grade_fault = ""
        """Why new rollouts are not graded any more, in one line."""
        self.has_tasks = False
        """Whether the dataset is read."""
        self.bytes_read = self.bytes_total = 0
        self.running = False
        """Whether it is being read now."""

    @property
    def stopped(self) -> bool:
        """Whether a visitor stopped it."""
        return self._halt.is_set()

    @property
    def notice(self) -> str:
        """What happened to the file since this server first read it: it was truncated or replaced; "" if nothing."""
        found = self.state()
        return found.notice if found is not None and self._since is not None and found.began > self._since else ""

    @property
    def is_readable(self) -> bool:
        """Whether there is something to show: the first rollouts, or that there are none."""
        found = self.state()
        return found is not None and (found.rows > 0 or found.complete)

    def look(self) -> None:
        """Read what is new, in the background. Wait a moment for it, a longer one where there is nothing to show."""
        with self._lock:
            if self.stopped or (self._thread is not None and self._thread.is_alive()):
                return
            is_first = not self.is_readable
            self.running = True
            self._thread = threading.Thread(target=self._work, name="rollouts", daemon=True)
            _threads.add(self._thread)
            self._thread.start()
        began = time.monotonic()
        while self.running and time.monotonic() < began + _MOMENT_S:
            time.sleep(_STEP_S)
        while is_first and self.running and time.monotonic() < began + _AT_ONCE_S and not self.is_readable:
            time.sleep(_STEP_S)

    def follow(self) -> None:
        """Go on to look for new rollouts, until a few seconds after the last call."""
        self._followed_until = time.monotonic() + _FOLLOWED_S
        self.look()

    def stop(self) -> None:
        """End it soon; what was read is shown."""
        self._halt.set()

    def resume(self) -> None:
        """Go on where it was stopped."""
        self._halt.clear()
        self.look()

    def state(self) -> State | None:
        """What there is so far; None before the first rollouts are read."""
        return read_state(self._indexer.folder)

    def opened(self) -> IndexedFile:
        """The rollouts so far. Raises `RunError` if there are none yet."""
        dataset = self._rollouts.dataset if self.has_tasks else None
        return IndexedFile.of(self._indexer.source, dataset, _cases_of)

    def _work(self) -> None:
        while True:
            began = time.monotonic()
            self.running = True
            try:
                self._read()
            finally:
                self.running = False
            self._since = self._since or time.time_ns()
            if self.on_read is not None:
                self.on_read()
            with self._lock:
                if self.stopped or (self.on_read is None and time.monotonic() > self._followed_until):
                    self._thread = None
                    return
            took = time.monotonic() - began
            if _over.wait(max(_REST_S, took)):  # a file that is written again as a whole is read again as a whole
                return

    def _read(self) -> None:
        try:
            found = resolve(self._rollouts.word)
            files = tuple(File(str(each.path.absolute()), self._rollouts.name or each.name) for each in found)
            self._indexer.source = self._rollouts.source(files)
            self._indexer.update(self._tell)
            self.fault = ""
        except BuildStoppedError:
            return
        except (FormatError, RunError) as error:
            self.fault = str(error)
        if self._rollouts.dataset is not None:
            try:
                tasks_file(self._rollouts.dataset, _cases_of)
                self.dataset_fault, self.has_tasks = "", True
            except (FormatError, RunError, OSError) as error:
                self.dataset_fault, self.has_tasks = str(error), False

    def _tell(self, done: int, total: int) -> None:
        self.bytes_read, self.bytes_total = done, total
        if self.stopped or _over.is_set():
            raise BuildStoppedError


@st.cache_resource(show_spinner=False)
def _readings() -> dict[Path, Reading]:
    return {}


_lock = threading.Lock()


def reading(rollouts: Rollouts) -> Reading:
    """The one reading of these rollouts on this server."""
    with _lock:
        return _readings().setdefault(rollouts.folder, Reading(rollouts))


def _cases_of(task: Task) -> tuple[TestCase, ...]:
    """As the task's own grader runs them."""
    return shown_cases(task, None)
