"""Checks that call the functions which a completion returns."""

from __future__ import annotations

from tests.graders.conftest import Graded
from tests.graders.split_tasks import LIAR, Answer, Row, check_task, each_answer

ROWS = [
    Row(
        "closure",
        check_task(
            """
            add = candidate(3)
            assert add(4) == 7
            assert callable(add) and add.__name__ == 'add'
            """
        ),
        right="""
        def f(n):
            def add(x): return x + n
            return add
        """,
        wrong="""
        def f(n):
            def add(x): return x - n
            return add
        """,
        attack=LIAR
        + """
Liar.__call__ = lambda self, *_: self
def f(n):
    add = Liar()
    add.__name__ = 'add'
    return add
""",
    ),
    Row(
        "closure-with-state",
        check_task(
            """
            one, two = candidate(), candidate()
            assert [one(), one(), two(), one()] == [1, 2, 1, 3]
            """
        ),
        right="""
        def f():
            count = 0
            def step():
                nonlocal count
                count += 1
                return count
            return step
        """,
        wrong="""
        count = 0
        def step():
            global count
            count += 1
            return count
        def f(): return step
        """,
    ),
    Row(
        "decorator",
        check_task(
            """
            calls = []
            @candidate
            def slow(n):
                'Squares.'
                calls.append(n)
                return n * n
            assert [slow(2), slow(2), slow(3)] == [4, 4, 9]
            assert calls == [2, 3]
            assert slow.__name__ == 'slow' and slow.__doc__ == 'Squares.'
            """
        ),
        right="""
        import functools
        def f(function):
            known = {}
            @functools.wraps(function)
            def wrapper(n):
                if n not in known: known[n] = function(n)
                return known[n]
            return wrapper
        """,
        wrong="""
        def f(function): return function
        """,
    ),
    Row(
        "composed",
        check_task(
            """
            both = candidate(lambda x: x + 1, str)
            assert both(4) == '5'
            assert list(map(both, [1, 2])) == ['2', '3']
            """
        ),
        right="def f(one, two): return lambda x: two(one(x))",
        wrong="def f(one, two): return lambda x: two(x)",
    ),
    Row(
        "builtin-or-partial",
        check_task(
            """
            assert candidate('size') is len
            assert candidate('hex')('ff') == 255
            """
        ),
        right="""
        import functools
        def f(name): return {'size': len, 'hex': functools.partial(int, base=16)}[name]
        """,
        wrong="""
        def f(name): return {'size': lambda items: len(items), 'hex': int}[name]
        """,
    ),
]


@each_answer(ROWS)
def test_what_is_returned_can_be_called(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)
