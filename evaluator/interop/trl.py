"""Reward functions for TRL's trainers that grade with Rollscope:

    GRPOTrainer(..., reward_funcs=[code_reward])

A column of the dataset has each row's tests. TRL is not imported.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from evaluator.formats.tests_alone import COLUMNS, SHAPES, column_with_tests, task_from
from evaluator.interop.program_results import LimitsLike, agraded, graded, reward_options
from evaluator.model import Grade, JsonValue, RecordError, Task, Verdict, brief
from evaluator.options import Disagreements
from evaluator.tasks.rows import own_limits

LogExtra = Callable[[str, list[str | None]], object]
"""TRL's, which adds a column to the table of completions: its name, and a value for each completion."""
LogMetric = Callable[[str, float], object]

_Row = tuple[Task | str, str]
"""The task of a completion, or why it can't be read, and its text. A row without tests is None instead."""

_SHARES: Final = (
    Verdict.PASSED,
    Verdict.WRONG_ANSWER,
    Verdict.RUNTIME_ERROR,
    Verdict.COMPILE_ERROR,
    Verdict.TIME_LIMIT,
    Verdict.NO_CODE,
)
"""The verdicts with a metric of their own."""
_LONGEST: Final = 200
"""Characters of an error in the table."""
_LIMITS: Final = "limits"
"""The column of the rows' own limits."""
_OF_TRL: Final = ("prompts", "completion_ids", "trainer_state")
"""What comes beside the dataset's columns."""


class CodeReward:
    """A reward function for `GRPOTrainer(reward_funcs=[...])`; `make_code_reward` is its other name.

    Instances can be pickled, as trainers do to start processes.

        share = make_code_reward(column="unit_tests", continuous=True, name="share_of_tests")
        share(completions=["def add(a, b): return a + b"], unit_tests=[{"assert_case": ["assert add(1, 2) == 3"]}])
    """

    def __init__(
        self,
        *,
        column: str | None = None,
        continuous: bool = False,
        limits: LimitsLike = None,
        workers: int | None = None,
        disagreement: Disagreements = "unknown",
        name: str = "code_reward",
    ) -> None:
        """`column`: of the tests, in any shape that `tests_alone.task_from` reads; None: for each row the first of
        `COLUMNS` that has some. `continuous`: reward the share of tests that passed; False: 1.0 if all passed, else
        0.0. `limits`: per test case and completion (`evaluator.Limits`, or some of its fields, such as `{"wall_s": 5}`:
        seconds and MiB); None: its defaults. A row's own win, in a column `limits` or beside its tests. `workers`: has
        no effect, which a warning says; see `evaluator.configure`. `disagreement`: as in `evaluator.grade`; "unknown"
        gives None. `name`: what TRL logs.

        Raises `RecordError` for bad `limits`.
        """
        if workers is not None:
            _warn_once("workers", f"workers has no effect here: call evaluator.configure(workers={workers}) first")
        self.__name__ = self.__qualname__ = name
        self._column = column
        self._options = reward_options(limits, continuous=continuous, disagreement=disagreement)

    def __call__(
        self,
        completions: Sequence[JsonValue],
        *,
        log_extra: LogExtra | None = None,
        log_metric: LogMetric | None = None,
        **columns: JsonValue,
    ) -> list[float | None]:
        """The rewards in the order of `completions`: each is text, or messages, and the last one counts.

        `columns`: the dataset's, each with one value per completion; those without tests are ignored. A reward is
        None, which TRL leaves out, if the row has no tests, they can't be read (the first time, a warning says so), or
        the sandbox failed. `log_extra`, `log_metric`: TRL's; they get each completion's verdict and error, and the
        batch's mean share of passed tests and the share of each verdict, of the rows with tests.

        Raises `ValueError` if no column holds tests or its length differs, `SandboxUnavailable` if no sandbox starts.
        """
        rows = self._rows(completions, columns)
        return self._rewards(rows, graded(list(filter(None, rows)), self._options), log_extra, log_metric)

    def _rows(self, completions: Sequence[JsonValue], columns: Mapping[str, JsonValue]) -> list[_Row | None]:
        """Raises `ValueError` if no column may hold tests, or its length differs."""
        names = [name for name in ([self._column] if self._column else COLUMNS) if name in columns]
        if not names:
            wanted = f"column {self._column!r}" if self._column else f"column of tests ({', '.join(COLUMNS)})"
            has = ", ".join(name for name in columns if name not in _OF_TRL) or "none"
            raise ValueError(f"the dataset has no {wanted}; it has {has}: name it with make_code_reward(column=...)")
        count = len(completions)
        for name in [*names, *columns.keys() & {_LIMITS}]:
            if len(columns[name]) != count:
                raise ValueError(
                    f"column {name!r} has {len(columns[name])} values for {count} completions: give one per completion"
                )
        known: dict[bytes | int, Task | str] = {}
        rows: list[_Row | None] = []
        for number, completion in enumerate(completions):
            row = {name: columns[name][number] for name in names}
            found = column_with_tests(row, names)
            if found is None:
                given = next((value for value in row.values() if value is not None), None)
                fix = "" if given is None else f": {SHAPES}"
                _warn_once(
                    "no tests",
                    f"completion {number} has no reward from {self.__name__}: its row has no tests in "
                    f"{', '.join(names)} ({brief(given)}){fix}; later rows without tests get no reward and no warning",
                )
                rows.append(None)
                continue
            tests = row[found]
            limits = columns[_LIMITS][number] if _LIMITS in columns else None
            key = _key([tests, limits], number)
            if key not in known:
                known[key] = self._task(tests, limits, number)
            rows.append((known[key], _text(completion)))
        return rows

    def _task(self, tests: JsonValue, limits: JsonValue, number: int) -> Task | str:
        try:
            task = task_from(tests, str(number))
            task.limits = own_limits(limits) or task.limits
            return task
        except RecordError as error:
            _warn_once(
                "unreadable",
                f"completion {number} has no reward from {self.__name__}: {error}; later rows that can't be read "
                f"get no reward and no warning: the metric {self.__name__}/ungraded counts them",
            )
            return str(error)

    def _rewards(
        self,
        rows: Sequence[_Row | None],
        found: Sequence[Grade],
        log_extra: LogExtra | None,
        log_metric: LogMetric | None,
    ) -> list[float | None]:
        """Logs why they are what they are. Names begin with the function's: TRL joins the columns of the same name."""
        rest = iter(found)
        grades = [None if row is None else next(rest) for row in rows]
        if log_extra is not None:
            verdicts = [None if grade is None else grade.verdict.value for grade in grades]
            log_extra(f"{self.__name__}/verdict", verdicts)
            log_extra(f"{self.__name__}/error", [None if grade is None else _error(grade) for grade in grades])
        counts = Counter(grade.verdict for grade in grades if grade is not None)
        if log_metric is not None and counts:
            total = counts.total()
            for verdict in _SHARES:  # also those of 0: TRL takes the mean over the batches that have the metric
                log_metric(f"{self.__name__}/{verdict.value}", counts[verdict] / total)
            rates = [grade.pass_rate for grade in grades if grade is not None and grade.pass_rate is not None]
            if rates:
                log_metric(f"{self.__name__}/pass_rate", sum(rates) / len(rates))
            ungraded = sum(count for verdict, count in counts.items() if not verdict.graded)
            log_metric(f"{self.__name__}/ungraded", ungraded / total)
            other = total - ungraded - sum(counts[verdict] for verdict in _SHARES)
            log_metric(f"{self.__name__}/other_failure", other / total)
        return [None if grade is None else grade.reward for grade in grades]


