"""Reward functions for verl that grade with Rollscope. In the trainer's configuration:

    reward:
      custom_reward_function:
        path: pkg://evaluator.interop.verl
        name: compute_score

verl is not imported. Safe to call from several threads, and from a process that holds CUDA: sandboxes start by exec.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any, Literal, NamedTuple, TypedDict

from evaluator import Grade, Task
from evaluator.formats.tests_alone import task_from
from evaluator.interop.program_results import LimitsLike, agraded, graded, reward_options
from evaluator.model import JsonValue, RecordError
from evaluator.options import Disagreements, Options


class Score(TypedDict):
    """The score of one response: verl trains on `score` and logs the rest. The keys and types are always the same."""

    score: float
    acc: float
    """1.0 if all tests passed, else 0.0."""
    graded: float
    """1.0, or 0.0 if there is no grade: `score` is then the number that `ungraded` gives."""
    pass_rate: float
    tests_passed: int
    tests_total: int
    verdict: str
    error: str
    """The first failing test's, or why there is no grade; empty if all passed."""


class UngradedError(RuntimeError):
    """The tests can't be read, or the sandbox failed: there is no grade, and verl can't take a missing reward."""


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: JsonValue,
    extra_info: Mapping[str, JsonValue] | None = None,
    **settings: Any,
) -> Score | float:
    """Grades one response. verl passes the positional arguments; the keywords are its `reward_kwargs`.

    `data_source`: names the row in messages, with the `index` of `extra_info` if it has one. `solution_str`: the
    response, a program or a chat answer with fenced code. `ground_truth`: the tests, in any shape that
    `tests_alone.task_from` reads. `plain`: return the number alone. `ungraded`: the score if there is no grade;
    "raise": raise, which ends the batch. `continuous`: score the share of tests that passed; False: 1.0 if all passed,
    else 0.0. `limits`: fields of `evaluator.Limits`, such as `{"wall_s": 5}` (seconds; MiB for `memory_mb`); None: the
    defaults, or the row's. `disagreement`: as in `evaluator.grade`, but a suite that fails in two processes and passes
    in one fails by default: with "unknown" it has no grade. Other keywords are ignored.

    Raises `UngradedError` if there is no grade (see `ungraded`), `SandboxUnavailable` if no sandbox starts,
    `RecordError` for bad `limits`, `ValueError` for another `ungraded`.

        tests = {"inputs": ["1\\n2"], "outputs": ["3"], "fn_name": "add"}
        compute_score("taco", "def add(a, b): return a + b", tests)["score"]  # 1.0
    """
    scoring, row = _scoring(**settings), _row(data_source, solution_str, ground_truth, extra_info, {})
    return scoring.scores([row], graded(scoring.programs([row]), scoring.options))[0]


async def acompute_score(
    data_source: str,
    solution_str: str,
    ground_truth: JsonValue,
    extra_info: Mapping[str, JsonValue] | None = None,
    **settings: Any,
) -> Score | float:
    """`compute_score` for a reward loop: the same arguments, result and exceptions, but it takes no thread."""
    scoring, row = _scoring(**settings), _row(data_source, solution_str, ground_truth, extra_info, {})
    return scoring.scores([row], await agraded(scoring.programs([row]), scoring.options))[0]


def compute_score_batch(
    data_sources: Iterable[str],
    solution_strs: Iterable[str],
    ground_truths: Iterable[JsonValue],
    extra_infos: Iterable[Mapping[str, JsonValue] | None] | None = None,
    **settings: Any,
) -> list[Score | float]:
    """The scores of a batch, in its order, graded on all CPUs at once: for verl's batch reward manager.

    Each argument has one value per response; the keywords are those of `compute_score`. Raises as `compute_score`, and
    `ValueError` if the lengths differ.
    """
    sources, solutions, truths = list(data_sources), list(solution_strs), list(ground_truths)
    infos = [None] * len(solutions) if extra_infos is None else list(extra_infos)
    lengths = {"data_sources": len(sources), "solution_strs": len(solutions), "ground_truths": len(truths)}
    lengths["extra_infos"] = len(infos)
    if len(set(lengths.values())) > 1:
        has = ", ".join(f"{count} {name}" for name, count in lengths.items())
        raise ValueError(f"{has}: give one of each per response")
    tasks: dict[JsonValue, Task] = {}
    given = enumerate(zip(sources, solutions, truths, infos, strict=True))
    scoring, rows = _scoring(**settings), [_row(*each, tasks, place) for place, each in given]
    return scoring.scores(rows, graded(scoring.programs(rows), scoring.options))


