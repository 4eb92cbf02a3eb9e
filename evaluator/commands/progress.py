"""How far the grading is, on stderr: a bar on a terminal, else a line every few seconds."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import IO, Final, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from evaluator.model import Verdict

_LINE_EVERY: Final = 5.0


class Meter:
    """Counts what has been graded. `total` is None where it can't be told beforehand."""

    def __init__(self, total: int | None) -> None:
        self.total = total
        self.graded = 0
        self.passed = 0
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    @property
    def rate(self) -> float:
        """Rollouts a second so far."""
        return self.graded / self.seconds if self.seconds > 0 else 0.0

    @property
    def passed_share(self) -> float:
        """Share of the graded rollouts that passed, 0 to 1."""
        return self.passed / self.graded if self.graded else 0.0

    def count(self, verdict: Verdict) -> None:
        self.graded += 1
        self.passed += verdict is Verdict.PASSED

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


class Speaker:
    """Within it, a plain line every five seconds, for logs, also while something slow holds everything up."""

    def __init__(self, line: Callable[[], str], stream: IO[str]) -> None:
        self._line = line
        self._stream = stream
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._speak, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _speak(self) -> None:
        while not self._over.wait(_LINE_EVERY):
            print(self._line(), file=self._stream, flush=True)


def bar(*columns: TextColumn) -> Progress:
    """A bar on stderr over the whole width, with these columns after it, that goes away at its end."""
    return Progress(
        BarColumn(bar_width=None),
        *columns,
        TimeRemainingColumn(compact=True),
        console=Console(stderr=True),
        transient=True,
        expand=True,
    )


class LineMeter(Meter):
    """A plain line every five seconds."""

    def __init__(self, total: int | None, stream: IO[str]) -> None:
        super().__init__(total)
        self._speaker = Speaker(self._line, stream)

    def __enter__(self) -> Self:
        self._speaker.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._speaker.stop()

    def _line(self) -> str:
        of, left = "", ""
        if self.total and self.graded <= self.total:
            of = f" of {self.total:,}"
            left = f", {_clock((self.total - self.graded) / self.rate)} left" if self.rate else ""
        return f"{self.graded:,}{of} graded, {paced(self.rate)}, {self.passed_share:.0%} passed{left}"


class BarMeter(Meter):
    """A bar with the rate, the share passed so far and the time left."""

    def __init__(self, total: int | None) -> None:
        super().__init__(total)
        self._progress = bar(
            TextColumn("{task.completed:,.0f}{task.fields[of]}"),
            TextColumn("{task.fields[rate]}"),
            TextColumn("{task.fields[passed]} passed"),
        )
        of = f"/{total:,}" if total else ""
        self._bar = self._progress.add_task("", total=total, of=of, rate="-", passed="-")

    def count(self, verdict: Verdict) -> None:
        super().count(verdict)
        rate, passed = paced(self.rate), f"{self.passed_share:.0%}"
        self._progress.update(self._bar, completed=self.graded, rate=rate, passed=passed)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()


def meter(total: int | None) -> Meter:
    """The meter that suits where stderr goes."""
    return BarMeter(total) if sys.stderr.isatty() else LineMeter(total, sys.stderr)


def paced(rate: float) -> str:
    """A rate for people to read, in rollouts a second."""
    return f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
