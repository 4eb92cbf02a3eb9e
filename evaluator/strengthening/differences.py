"""Strengthens one task: runs mutants and rollouts on new inputs, finds where they are wrong, and chooses what to add.

Everything that a dataset or a model wrote runs in the sandbox alone, within the task's budget.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import islice
from random import Random
from typing import Any, Final

import msgspec

from evaluator.cases import Bench
from evaluator.model import RecordError, Task
from evaluator.sandbox import FaultError, SandboxUnavailable
from evaluator.strengthening.inputs import size_of
from evaluator.strengthening.mutants import mutants_of
from evaluator.strengthening.profile import traits
from evaluator.strengthening.report import (
    DISAGREE,
    Added,
    Finding,
    Group,
    Program,
    TaskReport,
    with_origin,
    wrong_by_model,
)  # fmt: skip
from evaluator.strengthening.runs import Answer, How, Input, Runs
from evaluator.strengthening.selection import Candidate, cover, fill
from evaluator.strengthening.smallest import shrink
from evaluator.strengthening.subjects import Subject, shown_answer, subject_of
from evaluator.strengthening.validity import Validity
from evaluator.suites.reading import UngradableError

MOST_ADDED: Final = 50
"""Test cases per task, where there are no rollouts that say which are needed."""
_MUTANTS: Final = 150
_LEAST_S, _MOST_S, _TIMES_OWN = 0.1, 1.0, 20
"""Seconds for one input, and how many times as long as the oracle takes for its own slowest one."""
_FOR_ROLLOUTS: Final = 0.3
"""The share of the budget that mutants leave where there are rollouts."""
_SPARE: Final = 0.05
_PROBED: Final = 1.3
"""Of what is left, so that finding a majority takes a fifth of it."""
_ANY_ORDER: Final = re.compile(
    r"\bany order\b|\border does(?: not|n't) matter\b|\bany (?:valid|one) of\b", re.IGNORECASE
)
_LEAST_VOTES: Final = 2
_SHRUNK: Final = 5
_SHOWN: Final = 500
_COST: Final = 0.25


class Request(msgspec.Struct, frozen=True):
    """How tasks are strengthened. `budget_s`: wall-clock seconds per task. `seed`: the same one finds the same."""

    budget_s: float = 10.0
    seed: int = 0


def strengthen(bench: Bench, task: Task, programs: Sequence[Program], request: Request) -> tuple[TaskReport, Task]:
    """What was found, and the task with the test cases that are added. Raises what sandboxes raise.

    `programs`: the codes of the task's rollouts, each once.
    """
    report = TaskReport(task_id=task.task_id)
    try:
        subject = subject_of(task)
        return report, _Work(bench, subject, programs, request, report).done()
    except (UngradableError, RecordError) as refusal:
        report.status, report.reason = report.status or "not strengthened", str(refusal)
    except (FaultError, SandboxUnavailable):
        raise
    except Exception as error:  # our own bug must not end the run
        report.status, report.reason = "not strengthened", f"strengthening failed: {error!r}"[:_SHOWN]
    return report, task


class _Work:
    """The steps for one task; they fill in its report."""

    def __init__(
        self, bench: Bench, subject: Subject, programs: Sequence[Program], request: Request, report: TaskReport
    ) -> None:
        self._subject = subject
        self._programs = programs
        self._report = report
        self._budget_s = request.budget_s
        self._runs = Runs(bench, subject, request.budget_s)
        self._rng = Random(f"{request.seed}:{subject.task.task_id}")  # noqa: S311 - nothing here is secret
        self._own = list(map(subject.payload, subject.own))
        self._slowest = 0.0
        self._wall_s = request.budget_s / 4
        report.tests = len(subject.own)

    def done(self) -> Task:
        subject, report = self._subject, self._report
        if _ANY_ORDER.search(subject.task.prompt) and not (subject.form and subject.form.wrapper):
            report.status = "several answers?"
            raise UngradableError("its prompt says that any order, or any one of several, will do")
        oracle = subject.task.reference
        if oracle is not None and (failure := self._failure(oracle)):
            raise UngradableError(f"its own reference {failure}")
        passing = [program for program in self._programs if not self._failure(program.code)]
        report.passing = sum(len(program.samples) for program in passing)
        oracle = oracle or self._majority(passing)
        validity = Validity(subject, self._runs, oracle, self._wall_s)
        inputs = validity.new_inputs([each.code for each in self._programs], self._runs.left_s, self._rng)
        if subject.task.reference is None and not subject.task.prompt.strip():
            inputs = [each for each in inputs if not each.departures]  # nothing says what else is allowed
        report.tried, report.valid = validity.tried, len(inputs)
        shown, survivors = self._of_mutants(oracle, inputs)
        wrong = [self._wrong_on(program.code, inputs) for program in passing]
        against = Counter(place for answers in wrong for place in answers)
        doubtful = {place for place, count in against.items() if self._is_doubtful(count, len(passing))}
        report.doubtful = len(doubtful)
        added = self._chosen([place for place in range(len(inputs)) if place not in doubtful],
                             inputs, shown, survivors, wrong)  # fmt: skip
        noticed = {mutant for place in added for mutant in shown[place]} & survivors
        report.killed_after = report.killed_before + len(noticed)
        for each, place in ((inputs[place], place) for place in added):
            by = "rollout" if against[place] else "mutant" if shown[place] & survivors else "boundary"
            certainty = self._certainty(against[place], len(passing))
            call, expected = subject.shown(each.arguments), shown_answer(each.expected)
            report.added.append(Added(call, expected, by, certainty, sorted(each.departures)))
        self._find(passing, wrong, doubtful, inputs, validity)
        report.status = "finding" if report.findings else "hole" if noticed else "nothing found"
        if self._runs.left_s <= 0:
            report.reason = "the budget ended before every program had answered"
        elif not inputs:
            report.reason = "no new input was valid"
        report.seconds = round(self._budget_s - self._runs.left_s, 2)
        pairs = [(inputs[place].arguments, inputs[place].expected) for place in added]
        return with_origin(subject.with_cases(pairs), report) if pairs else subject.task

    # ---- what is right

    def _failure(self, code: str) -> str:
        """How a program fails the own tests; empty if it passes. Then no input may take much longer from here on."""
        subject = self._subject
        answers = self._runs.answers(code, self._own, wall_s=self._wall_s)
        for place, (given, answer) in enumerate(zip(subject.own, answers, strict=True)):
            if answer.how in (How.LIMIT, How.NOT_RUN):
                return "takes too long for the budget"
            expected = subject.expected[place : place + 1]
            if answer.how is How.ERROR and "not data" in str(answer):
                return f"answers with {answer}"
            if answer.how is How.ERROR or not all(subject.equal(each, answer.value) for each in expected):
                return f"does not pass: {subject.shown(given)[:_SHOWN]}"
        slowest = self._slowest = max(self._slowest, *(answer.seconds for answer in answers))
        self._wall_s = min(max(_LEAST_S, _TIMES_OWN * slowest), max(_MOST_S, 2 * slowest), self._budget_s / 4)
        return ""

    def _majority(self, passing: Sequence[Program]) -> str:
        """One of the programs that most samples agree with on new inputs of the first one."""
        if sum(len(program.samples) for program in passing) < _LEAST_VOTES:
            raise UngradableError("it has no `reference`, and fewer than two rollouts (--rollouts) pass its tests")
        probe = Validity(self._subject, self._runs, passing[0].code, self._wall_s)
        inputs = probe.new_inputs([], self._runs.left_s * _PROBED, self._rng)
        votes: Counter[str] = Counter()
        codes: dict[str, str] = {}
        for program in passing:
            key = repr({place: str(answer) for place, answer in self._wrong_on(program.code, inputs).items()})
            votes[key] += len(program.samples)
            codes.setdefault(key, program.code)
        return codes[votes.most_common(1)[0][0]]

    def _is_doubtful(self, against: int, passing: int) -> bool:
        """Whether what is expected is not sure, because so many passing programs answer otherwise."""
        least = 1 if self._subject.task.reference is None else _LEAST_VOTES + 1
        return against >= least and 2 * against >= passing

    def _certainty(self, against: int, passing: int) -> str:
        if self._subject.task.reference is not None:
            return "reference"
        if self._is_doubtful(against, passing):
            return DISAGREE
        return f"all passing but {against}" if against else "all passing"

    # ---- wrong programs

    def _wrong_on(self, code: str, inputs: Sequence[Input]) -> dict[int, Answer]:
        return self._runs.wrong(code, inputs, wall_s=self._wall_s)

    def _of_mutants(self, oracle: str, inputs: Sequence[Input]) -> tuple[list[set[int]], set[int]]:
        """By input the mutants that it shows; and the mutants that the task's own tests do not notice."""
        own = self._runs.answers(oracle, self._own, wall_s=self._wall_s)
        given = zip(self._subject.own, self._own, own, strict=True)
        both = [*(Input(each, payload, frozenset(), answer.value) for each, payload, answer in given), *inputs]
        shown: list[set[int]] = [set() for _ in inputs]
        survivors: set[int] = set()
        for number, mutant in enumerate(islice(mutants_of(oracle, self._rng), _MUTANTS)):
            wrong = self._runs.wrong(mutant, both, wall_s=self._wall_s, limits=True)
            if self._runs.left_s < self._budget_s * (_FOR_ROLLOUTS if self._programs else _SPARE):
                break
            self._report.mutants += 1
            if min(wrong, default=len(own)) >= len(own):
                survivors.add(number)
            for place, answer in wrong.items():
                if place >= len(own) and answer.how is not How.LIMIT:
                    shown[place - len(own)].add(number)
        self._report.killed_before = self._report.mutants - len(survivors)
        return shown, survivors

    # ---- what is added

    def _chosen(
        self,
        places: Sequence[int],
        inputs: Sequence[Input],
        shown: Sequence[set[int]],
        survivors: set[int],
        wrong: Sequence[dict[int, Answer]],
    ) -> list[int]:
        """Some of these places: the fewest for the wrong rollouts and the mutants; without rollouts, more."""
        candidates = []
        for place, each in ((place, inputs[place]) for place in places):
            programs = {_MUTANTS + number for number, answers in enumerate(wrong) if place in answers}
            kinds = each.departures | traits(each.arguments) | {_kind(each.expected)}
            cost = _COST * len(each.departures)
            candidates.append(Candidate(frozenset(shown[place] | programs), size_of(each.arguments), kinds, cost))
        programs = {_MUTANTS + number for number, answers in enumerate(wrong) if answers}
        chosen = cover(candidates, frozenset(survivors | programs))
        chosen = chosen if self._programs else fill(candidates, chosen, MOST_ADDED)
        return [places[each] for each in chosen]

    # ---- what is reported

    def _find(
        self,
        passing: Sequence[Program],
        wrong: Sequence[dict[int, Answer]],
        doubtful: set[int],
        inputs: Sequence[Input],
        validity: Validity,
    ) -> None:
        """Adds a finding for each program that none before it shows to be wrong."""
        report, known = self._report, set[int]()
        sure = [{place: answer for place, answer in answers.items() if place not in doubtful} for answers in wrong]
        if self._subject.task.reference is None:
            sure = [answers or every for answers, every in zip(sure, wrong, strict=True)]
        report.wrong = wrong_by_model(passing[number] for number, answers in enumerate(sure) if answers)
        for number, answers in enumerate(sure):
            if not answers or number in known:
                continue
            each, code = inputs[min(answers)], passing[number].code
            by_program = {other: found[min(answers)] for other, found in enumerate(sure) if min(answers) in found}
            if len(report.findings) < _SHRUNK:
                small = shrink(each, validity, partial(self._wrong_on, code))
                found = {other: self._wrong_on(passing[other].code, [small]) for other, had in enumerate(sure) if had}
                if found.get(number):  # there was time to ask them all
                    each, by_program = small, {other: answers[0] for other, answers in found.items() if answers}
            known.update(by_program)
            groups: dict[str, list[str]] = {}
            for other, answer in by_program.items():
                groups.setdefault(str(answer)[:_SHOWN], []).extend(passing[other].samples)
            report.findings.append(Finding(
                self._subject.shown(each.arguments),
                shown_answer(each.expected),
                self._certainty(len(by_program), len(passing)),
                [Group(answer, samples) for answer, samples in groups.items()],
                sorted(each.departures),
            ))  # fmt: skip


def _kind(answer: Any) -> str:
    """What answers are alike: small ones by value, others by type and length."""
    text = repr(answer)
    return text if len(text) <= 6 else f"{type(answer).__name__} {len(text).bit_length()}"
