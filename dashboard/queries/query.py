"""What all queries have in common: the filter as SQL, small results that are kept, the first rows of a ranking, and the
files that have a task's rollouts.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar

import msgspec
import streamlit as st

from dashboard.facts import counted
from dashboard.queries import search
from dashboard.queries.expressions import BOTH, REASON, SAME_END
from dashboard.state import AGREE, DIFFER, VERIFIED, Filter
from dashboard.workspace import OpenRun, Params

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


def cached(function: Callable[P, T]) -> Callable[P, T]:
    """Cache a small result by the run's key and the other arguments. A filter's search starts here."""
    keyed: Callable[[Callable[P, T]], Callable[P, T]] = st.cache_data(
        show_spinner=False, max_entries=200, hash_funcs={OpenRun: lambda run: run.key, Filter: search.filter_key}
    )
    result = keyed(function)

    @functools.wraps(function)
    def searched(*args: P.args, **kwargs: P.kwargs) -> T:
        given = (*args, *kwargs.values())
        for filter_ in given:
            if isinstance(filter_, Filter) and filter_.find:
                for run in given:
                    if isinstance(run, OpenRun):
                        search.scan(run, filter_.find)
        return result(*args, **kwargs)

    return searched


class Ranking(NamedTuple, Generic[T_co]):
    """The first rows of a ranking of `total` rows: a page that shows a part must say so."""

    rows: Sequence[T_co]
    total: int

    def part(self, noun: str = "") -> str:
        """`first 8 of 31 models`; "" where `rows` has them all."""
        whole = counted(self.total, noun) if noun else f"{self.total:,}"
        return f"first {len(self.rows):,} of {whole}" if len(self.rows) < self.total else ""


def ranking(rows: list[tuple[Any, ...]], kind: Callable[..., T_co]) -> Ranking[T_co]:
    """From the rows of a query whose last column is `count(*) OVER ()`, before its LIMIT."""
    return Ranking([kind(*row[:-1]) for row in rows], rows[0][-1] if rows else 0)


# --- The filter -----------------------------------------------------------------------------------


class Clause(NamedTuple):
    """The condition of one field of the filter."""

    field: str
    sql: str
    params: Params


_BOUNDS = {
    "r_min": "reward >= $r_min",
    "r_max": "reward <= $r_max",
    "step_min": "step >= $step_min",
    "step_max": "step <= $step_max",
    "wall_min": "wall_s >= $wall_min",
    "wall_max": "wall_s <= $wall_max",
    "len_min": "length >= $len_min",
    "len_max": "length <= $len_max",
}
GIVEN = {
    "same": "abs(given_reward - reward) <= 1e-9",
    "differs": "abs(given_reward - reward) > 1e-9",
    "higher": "given_reward > reward + 1e-9",
    "lower": "given_reward < reward - 1e-9",
}
RECORDED = {AGREE: f"{BOTH} AND {SAME_END}", DIFFER: f"{BOTH} AND NOT ({SAME_END})"}
SIGNAL = {
    "yes": "NOT flat", "no": "flat", "all_fail": "flat AND ended = 'fail'", "all_pass": "flat AND ended = 'pass'",
}  # fmt: skip
_EQUAL = {
    "model": "model = $model",
    "err": "err = $err",
    "tag": "(task_id, sample_id) IN (SELECT (task_id, sample_id) FROM tags WHERE tag = $tag)",
    "recorded": "recorded_verdict = $recorded",
    "q": "contains(searched, lower($q))",
    "find": '"row" IN (SELECT "row" FROM found WHERE find = $find)',
}


def clauses(filter_: Filter) -> list[Clause]:
    """One clause for each field that restricts."""
    return [_clause(filter_, name) for name, value in _restricting(filter_).items() if value is not None]


def _restricting(filter_: Filter) -> dict[str, object]:
    names = Filter.__struct_fields__
    return {name: value for name in names if (value := getattr(filter_, name)) != getattr(Filter(), name)}


def _clause(filter_: Filter, name: str) -> Clause:
    value = getattr(filter_, name)
    if name == "verdicts":
        return Clause(name, "list_contains($verdicts, verdict)", {name: sorted(filter_.words())})
    if name == "flag":  # a flag's word, or `word: evidence`
        word, _, evidence = value.partition(": ")
        if not evidence:
            return Clause(name, "list_contains(flags, $flag)", {name: word})
        sql = "flag_evidence[list_position(flags, $flag)] = $evidence"
        return Clause(name, sql, {name: word, "evidence": evidence})
    if name == "verified":  # `yes`, `no`, or `no: reason`
        word, _, reason = value.partition(": ")
        if not reason:
            return Clause(name, "verified" if word == VERIFIED else "NOT verified", {})
        return Clause(name, f"NOT verified AND {REASON} = $unverified_reason", {"unverified_reason": reason})
    if name == "given":
        return Clause(name, GIVEN[value], {})
    if name == "alike":
        others, params = where(msgspec.structs.replace(filter_, alike=""))
        firsts = f"""SELECT min("row") FROM rollouts WHERE {others} GROUP BY behaviour"""  # noqa: S608
        return Clause(name, f'"row" IN ({firsts})', params)
    if name == "signal":
        return Clause(name, f"group_id IN (SELECT group_id FROM groups WHERE {SIGNAL[value]})", {})  # noqa: S608
    if name == "recorded" and value in RECORDED:
        return Clause(name, RECORDED[value], {})
    return Clause(name, (_EQUAL | _BOUNDS)[name], {name: value})


def where(filter_: Filter) -> tuple[str, Params]:
    """A WHERE condition and its parameters."""
    parts = clauses(filter_)
    params: Params = {}
    for part in parts:
        params |= part.params
    return " AND ".join(f"({part.sql})" for part in parts) or "true", params


def inside(filter_: Filter, sql: str) -> tuple[str, Params]:
    """A query over `inside`, the rollouts that the filter lets through, and the filter's parameters."""
    condition, params = where(filter_)
    rest = f", {sql.lstrip()[5:]}" if sql.lstrip().startswith("WITH ") else f" {sql}"
    return f"WITH inside AS NOT MATERIALIZED (SELECT * FROM rollouts WHERE {condition}){rest}", params  # noqa: S608


