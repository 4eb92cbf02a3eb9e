"""Two sides, task by task: did B fix or break what A did, and is the difference more than chance?

A side is a run, or one model of a run. Tasks are joined by id, and count only if both sides had the same prompt and
tests. Rollouts that could not be graded are left out and counted; a disagreement counts as not passed, as in pass@k.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import msgspec
import numpy as np

from evaluator.model import Limits
from evaluator.options import by_name
from evaluator.runs.expressions import GRADED, MODEL
from evaluator.runs.metrics import Interval, mcnemar, paired_difference
from evaluator.runs.schema import Manifest

if TYPE_CHECKING:
    import duckdb

    from evaluator.runs.reading import Run

_LEVEL: Final = 0.05
FEWEST_CHANGED: Final = 6
"""With fewer changed tasks, all in one direction, chance alone does the same in more than 5 % of cases (2 / 2^5)."""
_MINOR: Final = ("interpreter", "isolation", "sandbox", "fail_fast")
"""Options that rarely change a verdict."""
_OWN_OF_TASK: Final = (
    "checker", "checker_code", "grader", "limits", "time_limit", "memory_limit", "weights",
)  # fmt: skip
"""Fields of a task that decide how it is graded, besides its tests."""


OF_SIDE: Final = f"($side = '' OR {MODEL} = $side) AND ($at_step IS NULL OR step = $at_step)"
"""The condition of a side's rollouts, with the parameters `side`, a model, and `at_step`."""


class Change(StrEnum):
    """What became of a task from A to B. With several samples, fixed means a higher pass rate, broken a lower one."""

    FIXED = "fixed"
    BROKEN = "broken"
    SAME = "same"
    ONLY_A = "only_a"
    ONLY_B = "only_b"
    OTHER_TESTS = "other_tests"
    """The same id, but another prompt, other tests or other grading."""
    NOT_GRADED = "not_graded"
    """On one side, no rollout could be graded."""

    @property
    def words(self) -> str:
        """As people read it: `only in A`, `other tests`."""
        return {Change.ONLY_A: "only in A", Change.ONLY_B: "only in B"}.get(self, self.value.replace("_", " "))


class Outcome(NamedTuple):
    """A task's rollouts on one side."""

    graded: int
    passed: int
    left_out: int
    """Without a grade: unknown or sandbox_error."""

    @property
    def rate(self) -> float:
        return self.passed / self.graded


class Side(NamedTuple):
    """A run, or one model of it: outcomes by task in the order of the file, and what decides each task's grades."""

    outcomes: dict[str, Outcome]
    hashes: Mapping[str, int]
    """A hash of prompt, tests and grading, by task."""


class TaskChange(NamedTuple):
    """A task on both sides; None where the side has no rollout of it."""

    task_id: str
    change: Change
    a: Outcome | None
    b: Outcome | None
    points: float | None = None
    """B's pass rate minus A's, in percentage points; None if the task can't be compared."""


class Setting(msgspec.Struct, frozen=True):
    """A setting that differs between two runs."""

    name: str
    a: str
    b: str


class Comparison(NamedTuple):
    """All tasks of both sides, sorted by change, and the difference over the compared ones."""

    tasks: list[TaskChange]
    counts: dict[Change, int]
    a_mean: float
    """Mean pass rate over the compared tasks; NaN without any."""
    b_mean: float
    difference: Interval
    """B's mean minus A's, from 0 to 1."""
    p: float | None
    """Exact McNemar; None if a compared task has several samples."""
    a_left_out: int
    b_left_out: int

    @property
    def better(self) -> Literal["a", "b"] | None:
        """The side that is better beyond chance."""
        sure = self.p < _LEVEL if self.p is not None else self._interval_excludes_0
        return None if not sure else "b" if self.difference.value > 0 else "a"

    @property
    def _interval_excludes_0(self) -> bool:
        changed = self.counts[Change.FIXED] + self.counts[Change.BROKEN]
        return changed >= FEWEST_CHANGED and not self.difference.low <= 0 <= self.difference.high


