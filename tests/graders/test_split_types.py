"""Checks on the types of values: builtins, those of the standard library, and those that a completion derives."""

from __future__ import annotations

from tests.graders.conftest import Graded
from tests.graders.split_tasks import LIAR, Answer, Row, check_task, each_answer

ROWS = [
    Row(
        "exact-type",
        check_task(
            """
            got = candidate(1)
            assert type(got) is int and got == 1
            assert isinstance(candidate(2), int)
            assert not isinstance(candidate(2), bool)
            assert (type(candidate(3)), candidate(3)) == (int, 3)
            """
        ),
        right="def f(x): return x",
        wrong="def f(x): return x == 1 or float(x)",
        attack=LIAR
        + """
class Int(Liar):
    __class__ = property(lambda self: int)
def f(x): return x if x == 1 else Int() if x == 2 else x
""",
    ),
    Row(
        "class-that-claims-to-be-another",
        check_task(
            """
            got = candidate(2)
            assert isinstance(got, int)
            assert got.__class__ is int
            assert got == 4
            """
        ),
        right="def f(x): return 2 * x",
        wrong="def f(x): return 2.0 * x",
        attack=LIAR
        + """
class Int(Liar):
    __class__ = property(lambda self: int)
def f(x): return Int()
""",
    ),
    Row(
        "subclass-of-int",
        check_task(
            """
            got = candidate(20)
            assert isinstance(got, int)
            assert got + 1 == 41
            """
        ),
        right="""
        class Count(int): pass
        def f(x): return Count(2 * x)
        """,
        wrong="def f(x): return str(2 * x)",
        attack="""
        class Count(int):
            __eq__ = lambda self, other: True
            __add__ = lambda self, other: self
        def f(x): return Count()
        """,
    ),
]


@each_answer(ROWS)
def test_types_cross_exactly(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)
