"""Runs one program on many inputs in the sandbox: one process, a time limit of its own for each input."""

from __future__ import annotations

import time
from collections.abc import Sequence
from enum import Enum
from typing import Any, Final, NamedTuple

import msgspec

from evaluator.cases import Bench
from evaluator.lru_cache import LruCache
from evaluator.model import Opaque
from evaluator.options import Settings, task_limits
from evaluator.sandbox import Outcome, Sandbox, Status
from evaluator.strengthening.profile import Arguments
from evaluator.strengthening.subjects import Subject

_OTHER_SEED: Final = 1
_BATCH: Final = 300


class How(Enum):
    """How a program answered one input."""

    VALUE = "value"
    ERROR = "error"
    """An exception, or an end without an answer."""
    LIMIT = "limit"
    """Time, memory or output: it says little about the program's answer."""
    NOT_RUN = "not run"


class Answer(NamedTuple):
    """What a program did with one input. `value`: what it returned or printed; of an error its type."""

    how: How
    value: Any = None
    seconds: float = 0.0

    def __str__(self) -> str:
        return repr(self.value) if self.how is How.VALUE else str(self.value or self.how.value)


class Input(NamedTuple):
    """A valid new input, how it departs from the task's own ones, and the right answer."""

    arguments: Arguments
    payload: bytes
    departures: frozenset[str]
    expected: Any


NOT_RUN: Final = Answer(How.NOT_RUN)
_sandboxes: LruCache[Settings, Sandbox] = LruCache(1)
"""Of this worker: one with another hash seed."""


class Runs:
    """The runs of one task, within its budget."""

    def __init__(self, bench: Bench, subject: Subject, budget_s: float) -> None:
        self._bench = bench
        self._subject = subject
        self._end = time.monotonic() + budget_s
        self._limits = task_limits(subject.task, bench.options)

    @property
    def left_s(self) -> float:
        """What is left of the budget."""
        return self._end - time.monotonic()

    def answers(
        self, source: str, payloads: Sequence[bytes], *, wall_s: float, stops: bool = True, other_seed: bool = False
    ) -> list[Answer]:
        """The answer to each input, in order. `wall_s`: per input. `stops`: after the first limit nothing more is run.

        Raises `FaultError` and `SandboxUnavailable`.
        """
        found: list[Answer] = []
        for start in range(0, len(payloads), _BATCH):
            if self.left_s <= 0 or (stops and any(answer.how is How.LIMIT for answer in found[-_BATCH:])):
                break
            found += self._batch(source, payloads[start : start + _BATCH], wall_s, stops, other_seed)
        return found + [NOT_RUN] * (len(payloads) - len(found))

    def wrong(
        self, source: str, inputs: Sequence[Input], *, wall_s: float, limits: bool = False, stops: bool = True
    ) -> dict[int, Answer]:
        """By place, a program's wrong answers. `limits`: whether they count; else it may be slow, and right."""
        answers = self.answers(source, [each.payload for each in inputs], wall_s=wall_s, stops=stops)
        found = enumerate(zip(inputs, answers, strict=True))
        return {place: answer for place, (each, answer) in found if self._is_wrong(each.expected, answer, limits)}

    def _is_wrong(self, expected: Any, answer: Answer, limits: bool) -> bool:
        if answer.how is How.VALUE:
            return not self._subject.equal(expected, answer.value)
        return answer.how is How.ERROR or (limits and answer.how is How.LIMIT)

    def _batch(
        self, source: str, payloads: Sequence[bytes], wall_s: float, stops: bool, other_seed: bool
    ) -> list[Answer]:
        sandbox = self._other_sandbox() if other_seed else self._bench.sandbox
        total_s = max(min(self.left_s, 20 * wall_s), wall_s)
        limits = msgspec.structs.replace(self._limits, wall_s=wall_s, cpu_s=wall_s, total_s=total_s, processes=0)
        with sandbox.execute(self._subject.program(source), limits) as execution:
            outcomes = execution.run_ahead(payloads, wall_s=wall_s)
            found = [self._read(outcome) for outcome in outcomes]
            while len(found) < len(payloads) and execution.left_s > 0 and self.left_s > 0:
                if stops and found and found[-1].how is How.LIMIT:
                    break
                found.append(self._read(execution.run(payloads[len(found)], wall_s=wall_s)))
        return found + [NOT_RUN] * (len(payloads) - len(found))

    def _read(self, outcome: Outcome) -> Answer:
        if outcome.doubt:
            return NOT_RUN
        match outcome.status:
            case Status.ANSWERED if self._subject.layout is not None:
                if outcome.exit_status:
                    return Answer(How.ERROR, f"exit status {outcome.exit_status}", outcome.wall_s)
                return Answer(How.VALUE, outcome.stdout.text(), outcome.wall_s)
            case Status.ANSWERED:
                if type(outcome.value) is Opaque:
                    if self._subject.form is not None and self._subject.form.truth and outcome.value.truth is not None:
                        return Answer(How.VALUE, outcome.value.truth, outcome.wall_s)
                    return Answer(How.ERROR, f"a {outcome.value.type}, which is not data", outcome.wall_s)
                return Answer(How.VALUE, outcome.value, outcome.wall_s)
            case Status.RAISED | Status.NOT_LOADED | Status.DIED | Status.REJECTED:
                kind = outcome.failure.type if outcome.failure is not None else ""
                return Answer(How.ERROR, kind or outcome.status.value, outcome.wall_s)
            case Status.TIME | Status.MEMORY | Status.OUTPUT:
                return Answer(How.LIMIT, outcome.status.value, outcome.wall_s)
        return NOT_RUN

    def _other_sandbox(self) -> Sandbox:
        proved = self._bench.sandbox.proof
        settings, layers = proved or (self._bench.sandbox.settings, ())
        other = msgspec.structs.replace(settings, hash_seed=_OTHER_SEED)
        return _sandboxes.get(other, lambda: Sandbox.trusting(other, layers))
