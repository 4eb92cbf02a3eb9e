"""The time of a server's requests by stage, for `rollscope serve nemo-gym --profile`."""

from __future__ import annotations

import threading
from array import array
from typing import Final

import msgspec

from evaluator.interop.nemo_gym._spread import quantile
from evaluator.stages import STAGES, Spent

_REST: Final = "rest"
_TOTAL: Final = "total"
_HEADERS: Final = ("stage", "total s", "share", "mean ms", "p50 ms", "p99 ms", "n")


class StageTime(msgspec.Struct, frozen=True, kw_only=True):
    """The time of one stage over the `n` requests that entered it."""

    stage: str
    total_s: float
    share: float
    """Of the total time, 0 to 1."""
    mean_ms: float
    p50_ms: float
    p99_ms: float
    n: int


class VerifyProfile:
    """The durations of verified requests. `add` is thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seconds: dict[str, array[float]] = {name: array("d") for name in (*STAGES, _REST, _TOTAL)}

    def add(self, spent: Spent, total_s: float) -> None:
        """Adds a request: the time of its stages, and its total; the remainder is `rest`."""
        rest = max(0.0, total_s - sum(spent.seconds.values()))
        with self._lock:
            for name, value in (*spent.seconds.items(), (_REST, rest), (_TOTAL, total_s)):
                self._seconds[name].append(value)

    def stages(self) -> list[StageTime]:
        """The stages entered, in the order of `STAGES`, then `rest` and `total`; empty without requests."""
        with self._lock:
            seconds = {name: sorted(values) for name, values in self._seconds.items() if values}
        whole = sum(seconds.get(_TOTAL, ())) or 1.0
        return [
            StageTime(
                stage=name,
                total_s=sum(values),
                share=sum(values) / whole,
                mean_ms=1000 * sum(values) / len(values),
                p50_ms=1000 * quantile(values, 0.5),
                p99_ms=1000 * quantile(values, 0.99),
                n=len(values),
            )
            for name, values in seconds.items()
        ]

    def table(self) -> str:
        """Aligned columns, without a final newline."""
        rows = [_HEADERS, *map(_cells, self.stages())]
        if len(rows) == 1:
            return "no request was verified"
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(_line(row, widths) for row in rows)

    def json(self) -> str:
        """`{"requests": n, "stages": [{"stage", "total_s", "share", "mean_ms", "p50_ms", "p99_ms", "n"}, ...]}`."""
        stages = self.stages()
        requests = stages[-1].n if stages else 0
        return msgspec.json.encode({"requests": requests, "stages": stages}).decode()


def _cells(time: StageTime) -> tuple[str, ...]:
    milliseconds = (f"{value:,.2f}" for value in (time.mean_ms, time.p50_ms, time.p99_ms))
    return (time.stage, f"{time.total_s:,.3f}", f"{time.share:.1%}", *milliseconds, f"{time.n:,}")


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    first, *others = (
        cell.rjust(width) if place else cell.ljust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join((first, *others))
