"""Tests that expect exceptions: of Python, of the dataset and of the completion."""

from __future__ import annotations

from evaluator.model import Verdict
from tests.graders.conftest import Graded
from tests.graders.split_tasks import Answer, Row, check_task, each_answer

# fmt: off
ROWS = [
    Row("not-the-one-that-is-expected", check_task("""
            try:
                candidate(3)
            except KeyError:
                pass
            else:
                assert False, 'no exception'
            """),
        right="def f(n): raise KeyError(n)",
        wrong="def f(n): raise IndexError(n)",
        fails=Verdict.RUNTIME_ERROR),
    Row("leaving-where-that-is-expected", check_task("""
            try:
                candidate(3)
            except SystemExit as left:
                code = left.code
            assert code == 3
            """),
        right="""
        import sys
        def f(n): sys.exit(n)
        """, wrong="""
        import sys
        def f(n): sys.exit(0)
        """, attack="""
        import os
        def f(n): os._exit(0)
        """),
    Row("an-assertion-in-a-callback", check_task("""
            def verify(n):
                assert n == 2, n
                return n
            assert candidate(verify) == 2
            """),
        right="def f(verify): return verify(2)",
        wrong="def f(verify): return verify(3)",
        attack="""
        def f(verify):
            try:
                return verify(3)
            except AssertionError:
                return 2
        """,
        verified=None),
]
# fmt: on


@each_answer(ROWS)
def test_exceptions_cross_as_they_were_raised(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)
