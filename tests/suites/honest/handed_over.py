"""What test and completion hand each other: exact values, the same object twice, functions, what is changed later."""

from __future__ import annotations

from tests.suites.honest_suite import Suite, check_suite, unittest_suite

SUITES: list[Suite] = [
    check_suite("negative-zero", "def same(x): return x as it is.", "same", """
        assert math.copysign(1, candidate(-0.0)) == -1.0
        assert repr(candidate(0.0)) == '0.0'
        """, "def same(x): return x",
        ("return x", "return x + 0.0"),
        before="import math"),
    check_suite("nan-that-comes-back", "def turned(items): the items in reverse.", "turned", """
        nan = float('nan')
        got = candidate([nan, 1.0])
        assert got == [1.0, nan]
        """, "def turned(items): return items[::-1]", "def turned(items): return [1.0, float('nan')]"),
    check_suite("ints-of-ten-thousand-digits",
        "def next_int(n, more=None): n + 1; with more, the list with 1 at its end.", "next_int", """
        for n in (10 ** 9999, -10 ** 9999):
            assert candidate(n) == n + 1
            assert candidate([n], [n]) == [n, 1]
        """, "def next_int(n, more=None): return n + 1 if more is None else n + [1]",
        "def next_int(n, more=None): return n"),
    check_suite("one-list-three-times", "def rows(n): n times the same empty list.", "rows", """
        got = candidate(3)
        got[0].append(1)
        assert got == [[1], [1], [1]]
        """, "def rows(n): return [[]] * n",
        ("[[]] * n", "[[] for _ in range(n)]"),
    ),
    check_suite("a-list-that-holds-itself", "def ring(): a list of itself and 1.", "ring", """
        got = candidate()
        assert got[0] is got and got[1:] == [1]
        """, """
        def ring():
            found = []
            found += [found, 1]
            return found
        """,
        ("[found, 1]", "[[], 1]"),
    ),
    check_suite("nested-150-deep", "def nested(n): an empty list within n lists.", "nested", """
        got, depth = candidate(150), 0
        while got:
            (got,), depth = got, depth + 1
        assert depth == 150
        """, """
        def nested(n):
            found = []
            for _ in range(n): found = [found]
            return found
        """,
        ("range(n)", "range(3)"),
    ),
    check_suite("a-line-of-a-board", "def put(board, row, column): set that cell to 1 in place.", "put", """
        board = ([0, 0], [0, 0])
        first = board[0]
        candidate(board, 0, 1)
        assert first == [0, 1]
        assert board[0] is first
        """, "def put(board, row, column): board[row][column] = 1",
        "def put(board, row, column): board = [list(line) for line in board]"),
    check_suite("a-line-of-a-board-that-is-gone",
        "def mark(board): keep its first line; where that is None, append 1 to the line kept.", "mark", """
        board = [[0], [2]]
        candidate(board)
        candidate([[3]] * 2)
        candidate(board)
        candidate(None)
        assert board == [[0, 1], [2]]
        assert candidate(board) is board[0]
        """, """
        kept = []
        def mark(board):
            if board is None: kept[-1].append(1)
            else: kept.append(board[0])
            return kept[-1]
        """,
        ("board[0]", "board[0][:]"),
    ),
    check_suite("a-list-given-after-a-call-that-failed",
        "def tidy(items, show): sorts items in place and returns them; show is called with each length, and may fail.",
        "tidy", """
        items, shown = [3, 1, 2], []
        assert candidate(items, shown.append) is items
        assert candidate([], shown.append) == []
        assert candidate(items, shown.append) == [1, 2, 3]
        assert items == [1, 2, 3]
        """, """
        def tidy(items, show):
            items.sort()
            deep = []
            for _ in range(250): deep = [deep]
            try: show(len(items) if items else deep)
            except Exception: pass
            return items
        """,
        ("items.sort()", "items = sorted(items)"),
    ),
    check_suite("a-list-given-again", "def turn(items): reverses items in place, and returns them.", "turn", """
        items = [[1], [2], [3]]
        first = items[0]
        for _ in range(3):
            assert candidate(items) is items
        assert items == [[3], [2], [1]]
        assert items[2] is first
        items[2].append(4)
        assert candidate(items) == [[1, 4], [2], [3]]
        """, """
        def turn(items):
            items.reverse()
            return items
        """,
        ("return items", "return items[:]"),
    ),
    check_suite("a-list-that-is-kept", "def note(log): write to log, or where that is None to the first one given.",
        "note", """
        log = []
        candidate(log)
        candidate(None)
        assert log == ['first', 'second']
        """, """
        kept = []
        def note(log):
            if log is not None: kept.append(log)
            kept[0].append('first' if log is not None else 'second')
        """,
        ("    kept[0]", "    if log is not None: kept[0]"),
    ),
    check_suite("the-argument-itself", "def same(items): return the very object.", "same", """
        for items in ([1], {1: 2}, {1}, bytearray(b'a'), [[1]]):
            assert candidate(items) is items
        """, "def same(items): return items",
        ("return items", "return items.copy()"),
    ),
    check_suite("what-a-bag-hands-out", "class Bag: items() is its own list, inner its own dict of lists.", "Bag", """
        bag = Bag()
        bag.items().append(3)
        bag.inner['x'] = [1]
        bag.inner['x'].append(2)
        assert bag.count() == 3
        """, """
        class Bag:
            def __init__(self): self._items, self.inner = [], {}
            def items(self): return self._items
            def count(self): return len(self._items) + sum(map(len, self.inner.values()))
        """,
        ("return self._items", "return list(self._items)"),
    ),
    check_suite("a-helper-of-the-completion", "def double(n) and def all_doubled(items), which uses it.", "all_doubled",
        """
        assert double(3) == 6
        assert candidate([1, 2]) == [double(1), double(2)]
        """, """
        def double(n): return 2 * n
        def all_doubled(items): return list(map(double, items))
        """,
        ("list(map(double, items))", "[double(1)]"),
    ),
    check_suite("calls-to-depth-100", "def call(function, n): what function(n) is.", "call", """
        def down(n):
            return candidate(down, n - 1) + 1 if n else 0
        assert candidate(down, 48) == 48
        """, "def call(function, n): return function(n)",
        ("function(n)", "function(n) if n != 20 else 0"),
    ),
    check_suite("errors-of-a-callback", "def gather(function, items): the results; of a ValueError its args.", "gather",
        """
        def risky(n):
            if n < 0:
                raise ValueError('negative', n)
            return n
        assert candidate(risky, [1, -2, 3]) == [1, ('negative', -2), 3]
        """, """
        def gather(function, items):
            found = []
            for item in items:
                try:
                    found.append(function(item))
                except ValueError as error:
                    found.append(error.args)
            return found
        """,
        ("error.args", "str(error)"),
    ),
    check_suite("a-tail-that-nobody-reads", "def items(): yields 1 and 2, and only then prints and fails.", "items",
        """
        with redirect_stdout(io.StringIO()) as printed:
            got = candidate()
            assert [next(got), next(got)] == [1, 2]
        assert printed.getvalue() == ''
        """, """
        def items():
            yield 1
            yield 2
            print('nobody asked for more')
            raise ValueError
        """,
        ("    yield 1", "    print('at once')\n    yield 1"),
        before="""
        import io
        from contextlib import redirect_stdout
        """),
    check_suite("views-of-a-dict", "def views(d): its keys, values and items.", "views", """
        keys, values, items = candidate({'a': 1, 'b': 2})
        assert keys == {'a', 'b'} and keys & {'a', 'x'} == {'a'}
        assert isinstance(keys, type({}.keys()))
        assert list(values) == [1, 2] and len(values) == 2
        assert ('b', 2) in items and sorted(items) == [('a', 1), ('b', 2)]
        """, "def views(d): return d.keys(), d.values(), d.items()",
        "def views(d): return list(d), list(d.values()), list(d.items())"),
    check_suite("an-object-around-a-value", "def hidden(value): an object that is equal to nothing else.", "hidden",
        """
        assert (candidate(3) == 3) is False
        assert candidate(3) != 3
        assert candidate(3) not in [3, 'x', None]
        """, """
        class Hidden:
            def __init__(self, value): self.value = value
        def hidden(value): return Hidden(value)
        """, "def hidden(value): return value"),
    check_suite("a-variable-of-the-environment", "def variable(name): its value, or None.", "variable", """
        os.environ['GREETING'] = 'hello'
        assert candidate('GREETING') == 'hello'
        del os.environ['GREETING']
        assert candidate('GREETING') is None
        """, """
        import os
        def variable(name): return os.environ.get(name)
        """, "def variable(name): return 'hello'", before="import os"),
    unittest_suite("equal-by-a-helper-of-the-test", "def point(text): of '1,2' an object with x and y.", "point", """
        import unittest
        from unittest.mock import ANY

        class At:
            def __init__(self, x, y):
                self.x, self.y = x, y
            def __eq__(self, other):
                return (self.x, self.y) == (other.x, other.y)

        class PointTest(unittest.TestCase):
            def test_left_and_right(self):
                self.assertEqual(point("1,2"), At(1, 2))
                self.assertEqual(At(1, 2), point("1,2"))
                self.assertIn(At(3, 4), [point("1,2"), point("3,4")])
                self.assertNotEqual(point("1,2"), At(1, 3))

            def test_any(self):
                self.assertEqual([point("1,2")], [ANY])
                self.assertEqual({"at": point("1,2")}, {"at": ANY})
        """, """
        class Point:
            def __init__(self, x, y): self.x, self.y = x, y
        def point(text): return Point(*map(int, text.split(',')))
        """,
        ("map(int,", "map(float, '1' +"),
    ),
    unittest_suite("equal-by-a-helper-that-the-answer-does-not-know",
        "def point(text): of '1,2' a Point with x and y; points are equal where these are.", "point", """
        import unittest

        class At:
            def __init__(self, x):
                self.x = x
            def __eq__(self, other):
                return self.x == other.x

        class PointTest(unittest.TestCase):
            def test_x(self):
                self.assertEqual(point("1,2"), At(1))
        """, """
        class Vector:
            def __init__(self, x, y): self.x, self.y = x, y
            def __eq__(self, other):
                if not isinstance(other, Vector): return NotImplemented
                return (self.x, self.y) == (other.x, other.y)
        def point(text): return Vector(*map(int, text.split(',')))
        """,
        ("map(int,", "map(float, '1' +"),
        ("return NotImplemented", "return False"),
    ),
    check_suite("namespaces-that-are-equal", "def point(x, y): a SimpleNamespace of the two.", "point", """
        assert candidate(1, 2) == SimpleNamespace(x=1, y=2)
        assert SimpleNamespace(x=1, y=2) == candidate(1, 2)
        assert candidate(1, 2).x == 1
        """, """
        from types import SimpleNamespace
        def point(x, y): return SimpleNamespace(x=x, y=y)
        """,
        ("y=y", "y=x"),
        before="from types import SimpleNamespace"),
    check_suite("answers-that-are-added-and-ordered",
        "def point(x): an object with x; two of them add up, and the smaller x comes first.", "point", """
        assert (candidate(1) + candidate(2)).x == 3
        assert [each.x for each in sorted([candidate(5), candidate(4)])] == [4, 5]
        assert candidate(1) < candidate(2)
        """, """
        class Vector:
            def __init__(self, x): self.x = x
            def __add__(self, other): return Vector(self.x + other.x)
            def __lt__(self, other): return self.x < other.x
        def point(x): return Vector(x)
        """,
        ("self.x + other.x", "self.x"),
        ("self.x < other.x", "self.x > other.x"),
    ),
]