def rows(run: OpenRun, filter_: Filter, sql: str, **more: Any) -> list[tuple[Any, ...]]:
    """The rows of a query over `inside`; `more` are its parameters."""
    whole, params = inside(filter_, sql)
    return run.rows(whole, params | more)


def ranked(run: OpenRun, filter_: Filter, sql: str, kind: Callable[..., T_co], **more: Any) -> Ranking[T_co]:
    """The same as a `ranking`."""
    return ranking(rows(run, filter_, sql, **more), kind)


def number(run: OpenRun, filter_: Filter, expression: str) -> int:
    """An aggregate of the rollouts inside the filter."""
    return int(rows(run, filter_, f"SELECT {expression} FROM inside")[0][0])  # noqa: S608


@cached
def count(run: OpenRun, filter_: Filter) -> int:
    """How many rollouts the filter lets through."""
    return number(run, filter_, "count(*)")


@cached
def without_each(run: OpenRun, filter_: Filter) -> list[tuple[str, int]]:
    """For each field of the filter that restricts: its name, and how many rollouts there are without it."""
    names = [clause.field for clause in clauses(filter_)]
    without = {name: msgspec.structs.replace(filter_, **{name: getattr(Filter(), name)}) for name in names}
    return [(name, count(run, wider)) for name, wider in without.items()]


@cached
def case_count(run: OpenRun, filter_: Filter) -> int:
    """How many test cases those rollouts have."""
    return number(run, filter_, "coalesce(sum(tests_total), 0)")


@cached
def characters(run: OpenRun, filter_: Filter) -> int:
    """How long the completions of those rollouts are together."""
    return number(run, filter_, "coalesce(sum(length), 0)")


def rows_inside(run: OpenRun, filter_: Filter) -> list[int]:
    """The ordinals of the rollouts that the filter lets through, for `runs.export`.

    If the filter searches, this waits until the search has ended.
    """
    if filter_.find:
        search.scan(run, filter_.find).wait()
    return [row for (row,) in rows(run, filter_, 'SELECT "row" FROM inside')]


# --- The files of a run: a condition on them keeps DuckDB from opening all the others -------------


@cached
def of_task(run: OpenRun, task_id: str) -> Params:
    """The parameters `task` and `parts`: the paths of the files with its rollouts, and with their test cases."""
    return {"task": task_id, "parts": _files(run, "task_id = $task", {"task": task_id})}


@cached
def of_sample(run: OpenRun, task_id: str, sample_id: str) -> Params:
    """`task`, `sample` and `parts`: the samples of a task may be in as many files."""
    ids: Params = {"task": task_id, "sample": sample_id}
    return ids | {"parts": _files(run, "task_id = $task AND sample_id = $sample", ids)}


def _files(run: OpenRun, condition: str, params: Params) -> list[str]:
    """The files of rollouts, then those of their test cases, which have the same names."""
    found = run.rows(f"SELECT DISTINCT part_file FROM rollouts WHERE {condition}", params)  # noqa: S608
    rollouts = [Path(part) for (part,) in found]
    return [str(part) for part in (*rollouts, *(part.parent.with_name("cases") / part.name for part in rollouts))]
