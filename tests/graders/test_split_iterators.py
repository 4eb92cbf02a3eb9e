"""Checks on generators and other iterators, which are pulled item by item and only as far as the check goes."""

from __future__ import annotations

from evaluator.model import Verdict
from tests.graders.conftest import Graded
from tests.graders.split_tasks import Answer, Row, check_task, each_answer

PULLED = [
    Row(
        "unread-tail",
        check_task(
            """
            with redirect_stdout(io.StringIO()) as printed:
                got = candidate()
                assert [next(got), next(got)] == [1, 2]
            assert printed.getvalue() == ''
            """,
            before="""
            import io
            from contextlib import redirect_stdout
            """,
        ),
        right="""
        def f():
            yield 1
            yield 2
            print('nobody asked for more')
            raise ValueError
        """,
        wrong="""
        def f():
            print('at once')
            yield 1
            yield 2
        """,
    ),
]

KINDS = [
    Row(
        "what-it-is",
        check_task(
            """
            got = candidate(2)
            assert isinstance(got, types.GeneratorType)
            assert isinstance(got, Iterator)
            assert iter(got) is got
            assert not hasattr(got, '__len__')
            assert list(got) == [0, 1] and list(got) == []
            """,
            before="""
            import types
            from collections.abc import Iterator
            """,
        ),
        right="""
        def f(n):
            yield from range(n)
        """,
        wrong="def f(n): return list(range(n))",
        attack="""
        import types
        class Items:
            __class__ = property(lambda self: types.GeneratorType)
            __iter__ = lambda self: self
            items = [0, 1]
            def __next__(self):
                if self.items: return self.items.pop(0)
                raise StopIteration
        def f(n): return Items()
        """,
        objects=True,
    ),
    Row(
        "views-of-a-dict",
        check_task(
            """
            keys, values, items = candidate({'a': 1, 'b': 2})
            assert keys == {'a', 'b'} and keys & {'a', 'x'} == {'a'}
            assert isinstance(keys, type({}.keys()))
            assert list(values) == [1, 2] and len(values) == 2
            assert ('b', 2) in items and sorted(items) == [('a', 1), ('b', 2)]
            """
        ),
        right="def f(d): return d.keys(), d.values(), d.items()",
        wrong="def f(d): return list(d), list(d.values()), list(d.items())",
    ),
    Row(
        "one-that-never-ends",
        check_task("assert list(candidate()) == [1, 2, 3]", limits={"output_mb": 0.02}),
        right="def f(): return (n for n in (1, 2, 3))",
        wrong="""
        def f():
            while True: yield 1
        """,
        fails=Verdict.OUTPUT_LIMIT,
    ),
]

ROWS = [*PULLED, *KINDS]


@each_answer(ROWS)
def test_iterators_are_pulled_as_far_as_the_check_goes(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)
