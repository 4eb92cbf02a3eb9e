"""The same rollouts graded twice, with other tests: whose rewards changed, and by which test case."""

from __future__ import annotations

from typing import NamedTuple

from evaluator.runs.reading import Run


class RewardChange(NamedTuple):
    """A rollout whose reward differs."""

    task_id: str
    sample_id: str
    before: float
    after: float
    why: str
    """What the second grading says of it."""


def reward_changes(a: Run, b: Run) -> list[RewardChange] | None:
    """The changed rewards, those that fell first; None if the two runs are not of the same rollouts.

    A rollout that has no reward in one of them is left out.
    """
    if a.manifest.rollouts != b.manifest.rollouts:
        return None
    before, after = _rewards(a), _rewards(b)
    found = [
        RewardChange(*key, before[key][0], reward, why)
        for key, (reward, why) in after.items()
        if key in before and before[key][0] != reward
    ]
    return sorted(found, key=lambda each: each.after - each.before)


def _rewards(run: Run) -> dict[tuple[str, str], tuple[float, str]]:
    with run.connect() as connection:
        rows = connection.execute(
            """SELECT task_id, sample_id, reward,
                      concat_ws(': ', 'test ' || first_failing_test, error_type, error_message)
               FROM rollouts WHERE reward IS NOT NULL ORDER BY "row" """
        ).fetchall()
    return {(task, sample): (reward, why) for task, sample, reward, why in rows}
