"""The orders of rollouts, and a rollout's place in them."""

from __future__ import annotations

from typing import NamedTuple

from dashboard.queries.cache import cached
from dashboard.queries.expressions import INFINITY, natural
from dashboard.queries.filter_sql import where
from dashboard.state import Filter
from dashboard.workspace import OpenRun

SORTS: dict[str, tuple[str, str]] = {
    "": ("file order", '"row"'),
    "worst": ("lowest reward first", f"coalesce(reward, {INFINITY})"),
    "best": ("highest reward first", f"-coalesce(reward, -{INFINITY})"),
    "tests": ("share of tests passed", f"coalesce(pass_rate, {INFINITY})"),
    "slow": ("slowest first", "-coalesce(wall_s, 0)"),
    "memory": ("most memory first", "-coalesce(memory_mb, 0)"),
}
"""Orders of the table and of previous/next: URL word -> (label, ascending key)."""

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


def sort_key(sort: str) -> str:
    """The key of one of `SORTS`; an unknown word means file order."""
    return SORTS.get(sort, SORTS[""])[1]


@cached
def first(run: OpenRun, filter_: Filter, sort: str) -> tuple[str, str] | None:
    """(task, sample) of the first rollout in the filter's order."""
    condition, params = where(filter_)
    sql = f"""SELECT task_id, sample_id FROM rollouts WHERE {condition} ORDER BY {sort_key(sort)}, "row" LIMIT 1"""  # noqa: S608
    found = run.rows(sql, params)
    return found[0] if found else None


@cached
def place(run: OpenRun, filter_: Filter, sort: str, row: int) -> Place:
    """The place of the rollout with ordinal `row`, and its neighbours."""
    condition, params = where(filter_)
    key = sort_key(sort)
    sql = f"""
        WITH me AS (SELECT {{'k': {key}, 'r': "row"}} AS at FROM rollouts WHERE "row" = $row LIMIT 1),
             f AS (SELECT {{'k': {key}, 'r': "row"}} AS at, {{'t': task_id, 's': sample_id}} AS id
                   FROM rollouts WHERE {condition})
        SELECT coalesce(bool_or(f.at = me.at), false), count(*) FILTER (f.at <= me.at), count(*),
               arg_max(f.id, f.at) FILTER (f.at < me.at), arg_min(f.id, f.at) FILTER (f.at > me.at)
        FROM f, me"""  # noqa: S608
    inside, position, total, before, after = run.rows(sql, params | {"row": row})[0]
    return Place(inside, position, total, _pair(before), _pair(after))


def _pair(value: dict[str, str] | None) -> tuple[str, str] | None:
    return (value["t"], value["s"]) if value else None
