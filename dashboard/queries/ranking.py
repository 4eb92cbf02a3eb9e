"""The first rows of a ranking, and how many rows it has: a page that shows a part must say so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from dashboard.wording import counted

T_co = TypeVar("T_co", covariant=True)


class Ranking(NamedTuple, Generic[T_co]):
    """The first rows of a ranking of `total` rows."""

    rows: Sequence[T_co]
    total: int

    def part(self, noun: str = "") -> str:
        """`first 8 of 31 models`; "" where `rows` has them all."""
        whole = counted(self.total, noun) if noun else f"{self.total:,}"
        return f"first {len(self.rows):,} of {whole}" if len(self.rows) < self.total else ""


def ranking(rows: list[tuple[Any, ...]], kind: Callable[..., T_co]) -> Ranking[T_co]:
    """From the rows of a query whose last column is `count(*) OVER ()`, before its LIMIT."""
    return Ranking([kind(*row[:-1]) for row in rows], rows[0][-1] if rows else 0)
