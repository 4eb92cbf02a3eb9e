"""The filter as SQL: its conditions, and how many rollouts they let through."""

from __future__ import annotations

import re
from typing import NamedTuple

import duckdb
import msgspec

from dashboard.queries.cache import cached
from dashboard.queries.expressions import CLUSTER, REASON
from dashboard.queries.ranking import Ranking, ranking
from dashboard.state import VERIFIED, Filter
from dashboard.workspace import OpenRun, Params


class Clause(NamedTuple):
    """The condition of one field of the filter."""

    field: str
    sql: str
    params: Params


def clauses(filter_: Filter) -> list[Clause]:
    """One clause for each field that restricts."""
    found: list[Clause] = []
    if filter_.verdicts:
        found.append(Clause("verdicts", "list_contains($verdicts, verdict)", {"verdicts": sorted(filter_.words())}))
    if filter_.model:
        found.append(Clause("model", "model = $model", {"model": filter_.model}))
    if filter_.err:
        found.append(Clause("err", f"{CLUSTER} = $err", {"err": filter_.err}))
    if filter_.flag:
        found.append(_flag(filter_.flag))
    if filter_.verified:
        found.append(_verified(filter_.verified))
    if filter_.q:
        text = "lower(concat_ws(chr(10), task_id, sample_id, model, error_type, error_message))"
        found.append(Clause("q", f"contains({text}, lower($q))", {"q": filter_.q}))
    if filter_.r_min is not None:
        found.append(Clause("r_min", "reward >= $r_min", {"r_min": filter_.r_min}))
    if filter_.r_max is not None:
        found.append(Clause("r_max", "reward <= $r_max", {"r_max": filter_.r_max}))
    return found


def _flag(value: str) -> Clause:
    """For a flag's word, or `word: evidence`."""
    word, _, evidence = value.partition(": ")
    if not evidence:
        return Clause("flag", "list_contains(flags, $flag)", {"flag": word})
    sql = "flag_evidence[list_position(flags, $flag)] = $evidence"
    return Clause("flag", sql, {"flag": word, "evidence": evidence})


def _verified(value: str) -> Clause:
    """For `yes`, `no`, or `no: reason`."""
    word, _, reason = value.partition(": ")
    if not reason:
        return Clause("verified", "verified" if word == VERIFIED else "NOT verified", {})
    return Clause("verified", f"NOT verified AND {REASON} = $unverified_reason", {"unverified_reason": reason})


def where(filter_: Filter) -> tuple[str, Params]:
    """A WHERE condition and its parameters."""
    parts = clauses(filter_)
    params: Params = {}
    for part in parts:
        params |= part.params
    return " AND ".join(f"({part.sql})" for part in parts) or "true", params


@cached
def count(run: OpenRun, filter_: Filter) -> int:
    """How many rollouts the filter lets through."""
    condition, params = where(filter_)
    return int(run.rows(f"SELECT count(*) FROM rollouts WHERE {condition}", params)[0][0])  # noqa: S608


@cached
def without_each(run: OpenRun, filter_: Filter) -> list[tuple[str, int]]:
    """For each field of the filter that restricts: its name, and how many rollouts there are without it."""
    names = [clause.field for clause in clauses(filter_)]
    without = {name: msgspec.structs.replace(filter_, **{name: getattr(Filter(), name)}) for name in names}
    return [(name, count(run, wider)) for name, wider in without.items()]


@cached
def models(run: OpenRun, filter_: Filter) -> Ranking[str]:
    """The names of the models that sampled the rollouts."""
    condition, params = where(filter_)
    sql = f"""SELECT model, count(*) OVER () FROM rollouts WHERE {condition} AND model IS NOT NULL
              GROUP BY model ORDER BY model LIMIT 1000"""  # noqa: S608
    return ranking(run.rows(sql, params), str)


def condition_text(filter_: Filter) -> str:
    """The filter as one SQL condition without parameters, for `runs.export`; DuckDB quotes the values."""
    condition, params = where(filter_)
    return re.sub(r"\$(\w+)", lambda match: str(duckdb.ConstantExpression(params[match[1]])), condition)


def case_condition_text(filter_: Filter) -> str:
    """The same for rows of test cases, whose rollouts the filter lets through."""
    return f"(task_id, sample_id) IN (SELECT (task_id, sample_id) FROM rollouts WHERE {condition_text(filter_)})"  # noqa: S608
