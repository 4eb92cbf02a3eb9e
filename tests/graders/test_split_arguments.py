"""Checks that look at what a completion did to its arguments, and at what it keeps or hands out of its own."""

from __future__ import annotations

from tests.graders.conftest import Graded
from tests.graders.split_tasks import LIAR, Answer, Row, check_task, each_answer

CHANGED = [
    Row(
        "list",
        check_task(
            """
            items = [3, 1, 2]
            assert candidate(items) is None
            assert items == [1, 2, 3]
            """
        ),
        right="def f(items): items.sort()",
        wrong="def f(items): items = sorted(items)",
        attack=LIAR + "def f(items): items[:] = [Liar(), Liar(), Liar()]",
    ),
    Row(
        "dict",
        check_task(
            """
            ages = {'ada': 36, 'bob': 7}
            candidate(ages, 'bob')
            assert ages == {'ada': 36, 'new': 'bob'}
            assert list(ages) == ['new', 'ada']
            """
        ),
        right="""
        def f(ages, name):
            del ages[name]
            ages['new'] = name
            ages['ada'] = ages.pop('ada')
        """,
        wrong="""
        def f(ages, name):
            del ages[name]
            ages['new'] = name
        """,
        attack=LIAR
        + """
def f(ages, name):
    ages.clear()
    ages.update(new=Liar(), ada=Liar())
""",
    ),
    Row(
        "set",
        check_task(
            """
            seen = {1, 2}
            candidate(seen)
            assert seen == {2, 3} and len(seen) == 2
            """
        ),
        right="""
        def f(seen):
            seen.add(3)
            seen.discard(1)
        """,
        wrong="def f(seen): return seen ^ {1, 3}",
    ),
    Row(
        "bytearray",
        check_task(
            """
            data = bytearray(b'abc')
            candidate(data)
            assert data == b'ABC!'
            """
        ),
        right="def f(data): data[:] = data.upper() + b'!'",
        wrong="def f(data): return data.upper() + b'!'",
    ),
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
        "items-in-another-order",
        check_task(
            """
            one, two = [1], [1]
            items = [one, two]
            candidate(items)
            assert items[0] is two and items[1] is one
            """
        ),
        right="def f(items): items.reverse()",
        wrong="def f(items): items[:] = [list(item) for item in items]",
    ),
    Row(
        "left-alone",
        check_task(
            """
            items = [3, 1, 2]
            assert candidate(items) == [1, 2, 3]
            assert items == [3, 1, 2], 'the argument was changed'
            """
        ),
        right="def f(items): return sorted(items)",
        wrong="""
        def f(items):
            items.sort()
            return list(items)
        """,
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
        "by-keyword-and-in-a-star",
        check_task(
            """
            first, second, third = [], [], []
            candidate(first, *[second], last=third)
            assert (first, second, third) == ([1], [2], [3])
            """
        ),
        right="""
        def f(*lists, last):
            for n, each in enumerate([*lists, last], 1): each.append(n)
        """,
        wrong="""
        def f(*lists, last):
            for n, each in enumerate(lists, 1): each.append(n)
        """,
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
        "result-is-part-of-the-argument",
        check_task(
            """
            rows = [[1], [2, 3], [4]]
            longest = candidate(rows)
            assert longest is rows[1]
            longest.append(5)
            assert rows == [[1], [2, 3, 5], [4]]
            """
        ),
        right="def f(rows): return max(rows, key=len)",
        wrong="def f(rows): return list(max(rows, key=len))",
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
    Row(
        "same-list-twice",
        check_task(
            """
            items = []
            assert candidate(items, items)
            assert not candidate(items, [])
            """
        ),
        right="def f(one, two): return one is two",
        wrong="def f(one, two): return one == two",
    ),
    Row(
        "argument-that-holds-itself",
        check_task(
            """
            ring = [1]
            ring.append(ring)
            assert candidate(ring) == 1
            assert ring[1] is ring and len(ring) == 3
            """
        ),
        right="""
        def f(ring):
            ring[1][1].append('end')
            return ring[1][0]
        """,
        wrong="def f(ring): return 1",
    ),
    Row(
        "argument-put-into-the-result",
        check_task(
            """
            items = [1]
            table = candidate(items)
            items.append(2)
            assert table == {'items': [1, 2], 'copy': [1]}
            """
        ),
        right="def f(items): return {'items': items, 'copy': list(items)}",
        wrong="def f(items): return {'items': items, 'copy': items}",
    ),
]

KEPT = [
    Row(
        "the-test-changes-what-an-object-keeps",
        check_task(
            """
            items = [1, 2]
            bag = Bag(items)
            items.append(3)
            assert bag.total() == 6
            items.clear()
            assert bag.total() == 0
            """,
            entry_point="Bag",
        ),
        right="""
        class Bag:
            def __init__(self, items): self.items = items
            def total(self): return sum(self.items)
        """,
        wrong="""
        class Bag:
            def __init__(self, items): self.items = list(items)
            def total(self): return sum(self.items)
        """,
    ),
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
    Row(
        "default-that-is-changed",
        check_task(
            """
            first = candidate(1)
            assert first == [1]
            assert candidate(2) is first
            assert first == [1, 2]
            """
        ),
        right="""
        def f(item, found=[]):
            found.append(item)
            return found
        """,
        wrong="def f(item): return [item]",
    ),
]

ROWS = [*CHANGED, *ALIASES, *KEPT]


@each_answer(ROWS)
def test_arguments_are_changed_in_place(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)
