"""Iterators and generators of the completion's: endless ones, sent to, thrown into, closed."""

from __future__ import annotations

from tests.suites.honest_suite import Suite, check_suite, unittest_suite

SUITES: list[Suite] = [
    check_suite("endless-fibonacci", "def fibonacci():  # a generator without an end", "fibonacci", """
        from itertools import islice, takewhile
        assert list(islice(candidate(), 8)) == [0, 1, 1, 2, 3, 5, 8, 13]
        assert sum(takewhile(lambda x: x < 100, candidate())) == 232
        numbers = candidate()
        assert [next(numbers) for _ in range(3)] == [0, 1, 1]
        assert next(numbers) == 2
        assert iter(numbers) is numbers
        for i, x in enumerate(candidate()):
            if i == 50:
                break
        assert (i, x) == (50, 12586269025)
        """, """
        def fibonacci():
            a, b = 0, 1
            while True:
                yield a
                a, b = b, a + b
        """,
        ("a, b = 0, 1", "a, b = 1, 1"),
        ("while True:", "for _ in range(40):"),
    ),
    unittest_suite("running-average-by-send",
        "def averager(): a generator; each number that is sent gives the average so far.", "averager", """
        import types
        import unittest

        class TestAverager(unittest.TestCase):
            def test_send(self):
                average = averager()
                self.assertIsNone(next(average))
                self.assertEqual(average.send(10), 10)
                self.assertEqual(average.send(20), 15)
                self.assertAlmostEqual(average.send(7), 12.3333, places=3)

            def test_reset_by_throw(self):
                average = averager()
                next(average)
                average.send(10)
                self.assertIsNone(average.throw(KeyError("reset")))
                self.assertEqual(average.send(4), 4)
                with self.assertRaises(ValueError):
                    average.throw(ValueError("other"))
                with self.assertRaises(StopIteration):
                    average.send(1)

            def test_kind(self):
                self.assertIsInstance(averager(), types.GeneratorType)
        """, """
        def averager():
            total, count, average = 0, 0, None
            while True:
                try:
                    number = yield average
                except KeyError:
                    total, count, average = 0, 0, None
                else:
                    total, count = total + number, count + 1
                    average = total / count
        """,
        ("except KeyError:\n            total, count, average = 0, 0, None",
            "except KeyError:\n            average = None"),
        ("except KeyError", "except Exception"),
    ),
    check_suite("closed-generator-cleans-up",
        "def numbers(log):  # yields 0, 1, ...; appends 'closed' to log when it is closed", "numbers", """
        log = []
        generator = candidate(log)
        assert next(generator) == 0 and next(generator) == 1
        assert log == ["opened"]
        generator.close()
        assert log == ["opened", "closed"]
        assert next(generator, "end") == "end"
        generator.close()
        assert log == ["opened", "closed"]
        unstarted = candidate(log)
        unstarted.close()
        assert log == ["opened", "closed"]
        """, """
        from itertools import count

        def numbers(log):
            log.append("opened")
            try:
                yield from count()
            finally:
                log.append("closed")
        """,
        ("finally:", "except StopIteration:"),
    ),
    unittest_suite("yield-from-flatten", "def flatten(x): yields what is in lists and tuples at any depth.", "flatten",
        """
        import unittest

        class TestFlatten(unittest.TestCase):
            def test_flatten(self):
                self.assertEqual(list(flatten([1, [2, (3, [4])], [], "ab"])), [1, 2, 3, 4, "ab"])
                self.assertEqual(list(flatten([])), [])
                first, *rest = flatten([[["x"]], ["y"]])
                self.assertEqual((first, rest), ("x", ["y"]))

            def test_lazy(self):
                items = flatten([1, [2, 3]])
                self.assertEqual(next(items), 1)
                self.assertEqual(list(items), [2, 3])
                self.assertEqual(list(items), [])
                self.assertIn(3, flatten([[3]]))
                self.assertEqual(dict(zip("ab", flatten([[1], [[2]]]))), {"a": 1, "b": 2})
        """, """
        def flatten(x):
            for item in x:
                if isinstance(item, (list, tuple)):
                    yield from flatten(item)
                else:
                    yield item
        """,
        ("yield from flatten(item)", "yield from item"),
        ("(list, tuple)", "list"),
    ),
    check_suite("value-returned-by-a-generator", "def count_down(n):  # yields n .. 1 and returns 'lift-off'",
        "count_down", """
        generator = candidate(2)
        assert next(generator) == 2 and next(generator) == 1
        try:
            next(generator)
        except StopIteration as stop:
            assert stop.value == "lift-off"
        else:
            assert False
        def both():
            first = yield from candidate(2)
            second = yield from candidate(1)
            yield first + "/" + second
        assert list(both()) == [2, 1, 1, "lift-off/lift-off"]
        """, """
        def count_down(n):
            while n:
                yield n
                n -= 1
            return "lift-off"
        """,
        ('return "lift-off"', 'yield "lift-off"'),
    ),
    unittest_suite("iterator-class",
        "class Countdown(start): an iterable whose iterators are of the class CountdownIterator.", "Countdown", """
        import unittest

        class TestCountdown(unittest.TestCase):
            def test_for(self):
                countdown = Countdown(3)
                self.assertEqual([x for x in countdown], [3, 2, 1])
                self.assertEqual(list(countdown), [3, 2, 1])
                self.assertEqual([(a, b) for a in Countdown(2) for b in Countdown(2)], [(2, 2), (2, 1), (1, 2), (1, 1)])

            def test_iterator(self):
                iterator = iter(Countdown(1))
                self.assertIsInstance(iterator, CountdownIterator)
                self.assertIs(iter(iterator), iterator)
                self.assertEqual(next(iterator), 1)
                self.assertRaises(StopIteration, next, iterator)
                self.assertEqual(next(iterator, None), None)

            def test_consumers(self):
                self.assertEqual(sum(Countdown(4)), 10)
                self.assertEqual(max(Countdown(4)), 4)
                self.assertEqual(tuple(map(str, Countdown(2))), ("2", "1"))
                self.assertTrue(all(Countdown(5)))
        """, """
        class CountdownIterator:
            def __init__(self, start):
                self.now = start

            def __iter__(self):
                return self

            def __next__(self):
                if self.now <= 0:
                    raise StopIteration
                self.now -= 1
                return self.now + 1

        class Countdown:
            def __init__(self, start):
                self.start = start

            def __iter__(self):
                return CountdownIterator(self.start)
        """,
        ("return self.now + 1", "return self.now"),
        ("self.start = start\n\n    def __iter__(self):\n        return CountdownIterator(self.start)",
            "self.it = CountdownIterator(start)\n\n    def __iter__(self):\n        return self.it"),
    ),
    check_suite("lazy-pipeline", "def lazy_map(function, items):  # nothing is called before it is asked for",
        "lazy_map", """
        seen = []
        def double(x):
            seen.append(x)
            return 2 * x
        def source():
            for i in range(10):
                seen.append("read %d" % i)
                yield i
        result = candidate(double, source())
        assert seen == []
        assert next(result) == 0 and seen == ["read 0", 0]
        assert next(result) == 2 and len(seen) == 4
        assert list(result)[-1] == 18 and len(seen) == 20
        """, """
        def lazy_map(function, items):
            for item in items:
                yield function(item)
        """, """
        def lazy_map(function, items):
            return iter([function(item) for item in items])
        """, """
        def lazy_map(function, items):
            items = list(items)
            for item in items:
                yield function(item)
        """),
    unittest_suite("chunks-and-windows",
        "def chunked(items, n), def windows(items, n): generators of tuples, of any iterable.", "chunked", """
        import itertools
        import unittest

        class TestChunks(unittest.TestCase):
            def test_chunked(self):
                self.assertEqual(list(chunked(range(5), 2)), [(0, 1), (2, 3), (4,)])
                self.assertEqual(list(chunked(iter("abc"), 3)), [("a", "b", "c")])
                self.assertEqual(list(chunked([], 3)), [])

            def test_endless(self):
                self.assertEqual(next(chunked(itertools.count(), 3)), (0, 1, 2))
                self.assertEqual(list(itertools.islice(windows(itertools.count(), 2), 2)), [(0, 1), (1, 2)])

            def test_windows(self):
                for n, expected in [(1, [(1,), (2,), (3,)]), (3, [(1, 2, 3)]), (4, [])]:
                    with self.subTest(n=n):
                        self.assertEqual(list(windows(x for x in [1, 2, 3])) if n == 0 else
                                         list(windows((x for x in [1, 2, 3]), n)), expected)
        """, """
        from collections import deque
        from itertools import islice

        def chunked(items, n):
            iterator = iter(items)
            while chunk := tuple(islice(iterator, n)):
                yield chunk

        def windows(items, n):
            window = deque(maxlen=n)
            for item in items:
                window.append(item)
                if len(window) == n:
                    yield tuple(window)
        """,
        ("iterator = iter(items)", "iterator = iter(list(islice(items, len(items) // n * n)))"),
        ("if len(window) == n:\n            ", ""),
    ),
    check_suite("peekable", "class Peekable(items), an iterator with peek(default), and prepend(x).", "Peekable", """
        p = candidate(iter([1, 2]))
        assert p.peek() == 1 and p.peek() == 1 and next(p) == 1
        p.prepend(9)
        assert p.peek() == 9 and list(p) == [9, 2]
        assert p.peek("none") == "none"
        try:
            p.peek()
        except StopIteration:
            pass
        else:
            assert False
        words = candidate("a b c".split())
        out = []
        while words.peek(None) is not None:
            out.append(next(words))
        assert out == ["a", "b", "c"]
        """, """
        class Peekable:
            _none = object()

            def __init__(self, items):
                self._ahead, self._iterator = [], iter(items)

            def __iter__(self):
                return self

            def __next__(self):
                return self._ahead.pop() if self._ahead else next(self._iterator)

            def prepend(self, x):
                self._ahead.append(x)

            def peek(self, default=_none):
                try:
                    x = next(self)
                except StopIteration:
                    if default is self._none:
                        raise
                    return default
                self.prepend(x)
                return x
        """,
        ("    self.prepend(x)\n", ""),
        ("if default is self._none:\n                raise\n            return default", "return None"),
    ),
    check_suite("iter-with-a-sentinel",
        "def reader(lines):  # a function that gives the next line at each call, '' at the end", "reader", """
        read = candidate(["a", "b", "c"])
        assert list(iter(read, "")) == ["a", "b", "c"]
        assert read() == "" and read() == ""
        one, two = candidate(["x"]), candidate(["y", "z"])
        assert (two(), one(), two()) == ("y", "x", "z")
        """, """
        def reader(lines):
            iterator = iter(lines)
            return lambda: next(iterator, "")
        """,
        ('next(iterator, "")', "next(iterator, None)"),
    ),
]