class _Row(NamedTuple):
    """A response with its tests."""

    name: str
    task: Task | str
    """Or why there is none."""
    response: str = ""


def _row(
    data_source: str,
    solution: str,
    ground_truth: JsonValue,
    extra_info: Mapping[str, JsonValue] | None,
    tasks: dict[JsonValue, Task],
    place: int | None = None,
) -> _Row:
    """`tasks`: those of the batch by their tests, which the responses to one prompt share. `place`: in the batch."""
    name = str(data_source) or "verl"
    if isinstance(extra_info, Mapping) and extra_info.get("index") is not None:
        name = f"{name}, index {extra_info['index']}"
    elif place is not None:
        name = f"{name}, response {place} of the batch"
    if not isinstance(solution, str):
        return _Row(name, f"solution_str is of type {type(solution).__name__}: give text")
    key = ground_truth if isinstance(ground_truth, str) else id(ground_truth)
    try:
        task = tasks.get(key) or tasks.setdefault(key, task_from(ground_truth, name))
    except RecordError as error:
        return _Row(name, str(error))
    return _Row(name, task, solution)


class _Scoring(NamedTuple):
    """How responses are graded, and what becomes of their grades."""

    plain: bool
    ungraded: float | None
    """The score without a grade; None: raise."""
    options: Options

    def programs(self, rows: Sequence[_Row]) -> list[tuple[Task | str, str]]:
        for row in rows:
            if isinstance(row.task, str) and self.ungraded is None:  # before the others are graded
                raise UngradedError(f"{row.name}: {row.task}")
        return [(row.task, row.response) for row in rows]

    def scores(self, rows: Sequence[_Row], grades: Sequence[Grade]) -> list[Score | float]:
        return [self._score(row, grade) for row, grade in zip(rows, grades, strict=True)]

    def _score(self, row: _Row, grade: Grade) -> Score | float:
        problem, score = "", grade.reward
        if score is None:
            reason = grade.error_message or "no reason was given"
            problem = row.task if isinstance(row.task, str) else f"no grade ({grade.verdict}): {reason}"
            if self.ungraded is None:
                raise UngradedError(f"{row.name}: {problem}")
            score = self.ungraded
        if self.plain:
            return score
        return Score(
            score=score,
            acc=float(grade.passed),
            graded=float(not problem),
            pass_rate=0.0 if problem else grade.pass_rate or 0.0,
            tests_passed=0 if problem else grade.tests_passed,
            tests_total=grade.tests_total,
            verdict=grade.verdict.value,
            error=problem or grade.error,
        )


def _scoring(
    *,
    plain: bool = False,
    ungraded: float | Literal["raise"] = "raise",
    continuous: bool = False,
    limits: LimitsLike = None,
    disagreement: Disagreements = "fail",
    **kwargs: object,
) -> _Scoring:
    for name in kwargs:
        _warn_if_misspelt(name)
    if ungraded != "raise" and (isinstance(ungraded, bool) or not isinstance(ungraded, int | float)):
        raise ValueError(f'ungraded is {ungraded!r}: give a number, or "raise"')
    options = reward_options(limits, continuous=continuous, disagreement=disagreement)
    return _Scoring(plain, None if ungraded == "raise" else float(ungraded), options)


@cache
def _warn_if_misspelt(name: str) -> None:
    """verl passes keywords of its own, so that unknown ones can't be refused. Each is looked at once."""
    close = get_close_matches(name, ("plain", "ungraded", "continuous", "limits", "disagreement"), 1, 0.8)
    if close:
        warnings.warn(f"the keyword {name!r} is ignored: is it {close[0]!r}?", stacklevel=4)
