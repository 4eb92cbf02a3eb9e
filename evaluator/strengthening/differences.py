"""Strengthens one task: runs mutants and rollouts on new inputs, finds where they are wrong, and chooses what to add.

Everything that a dataset or a model wrote runs in the sandbox alone, within the task's budget.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any, Final

import msgspec

from evaluator.cases import Bench
from evaluator.model import RecordError, Task
from evaluator.strengthening.inputs import size_of
from evaluator.strengthening.mutants import mutants_of
from evaluator.strengthening.profile import Arguments, traits
from evaluator.strengthening.report import (
    Added,
    Finding,
    Group,
    Program,
    TaskReport,
    with_origin,
    wrong_by_model,
)
from evaluator.strengthening.runs import Answer, How, Runs
from evaluator.strengthening.selection import Candidate, cover, fill
from evaluator.strengthening.shrinking import shrink
from evaluator.strengthening.subjects import Subject, subject_of
from evaluator.strengthening.validity import Input, Validity
from evaluator.suites.reading import UngradableError

MOST_ADDED: Final = 40
"""Test cases per task, where there are no rollouts that say which are needed."""
_MUTANTS: Final = 150
_LEAST_S, _MOST_S, _TIMES_OWN = 0.1, 1.0, 20
"""Seconds for one input, and how many times as long as the oracle takes for its own slowest one."""
_FOR_ROLLOUTS: Final = 0.3
"""The share of the budget that mutants leave where there are rollouts."""
_SPARE: Final = 0.05
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
        self._wall_s = _MOST_S
        report.tests = len(subject.own)

    def done(self) -> Task:
        subject, report = self._subject, self._report
        if _ANY_ORDER.search(subject.task.prompt) and not (subject.form and subject.form.wrapper):
            report.status = "several answers?"
            raise UngradableError("its prompt says that any order, or any one of several, will do")
        passing = self._passing()
        report.passing = sum(len(program.samples) for program in passing)
        oracle = self._oracle(passing)
        validity = Validity(subject, self._runs, oracle, self._wall_s)
        inputs = validity.new_inputs([each.code for each in self._programs], self._budget_s, self._rng)
        report.tried, report.valid = validity.tried, len(inputs)
        shown, survivors = self._of_mutants(oracle, inputs)
        wrong = self._of_rollouts(passing, inputs)
        doubtful = self._doubtful(wrong, passing, inputs)
        added = self._chosen(inputs, shown, survivors, wrong, doubtful)
        noticed = {mutant for place in added for mutant in shown[place]} & survivors
        report.killed_after = report.killed_before + len(noticed)
        for place in added:
            by = (
                "rollout"
                if any(place in answers for answers in wrong)
                else "mutant"
                if shown[place] & survivors
                else "boundary"
            )
            each = inputs[place]
            certainty = self._certainty(sum(place in answers for answers in wrong), len(passing))
            report.added.append(
                Added(subject.shown(each.arguments), _text(each.expected), by, certainty, sorted(each.departures))
            )
        self._find(passing, wrong, doubtful, inputs, validity)
        report.status = "finding" if report.findings else "hole" if noticed else "nothing found"
        report.seconds = round(self._budget_s - self._runs.left_s, 2)
        pairs = [(inputs[place].arguments, inputs[place].expected) for place in added]
        return with_origin(subject.with_cases(pairs), report) if pairs else subject.task

    # ---- what is right

    def _passing(self) -> list[Program]:
        """The rollouts' programs that pass the task's own tests; where their answers are not known, those that run."""
        return [program for program in self._programs if self._failing(program.code) is None]

    def _failing(self, code: str) -> int | None:
        """The first own test that a program fails."""
        answers = self._runs.answers(code, self._own, wall_s=_MOST_S)
        if self._runs.left_s > 0 and all(answer.how is How.VALUE for answer in answers):
            self._wall_s = min(max(_LEAST_S, _TIMES_OWN * max(answer.seconds for answer in answers)), _MOST_S)
        for place, answer in enumerate(answers):
            if answer.how is not How.VALUE:
                return place
            if self._subject.expected and not self._subject.equal(self._subject.expected[place], answer.value):
                return place
        return None

    def _oracle(self, passing: Sequence[Program]) -> str:
        """The program that says what is right. Raises `UngradableError` if there is none."""
        reference, subject = self._subject.task.reference, self._subject
        if reference is None:
            return self._majority(passing)
        if (place := self._failing(reference)) is not None:
            raise UngradableError(
                f"its own reference does not pass within {_MOST_S:g} s: {subject.shown(subject.own[place])[:200]}"
            )
        return reference

    def _majority(self, passing: Sequence[Program]) -> str:
        """One of the programs that most samples agree with on new inputs of the first one."""
        if sum(len(program.samples) for program in passing) < _LEAST_VOTES:
            raise UngradableError("it has no reference, and fewer than two rollouts pass its tests")
        first = passing[0].code
        probe = Validity(self._subject, self._runs, first, self._wall_s)
        inputs = probe.new_inputs([], self._runs.left_s * 1.2, Random(0))[:200]  # noqa: S311
        votes: Counter[str] = Counter()
        of_answers: dict[str, str] = {}
        for program in passing:
            answers = self._runs.answers(program.code, [each.payload for each in inputs], wall_s=_MOST_S)
            key = repr(
                [
                    self._differs(each.expected, answer) and str(answer)
                    for each, answer in zip(inputs, answers, strict=True)
                ]
            )
            votes[key] += len(program.samples)
            of_answers.setdefault(key, program.code)
        return of_answers[votes.most_common(1)[0][0]]

    def _certainty(self, wrong: int, passing: int) -> str:
        if self._subject.task.reference is not None:
            return "reference"
        return f"all passing but {wrong}" if wrong else f"all {passing} passing"

    def _differs(self, expected: Any, answer: Answer) -> bool:
        """Limits say nothing here: a program may be slow and right."""
        if answer.how is How.ERROR:
            return True
        return answer.how is How.VALUE and not self._subject.equal(expected, answer.value)

    # ---- wrong programs

    def _of_mutants(self, oracle: str, inputs: Sequence[Input]) -> tuple[list[set[int]], set[int]]:
        """By input the mutants that it shows; and the mutants that the task's own tests do not notice."""
        shown: list[set[int]] = [set() for _ in inputs]
        survivors: set[int] = set()
        own = self._runs.answers(oracle, self._own, wall_s=_MOST_S)
        payloads = [*self._own, *(each.payload for each in inputs)]
        expected = [*(answer.value for answer in own), *(each.expected for each in inputs)]
        for number, mutant in enumerate(mutants_of(oracle, _MUTANTS, self._rng)):
            if self._runs.left_s < self._budget_s * (_FOR_ROLLOUTS if self._programs else _SPARE):
                break
            answers = self._runs.answers(mutant.source, payloads, wall_s=self._wall_s)
            self._report.mutants += 1
            wrong = [self._differs(each, answer) for each, answer in zip(expected, answers, strict=True)]
            for place, is_wrong in enumerate(wrong[len(own) :]):
                if is_wrong:
                    shown[place].add(number)
            if any(wrong[: len(own)]) or any(answer.how is not How.VALUE for answer in answers[: len(own)]):
                self._report.killed_before += 1
            else:
                survivors.add(number)
        return shown, survivors

    def _of_rollouts(self, passing: Sequence[Program], inputs: Sequence[Input]) -> list[dict[int, Answer]]:
        """By program its answers to the inputs on which it is wrong."""
        payloads = [each.payload for each in inputs]
        found = []
        for program in passing:
            answers = self._runs.answers(program.code, payloads, wall_s=_MOST_S)
            wrong = enumerate(zip(inputs, answers, strict=True))
            found.append({place: answer for place, (each, answer) in wrong if self._differs(each.expected, answer)})
        return found

    def _doubtful(
        self, wrong: Sequence[dict[int, Answer]], passing: Sequence[Program], inputs: Sequence[Input]
    ) -> set[int]:
        """Inputs on which what is expected is not sure, because so many passing rollouts answer otherwise."""
        against = Counter(place for answers in wrong for place in answers)
        least = _LEAST_VOTES + 1 if self._subject.task.reference is not None else 1
        found = {place for place, count in against.items() if count >= least and 2 * count >= len(passing)}
        self._report.doubtful = len(found)
        del inputs
        return found

    # ---- what is added

    def _chosen(
        self,
        inputs: Sequence[Input],
        shown: Sequence[set[int]],
        survivors: set[int],
        wrong: Sequence[dict[int, Answer]],
        doubtful: set[int],
    ) -> list[int]:
        kills = [set(mutants) for mutants in shown]
        for number, answers in enumerate(wrong):
            for place in answers:
                kills[place].add(_MUTANTS + number)
        places = [place for place in range(len(inputs)) if place not in doubtful]
        candidates = [
            Candidate(
                frozenset(kills[place]),
                size_of(inputs[place].arguments),
                inputs[place].departures | traits(inputs[place].arguments) | {_kind(inputs[place].expected)},
                _COST * len(inputs[place].departures),
            )
            for place in places
        ]
        programs = {_MUTANTS + number for number, answers in enumerate(wrong) if answers}
        chosen = cover(candidates, frozenset(survivors | programs))
        if not self._programs:
            chosen = fill(candidates, chosen, MOST_ADDED)
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
            if answers and number not in known:
                each = inputs[min(answers)]
                if len(report.findings) < _SHRUNK:
                    each = self._shrunk(each, passing[number].code, validity)
                report.findings.append(self._finding(each, passing, sure, known))
                known.add(number)

    def _shrunk(self, found: Input, code: str, validity: Validity) -> Input:
        def valid_by_text(made: Sequence[Arguments]) -> dict[str, Input]:
            valid = validity.valid(made) if self._runs.left_s > 0 else []
            answers = self._runs.answers(code, [each.payload for each in valid], wall_s=_MOST_S)
            pairs = zip(valid, answers, strict=True)
            return {repr(each.arguments): each for each, answer in pairs if self._differs(each.expected, answer)}

        def holds(made: Sequence[Arguments]) -> list[bool]:
            held = valid_by_text(made)
            return [repr(each) in held for each in made]

        smallest = shrink(found.arguments, holds)
        return valid_by_text([smallest]).get(repr(smallest), found)

    def _finding(
        self, each: Input, passing: Sequence[Program], wrong: Sequence[dict[int, Answer]], known: set[int]
    ) -> Finding:
        groups: dict[str, list[str]] = {}
        count = 0
        for number, answers in enumerate(wrong):
            if not answers:
                continue
            (answer,) = self._runs.answers(passing[number].code, [each.payload], wall_s=_MOST_S)
            if self._differs(each.expected, answer):
                groups.setdefault(str(answer)[:_SHOWN], []).extend(passing[number].samples)
                known.add(number)
                count += 1
        return Finding(
            self._subject.shown(each.arguments),
            _text(each.expected),
            self._certainty(count, len(passing)),
            [Group(answer, samples) for answer, samples in groups.items()],
            sorted(each.departures),
        )


def _kind(answer: Any) -> str:
    """What answers are alike: small ones by value, others by type and length."""
    text = repr(answer)
    return text if len(text) <= 6 else f"{type(answer).__name__} {len(text).bit_length()}"


def _text(answer: Any) -> str:
    return answer if isinstance(answer, str) and "\n" in answer else repr(answer)
