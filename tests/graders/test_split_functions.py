"""Checks that give a completion functions of theirs to call."""

from __future__ import annotations

from tests.graders.conftest import Graded
from tests.graders.split_tasks import Answer, Row, check_task, each_answer

GIVEN = [
    Row(
        "calls-to-depth-100",
        check_task(
            """
            def down(n):
                return candidate(down, n - 1) + 1 if n else 0
            assert candidate(down, 48) == 48
            """
        ),
        right="def f(function, n): return function(n)",
        wrong="def f(function, n): return function(n) if n != 20 else 0",
    ),
]

RAISING = [
    Row(
        "caught-by-the-completion",
        check_task(
            """
            def risky(n):
                if n < 0:
                    raise ValueError('negative', n)
                return n
            assert candidate(risky, [1, -2, 3]) == [1, ('negative', -2), 3]
            """
        ),
        right="""
        def f(function, items):
            found = []
            for item in items:
                try:
                    found.append(function(item))
                except ValueError as error:
                    found.append(error.args)
            return found
        """,
        wrong="""
        def f(function, items):
            found = []
            for item in items:
                try:
                    found.append(function(item))
                except ValueError as error:
                    found.append(str(error))
            return found
        """,
    ),
    Row(
        "an-assertion-in-a-callback",
        check_task(
            """
            def verify(n):
                assert n == 2, n
                return n
            assert candidate(verify) == 2
            """
        ),
        right="def f(verify): return verify(2)",
        wrong="def f(verify): return verify(3)",
        attack="""
        def f(verify):
            try:
                return verify(3)
            except AssertionError:
                return 2
        """,
        verified=None,
    ),
]


ROWS = [*GIVEN, *RAISING]


@each_answer(ROWS)
def test_functions_are_called_where_they_belong(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)
