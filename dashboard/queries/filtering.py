"""The filter in SQL: what it lets through, and what there is to filter by."""

from __future__ import annotations

import re
from typing import Any

import duckdb
import msgspec

from dashboard.queries.cache import cached
from dashboard.queries.expressions import CLUSTER, REASON
from dashboard.queries.most import Most, most
from dashboard.state import VERIFIED, Filter
from dashboard.workspace import OpenRun


def clauses(filter_: Filter) -> list[tuple[str, str, dict[str, Any]]]:
    """The filter as (name of its field, SQL, parameters), one entry for each field that restricts."""
    found: list[tuple[str, str, dict[str, Any]]] = []
    if filter_.verdicts:
        found.append(("verdicts", "list_contains($verdicts, verdict)", {"verdicts": sorted(filter_.words())}))
    if filter_.model:
        found.append(("model", "model = $model", {"model": filter_.model}))
    if filter_.err:
        found.append(("err", f"{CLUSTER} = $err", {"err": filter_.err}))
    if filter_.flag:
        found.append(("flag", *_flag(filter_.flag)))
    if filter_.verified:
        found.append(("verified", *_verified(filter_.verified)))
    if filter_.q:
        text = "lower(concat_ws(chr(10), task_id, sample_id, model, error_type, error_message))"
        found.append(("q", f"contains({text}, lower($q))", {"q": filter_.q}))
    if filter_.r_min is not None:
        found.append(("r_min", "reward >= $r_min", {"r_min": filter_.r_min}))
    if filter_.r_max is not None:
        found.append(("r_max", "reward <= $r_max", {"r_max": filter_.r_max}))
    return found


def _flag(name: str) -> tuple[str, dict[str, Any]]:
    """Of a flag's word, or of `word: evidence`."""
    word, _, evidence = name.partition(": ")
    if not evidence:
        return "list_contains(flags, $flag)", {"flag": word}
    return "flag_evidence[list_position(flags, $flag)] = $evidence", {"flag": word, "evidence": evidence}


def _verified(asked: str) -> tuple[str, dict[str, Any]]:
    """`yes`, `no`, or `no: reason`."""
    word, _, reason = asked.partition(": ")
    if not reason:
        return ("verified" if word == VERIFIED else "NOT verified"), {}
    return f"NOT verified AND {REASON} = $unverified_reason", {"unverified_reason": reason}


def where(filter_: Filter) -> tuple[str, dict[str, Any]]:
    """A WHERE condition and its parameters."""
    parts = clauses(filter_)
    params: dict[str, Any] = {}
    for _, _, more in parts:
        params |= more
    return " AND ".join(f"({sql})" for _, sql, _ in parts) or "true", params


@cached
def count(run: OpenRun, filter_: Filter) -> int:
    """How many rollouts the filter lets through."""
    condition, params = where(filter_)
    return int(run.rows(f"SELECT count(*) FROM rollouts WHERE {condition}", params)[0][0])  # noqa: S608


@cached
def without_each(run: OpenRun, filter_: Filter) -> list[tuple[str, int]]:
    """For each field of the filter, how many rollouts there would be without it."""
    fields = [name for name, _, _ in clauses(filter_)]
    return [(name, count(run, msgspec.structs.replace(filter_, **{name: _empty(name)}))) for name in fields]


def _empty(name: str) -> Any:
    return getattr(Filter(), name)


@cached
def models(run: OpenRun, filter_: Filter) -> Most[str]:
    """The models that sampled the rollouts, by name."""
    condition, params = where(filter_)
    sql = f"""SELECT model, count(*) OVER () FROM rollouts WHERE {condition} AND model IS NOT NULL
              GROUP BY model ORDER BY model LIMIT 1000"""  # noqa: S608
    return most(run.rows(sql, params), str)


def condition_text(filter_: Filter) -> str:
    """The filter as one SQL condition without parameters, for `runs.export`; DuckDB itself quotes the values."""
    condition, params = where(filter_)
    return re.sub(r"\$(\w+)", lambda match: str(duckdb.ConstantExpression(params[match[1]])), condition)


def case_condition_text(filter_: Filter) -> str:
    """The same for rows of test cases: those of the rollouts that the filter lets through."""
    return f"(task_id, sample_id) IN (SELECT (task_id, sample_id) FROM rollouts WHERE {condition_text(filter_)})"  # noqa: S608
