"""Tests as in datasets: loops, their own helpers, names that a completion lacks, clauses that suppress exceptions."""

from __future__ import annotations

from evaluator.model import Verdict
from tests.graders.conftest import Graded
from tests.graders.split_tasks import LIAR, Answer, Row, check_task, each_answer

_EVALPLUS = """
import numpy as np

def is_floats(x) -> bool:
    if isinstance(x, float):
        return True
    if isinstance(x, (list, tuple)):
        return all(isinstance(i, float) for i in x)
    if isinstance(x, np.ndarray):
        return x.dtype == np.float64 or x.dtype == np.float32
    return False

def assertion(out, exp, atol):
    exact_match = out == exp
    if atol == 0 and is_floats(exp):
        atol = 1e-6
    if not exact_match and atol != 0:
        assert type(out) == type(exp)
        if isinstance(exp, (list, tuple)):
            assert len(out) == len(exp)
        assert np.allclose(out, exp, rtol=1e-07, atol=atol)
    else:
        assert exact_match, f"out: {out}, exp: {exp}"
"""
_POLY = '''
import math

def poly(xs: list, x: float):
    """Evaluates polynomial with coefficients xs at point x."""
    return sum([coeff * math.pow(x, i) for i, coeff in enumerate(xs)])

'''
_BISECTION = """
def find_zero(xs):
    low, high = -1e3, 1e3
    for _ in range(100):
        middle = (low + high) / 2
        if poly(xs, middle) * poly(xs, low) > 0: low = middle
        else: high = middle
    return middle
"""

# fmt: off
ROWS = [
    Row("evalplus", check_task("""
            inputs = [[[1.0, 2.0]], [[4.0]], [[]]]
            results = [[0.5, 1.0], [2.0], []]
            for i, (inp, exp) in enumerate(zip(inputs, results)):
                assertion(candidate(*inp), exp, 0)
            """, before=_EVALPLUS),
        right="def f(items): return [x / 2 + 1e-12 for x in items]",
        wrong="def f(items): return [x / 2 + 1e-3 for x in items]",
        attack=LIAR + "def f(items): return Liar()"),
    Row("humaneval-32", check_task("""
            import random
            rng = random.Random(42)
            import copy
            for _ in range(20):
                coeffs = [rng.randint(1, 10), rng.randint(1, 10)]
                solution = candidate(copy.deepcopy(coeffs))
                assert math.fabs(poly(coeffs, solution)) < 1e-4
            """, before="METADATA = {}", entry_point="find_zero", preamble=_POLY,
            prompt=_POLY + 'def find_zero(xs: list):\n    """find_zero find x such that poly(x) = 0."""\n'),
        right=_BISECTION,
        wrong="def find_zero(xs): return 0.0",
        attack="""
        poly = lambda *_: 0
        def find_zero(xs): return 0.0
        """),
    Row("its-own-helper", check_task("""
            for n in range(2, 50):
                assert candidate(n) == is_prime(n), f'for {n}'
            """, before="""
            def is_prime(n):
                return all(n % d for d in range(2, n))
            """),
        right="def f(n): return all(n % d for d in range(2, int(n ** 0.5) + 1))",
        wrong="def f(n): return n % 2 == 1",
        attack="""
        import sys
        def f(n):
            sys._getframe(1).f_globals['is_prime'] = lambda n: True
            return True
        """),
    Row("exceptions-that-are-swallowed", check_task("""
            for given, wanted in ((1, 2), (None, None), (3, 6)):
                try:
                    got = candidate(given)
                except Exception:
                    got = wanted if given is None else 'failed'
                assert got == wanted
            """),
        right="def f(n): return n + n",
        wrong="def f(n): return 2 * (n or 0)",
        attack="""
        import os
        def f(n): os._exit(0)
        """),
    Row("name-that-nobody-defines", check_task("assert candidate(2) == helper_of_yours(2)"),
        right="""
        def helper_of_yours(n): return n + 1
        def f(n): return helper_of_yours(n)
        """, wrong="""
        def helper_of_yours(n): return n + 1
        def f(n): return n
        """),
    Row("raises-while-it-is-loaded", check_task("for n in (1, 2): assert candidate(n) == n"),
        right="""
        def f(n): return n
        if __name__ == '__main__': print(f(1))
        """, wrong="""
        def f(n): return n
        raise ValueError
        """,
        fails=Verdict.COMPILE_ERROR),
]
# fmt: on


@each_answer(ROWS)
def test_tests_run_as_they_are_written(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)


def test_a_failed_assert_shows_its_input_and_the_tests_message(graded: Graded) -> None:
    task = check_task("for n, text in [(1, 'a'), (2, 'b')]:\n    assert candidate(n) == n * n, f'no {text}'")
    (case,) = graded(task, "def f(n): return 1").cases
    assert case.difference is not None
    assert case.difference.message == "`candidate(n) == n * n`, got `1`; the test says: no b; n is 2; text is 'b'"


def test_sides_that_look_alike_are_reported_as_different(graded: Graded) -> None:
    task = check_task("assert candidate(3) == candidate(3)", prompt="Write a class f.")
    (case,) = graded(task, "class f:\n    def __init__(self, n): self.n = n").cases
    assert case.difference is not None
    assert "which looks the same and is not equal" in case.difference.message
