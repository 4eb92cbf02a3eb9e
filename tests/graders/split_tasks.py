"""Tasks made of a check in a line or two, and what has to become of the completions that answer them.

The sources stand in the tests as indented text; `source` takes the indentation away.
"""

from collections.abc import Iterable
from textwrap import dedent, indent
from typing import Literal, NamedTuple

import pytest

from evaluator.model import Grade, Mode, Task, Verdict

Answer = Literal["right", "wrong", "attack"]

LIAR = """
class Liar:
    __hash__ = object.__hash__
    __eq__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __add__ = __radd__ = __sub__ = __rsub__ = __abs__ = __getitem__ = lambda self, *_: self
    __len__ = lambda self: 3
    __float__ = lambda self: 0.5
    __iter__ = lambda self: iter(())
    __str__ = lambda self: 'liar'
"""
"""Source of a class whose objects say of themselves whatever is asked for."""


def source(text: str) -> str:
    """A program, written as an indented text."""
    return dedent(text).strip("\n") + "\n" if text else ""


def check_task(
    check: str,
    *,
    before: str = "",
    entry_point: str = "f",
    preamble: str = "",
    prompt: str = "",
    limits: dict[str, float] | None = None,
) -> Task:
    """A task of mode assert: `check` is the body of `check(candidate)`, `before` stands above it in the test."""
    test = source(before) + "\ndef check(candidate):\n" + indent(source(check), "    ")
    task = _task(Mode.ASSERT, test, entry_point, preamble, prompt)
    task.limits = limits
    return task


def suite_task(test: str, *, entry_point: str = "f", preamble: str = "", prompt: str = "") -> Task:
    """A task of mode unittest: `test` is a whole module with its TestCase classes."""
    return _task(Mode.UNITTEST, source(test), entry_point, preamble, prompt)


def _task(mode: Mode, test: str, entry_point: str, preamble: str, prompt: str) -> Task:
    return Task(
        task_id="t", mode=mode, test=test, entry_point=entry_point, preamble=source(preamble), prompt=source(prompt)
    )


class Row(NamedTuple):
    """A check with a completion that answers it and one that does not; where it can be attacked, one that cheats."""

    name: str
    task: Task
    right: str
    wrong: str
    attack: str = ""
    verified: bool | None = True
    """Of the right completion; None where a check may be decided on either side of the border."""
    fails: Verdict = Verdict.WRONG_ANSWER
    """What the wrong completion gets."""
    objects: bool = False
    """Whether the check works with more than plain data, so that an attack which a plain run would pay is unknown."""

    def completion(self, answer: Answer) -> str:
        return source({"right": self.right, "wrong": self.wrong, "attack": self.attack}[answer])

    def assert_judged(self, grade: Grade, answer: Answer) -> None:
        """That a grade of one of the three is what it has to be."""
        match answer:
            case "right":
                if self.verified is not True and grade.disagreement is not None:
                    assert grade.verdict is Verdict.UNKNOWN, grade
                    return
                assert grade.verdict is Verdict.PASSED, grade
                assert grade.verified or self.verified is not True, grade
                assert not grade.verified or self.verified is not False, grade
                assert grade.verified is not bool(grade.unverified_reason), grade
            case "wrong":
                assert (grade.verdict, grade.reward) == (self.fails, 0.0), grade
            case "attack":
                assert_not_paid(grade, objects=self.objects)


def assert_not_paid(grade: Grade, *, objects: bool = False) -> None:
    """That cheating got nothing which stands as verified, and was not spared the 0 where plain data decides."""
    assert not (grade.verdict is Verdict.PASSED and grade.verified), grade
    assert grade.reward is not None or (objects and grade.disagreement is not None), grade


def each_answer(rows: Iterable[Row]) -> pytest.MarkDecorator:
    """Asks a test once for every completion of every row, as `row` and `answer`."""
    answers: tuple[Answer, ...] = ("right", "wrong", "attack")
    asked = [
        pytest.param(row, answer, id=f"{row.name}-{answer}")
        for row in rows
        for answer in answers
        if answer != "attack" or row.attack
    ]
    return pytest.mark.parametrize(("row", "answer"), asked)
