"""The filter as SQL: its conditions, and how many rollouts they let through."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from dashboard.queries import search
from dashboard.queries.cache import cached
from dashboard.queries.expressions import BOTH, REASON, SAME_END
from dashboard.state import AGREE, DIFFER, VERIFIED, Filter
from dashboard.workspace import OpenRun, Params


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
    "higher": "given_reward > reward + 1e-9",
    "lower": "given_reward < reward - 1e-9",
}
RECORDED = {AGREE: f"{BOTH} AND {SAME_END}", DIFFER: f"{BOTH} AND NOT ({SAME_END})"}
_FOUND = '"row" IN (SELECT "row" FROM found WHERE find = $find)'
_TAGGED = "(task_id, sample_id) IN (SELECT (task_id, sample_id) FROM tags WHERE tag = $tag)"


def clauses(filter_: Filter) -> list[Clause]:
    """One clause for each field that restricts."""
    found: list[Clause] = []
    if filter_.verdicts:
        found.append(Clause("verdicts", "list_contains($verdicts, verdict)", {"verdicts": sorted(filter_.words())}))
    if filter_.model:
        found.append(Clause("model", "model = $model", {"model": filter_.model}))
    if filter_.err:
        found.append(Clause("err", "err = $err", {"err": filter_.err}))
    if filter_.flag:
        found.append(_flag(filter_.flag))
    if filter_.verified:
        found.append(_verified(filter_.verified))
    if filter_.tag:
        found.append(Clause("tag", _TAGGED, {"tag": filter_.tag}))
    if filter_.given:
        found.append(Clause("given", GIVEN[filter_.given], {}))
    if filter_.recorded in RECORDED:
        found.append(Clause("recorded", RECORDED[filter_.recorded], {}))
    elif filter_.recorded:
        found.append(Clause("recorded", "recorded_verdict = $recorded", {"recorded": filter_.recorded}))
    if filter_.q:
        found.append(Clause("q", "contains(searched, lower($q))", {"q": filter_.q}))
    if filter_.find:
        found.append(Clause("find", _FOUND, {"find": filter_.find}))
    bounds = {name: getattr(filter_, name) for name in _BOUNDS}
    found += [Clause(name, _BOUNDS[name], {name: value}) for name, value in bounds.items() if value is not None]
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
def case_count(run: OpenRun, filter_: Filter) -> int:
    """How many test cases those rollouts have."""
    condition, params = where(filter_)
    return int(run.rows(f"SELECT coalesce(sum(tests_total), 0) FROM rollouts WHERE {condition}", params)[0][0])  # noqa: S608


@cached
def characters(run: OpenRun, filter_: Filter) -> int:
    """How long the completions of those rollouts are together."""
    condition, params = where(filter_)
    return int(run.rows(f"SELECT coalesce(sum(length), 0) FROM rollouts WHERE {condition}", params)[0][0])  # noqa: S608


def rows_inside(run: OpenRun, filter_: Filter) -> list[int]:
    """The ordinals of the rollouts that the filter lets through, for `runs.export`.

    If the filter searches, this waits until the search has ended.
    """
    if filter_.find:
        search.scan(run, filter_.find).wait()
    condition, params = where(filter_)
    return [row for (row,) in run.rows(f'SELECT "row" FROM rollouts WHERE {condition}', params)]  # noqa: S608
