"""Objects that hold others: what `len`, `in`, an index, a slice, `iter`, `reversed`, `bool` and a call give."""

from __future__ import annotations

from tests.suites.honest_suite import Suite, check_suite, unittest_suite

SUITES: list[Suite] = [
    unittest_suite("playlist",
        "class Playlist(*songs) with len, index, slice (a Playlist), in, iter, reversed, bool and del.", "Playlist",
        """
        import unittest

        class TestPlaylist(unittest.TestCase):
            def setUp(self):
                self.songs = Playlist("a", "b", "c", "d")

            def test_read(self):
                self.assertEqual(len(self.songs), 4)
                self.assertEqual(self.songs[0], "a")
                self.assertEqual(self.songs[-1], "d")
                self.assertIn("b", self.songs)
                self.assertEqual([s.upper() for s in self.songs], ["A", "B", "C", "D"])
                self.assertEqual("".join(reversed(self.songs)), "dcba")
                self.assertEqual(list(enumerate(self.songs))[1], (1, "b"))

            def test_slice(self):
                part = self.songs[1:3]
                self.assertIsInstance(part, Playlist)
                self.assertEqual(list(part), ["b", "c"])
                self.assertEqual(list(self.songs[::-2]), ["d", "b"])

            def test_change(self):
                self.songs[0] = "x"
                del self.songs[1]
                self.assertEqual(list(self.songs), ["x", "c", "d"])
                self.assertTrue(self.songs)
                self.assertFalse(Playlist())

            def test_out_of_range(self):
                with self.assertRaises(IndexError):
                    self.songs[9]
        """, """
        class Playlist:
            def __init__(self, *songs):
                self._songs = list(songs)

            def __len__(self):
                return len(self._songs)

            def __getitem__(self, i):
                return Playlist(*self._songs[i]) if isinstance(i, slice) else self._songs[i]

            def __setitem__(self, i, song):
                self._songs[i] = song

            def __delitem__(self, i):
                del self._songs[i]
        """,
        ("Playlist(*self._songs[i]) if isinstance(i, slice) else self._songs[i]", "self._songs[i]"),
        ("self._songs[i] = song", "self._songs.insert(i, song)"),
    ),
    check_suite("callable-polynomial",
        "class Poly(*coefficients), lowest first: called with x, == , + , derivative() and degree.", "Poly", """
        p = candidate(1, 0, 3)
        assert p(0) == 1 and p(2) == 13
        assert callable(p)
        assert list(map(p, range(3))) == [1, 4, 13]
        assert p.derivative() == candidate(0, 6)
        assert p.degree == 2 and candidate(5).derivative()(9) == 0
        assert (p + candidate(1, 1)) == candidate(2, 1, 3)
        for x in [-1.5, 0.25, 7]:
            assert abs((p + p)(x) - 2 * p(x)) < 1e-9
        """, """
        from itertools import zip_longest

        class Poly:
            def __init__(self, *coefficients):
                self.coefficients = coefficients

            @property
            def degree(self):
                return len(self.coefficients) - 1

            def __call__(self, x):
                return sum(c * x ** i for i, c in enumerate(self.coefficients))

            def derivative(self):
                return Poly(*(i * c for i, c in enumerate(self.coefficients) if i))

            def __add__(self, other):
                pairs = zip_longest(self.coefficients, other.coefficients, fillvalue=0)
                return Poly(*(a + b for a, b in pairs))

            def __eq__(self, other):
                return self.coefficients == other.coefficients
        """,
        ("zip_longest(self.coefficients, other.coefficients, fillvalue=0)",
            "zip(self.coefficients, other.coefficients)"),
        ("(i * c for", "((i + 1) * c for"),
    ),
    unittest_suite("mapping-with-history",
        "class VersionedDict(MutableMapping): also history(key), all values that the key has had.", "VersionedDict",
        """
        import unittest
        from collections.abc import Mapping, MutableMapping

        class TestVersionedDict(unittest.TestCase):
            def setUp(self):
                self.d = VersionedDict()
                self.d["a"] = 1
                self.d["b"] = 2
                self.d["a"] = 3

            def test_mapping(self):
                self.assertEqual(self.d["a"], 3)
                self.assertEqual(dict(self.d), {"a": 3, "b": 2})
                self.assertEqual(sorted(self.d.items()), [("a", 3), ("b", 2)])
                self.assertEqual(list(self.d.keys()), ["a", "b"])
                self.assertEqual(self.d.get("z", 0), 0)
                self.assertIsInstance(self.d, Mapping)
                self.assertTrue(issubclass(VersionedDict, MutableMapping))

            def test_history(self):
                self.assertEqual(self.d.history("a"), [1, 3])
                self.d.update(a=4, c=5)
                self.assertEqual(self.d.history("a"), [1, 3, 4])
                self.assertEqual(self.d.pop("a"), 4)
                self.assertNotIn("a", self.d)
                self.assertEqual(self.d.history("a"), [1, 3, 4])
                self.assertEqual(self.d.setdefault("b", 9), 2)
                self.assertEqual(list(self.d), ["b", "c"])
                self.assertEqual(len(self.d), 2)
        """, """
        from collections.abc import MutableMapping

        class VersionedDict(MutableMapping):
            def __init__(self):
                self._now, self._history = {}, {}

            def __getitem__(self, key):
                return self._now[key]

            def __setitem__(self, key, value):
                self._now[key] = value
                self._history.setdefault(key, []).append(value)

            def __delitem__(self, key):
                del self._now[key]

            def __iter__(self):
                return iter(self._now)

            def __len__(self):
                return len(self._now)

            def history(self, key):
                return list(self._history[key])
        """,
        ("del self._now[key]", "del self._now[key], self._history[key]"),
        ("iter(self._now)", "iter(self._history)"),
    ),
    check_suite("sequence-abc", "class Spiral(n), a collections.abc.Sequence of the squares 0, 1, 4, ... below n * n.",
        "Spiral", """
        from collections.abc import Sequence
        s = candidate(5)
        assert isinstance(s, Sequence)
        assert len(s) == 5 and s[3] == 9 and s[-1] == 16
        assert list(s) == [0, 1, 4, 9, 16]
        assert list(reversed(s)) == [16, 9, 4, 1, 0]
        assert 9 in s and 10 not in s
        assert s.index(4) == 2 and s.count(16) == 1
        first, *rest = s
        assert first == 0 and rest == [1, 4, 9, 16]
        assert sum(s) == 30 and max(s) == 16 and sorted(s, key=lambda x: -x)[0] == 16
        """, """
        from collections.abc import Sequence

        class Spiral(Sequence):
            def __init__(self, n):
                self.n = n

            def __len__(self):
                return self.n

            def __getitem__(self, i):
                if not -self.n <= i < self.n:
                    raise IndexError(i)
                return (i % self.n) ** 2
        """,
        ("(i % self.n) ** 2", "i ** 2"),
        ("(Sequence)", ""),
    ),
    unittest_suite("truth-and-length",
        "class Basket(limit) with add(x) (False when full), len, bool (whether it is full), in, clear().", "Basket",
        """
        import unittest

        class TestBasket(unittest.TestCase):
            def test_truth(self):
                basket = Basket(2)
                self.assertFalse(basket)
                self.assertTrue(basket.add("x"))
                self.assertFalse(bool(basket))
                self.assertEqual(len(basket), 1)
                self.assertTrue(basket.add("y"))
                self.assertTrue(basket)
                self.assertFalse(basket.add("z"))
                self.assertTrue("x" in basket and "z" not in basket)
                basket.clear()
                self.assertEqual("full" if basket else "free", "free")
                self.assertEqual(list(filter(None, [basket, Basket(0)]))[0].limit, 0)
        """, """
        class Basket:
            def __init__(self, limit):
                self.limit, self.items = limit, []

            def add(self, x):
                if self:
                    return False
                self.items.append(x)
                return True

            def clear(self):
                self.items.clear()

            def __len__(self):
                return len(self.items)

            def __bool__(self):
                return len(self.items) >= self.limit

            def __contains__(self, x):
                return x in self.items
        """,
        ("    def __bool__(self):\n        return len(self.items) >= self.limit\n", ""),
        (">= self.limit", "> self.limit"),
    ),
    check_suite("ring-buffer",
        "class RingBuffer(size) with push(x), iter (oldest first), [i], len, and is_full, a property.", "RingBuffer",
        """
        buffer = candidate(3)
        assert list(buffer) == [] and len(buffer) == 0
        for i in range(1, 8):
            buffer.push(i)
            assert len(buffer) == min(i, 3)
            assert list(buffer) == list(range(max(1, i - 2), i + 1))
            assert buffer.is_full == (i >= 3)
            assert buffer[0] == max(1, i - 2) and buffer[-1] == i
        assert [x for x in buffer] == [x for x in buffer] == [5, 6, 7]
        assert list(zip(buffer, "ab")) == [(5, "a"), (6, "b")]
        """, """
        class RingBuffer:
            def __init__(self, size):
                self.size, self.start, self.items = size, 0, []

            @property
            def is_full(self):
                return len(self.items) == self.size

            def push(self, x):
                if self.is_full:
                    self.items[self.start] = x
                    self.start = (self.start + 1) % self.size
                else:
                    self.items.append(x)

            def __len__(self):
                return len(self.items)

            def __getitem__(self, i):
                return list(self)[i]

            def __iter__(self):
                return iter(self.items[self.start:] + self.items[:self.start])
        """,
        ("self.items[self.start:] + self.items[:self.start]", "self.items"),
        ("(self.start + 1) % self.size", "self.start + 1"),
    ),
    check_suite("multi-set-operators",
        "class Bag(items) with +, -, &, ==, in, len, [x] (how often), and items(), pairs in order.", "Bag", """
        a, b = candidate("aab"), candidate("abc")
        assert (a + b).items() == [("a", 3), ("b", 2), ("c", 1)]
        assert (a - b).items() == [("a", 1)]
        assert a & b == candidate("ab")
        assert a["a"] == 2 and a["z"] == 0
        assert "b" in a and "c" not in a
        assert len(a + b) == 6 and len(candidate([])) == 0
        assert a == candidate(["b", "a", "a"]) and a != b
        assert candidate([(1, 2), (1, 2)])[1, 2] == 2
        """, """
        from collections import Counter

        class Bag:
            def __init__(self, items):
                self.counts = Counter(items)

            def __add__(self, other):
                return Bag(())._with(self.counts + other.counts)

            def __sub__(self, other):
                return Bag(())._with(self.counts - other.counts)

            def __and__(self, other):
                return Bag(())._with(self.counts & other.counts)

            def _with(self, counts):
                self.counts = counts
                return self

            def __eq__(self, other):
                return self.counts == other.counts

            def __contains__(self, x):
                return x in self.counts

            def __len__(self):
                return sum(self.counts.values())

            def __getitem__(self, x):
                return self.counts[x]

            def items(self):
                return sorted(self.counts.items())
        """,
        ("sum(self.counts.values())", "len(self.counts)"),
        ("self.counts & other.counts", "self.counts | other.counts"),
    ),
    unittest_suite("priority-queue",
        "class PriorityQueue(key=None) with push(x), pop(), peek(), len and iter (in order; it stays as it is).",
        "PriorityQueue", """
        import unittest

        class TestPriorityQueue(unittest.TestCase):
            def test_numbers(self):
                queue = PriorityQueue()
                for x in [5, 4, 3, 1, 2]:
                    queue.push(x)
                self.assertEqual(list(queue), [1, 2, 3, 4, 5])
                self.assertEqual(len(queue), 5)
                self.assertEqual([queue.pop() for _ in range(5)], [1, 2, 3, 4, 5])
                self.assertRaises(IndexError, queue.pop)

            def test_key(self):
                queue = PriorityQueue(key=lambda job: -job["urgency"])
                jobs = [{"id": i, "urgency": u} for i, u in enumerate([1, 9, 5, 9])]
                for job in jobs:
                    queue.push(job)
                self.assertIs(queue.peek(), jobs[1])
                self.assertEqual([queue.pop()["id"] for _ in jobs], [1, 3, 2, 0])
        """, """
        import heapq

        class PriorityQueue:
            def __init__(self, key=None):
                self.key, self.heap, self.pushed = key or (lambda x: x), [], 0

            def push(self, x):
                heapq.heappush(self.heap, (self.key(x), self.pushed, x))
                self.pushed += 1

            def pop(self):
                return heapq.heappop(self.heap)[2]

            def peek(self):
                return self.heap[0][2]

            def __len__(self):
                return len(self.heap)

            def __iter__(self):
                return (x for _, _, x in sorted(self.heap))
        """,
        ("(self.key(x), self.pushed, x)", "(self.key(x), -self.pushed, x)"),
        ("sorted(self.heap)", "self.heap"),
    ),
]
