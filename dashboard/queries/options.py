"""What each field of the filter can be set to, with the number of rollouts that the other fields let through."""

from __future__ import annotations

import itertools
from typing import NamedTuple

from dashboard.queries.expressions import REASON
from dashboard.queries.query import GIVEN, RECORDED, SIGNAL, Ranking, cached, clauses
from dashboard.state import NO_SIGNAL, UNVERIFIED, VERIFIED, Filter
from dashboard.workspace import OpenRun, Params
from evaluator.report.verdict_colours import FAILED

LISTED = 1_000
"""Options of a field that are listed, those with the most rollouts."""


class Option(NamedTuple):
    """A value of a field of the filter."""

    name: str
    rollouts: int


class Ranges(NamedTuple):
    """The least and the greatest value of each column that the filter bounds; None where there is none."""

    r_min: float | None
    r_max: float | None
    step_min: int | None
    step_max: int | None
    wall_min: float | None
    wall_max: float | None
    len_min: int | None
    len_max: int | None


_GIVEN = " ".join(f"WHEN {condition} THEN ['{word}']" for word, condition in GIVEN.items() if word != "differs")
_GIVEN = _GIVEN.replace("['higher']", "['differs', 'higher']").replace("['lower']", "['differs', 'lower']")
_RECORDED = "CASE " + " ".join(f"WHEN {condition} THEN '{word}'" for word, condition in RECORDED.items()) + " END"
_SIGNAL = f"""WHEN {SIGNAL["all_fail"]} THEN ['{NO_SIGNAL}', 'all_fail']
    WHEN {SIGNAL["all_pass"]} THEN ['{NO_SIGNAL}', 'all_pass'] WHEN flat THEN ['{NO_SIGNAL}'] ELSE ['yes']"""
_VALUES = {
    "verdicts": "SELECT verdict AS name FROM {source} WHERE {condition}",
    "model": "SELECT model FROM {source} WHERE {condition}",
    "err": "SELECT err FROM {source} WHERE {condition}",
    "flag": """SELECT unnest(list_distinct(flags)) FROM {source} WHERE flags <> [] AND {condition}
        UNION ALL SELECT 'missing_package: ' || flag_evidence[list_position(flags, 'missing_package')]
        FROM {source} WHERE flags <> [] AND list_contains(flags, 'missing_package') AND {condition}""",
    "verified": f"""SELECT CASE WHEN verified THEN '{VERIFIED}' ELSE '{UNVERIFIED}' END
        FROM {{source}} WHERE {{condition}}
        UNION ALL SELECT '{UNVERIFIED}: ' || {REASON} FROM {{source}} WHERE NOT verified AND {{condition}}""",  # noqa: S608
    "signal": f"""SELECT unnest(CASE {_SIGNAL} END)
        FROM {{source}} JOIN (SELECT group_id, flat, ended FROM groups) USING (group_id) WHERE {{condition}}""",  # noqa: S608
    "given": f"SELECT unnest(CASE {_GIVEN} END) FROM {{source}} WHERE given_reward IS NOT NULL AND {{condition}}",  # noqa: S608
    "recorded": f"""SELECT {_RECORDED} FROM {{source}} WHERE recorded_verdict IS NOT NULL AND {{condition}}
        UNION ALL SELECT recorded_verdict FROM {{source}} WHERE {{condition}}""",  # noqa: S608
    "tag": """SELECT tag FROM (SELECT DISTINCT * FROM tags) JOIN {source} USING (task_id, sample_id)
        WHERE {condition}""",
}
"""For each field: the value of each rollout that meets a condition."""
_SLOW = ("q", "find", "tag")
"""Fields that search texts or join: what they let through is found once, for all options."""


@cached
def options(run: OpenRun, filter_: Filter) -> dict[str, Ranking[Option]]:
    """The options of each field, those with the most rollouts first; fields without a value are missing.

    The counts of a field follow the other fields: the rollouts that the filter would show with that option.
    """
    fields = list(options(run, Filter()) if filter_ else _VALUES)
    if not fields:  # a run without rollouts, or one that has just started
        return {}
    parts: list[str] = []
    params: Params = {}
    found = clauses(filter_)
    slow = [clause.sql for clause in found if clause.field in _SLOW]
    for clause in found:
        params |= clause.params
    for field in fields:
        others = [clause for clause in found if clause.field != field]
        # Its own clause must not be among those of `near`.
        near = slow and all(clause in others for clause in found if clause.field in _SLOW)
        conditions = [f"({clause.sql})" for clause in others if not near or clause.field not in _SLOW]
        values = _VALUES[field].format(
            source="near" if near else "rollouts", condition=" AND ".join(conditions) or "true"
        )
        parts.append(f"SELECT '{field}' AS field, name, count(*) AS n FROM ({values}) AS v(name) GROUP BY name")  # noqa: S608
    sql = f"""
        WITH near AS MATERIALIZED (
            SELECT * FROM rollouts WHERE {" AND ".join(f"({each})" for each in slow) or "false"}
        )
        SELECT field, name, n, count(*) OVER (PARTITION BY field) FROM ({" UNION ALL ".join(parts)})
        WHERE name IS NOT NULL QUALIFY row_number() OVER (PARTITION BY field ORDER BY n DESC, name) <= {LISTED}
        ORDER BY field, n DESC, name"""  # noqa: S608
    listed: dict[str, Ranking[Option]] = {}
    for field, of_field in itertools.groupby(run.rows(sql, params), key=lambda row: row[0]):
        rows = list(of_field)
        listed[field] = Ranking([Option(name, count) for _, name, count, _ in rows], rows[0][-1])
    return listed


def failed(verdicts: Ranking[Option]) -> int:
    """How many rollouts of these verdicts failed by their own fault."""
    words = {verdict.value for verdict in FAILED}
    return sum(option.rollouts for option in verdicts.rows if option.name in words)


@cached
def ranges(run: OpenRun) -> Ranges:
    """The ranges of the whole run."""
    return Ranges(
        *run.rows("""SELECT min(reward), max(reward), min(step), max(step), min(wall_s), max(wall_s),
                            min(length), max(length) FROM rollouts""")[0]
    )
