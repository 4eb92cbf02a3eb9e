"""Checks on plain values: their exact bits, their order, and what is the same object as what."""

from __future__ import annotations

from tests.graders.conftest import Graded
from tests.graders.split_tasks import LIAR, Answer, Row, check_task, each_answer

NUMBERS = [
    Row(
        "negative-zero",
        check_task(
            """
            assert math.copysign(1, candidate(-0.0)) == -1.0
            assert repr(candidate(0.0)) == '0.0'
            """,
            before="import math",
        ),
        right="def f(x): return x",
        wrong="def f(x): return x + 0.0",
    ),
    Row(
        "nan-and-infinity",
        check_task(
            """
            got = candidate('nan')
            assert got != got and math.isnan(got)
            assert candidate('inf') == math.inf
            assert candidate('-inf') == -math.inf
            """,
            before="import math",
        ),
        right="def f(text): return float(text)",
        wrong="def f(text): return float(text.lstrip('-'))",
        attack="""
        class Nan:
            __eq__ = __ne__ = lambda self, other: True
            __float__ = lambda self: float('nan')
        def f(text): return Nan()
        """,
    ),
    Row(
        "nan-that-comes-back",
        check_task(
            """
            nan = float('nan')
            got = candidate([nan, 1.0])
            assert got == [1.0, nan]
            """
        ),
        right="def f(items): return items[::-1]",
        wrong="def f(items): return [1.0, float('nan')]",
        verified=None,
    ),
    Row(
        "isclose",
        check_task("assert math.isclose(candidate(2), 1.41421356, rel_tol=1e-6), 'root'", before="import math"),
        right="def f(x): return x ** 0.5",
        wrong="def f(x): return 1.4142",
        attack="""
        import math
        math.isclose = lambda *_, **__: True
        def f(x): return 0
        """,
    ),
    Row(
        "ints-of-ten-thousand-digits",
        check_task(
            """
            for n in (10 ** 9999, -10 ** 9999):
                assert candidate(n) == n + 1
                assert candidate([n], [n]) == [n, 1]
            """
        ),
        right="def f(x, more=None): return x + 1 if more is None else x + [1]",
        wrong="def f(x, more=None): return x",
    ),
]


SHAPES = [
    Row(
        "against-itself",
        check_task(
            """
            assert tuple(candidate([3, 1])) == tuple(f([3, 1]))
            assert candidate([2, 1]) == candidate([2, 1])
            """
        ),
        right="def f(items): return sorted(items)",
        wrong="""
        seen = []
        def f(items):
            seen.append(items)
            return items * len(seen)
        """,
        attack=LIAR + "def f(items): return Liar() if items[0] == 2 else items",
    ),
    Row(
        "aliases-within-a-result",
        check_task(
            """
            got = candidate(3)
            got[0].append(1)
            assert got == [[1], [1], [1]]
            """
        ),
        right="def f(n): return [[]] * n",
        wrong="def f(n): return [[] for _ in range(n)]",
    ),
    Row(
        "a-list-that-holds-itself",
        check_task(
            """
            got = candidate()
            assert got[0] is got and got[1:] == [1]
            """
        ),
        right="""
        def f():
            found = []
            found += [found, 1]
            return found
        """,
        wrong="def f(): return [[], 1]",
    ),
    Row(
        "deep-nesting",
        check_task(
            """
            got, depth = candidate(150), 0
            while got:
                (got,), depth = got, depth + 1
            assert depth == 150
            """
        ),
        right="""
        def f(n):
            found = []
            for _ in range(n): found = [found]
            return found
        """,
        wrong="""
        def f(n): return [[[]]]
        """,
    ),
]

ROWS = [*NUMBERS, *SHAPES]


@each_answer(ROWS)
def test_values_cross_as_they_are(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)
