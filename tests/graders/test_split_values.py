"""Tests of values, of equality with them, and of their types."""

from __future__ import annotations

from tests.graders.conftest import Graded
from tests.graders.split_tasks import LIAR, Answer, Row, check_task, each_answer

# fmt: off
ROWS = [
    Row("nan-and-infinity", check_task("""
            got = candidate('nan')
            assert got != got and math.isnan(got)
            assert candidate('inf') == math.inf
            assert candidate('-inf') == -math.inf
            """, before="import math"),
        right="def f(text): return float(text)",
        wrong="def f(text): return float(text.lstrip('-'))",
        attack="""
        class Nan:
            __eq__ = __ne__ = lambda self, other: True
            __float__ = lambda self: float('nan')
        def f(text): return Nan()
        """),
    Row("isclose", check_task("assert math.isclose(candidate(2), 1.41421356, rel_tol=1e-6), 'root'",
            before="import math"),
        right="def f(x): return x ** 0.5",
        wrong="def f(x): return 1.4142",
        attack="""
        import math
        math.isclose = lambda *_, **__: True
        def f(x): return 0
        """),
    Row("against-itself", check_task("""
            assert tuple(candidate([3, 1])) == tuple(f([3, 1]))
            assert candidate([2, 1]) == candidate([2, 1])
            """),
        right="def f(items): return sorted(items)",
        wrong="""
        seen = []
        def f(items):
            seen.append(items)
            return items * len(seen)
        """,
        attack=LIAR + "def f(items): return Liar() if items[0] == 2 else items"),
    Row("exact-type", check_task("""
            got = candidate(1)
            assert type(got) is int and got == 1
            assert isinstance(candidate(2), int)
            assert not isinstance(candidate(2), bool)
            assert (type(candidate(3)), candidate(3)) == (int, 3)
            """),
        right="def f(x): return x",
        wrong="def f(x): return x == 1 or float(x)",
        attack=LIAR + """
class Int(Liar):
    __class__ = property(lambda self: int)
def f(x): return x if x == 1 else Int() if x == 2 else x
"""),
    Row("subclass-of-int", check_task("""
            got = candidate(20)
            assert isinstance(got, int)
            assert got + 1 == 41
            """),
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
        """),
    Row("what-it-is", check_task("""
            got = candidate(2)
            assert isinstance(got, types.GeneratorType)
            assert isinstance(got, Iterator)
            assert iter(got) is got
            assert not hasattr(got, '__len__')
            assert list(got) == [0, 1] and list(got) == []
            """, before="""
            import types
            from collections.abc import Iterator
            """),
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
        objects=True),
]
# fmt: on


@each_answer(ROWS)
def test_values_cross_unchanged(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)