def task_hashes(connection: duckdb.DuckDBPyConnection, *, grading: bool = True) -> dict[str, int]:
    """What decides the grades of each task of a run, as a hash to compare with another run's.

    Without `grading` only prompt and tests: enough, and much quicker, if both runs read the same dataset file.
    """
    paths = ", ".join(f"'$.{field}'" for field in _OWN_OF_TASK)
    own = f", json_extract_string(task, [{paths}])" if grading else ""
    return dict(connection.execute(f"SELECT task_id, hash(prompt, test_hash{own}) FROM tasks").fetchall())  # noqa: S608


def side(
    connection: duckdb.DuckDBPyConnection,
    hashes: Mapping[str, int],
    model: str = "",
    condition: str = "true",
    params: Mapping[str, Any] | None = None,
    step: int | None = None,
) -> Side:
    """The rollouts of a run that meet an SQL condition, and those of one model and one step if they are named."""
    rows = connection.execute(
        f"""SELECT task_id, count(*) FILTER ({GRADED}), count(*) FILTER (verdict = 'passed'),
                   count(*) FILTER (NOT {GRADED})
            FROM rollouts WHERE ({condition}) AND {OF_SIDE}
            GROUP BY task_id ORDER BY min("row")""",  # noqa: S608
        {**(params or {}), "side": model, "at_step": step},
    ).fetchall()
    return Side({task: Outcome(*counts) for task, *counts in rows}, hashes)


def compare(a: Side, b: Side) -> Comparison:
    """Every task of both sides, and the difference over the comparable ones."""
    tasks = [_compared(task, a, b) for task in dict.fromkeys([*a.outcomes, *b.outcomes])]
    places = {change: place for place, change in enumerate(Change)}
    tasks.sort(key=lambda each: (places[each.change], -abs(each.points or 0)))
    found = Counter(each.change for each in tasks)
    counts = {change: found[change] for change in Change}
    pairs = [(each.a, each.b) for each in tasks if each.points is not None and each.a and each.b]
    left, right = (np.array([pair[place].rate for pair in pairs]) for place in (0, 1))
    single = bool(pairs) and all(left.graded == right.graded == 1 for left, right in pairs)
    return Comparison(
        tasks=tasks,
        counts=counts,
        a_mean=float(left.mean()) if pairs else math.nan,
        b_mean=float(right.mean()) if pairs else math.nan,
        difference=paired_difference(left, right),
        p=mcnemar(counts[Change.FIXED], counts[Change.BROKEN]) if single else None,
        a_left_out=sum(outcome.left_out for outcome in a.outcomes.values()),
        b_left_out=sum(outcome.left_out for outcome in b.outcomes.values()),
    )


def _compared(task: str, a: Side, b: Side) -> TaskChange:
    left, right = a.outcomes.get(task), b.outcomes.get(task)
    if left is None or right is None:
        return TaskChange(task, Change.ONLY_B if left is None else Change.ONLY_A, left, right)
    if a.hashes.get(task) != b.hashes.get(task):
        return TaskChange(task, Change.OTHER_TESTS, left, right)
    if not left.graded or not right.graded:
        return TaskChange(task, Change.NOT_GRADED, left, right)
    points = 100 * (right.rate - left.rate)
    change = Change.SAME if not points else Change.FIXED if points > 0 else Change.BROKEN
    return TaskChange(task, change, left, right, points)


def settings_that_decide(a: Manifest, b: Manifest) -> list[Setting]:
    """The differing settings that decide verdicts: with other ones, a difference says nothing about the models."""
    found = [each for each in _differing_options(a, b) if each.name not in (*_MINOR, "limits")]
    for name in Limits.__struct_fields__:
        left, right = getattr(a.options.limits, name), getattr(b.options.limits, name)
        if left != right:
            found.append(Setting(name, f"{left:g}", f"{right:g}"))
    return found


