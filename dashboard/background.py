"""Work that goes on while the visitor looks on: a thread does it, a fragment shows how far it is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

import streamlit as st

from dashboard import facts
from evaluator import SandboxUnavailable

T = TypeVar("T")

_POLL_S = 0.5


class Job(Generic[T]):
    """Work that yields results one by one. Its fields may be read from anywhere at any time."""

    def __init__(self, name: str, total: int, work: Callable[[], Iterator[T]]) -> None:
        """`total`: how many results there will be. Starts at once."""
        self.name = name
        self.total = total
        self.results: list[T] = []
        self.failure: str | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, args=(work,), name=name, daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    @property
    def stopped(self) -> bool:
        return self._stop.is_set()

    def stop(self) -> None:
        """End it after the next result."""
        self._stop.set()

    def _work(self, work: Callable[[], Iterator[T]]) -> None:
        try:
            for result in work():
                self.results.append(result)
                if self.stopped:
                    break
        except (SandboxUnavailable, ValueError, OSError) as error:
            self.failure = " ".join(str(error).split())


@st.fragment(run_every=_POLL_S)
def watch(job: Job[T]) -> None:
    """How far it is, and a button that stops it; then the page is drawn again."""
    if not job.running:
        st.rerun()
    done = len(job.results)
    facts.note(f"{job.name}: {done:,} of {job.total:,}")
    st.progress(min(1.0, done / max(job.total, 1)))
    label = "Stopping" if job.stopped else "Stop"
    st.button(label, key="stop_job", disabled=job.stopped, on_click=job.stop)
