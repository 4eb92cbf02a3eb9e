"""Checks that look at what a completion did to its arguments, and at what it keeps or hands out of its own."""

from __future__ import annotations

from tests.graders.conftest import Graded
from tests.graders.split_tasks import Answer, Row, check_task, each_answer

CHANGED = [
    Row(
        "containers-of-the-standard-library",
        check_task(
            """
            queue, counts, ordered, groups = deque([1, 2, 3]), Counter('aab'), OrderedDict(a=1, b=2), defaultdict(list)
            candidate(queue, counts, ordered, groups)
            assert queue == deque([3, 1, 2])
            assert counts == Counter(a=3, b=1)
            assert list(ordered) == ['b', 'a']
            assert groups == {'x': [1]}
            """,
            before="from collections import Counter, OrderedDict, defaultdict, deque",
        ),
        right="""
        def f(queue, counts, ordered, groups):
            queue.rotate()
            counts['a'] += 1
            ordered.move_to_end('a')
            groups['x'].append(1)
        """,
        wrong="""
        def f(queue, counts, ordered, groups):
            queue.rotate()
            counts['a'] += 1
            ordered = dict(reversed(ordered.items()))
            groups['x'].append(1)
        """,
    ),
    Row(
        "inner-list",
        check_task(
            """
            board = ([0, 0], [0, 0])
            first = board[0]
            candidate(board, 0, 1)
            assert first == [0, 1]
            assert board[0] is first
            """
        ),
        right="def f(board, row, column): board[row][column] = 1",
        wrong="def f(board, row, column): board = [list(line) for line in board]",
    ),
    Row(
        "before-an-exception",
        check_task(
            """
            items = [2, 1]
            try:
                candidate(items)
            except ValueError:
                pass
            assert items == [2, 1, 0]
            """
        ),
        right="""
        def f(items):
            items.append(0)
            raise ValueError
        """,
        wrong="def f(items): raise ValueError",
    ),
    Row(
        "kept-by-the-completion",
        check_task(
            """
            log = []
            candidate(log)
            candidate(None)
            assert log == ['first', 'second']
            """
        ),
        right="""
        kept = []
        def f(log):
            if log is not None: kept.append(log)
            kept[0].append('first' if log is not None else 'second')
        """,
        wrong="""
        def f(log):
            if log is not None: log.append('first')
        """,
    ),
]

ALIASES = [
    Row(
        "result-is-the-argument",
        check_task(
            """
            for items in ([1], {1: 2}, {1}, bytearray(b'a'), [[1]]):
                assert candidate(items) is items
            """
        ),
        right="def f(items): return items",
        wrong="def f(items): return items.copy()",
    ),
    Row(
        "one-row-twice",
        check_task(
            """
            row = [0]
            grid = [row, row]
            candidate(grid)
            assert row == [1, 2]
            assert grid[0] is grid[1] is row
            """
        ),
        right="""
        def f(grid):
            grid[0].append(2)
            grid[1][0] += 1
        """,
        wrong="""
        def f(grid):
            grid[0] = [1, 2]
        """,
    ),
]

KEPT = [
    Row(
        "the-test-changes-what-an-object-hands-out",
        check_task(
            """
            bag = Bag()
            bag.items().append(3)
            bag.inner['x'] = [1]
            bag.inner['x'].append(2)
            assert bag.count() == 3
            """,
            entry_point="Bag",
        ),
        right="""
        class Bag:
            def __init__(self): self._items, self.inner = [], {}
            def items(self): return self._items
            def count(self): return len(self._items) + sum(map(len, self.inner.values()))
        """,
        wrong="""
        class Bag:
            def __init__(self): self._items, self.inner = [], {}
            def items(self): return list(self._items)
            def count(self): return len(self._items) + sum(map(len, self.inner.values()))
        """,
    ),
    Row(
        "the-object-changes-what-it-handed-out",
        check_task(
            """
            bag = Bag()
            items = bag.items
            bag.add(1)
            bag.add(2)
            assert items == [1, 2]
            assert bag.items is items
            """,
            entry_point="Bag",
        ),
        right="""
        class Bag:
            def __init__(self): self.items = []
            def add(self, item): self.items.append(item)
        """,
        wrong="""
        class Bag:
            def __init__(self): self.items = []
            def add(self, item): self.items = [*self.items, item]
        """,
    ),
]

ROWS = [*CHANGED, *ALIASES, *KEPT]


@each_answer(ROWS)
def test_arguments_are_changed_in_place(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)
