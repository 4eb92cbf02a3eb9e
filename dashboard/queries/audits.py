"""Grades that rollouts came with against our own, flags on rollouts that passed, and what an audit can compare."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from dashboard.queries.expressions import BOTH, LETTER, SAME_END
from dashboard.queries.query import GIVEN, cached, number, rows
from dashboard.state import Filter
from dashboard.workspace import OpenRun
from evaluator.auditing import BY_TESTS
from evaluator.flags import WORDS
from evaluator.model import Mode, Verdict

NO_CHEATING = ("missing_package",)
"""Flags that an honest completion may have, too."""
CHEATING = tuple(word for word in WORDS if word not in NO_CHEATING)
BINS = ("below 0", "0", "0 to 0.5", "0.5 to 1", "1", "above 1")
"""Of the given reward; the ends 0 and 1 are bins of their own, and 0.5 belongs to the upper one."""
_BIN = """CASE WHEN given_reward < 0 THEN 0 WHEN given_reward = 0 THEN 1 WHEN given_reward < 0.5 THEN 2
          WHEN given_reward < 1 THEN 3 WHEN given_reward = 1 THEN 4 ELSE 5 END"""


_MAKERS = 3
"""Names of what made a recorded verdict that are shown."""


class GivenCounts(NamedTuple):
    """Rollouts by the reward that they came with, against ours."""

    given: int
    """All that came with one."""
    same: int
    higher: int
    lower: int

    @property
    def without_own(self) -> int:
        """Those that have no reward of ours."""
        return self.given - self.same - self.higher - self.lower


class Recorded(NamedTuple):
    """Rollouts by the verdict that they came with, against ours."""

    by_verdict: dict[tuple[str, str], int]
    """By recorded verdict and ours."""
    makers: dict[str, list[str]]
    """For each recorded verdict: what made it, the first names."""
    agree: int
    only_recorded: int
    """Recorded as passed, and not passed here."""
    only_own: int
    """The other way round."""
    without: int
    """Those that came with none."""
    ungraded: int
    """Those with one that have no grade of ours, or were recorded as not graded: neither agrees nor differs."""

    @property
    def both(self) -> int:
        """Those with two grades."""
        return self.agree + self.only_recorded + self.only_own


class FlagShare(NamedTuple):
    """A flag, and how many rollouts have it: passed ones, all, and the tasks of the passed ones."""

    name: str
    passed: int
    rollouts: int
    tasks: int


@cached
def given_counts(run: OpenRun, filter_: Filter) -> GivenCounts:
    """The given rewards that equal, exceed or fall below our own, as the filter's `given` finds them."""
    against = ", ".join(f"count(*) FILTER ({GIVEN[word]})" for word in ("same", "higher", "lower"))
    return GivenCounts(*rows(run, filter_, f"SELECT count(given_reward), {against} FROM inside")[0])  # noqa: S608


@cached
def given_by_verdict(run: OpenRun, filter_: Filter) -> dict[tuple[int, str], int]:
    """Rollouts by the place of their given reward in `BINS`, and their verdict."""
    sql = f"""SELECT {_BIN} AS bin, verdict, count(*) FROM inside
              WHERE given_reward IS NOT NULL GROUP BY bin, verdict"""  # noqa: S608
    return {(place, verdict): count for place, verdict, count in rows(run, filter_, sql)}


@cached
def recorded(run: OpenRun, filter_: Filter) -> Recorded:
    """The recorded verdicts against ours, as the filter's `recorded` finds them."""
    sql = f"""SELECT recorded_verdict, verdict, coalesce({BOTH}, false), {SAME_END}, count(*),
                     list_sort(list(DISTINCT recorded_by) FILTER (recorded_by IS NOT NULL))[1:{_MAKERS}]
              FROM inside GROUP BY ALL"""  # noqa: S608
    by_verdict: Counter[tuple[str, str]] = Counter()
    by_end: Counter[tuple[bool, bool]] = Counter()
    makers: dict[str, set[str]] = {}
    without = ungraded = 0
    for word, verdict, both, same, count, names in rows(run, filter_, sql):
        if word is None:
            without += count
            continue
        by_verdict[word, verdict] += count
        makers.setdefault(word, set()).update(names or ())
        if both:
            by_end[bool(same), word == Verdict.PASSED] += count
        else:
            ungraded += count
    agree = by_end[True, True] + by_end[True, False]
    named = {word: sorted(names)[:_MAKERS] for word, names in makers.items()}
    return Recorded(dict(by_verdict), named, agree, by_end[False, True], by_end[False, False], without, ungraded)


@cached
def passed_count(run: OpenRun, filter_: Filter) -> int:
    """How many rollouts passed."""
    return number(run, filter_, f"count(*) FILTER (verdict = '{Verdict.PASSED}')")


@cached
def cheating_flags(run: OpenRun, filter_: Filter) -> list[FlagShare]:
    """The flags of `CHEATING` that rollouts have, the one with the most passed rollouts first."""
    sql = f"""
        WITH f AS (SELECT unnest(list_distinct(flags)) AS name, task_id, verdict = '{Verdict.PASSED}' AS passed
                   FROM inside)
        SELECT name, count(*) FILTER (passed) AS n, count(*), count(DISTINCT task_id) FILTER (passed)
        FROM f WHERE list_contains($cheating, name) GROUP BY name ORDER BY n DESC, name"""  # noqa: S608
    return [FlagShare(*row) for row in rows(run, filter_, sql, cheating=list(CHEATING))]


@cached
def comparable(run: OpenRun) -> int:
    """How many rollouts have outputs that a checker compares: of tasks with inputs and outputs, graded by tests."""
    sql = """SELECT count(*) FROM rollouts SEMI JOIN (SELECT task_id FROM tasks WHERE list_contains($modes, mode))
             USING (task_id) WHERE list_contains($graders, coalesce(grader, 'tests'))"""
    modes: list[str] = [Mode.STDIN, Mode.CALL]
    return int(run.rows(sql, {"modes": modes, "graders": list(BY_TESTS)})[0][0])


@cached
def own_letters(run: OpenRun, ids: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """The letter that the run has for each of these (task, sample)."""
    sql = f"""SELECT task_id, sample_id, {LETTER} FROM rollouts
              WHERE list_contains($tasks, task_id) AND list_contains($samples, sample_id)"""  # noqa: S608
    tasks, samples = ([pair[place] for pair in ids] for place in (0, 1))
    return {(task, sample): letter for task, sample, letter in run.rows(sql, {"tasks": tasks, "samples": samples})}
