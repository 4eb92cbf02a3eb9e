"""A reward function for TRL's trainers that grades with Rollscope:

    GRPOTrainer(..., reward_funcs=[code_reward])

A column of the dataset has each row's tests. TRL is not imported.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from evaluator import Limits, Rollout, Task, grade_all
from evaluator.formats.trainer_tests import COLUMNS, task_from
from evaluator.graders.bench import Disagreements
from evaluator.model import JsonValue, RecordError

RewardFunction = Callable[..., list[float | None]]


def make_code_reward(
    *,
    column: str | None = None,
    continuous: bool = False,
    limits: Limits | None = None,
    workers: int | None = None,
    disagreement: Disagreements = "unknown",
    name: str = "code_reward",
) -> RewardFunction:
    """Makes a reward function for `GRPOTrainer(reward_funcs=[...])`.

    `column`: the column of tests, in any shape that `trainer_tests.task_from` reads; None: the first of `COLUMNS` that
    the dataset has. `continuous`: reward the share of tests that passed; False: 1.0 if all passed, else 0.0. `limits`:
    per test case and completion (`evaluator.Limits`); None: its defaults, or the row's. `workers`: completions graded
    at once; None: one per CPU. `disagreement`: as in `evaluator.grade`; "unknown" gives None. `name`: what TRL logs.

        share = make_code_reward(column="unit_tests", continuous=True, name="share_of_tests")
        share(completions=["def add(a, b): return a + b"], unit_tests=[{"assert_case": ["assert add(1, 2) == 3"]}])
    """

    def reward(completions: Sequence[JsonValue], **columns: JsonValue) -> list[float | None]:
        """The rewards in the order of `completions`: each is text, or messages of which the last one counts.

        `columns`: the dataset's, each with one value per completion; those without tests are ignored. A reward is
        None, which TRL leaves out, if the row's tests can't be read (a warning says why) or the sandbox failed.
        Raises `ValueError` if no column holds tests or its length differs, `SandboxUnavailable` if no sandbox starts.
        """
        tests = _tests(columns, column, len(completions))
        tasks: dict[str, Task] = {}
        rollouts: list[Rollout] = []
        for number, (completion, given) in enumerate(zip(completions, tests, strict=True)):
            task_id = _task_for(given, tasks, number)
            if task_id is not None:
                rollouts.append(Rollout(task_id=task_id, sample_id=str(number), completion=_text(completion)))
        grader = "tests:reward=fraction" if continuous else "tests"
        rewards: list[float | None] = [None] * len(completions)
        if rollouts:
            grades = grade_all(
                tasks, rollouts, workers=workers, limits=limits, grader=grader, disagreement=disagreement, cache=None
            )
            for grade in grades:
                rewards[int(grade.sample_id)] = grade.reward
        return rewards

    reward.__name__ = reward.__qualname__ = name
    return reward


def _tests(columns: Mapping[str, JsonValue], column: str | None, count: int) -> Sequence[JsonValue]:
    name = column or next((each for each in COLUMNS if each in columns), None)
    if name is None or name not in columns:
        wanted = f"column {column!r}" if column else f"column of tests ({', '.join(COLUMNS)})"
        has = ", ".join(columns) or "none"
        raise ValueError(f"the dataset has no {wanted}; it has {has}: name it with make_code_reward(column=...)")
    tests: Sequence[JsonValue] = columns[name]
    if len(tests) != count:
        raise ValueError(f"column {name!r} has {len(tests)} values for {count} completions: give one per completion")
    return tests


def _task_for(given: JsonValue, tasks: dict[str, Task], number: int) -> str | None:
    """Adds the row's task to `tasks` and returns its id; equal tests share one. None if the tests can't be read."""
    task_id = given if isinstance(given, str) else json.dumps(given, sort_keys=True, default=repr)
    if task_id in tasks:
        return task_id
    try:
        tasks[task_id] = task_from(given, task_id)
    except RecordError as error:
        warnings.warn(f"completion {number} has no reward: {error}", stacklevel=3)
        return None
    return task_id


def _text(completion: JsonValue) -> str:
    """The completion, or the content of its last message; empty if that has none."""
    if isinstance(completion, str):
        return completion
    last = completion[-1] if isinstance(completion, Sequence) and completion else completion
    content = last.get("content") if isinstance(last, Mapping) else None
    if isinstance(content, list):
        content = "".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


code_reward: Final = make_code_reward()
