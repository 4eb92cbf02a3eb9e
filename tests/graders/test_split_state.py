"""Tests of state between calls, and of extremes: deep recursion, an endless iterator."""

from __future__ import annotations

from evaluator.model import Verdict
from tests.graders.conftest import Graded
from tests.graders.split_tasks import Answer, Row, check_task, each_answer

# fmt: off
ROWS = [
    Row("a-seed-in-the-check", check_task("""
            random.seed(42)
            got = candidate(5)
            random.seed(42)
            assert got == [random.random() for _ in range(5)]
            """, before="import random"),
        right="""
        import random
        def f(n): return [random.random() for _ in range(n)]
        """, wrong="""
        import random
        def f(n): return [random.Random(1).random() for _ in range(n)]
        """, attack="""
        import random
        random.random = lambda: 0
        def f(n): return [0] * n
        """,
        objects=True),
    Row("five-thousand-deep", check_task("for n in (10, 5000): assert candidate(n) == n * (n + 1) // 2"),
        right="""
        import sys
        from functools import lru_cache
        sys.setrecursionlimit(30_000)
        def f(n): return n + f(n - 1) if n else 0
        if sys.version_info < (3, 12):  # later versions limit recursion through C, whatever is set
            f = lru_cache(maxsize=None)(f)
        """, wrong="""
        import sys
        def f(n): return n + f(n - 1) if n else 0
        """,
        fails=Verdict.RUNTIME_ERROR),
    Row("one-that-never-ends", check_task("assert list(candidate()) == [1, 2, 3]", limits={"output_mb": 0.02}),
        right="def f(): return (n for n in (1, 2, 3))",
        wrong="""
        def f():
            while True: yield 1
        """,
        fails=Verdict.OUTPUT_LIMIT),
]
# fmt: on


@each_answer(ROWS)
def test_both_sides_see_state_that_stays(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)
