"""Checks that give a completion functions of theirs to call."""

from __future__ import annotations

from tests.graders.conftest import Graded
from tests.graders.split_tasks import LIAR, Answer, Row, check_task, each_answer

GIVEN = [
    Row(
        "lambda",
        check_task("assert candidate(lambda n: n * n, [1, 2, 3]) == [1, 4, 9]"),
        right="def f(function, items): return [function(item) for item in items]",
        wrong="def f(function, items): return [function(item) for item in items[1:]]",
        attack=LIAR + "def f(function, items): return Liar()",
    ),
    Row(
        "def",
        check_task(
            """
            calls = []
            def note(x, *more, sign=1):
                calls.append((x, more, sign))
                return sign * (x + sum(more))
            assert candidate(note) == [6, -3]
            assert calls == [(1, (2, 3), 1), (3, (), -1)]
            """
        ),
        right="def f(function): return [function(1, 2, 3), function(3, sign=-1)]",
        wrong="def f(function): return [6, -3]",
        attack="""
        def f(function):
            seen = function.__closure__[0].cell_contents
            seen += [(1, (2, 3), 1), (3, (), -1)]
            return [6, -3]
        """,
        objects=True,
    ),
    Row(
        "builtins-and-types",
        check_task(
            """
            words = ['b', 'aa', 'C']
            for function in (len, str.upper, str, ord, bool, repr, tuple):
                given = words if function is not ord else ['x']
                assert candidate(function, given) == [function(word) for word in given]
            assert candidate(max, [[1, 3], [2]]) == [3, 2]
            """
        ),
        right="def f(function, items): return list(map(function, items))",
        wrong="def f(function, items): return [function.__name__ for _ in items]",
    ),
    Row(
        "standard-library",
        check_task(
            """
            assert candidate(operator.add, 2, 3) == 5
            assert candidate(math.pow, 2, 3) == 8.0
            assert candidate(functools.reduce, operator.mul, [1, 2, 3, 4]) == 24
            assert candidate(functools.partial(pow, 2), 5) == 32
            """,
            before="import functools, math, operator",
        ),
        right="def f(function, *arguments): return function(*arguments)",
        wrong="def f(function, *arguments): return function(*arguments[::-1])",
    ),
    Row(
        "callable-objects",
        check_task("assert candidate(operator.itemgetter(1), 'abc') == 'b'", before="import operator"),
        right="def f(function, *arguments): return function(*arguments)",
        wrong="def f(function, *arguments): return function",
        verified=None,
    ),
    Row(
        "sort-key",
        check_task(
            """
            ranks = {'low': 0, 'mid': 1, 'high': 2}
            assert candidate(['high', 'low', 'mid'], ranks.get) == ['low', 'mid', 'high']
            assert candidate(['bb', 'a'], key=lambda word: len(word)) == ['a', 'bb']
            """
        ),
        right="def f(items, key): return sorted(items, key=key)",
        wrong="def f(items, key): return sorted(items)",
    ),
    Row(
        "bound-method",
        check_task(
            """
            seen = []
            candidate(seen.append)
            assert seen == [1, 2]
            """
        ),
        right="""
        def f(emit):
            emit(1)
            emit(2)
        """,
        wrong="def f(emit): emit([1, 2])",
    ),
    Row(
        "function-that-comes-back",
        check_task(
            """
            def double(x): return 2 * x
            assert candidate(double) is double
            assert candidate(len) is len
            assert candidate(candidate) is candidate
            """
        ),
        right="def f(function): return function",
        wrong="def f(function): return lambda x: function(x)",
    ),
    Row(
        "function-that-is-kept",
        check_task(
            """
            seen = []
            bus = Bus()
            bus.on(seen.append)
            bus.on(lambda event: seen.append(event * 2))
            bus.emit('a')
            assert seen == ['a', 'aa']
            """,
            entry_point="Bus",
        ),
        right="""
        class Bus:
            def __init__(self): self.listeners = []
            def on(self, listener): self.listeners.append(listener)
            def emit(self, event):
                for listener in self.listeners: listener(event)
        """,
        wrong="""
        class Bus:
            def __init__(self): self.listeners = {}
            def on(self, listener): self.listeners['one'] = listener
            def emit(self, event):
                for listener in self.listeners.values(): listener(event)
        """,
    ),
    Row(
        "function-of-the-test-that-makes-functions",
        check_task(
            """
            def adder(n):
                return lambda x: x + n
            assert candidate(adder) == [11, 21]
            """
        ),
        right="def f(make): return [make(n)(1) for n in (10, 20)]",
        wrong="def f(make): return [make(n)(n) for n in (10, 20)]",
    ),
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
        "through-the-completion",
        check_task(
            """
            error = Trouble('mine')
            def raises(): raise error
            try:
                candidate(raises)
            except Trouble as caught:
                assert caught is error
            else:
                assert False, 'nothing came through'
            """,
            before="class Trouble(Exception): pass",
        ),
        right="""
        def f(function):
            try:
                return function()
            except ValueError:
                return None
        """,
        wrong="""
        def f(function):
            try:
                return function()
            except Exception:
                return None
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

CHANGING = [
    Row(
        "callback-that-changes-its-argument",
        check_task(
            """
            def extend(items):
                items.append(len(items))
            assert candidate(extend) == [0, 1, 2]
            """
        ),
        right="""
        def f(function):
            items = []
            for _ in range(3): function(items)
            return items
        """,
        wrong="""
        def f(function):
            items = []
            for _ in range(3): function(list(items))
            return items
        """,
    ),
    Row(
        "callback-that-looks-at-an-argument",
        check_task(
            """
            items, seen = [], []
            candidate(items, lambda: seen.append(list(items)))
            assert seen == [[1], [1, 2]]
            """
        ),
        right="""
        def f(items, function):
            for n in (1, 2):
                items.append(n)
                function()
        """,
        wrong="""
        def f(items, function):
            items += [1, 2]
            function()
            function()
        """,
    ),
    Row(
        "callback-that-changes-an-argument-of-the-call",
        check_task(
            """
            items = [1]
            assert candidate(items, lambda: items.append(2)) == [1, 2]
            """
        ),
        right="""
        def f(items, function):
            function()
            return items[:]
        """,
        wrong="""
        def f(items, function):
            before = items[:]
            function()
            return before
        """,
    ),
]

ROWS = [*GIVEN, *RAISING, *CHANGING]


@each_answer(ROWS)
def test_functions_are_called_where_they_belong(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)
