"""A reward function for TRL's trainers, on Rollscope's grading:

    GRPOTrainer(..., reward_funcs=[code_reward])

The dataset has a column with each row's tests. Nothing of TRL is imported.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from evaluator import Limits, Rollout, Task, grade_all
from evaluator.graders.bench import Disagreements
from evaluator.interop.trainer_tests import task_from
from evaluator.model import JsonValue, RecordError

COLUMNS: Final = ("in_outs", "verification_info", "test_cases", "tests", "ground_truth")
"""Where tests are looked for, in this order."""

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
    """A reward function with options of its own, logged under `name`.

    `column` holds the tests; None: the first of `COLUMNS` that the dataset has. `continuous`: the share of the tests
    that passed, not all or nothing. `workers`: completions run at once; None: one a CPU. `disagreement`: as in
    `evaluator.grade`; "unknown" gives None.
    """

    def reward(completions: Sequence[JsonValue], **columns: JsonValue) -> list[float | None]:
        """The reward of each completion (a text, or messages), in their order.

        None where there is no grade: the row's tests can't be read (a warning says why), or the sandbox failed.
        Raises `ValueError` where no column holds tests, `SandboxUnavailable` where there is no sandbox.
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
                tasks, rollouts, workers=workers, limits=limits, grader=grader, disagreement=disagreement
            )
            for grade in grades:
                rewards[int(grade.sample_id)] = grade.reward
        return rewards

    reward.__name__ = reward.__qualname__ = name
    return reward


def _tests(columns: Mapping[str, JsonValue], asked: str | None, count: int) -> Sequence[JsonValue]:
    name = asked or next((each for each in COLUMNS if each in columns), None)
    if name is None or name not in columns:
        wanted = f"column {asked!r}" if asked else f"column of tests ({', '.join(COLUMNS)})"
        has = ", ".join(columns) or "none"
        raise ValueError(f"the dataset has no {wanted}; it has {has}: name it with make_code_reward(column=...)")
    tests: Sequence[JsonValue] = columns[name]
    if len(tests) != count:
        raise ValueError(f"column {name!r} has {len(tests)} values for {count} completions: give one a completion")
    return tests


def _task_for(given: JsonValue, tasks: dict[str, Task], number: int) -> str | None:
    """The id of the row's task, noted in `tasks`; rows with the same tests share one. None where it can't be read."""
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
    """What the model wrote: a text, or the content of the last message; empty where that has none."""
    if isinstance(completion, str):
        return completion
    last = completion[-1] if isinstance(completion, Sequence) and completion else completion
    content = last.get("content") if isinstance(last, Mapping) else None
    if isinstance(content, list):
        content = "".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


code_reward: Final = make_code_reward()
