"""The head of a ranking, with how long the whole one is: what shows a part of it has to say so."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from dashboard.wording import counted

T = TypeVar("T")


class Most(NamedTuple, Generic[T]):
    """The first rows of a ranking that has `total`."""

    rows: list[T]
    total: int

    def part(self, noun: str = "") -> str:
        """`first 8 of 31 models`; "" where `rows` are all that there are."""
        whole = counted(self.total, noun) if noun else f"{self.total:,}"
        return f"first {len(self.rows):,} of {whole}" if len(self.rows) < self.total else ""


def most(rows: list[tuple], kind: type[T]) -> Most[T]:  # type: ignore[type-arg]
    """From the rows of a query whose last column is `count(*) OVER ()`, before its LIMIT."""
    return Most([kind(*row[:-1]) for row in rows], rows[0][-1] if rows else 0)