class AsyncCodeReward(CodeReward):
    """The same for `await`: TRL awaits all such functions together. `make_acode_reward` is its other name."""

    async def __call__(  # type: ignore[override]
        self,
        completions: Sequence[JsonValue],
        *,
        log_extra: LogExtra | None = None,
        log_metric: LogMetric | None = None,
        **columns: JsonValue,
    ) -> list[float | None]:
        """As `CodeReward`'s, and the event loop runs on meanwhile."""
        rows = self._rows(completions, columns)
        return self._rewards(rows, await agraded(list(filter(None, rows)), self._options), log_extra, log_metric)


_warned: set[str] = set()


def _warn_once(kind: str, message: str) -> None:
    """A warning of a kind that this process has not given yet."""
    if kind not in _warned:
        _warned.add(kind)
        warnings.warn(message, stacklevel=2)


def _key(given: JsonValue, number: int) -> bytes | int:
    """The same for equal tests. For what can't be encoded the row's own number: it shares its task with no other."""
    try:
        return msgspec.msgpack.encode(given, enc_hook=lambda value: value.tolist())  # NumPy's
    except (AttributeError, OverflowError, RecursionError, TypeError, ValueError):
        return number


def _text(completion: JsonValue) -> str:
    """The completion, or the content of its last message; empty if that has none."""
    if isinstance(completion, str):
        return completion
    last = completion[-1] if isinstance(completion, Sequence) and completion else completion
    content = last.get("content") if isinstance(last, Mapping) else None
    if isinstance(content, list):
        content = "".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def _error(grade: Grade) -> str:
    """The first failing test's error in a line, such as `expected 4, got 3`; empty if it passed."""
    line = " ".join(grade.error.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


make_code_reward = CodeReward
make_acode_reward = AsyncCodeReward

code_reward: Final = CodeReward()
"""`code_reward` as TRL's trainers call it: completions, and each column of the dataset as a list."""


async def acode_reward(completions: Sequence[JsonValue], **columns: JsonValue) -> list[float | None]:
    """`code_reward` for `await`. A plain function, since TRL before 1.14 awaits no other."""
    return await _acode_reward(completions, **columns)


_acode_reward: Final = AsyncCodeReward(name="acode_reward")
