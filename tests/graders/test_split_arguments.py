"""Checks that look at what a completion did to its arguments, and at what it keeps or hands out of its own."""

from __future__ import annotations

from tests.graders.conftest import Graded
from tests.graders.split_tasks import Answer, Row, check_task, each_answer

CHANGED = [
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
]

ROWS = [*CHANGED, *ALIASES, *KEPT]


@each_answer(ROWS)
def test_arguments_are_changed_in_place(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)
