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
