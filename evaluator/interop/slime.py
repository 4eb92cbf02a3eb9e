"""Reward functions for slime that grade with Rollscope:

    --custom-rm-path evaluator.interop.slime.custom_rm      # or share_rm, for the share of tests that passed

A sample's label or metadata has its tests. slime is not imported.
"""

from __future__ import annotations

import warnings
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, Protocol

from evaluator.formats.slime import tests_of
from evaluator.formats.tests_alone import task_from
from evaluator.interop.program_results import SHARE, LimitsLike, agraded, reward_options
from evaluator.model import Grade, JsonValue, RecordError, Task, brief
from evaluator.options import Options


class Sample(Protocol):
    """What is used of slime's samples."""

    response: str
    label: JsonValue
    metadata: Any
    remove_sample: bool


RewardFunction = Callable[..., Awaitable[float | list[float]]]


class UngradedError(RuntimeError):
    """The tests of a single sample can't be read, or the sandbox failed: slime can't take a missing reward."""


def make_custom_rm(*, grader: str = "tests", limits: LimitsLike = None) -> RewardFunction:
    """Makes a function for `--custom-rm-path`, as a constant of a module of your own.

    `grader`: with options, such as "tests:reward=fraction". `limits`: fields of `evaluator.Limits`, such as
    `{"wall_s": 5}`; None: its defaults. Raises `RecordError` for bad `limits`.
    """
    options = reward_options(limits, grader=grader, disagreement="fail")

    async def custom_rm(args: Any, sample: Sample | Sequence[Sample], **kwargs: Any) -> float | list[float]:
        """The reward of a sample, or with `--group-rm` the rewards of a group: of `response`, a chat answer or code.

        The tests are in `label`, else in `metadata`, in any shape that `tests_alone.task_from` reads. If `metadata`
        is a dict it gets `rollscope`: verdict, error, and how many tests passed. `args` and other keywords are ignored.

        A single sample without a grade raises `UngradedError`, as slime can't leave a reward out. One of a group is
        taken out of the loss (`remove_sample`), gets the mean of the others' rewards, so that these are compared to
        each other alone, and gives a warning. Raises `SandboxUnavailable` if no sandbox starts.
        """
        del args, kwargs
        if not isinstance(sample, Sequence):
            [grade] = await _grades([sample], options)
            if grade.reward is None:
                raise UngradedError(f"no grade ({grade.verdict}): {grade.error_message or 'no reason was given'}")
            return grade.reward
        return _rewards_of_group(sample, await _grades(sample, options))

    return custom_rm


async def _grades(samples: Sequence[Sample], options: Options) -> list[Grade]:
    programs = [(_task(sample, str(number)), sample.response) for number, sample in enumerate(samples)]
    grades = await agraded(programs, options)
    for sample, grade in zip(samples, grades, strict=True):
        if isinstance(sample.metadata, dict):
            sample.metadata["rollscope"] = {
                "verdict": grade.verdict.value,
                "error": grade.error,
                "tests_passed": grade.tests_passed,
                "tests_total": grade.tests_total,
            }
    return grades


def _task(sample: Sample, task_id: str) -> Task | str:
    """The task of a sample, or why there is none."""
    if not isinstance(sample.response, str):
        return f"the response is {brief(sample.response)}: give text"
    tests = tests_of({"label": sample.label, "metadata": sample.metadata})
    try:
        return task_from(sample.label if tests is None else tests, task_id)
    except RecordError as error:
        return str(error) if sample.label else f"neither the label nor the metadata has tests: {error}"


def _rewards_of_group(samples: Sequence[Sample], grades: Sequence[Grade]) -> list[float]:
    known = [grade.reward for grade in grades if grade.reward is not None]
    mean = sum(known) / len(known) if known else 0.0  # without any grade nothing of the group is trained on
    for sample, grade in zip(samples, grades, strict=True):
        if grade.reward is None:
            sample.remove_sample = True
            warnings.warn(f"a sample is taken out of the loss: {grade.verdict}: {grade.error_message}", stacklevel=3)
    return [mean if grade.reward is None else grade.reward for grade in grades]


custom_rm: Final = make_custom_rm()
"""1.0 if all tests passed, else 0.0."""
share_rm: Final = make_custom_rm(grader=SHARE)
"""The share of the tests that passed."""
