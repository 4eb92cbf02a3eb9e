"""How far the collecting is, on stderr: a bar on a terminal, else a line every few seconds."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import IO, Self

from rich.progress import TextColumn

from evaluator.commands.progress import Speaker, bar, paced


class CollectingMeter:
    """Counts what has been collected in this session, and says nothing."""

    def __init__(self, total: int) -> None:
        """`total`: rollouts that are missing."""
        self.total = total
        self.rollouts = 0
        self.failed = 0
        self._rewards = 0.0
        self._rewarded = 0
        self._started = time.monotonic()

    @property
    def reward(self) -> str:
        """The mean of the rewards so far, for people to read."""
        return f"mean reward {self._rewards / self._rewarded:.3f}" if self._rewarded else "no rewards yet"

    @property
    def pace(self) -> str:
        seconds = time.monotonic() - self._started
        return paced(self.rollouts / seconds if seconds > 0 else 0.0)

    def count(self, reward: float | None) -> None:
        """One more; None where it has no reward that counts."""
        self.rollouts += 1
        if reward is not None:
            self._rewards += reward
            self._rewarded += 1

    def count_failure(self) -> None:
        self.failed += 1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


class CollectingLines(CollectingMeter):
    """A plain line every five seconds, also while every answer is slow."""

    def __init__(self, total: int, stream: IO[str]) -> None:
        super().__init__(total)
        self._speaker = Speaker(self._line, stream)

    def _line(self) -> str:
        failed = f", {self.failed:,} failed" if self.failed else ""
        return f"{self.rollouts:,} of {self.total:,} collected, {self.pace}{failed}, {self.reward}"

    def __enter__(self) -> Self:
        self._speaker.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._speaker.stop()


class CollectingBar(CollectingMeter):
    """A bar with the rate, the mean reward so far and the time left."""

    def __init__(self, total: int) -> None:
        super().__init__(total)
        self._progress = bar(TextColumn("{task.completed:,.0f}/{task.total:,.0f}"), TextColumn("{task.fields[told]}"))
        self._bar = self._progress.add_task("", total=total, told="")

    def count(self, reward: float | None) -> None:
        super().count(reward)
        self._show()

    def count_failure(self) -> None:
        super().count_failure()
        self._show()

    def _show(self) -> None:
        failed = f"  {self.failed:,} failed" if self.failed else ""
        told = f"{self.pace}  {self.reward}{failed}"
        self._progress.update(self._bar, completed=self.rollouts + self.failed, told=told)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()


def collecting_meter(total: int) -> CollectingMeter:
    """The meter that suits where stderr goes."""
    return CollectingBar(total) if sys.stderr.isatty() else CollectingLines(total, sys.stderr)