def minor_settings(a: Manifest, b: Manifest) -> list[Setting]:
    """Other differing settings. They rarely change a verdict, so they only need saying.

    Another dataset file is one of them: whether the shared tasks are the same is found out task by task.
    """
    made_by = [(name, getattr(a, name), getattr(b, name)) for name in ("evaluator_version", "python")]
    found = [Setting(name, left, right) for name, left, right in made_by if left != right]
    found += (each for each in _differing_options(a, b) if each.name in _MINOR)
    if a.dataset_hash != b.dataset_hash:
        left, right = (
            f"{PurePath(each.dataset).name} ({each.dataset_hash.removeprefix('sha256:')[:8]})" for each in (a, b)
        )
        found.append(Setting("dataset", left, right))
    return found


def _differing_options(a: Manifest, b: Manifest) -> Iterator[Setting]:
    right = by_name(b.options)
    for name, value in by_name(a.options).items():
        if value != right[name]:
            yield Setting(name, _shown(value), _shown(right[name]))


def _shown(value: object) -> str:
    return "not set" if value is None else str(value) or "empty"


def obstacles(found: Comparison, settings: list[Setting]) -> list[str]:
    """Why there is no headline: one line for each reason; none if there is one."""
    lines = [f"{each.name} differs: {each.a} in A, {each.b} in B" for each in settings]
    if other := found.counts[Change.OTHER_TESTS]:
        lines.append(f"{_tasks(other)} with another prompt, other tests or other grading in B")
    if not lines and not found.difference.n:
        lines.append("no shared task has graded rollouts on both sides")
        if missing := found.a_left_out + found.b_left_out:
            have = f"{missing:,} rollouts have" if missing > 1 else "1 rollout has"
            lines.append(f"{have} no grade: make it with `rollscope grade ROLLOUTS --dataset DATASET`")
    return lines


def headline(found: Comparison) -> str:
    """The difference in one sentence, for a comparison without obstacles."""
    shown = found.difference
    tasks = _tasks(shown.n, "shared ")
    if found.counts[Change.SAME] == shown.n:
        return f"No difference: the same pass rate on both sides in {tasks}"
    p = "" if found.p is None else "; exact McNemar p " + ("< 0.001" if found.p < 0.001 else f"= {found.p:.2g}")
    if found.better is not None:
        sign, word = (1, "better") if found.better == "b" else (-1, "worse")
        return f"B is {word} by {_points(shown, sign)} over {tasks}{p}"
    p = p or f", {found.counts[Change.FIXED]:,} better, {found.counts[Change.BROKEN]:,} worse"
    return f"On average no difference beyond chance: B - A is {_points(shown, 1)} over {tasks}{p}"


def _points(difference: Interval, sign: int) -> str:
    value, *bounds = (100 * sign * figure + 0.0 for figure in difference[:3])
    low, high = sorted(bounds)
    between = f" (95%: {low:.1f} to {high:.1f})" if low != high else ""  # all tasks alike: no spread to resample
    return f"{value:.1f} points{between}"


def _tasks(count: int, kind: str = "") -> str:
    return f"{count:,} {kind}task{'' if count == 1 else 's'}"


class RewardChange(NamedTuple):
    """A rollout whose reward differs."""

    task_id: str
    sample_id: str
    before: float
    after: float
    why: str
    """What the second grading says of it."""


def reward_changes(a: Run, b: Run) -> list[RewardChange] | None:
    """The changed rewards, those that fell first; None if the two runs are not of the same completions.

    A rollout that has no reward in one of them is left out.
    """
    before, after = _rewards(a), _rewards(b)
    if before.keys() != after.keys():
        return None
    found = [
        RewardChange(task, sample, was, reward, why)
        for (task, sample, text), (reward, why) in after.items()
        if reward is not None and (was := before[task, sample, text][0]) is not None and was != reward
    ]
    return sorted(found, key=lambda each: each.after - each.before)


def _rewards(run: Run) -> dict[tuple[str, str, int], tuple[float | None, str]]:
    """By task, sample and the completion's hash."""
    with run.connect() as connection:
        rows = connection.execute(
            """SELECT task_id, sample_id, hash(completion), reward,
                      concat_ws(': ', 'test ' || first_failing_test, error_type, error_message)
               FROM rollouts ORDER BY "row" """
        ).fetchall()
    return {(task, sample, text): (reward, why) for task, sample, text, reward, why in rows}
