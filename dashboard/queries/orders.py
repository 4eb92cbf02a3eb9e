"""The orders of rollouts, and a rollout's place in them."""

from __future__ import annotations

from typing import NamedTuple

from dashboard.queries.cache import cached
from dashboard.queries.columns import COLUMNS, direction
from dashboard.queries.expressions import INFINITY, natural
from dashboard.queries.filter_sql import where
from dashboard.state import Filter
from dashboard.workspace import OpenRun, Params

SORTS: dict[str, tuple[str, str]] = {
    "": ("file order", '"row"'),
    "worst": ("lowest reward first", f"coalesce(reward, {INFINITY})"),
    "best": ("highest reward first", f"-coalesce(reward, -{INFINITY})"),
    "tests": ("share of tests passed", f"coalesce(pass_rate, {INFINITY})"),
    "slow": ("slowest first", "-coalesce(wall_s, 0)"),
    "memory": ("most memory first", "-coalesce(memory_mb, 0)"),
}
"""Orders with names: URL word -> (label, ascending key). Others are a column, with a `-` for the highest first."""

GRID_SORTS: dict[str, tuple[str, str]] = {
    "": ("file order", "first"),
    "rate": ("lowest pass rate first", f"coalesce(passed / nullif(graded, 0), {INFINITY})"),
    "rate_desc": ("highest pass rate first", "-coalesce(passed / nullif(graded, 0), -1)"),
    "spread": ("most mixed first", "abs(coalesce(passed / nullif(graded, 0), 9) - 0.5)"),
    "slow": ("slowest first", "-wall_s"),
    "task": ("task id", f"{natural('task_id')}, task_id"),
}


class Place(NamedTuple):
    """A rollout's place in the filtered order; `inside` is false when the filter leaves it out."""

    inside: bool
    position: int
    total: int
    previous: tuple[str, str] | None
    following: tuple[str, str] | None


class Order(NamedTuple):
    """What rollouts are sorted by before their place in the file; those without a value come last."""

    key: str
    down: bool = False

    def by(self, *, reverse: bool = False) -> str:
        """The list of an ORDER BY."""
        up, flag = ("DESC" if reverse else "ASC"), ("DESC" if self.down != reverse else "ASC")
        return f'({self.key}) IS NULL {up}, {self.key} {flag}, "row" {up}'

    def beside(self, value: object) -> tuple[str, str]:
        """The conditions for being before and after a rollout with this value and the ordinal `$row`."""
        if value is None:
            return f'({self.key} IS NOT NULL OR "row" < $row)', f'({self.key} IS NULL AND "row" > $row)'
        less, more = (">", "<") if self.down else ("<", ">")
        before = f'({self.key} {less} $value OR ({self.key} = $value AND "row" < $row))'
        after = f'({self.key} {more} $value OR ({self.key} = $value AND "row" > $row) OR {self.key} IS NULL)'
        return before, after


def order(sort: str) -> Order:
    """The order of one of `SORTS` or of a column; an unknown word means file order."""
    name, down = direction(sort)
    return Order(COLUMNS[name].key, down) if name in COLUMNS else Order(SORTS.get(sort, SORTS[""])[1])


def is_order(sort: str) -> bool:
    """Whether the word is an order of rollouts."""
    return sort in SORTS or direction(sort)[0] in COLUMNS


@cached
def first(run: OpenRun, filter_: Filter, sort: str) -> tuple[str, str] | None:
    """(task, sample) of the first rollout in the filter's order."""
    condition, params = where(filter_)
    return _next(run, condition, order(sort).by(), params)


@cached
def place(run: OpenRun, filter_: Filter, sort: str, row: int) -> Place:
    """The place of the rollout with ordinal `row`, and its neighbours."""
    condition, params = where(filter_)
    by = order(sort)
    ((value,),) = run.rows(f'SELECT {by.key} FROM rollouts WHERE "row" = $row LIMIT 1', {"row": row})  # noqa: S608
    before, after = by.beside(value)
    params |= {"row": row}
    valued = params if value is None else params | {"value": value}
    sql = f"""SELECT coalesce(bool_or("row" = $row), false), count(*) FILTER ({before}), count(*)
              FROM rollouts WHERE {condition}"""  # noqa: S608
    inside, above, total = run.rows(sql, valued)[0]
    previous = _next(run, f"{condition} AND {before}", by.by(reverse=True), valued)
    following = _next(run, f"{condition} AND {after}", by.by(), valued)
    return Place(inside, above + inside, total, previous, following)


def _next(run: OpenRun, condition: str, by: str, params: Params) -> tuple[str, str] | None:
    sql = f"SELECT task_id, sample_id FROM rollouts WHERE {condition} ORDER BY {by} LIMIT 1"  # noqa: S608
    found = run.rows(sql, params)
    return found[0] if found else None
