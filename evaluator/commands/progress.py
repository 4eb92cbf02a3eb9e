"""How far grading or collecting is, on stderr: a bar on a terminal, else a line every few seconds; and how Ctrl-C and
SIGTERM stop it without losing what is done.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from evaluator.formats import Problem

_LINE_EVERY: Final = 5.0
_HELD_UP: Final = 3
"""A pace that is slower by this than on average, as a few slow rollouts make it, says nothing of the time left."""
_PRINTED_PROBLEMS: Final = 20

InWords = Callable[[float | None], str]
"""The mean of what was counted, for people to read; None where there is none yet."""


def passed_share(mean: float | None) -> str:
    """The share that passed, of graded rollouts that count 1 or 0."""
    return f"{mean or 0.0:.0%} passed"


class FirstProblems:
    """Prints the first bad lines on stderr, and then where the others are."""

    def __init__(self, others: str) -> None:
        self._others = others
        self._count = 0

    def __call__(self, problem: Problem) -> None:
        self._count += 1
        if self._count <= _PRINTED_PROBLEMS:
            print(problem, file=sys.stderr)
        elif self._count == _PRINTED_PROBLEMS + 1:
            print(f"... more bad lines: {self._others}", file=sys.stderr)


class Meter:
    """Counts what is done in this session, and shows it while it is entered. `total`: None where it can't be known.

    On a terminal that is a bar over the whole width, which goes away at its end. Else a plain line every five seconds,
    for logs, also while something slow holds everything up.
    """

    def __init__(self, total: int | None, verb: str = "graded", in_words: InWords = passed_share) -> None:
        self._total = total
        self._verb = verb
        self._in_words = in_words
        self._counted = self._failed = self._valued = 0
        self._sum = 0.0
        self._started = self._said_at = time.monotonic()
        self._said = 0
        self._bar: Progress | None = None
        self._over = threading.Event()
        self._speaker = threading.Thread(target=self._speak, daemon=True)

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._bar = Progress(
                BarColumn(bar_width=None),
                TextColumn("{task.completed:,.0f}{task.fields[of]}"),
                TextColumn("{task.fields[figures]}"),
                TimeRemainingColumn(compact=True),
                console=Console(stderr=True),
                transient=True,
                expand=True,
            )
            of = f"/{self._total:,}" if self._total else ""
            self._bar.add_task("", total=self._total, of=of, figures="")
            self._bar.start()
        else:
            self._speaker.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._bar is not None:
            self._bar.stop()
        else:
            self._over.set()
            self._speaker.join()

    def count(self, value: float | None, of: int = 1) -> None:
        """One more, or `of` whose values sum to this; None where it has no value that goes into the mean."""
        self._counted += of
        if value is not None:
            self._valued += of
            self._sum += value
        self._show()

    def count_failure(self) -> None:
        """One more that came to nothing."""
        self._failed += 1
        self._show()

    @property
    def _rate(self) -> float:
        """Rollouts per second so far."""
        seconds = time.monotonic() - self._started
        return self._counted / seconds if seconds > 0 else 0.0

    @property
    def _figures(self) -> list[str]:
        mean = self._in_words(self._sum / self._valued if self._valued else None)
        return [paced(self._rate), *([f"{self._failed:,} failed"] if self._failed else []), mean]

    def _show(self) -> None:
        if self._bar is not None:
            done, figures = self._counted + self._failed, "  ".join(self._figures)
            self._bar.update(self._bar.task_ids[0], completed=done, figures=figures)

    def _speak(self) -> None:
        while not self._over.wait(_LINE_EVERY):
            print(self.line(), file=sys.stderr, flush=True)

    def line(self) -> str:
        """What there is to say now."""
        of, figures = "", self._figures
        done, now = self._counted + self._failed, time.monotonic()
        pace = (done - self._said) / max(now - self._said_at, 1e-9)
        self._said, self._said_at = done, now
        left = (self._total or 0) - done
        if self._total and left >= 0:
            of = f" of {self._total:,}"
            figures += [f"{_clock(left / self._rate)} left"] if self._rate and pace * _HELD_UP >= self._rate else []
        return f"{self._counted:,}{of} {self._verb}, {', '.join(figures)}"


def paced(rate: float) -> str:
    """A rate for people to read, in rollouts per second."""
    return f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


@contextmanager
def stopping_on_signal(stop: Callable[[], object], kept: str) -> Iterator[None]:
    """Within it the first Ctrl-C or SIGTERM calls `stop`; the second one ends the process at once.

    `kept`: what is not lost, for the message.
    """
    signals = (signal.SIGINT, signal.SIGTERM)

    def ask(number: int, frame: FrameType | None) -> None:
        del number, frame
        for each in signals:
            signal.signal(each, signal.SIG_DFL)
        stop()
        print(f"\nstopping: {kept} are kept (again to end at once)", file=sys.stderr, flush=True)

    before: dict[signal.Signals, Any] = {each: signal.signal(each, ask) for each in signals}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
