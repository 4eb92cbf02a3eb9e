"""Checks on generators and other iterators, which are pulled item by item and only as far as the check goes."""

from __future__ import annotations

from evaluator.model import Verdict
from tests.graders.conftest import Graded
from tests.graders.split_tasks import LIAR, Answer, Row, check_task, each_answer

PULLED = [
    Row(
        "all-of-it",
        check_task(
            """
            assert list(candidate([1, [2, [3]]])) == [1, 2, 3]
            assert sum(candidate([[4], 5])) == 9
            assert [x for x in candidate([])] == []
            """
        ),
        right="""
        def f(items):
            for item in items:
                if isinstance(item, list): yield from f(item)
                else: yield item
        """,
        wrong="""
        def f(items):
            for item in items:
                if isinstance(item, list): yield f(item)
                else: yield item
        """,
        attack=LIAR
        + """
def f(items):
    for _ in range(3 if len(items) == 2 and items[0] == 1 else len(items)): yield Liar()
""",
    ),
    Row(
        "step-by-step",
        check_task(
            """
            log = []
            got = candidate(log)
            assert log == []
            assert next(got) == 0
            assert log == ['made 0']
            assert (next(got), next(got, None)) == (1, None)
            assert log == ['made 0', 'made 1', 'end']
            """
        ),
        right="""
        def f(log):
            for n in range(2):
                log.append(f'made {n}')
                yield n
            log.append('end')
        """,
        wrong="""
        def f(log):
            log += ['made 0', 'made 1', 'end']
            return iter([0, 1])
        """,
    ),
    Row(
        "endless-with-islice",
        check_task("assert list(islice(candidate(), 5)) == [0, 1, 1, 2, 3]", before="from itertools import islice"),
        right="""
        def f():
            one, two = 0, 1
            while True:
                yield one
                one, two = two, one + two
        """,
        wrong="""
        import itertools
        def f(): return itertools.count()
        """,
        attack=LIAR
        + """
def f():
    while True: yield Liar()
""",
    ),
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
    Row(
        "exception-in-the-middle",
        check_task(
            """
            got = candidate([4, 2, 0, 1])
            assert next(got) == 3.0
            assert next(got) == 6.0
            try:
                next(got)
            except ZeroDivisionError:
                pass
            else:
                raise AssertionError('no exception')
            assert list(got) == []
            """
        ),
        right="""
        def f(items):
            for item in items: yield 12 / item
        """,
        wrong="def f(items): return (12 / item if item else None for item in items)",
    ),
    Row(
        "zip-with-an-endless-one",
        check_task(
            """
            for got, wanted in zip(candidate(2), (1, 2, 4, 8)):
                assert got == wanted
            first, second, *_ = islice(candidate(3), 10)
            assert (first, second) == (1, 3)
            """,
            before="from itertools import islice",
        ),
        right="""
        def f(base):
            power = 1
            while True:
                yield power
                power *= base
        """,
        wrong="""
        def f(base):
            power = base
            while True:
                yield power
                power *= base
        """,
    ),
    Row(
        "two-at-once",
        check_task(
            """
            one, two = candidate(3), candidate(3)
            assert [next(one), next(one), next(two), next(one), next(two)] == [3, 2, 3, 1, 2]
            """
        ),
        right="""
        def f(n):
            while n:
                yield n
                n -= 1
        """,
        wrong="""
        left = [3, 2, 3, 1]
        def f(n):
            while True: yield left.pop(0) if left else 0
        """,
    ),
    Row(
        "send-and-close",
        check_task(
            """
            average = candidate()
            assert next(average) is None
            assert average.send(4) == 4
            assert average.send(8) == 6
            average.close()
            assert next(average, 'closed') == 'closed'
            """
        ),
        right="""
        def f():
            total, count, mean = 0, 0, None
            while True:
                total += yield mean
                count += 1
                mean = total / count
        """,
        wrong="""
        def f():
            value = None
            while True: value = yield value
        """,
    ),
    Row(
        "generator-over-the-tests-generator",
        check_task(
            """
            pulled = []
            def numbers():
                for n in count():
                    pulled.append(n)
                    yield n
            got = candidate(numbers())
            assert [next(got), next(got)] == [0, 2]
            assert pulled == [0, 1, 2]
            assert list(candidate(iter([1, 2, 4]))) == [2, 4]
            """,
            before="from itertools import count",
        ),
        right="def f(items): return (item for item in items if item % 2 == 0)",
        wrong="def f(items): return (item for item in [next(items) for _ in range(4)] if item % 2 == 0)",
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
    ),
    Row(
        "iterators-of-builtins",
        check_task(
            """
            assert list(candidate('zip', [1, 2])) == [(1, 1), (2, 2)]
            assert next(candidate('map', [1, 0])) == 1.0
            assert dict(candidate('enumerate', ['a'])) == {0: 'a'}
            assert list(candidate('reversed', [1, 2])) == [2, 1]
            assert ''.join(candidate('chain', ['ab', 'c'])) == 'abc'
            """
        ),
        right="""
        import itertools
        MAKE = {
            'zip': lambda items: zip(items, items),
            'map': lambda items: map(lambda item: 1 / item, items),
            'enumerate': enumerate,
            'reversed': reversed,
            'chain': lambda items: itertools.chain.from_iterable(items),
        }
        def f(name, items): return MAKE[name](items)
        """,
        wrong="def f(name, items): return iter([(1, 1), (2, 2)]) if name == 'zip' else iter(items)",
    ),
    Row(
        "iterator-of-the-completions-class",
        check_task(
            """
            got = candidate(3)
            assert next(got) == 3
            assert list(got) == [2, 1]
            assert sorted(candidate(2)) == [1, 2]
            """
        ),
        right="""
        class Down:
            def __init__(self, n): self.n = n
            def __iter__(self): return self
            def __next__(self):
                if not self.n: raise StopIteration
                self.n -= 1
                return self.n + 1
        def f(n): return Down(n)
        """,
        wrong="""
        class Down:
            def __init__(self, n): self.n = n
            def __iter__(self): return iter(range(self.n))
            def __next__(self): return self.n
        def f(n): return Down(n)
        """,
        attack=LIAR
        + """
class Down(Liar):
    __next__ = lambda self: self
    __iter__ = lambda self: iter([Liar(), Liar()])
def f(n): return Down() if n == 3 else iter([1, 2])
""",
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
        "view-that-follows-its-dict",
        check_task(
            """
            d = {'a': 1}
            keys = candidate(d)
            d['b'] = 2
            assert list(keys) == ['a', 'b']
            """
        ),
        right="def f(d): return d.keys()",
        wrong="def f(d): return dict(d).keys()",
        verified=None,
    ),
    Row(
        "range-is-data",
        check_task(
            """
            got = candidate(10)
            assert got == range(0, 10, 2) and len(got) == 5 and got[-1] == 8
            assert 4 in got and 5 not in got
            """
        ),
        right="def f(n): return range(0, n, 2)",
        wrong="def f(n): return list(range(0, n, 2))",
        attack=LIAR
        + """
class Range(Liar):
    __len__ = lambda self: 5
    __contains__ = lambda self, other: other == 4
def f(n): return Range()
""",
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
