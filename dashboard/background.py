"""Work that continues while the visitor looks on: a thread does it, a fragment shows its progress."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

import streamlit as st

from dashboard import facts
from evaluator import SandboxUnavailable

T = TypeVar("T")

_POLL_S = 0.5
_KEPT = 16
"""Jobs that have ended."""


class Work:
    """Work on a thread of its own. Its fields may be read from anywhere at any time."""

    def __init__(self, name: str) -> None:
        """A subclass calls `_begin` when its fields are set."""
        self.name = name
        self.failure: str | None = None
        """Why it ended early, in one line."""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._guarded, name=name, daemon=True)

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    @property
    def stopping(self) -> bool:
        """Whether it has to end early."""
        return self._stop.is_set()

    def stop(self) -> None:
        """End it soon; what has been done is kept."""
        self._stop.set()

    def wait(self, seconds: float | None = None) -> None:
        """Until it has ended."""
        self._thread.join(seconds)

    def _begin(self) -> None:
        self._thread.start()

    def _work(self) -> None:
        raise NotImplementedError

    def _guarded(self) -> None:
        try:
            self._work()
        except (SandboxUnavailable, ValueError, OSError) as error:
            self.failure = " ".join(str(error).split())
        except Exception as error:  # a bug of ours: say so, rather than end without a word
            self.failure = f"{self.name} failed: {error!r}"


class Job(Work, Generic[T]):
    """Work with results, which come one by one, and perhaps an outcome."""

    def __init__(self, name: str, total: int, work: Callable[[Callable[[T], None], threading.Event], object]) -> None:
        """`work` gets what it calls with each result, and the event that says that it has to stop.

        `total`: how many results there will be. Starts at once.
        """
        super().__init__(name)
        self.total = total
        self.results: list[T] = []
        self.outcome: object = None
        self._do = work
        self._begin()

    def _work(self) -> None:
        self.outcome = self._do(self.results.append, self._stop)


@st.cache_resource(show_spinner=False)
def _jobs() -> dict[Hashable, Job[Any]]:
    """A reload or a second visitor finds the same one."""
    return {}


def find(*key: Hashable) -> Job[Any] | None:
    """The last job that was started under this key."""
    return _jobs().get(key)


def start(key: Hashable, make: Callable[[], Job[Any]]) -> None:
    """Start a job, unless the one under this key is running."""
    jobs = _jobs()
    known = jobs.get(key)
    if known is None or not known.running:
        jobs.pop(key, None)
        for old in [each for each, job in jobs.items() if not job.running][: max(0, len(jobs) + 1 - _KEPT)]:
            del jobs[old]
        jobs[key] = make()


@st.fragment(run_every=_POLL_S)
def watch(job: Job[Any]) -> None:
    """How far it is, and a button that stops it; then the page is drawn again."""
    if not job.running:
        st.rerun()
    done = len(job.results)
    facts.note(f"{job.name}: {done:,} of {job.total:,}")
    st.progress(min(1.0, done / max(job.total, 1)))
    label = "Stopping" if job.stopping else "Stop"
    st.button(label, key="stop_job", disabled=job.stopping, on_click=job.stop)
