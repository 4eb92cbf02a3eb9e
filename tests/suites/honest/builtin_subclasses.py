"""Subclasses of the builtin types and of those of collections."""

from tests.suites.honest_suite import Suite, check_suite, unittest_suite

SUITES: list[Suite] = [
    unittest_suite("subclass-of-list", "class UniqueList(list): append and extend pass over what is there already.",
        "UniqueList", """
        import unittest

        class TestUniqueList(unittest.TestCase):
            def test_append(self):
                items = UniqueList()
                for x in "banana":
                    items.append(x)
                self.assertEqual(items, ["b", "a", "n"])
                self.assertEqual(len(items), 3)
                self.assertIsInstance(items, list)
                self.assertIsInstance(items, UniqueList)

            def test_extend(self):
                items = UniqueList([3, 1])
                items.extend([1, 2, 2])
                self.assertListEqual(list(items), [3, 1, 2])
                self.assertEqual(sorted(items), [1, 2, 3])
                self.assertEqual(items[0], 3)
                self.assertEqual(items[-2:], [1, 2])
                items.sort(reverse=True)
                self.assertEqual(items.index(1), 2)
        """, """
        class UniqueList(list):
            def append(self, x):
                if x not in self:
                    super().append(x)

            def extend(self, items):
                for x in items:
                    self.append(x)
        """,
        ("if x not in self:", "if x in self:"),
    ),
    check_suite("subclass-of-dict-with-missing",
        "class Counts(dict): a key that is not there counts 0; add(key), most().", "Counts", """
        counts = candidate()
        for word in "a b a c a b".split():
            counts.add(word)
        assert counts == {"a": 3, "b": 2, "c": 1}
        assert counts["z"] == 0 and "z" not in counts
        assert counts.get("z") is None
        counts["b"] += 5
        assert counts.most() == "b"
        assert isinstance(counts, dict) and dict(counts) == {"a": 3, "b": 7, "c": 1}
        assert list(counts.items()) == [("a", 3), ("b", 7), ("c", 1)]
        del counts["b"]
        assert counts.most() == "a" and len(counts) == 2
        """, """
        class Counts(dict):
            def __missing__(self, key):
                return 0

            def add(self, key):
                self[key] += 1

            def most(self):
                return max(self, key=self.get)
        """,
        ("return 0", "self[key] = 0\n        return 0"),
    ),
    unittest_suite("subclass-of-ordered-dict",
        "class BoundedDict(OrderedDict), made with BoundedDict(maxlen): the oldest key goes when there are more.",
        "BoundedDict", """
        import unittest
        from collections import OrderedDict

        class TestBoundedDict(unittest.TestCase):
            def setUp(self):
                self.d = BoundedDict(2)

            def test_bound(self):
                for i, key in enumerate("abc"):
                    self.d[key] = i
                self.assertEqual(list(self.d), ["b", "c"])
                self.assertEqual(self.d, OrderedDict([("b", 1), ("c", 2)]))
                self.assertIsInstance(self.d, OrderedDict)
                self.assertEqual(self.d.maxlen, 2)

            def test_update(self):
                self.d.update(x=1, y=2, z=3)
                self.d["y"] = 9
                self.d.move_to_end("y", last=False)
                self.assertEqual(list(self.d.items()), [("y", 9), ("z", 3)])
                self.assertEqual(self.d.popitem(last=False), ("y", 9))
        """, """
        from collections import OrderedDict

        class BoundedDict(OrderedDict):
            def __init__(self, maxlen):
                super().__init__()
                self.maxlen = maxlen

            def __setitem__(self, key, value):
                super().__setitem__(key, value)
                if len(self) > self.maxlen:
                    self.popitem(last=False)
        """,
        ("len(self) > self.maxlen", "len(self) >= self.maxlen"),
    ),
    check_suite("subclass-of-float", "class Metres(float) with feet() and +, and a str such as '3.00 m'.", "Metres",
        """
        import math
        length = candidate(3)
        assert length == 3.0 and isinstance(length, float)
        assert str(length) == "3.00 m" and f"{length}" == "3.00 m" and f"{length:.1f}" == "3.0"
        assert math.isclose(length.feet(), 9.8425, abs_tol=1e-3)
        total = length + candidate(1.5)
        assert type(total) is candidate and total == 4.5
        assert round(total) == 4 and abs(candidate(-1)) == 1
        assert max(candidate(1), candidate(2)) == candidate(2)
        assert sum([candidate(1), candidate(2)]) == 3
        """, """
        class Metres(float):
            def feet(self):
                return self * 3.280839895

            def __add__(self, other):
                return Metres(float(self) + other)

            def __str__(self):
                return f"{float(self):.2f} m"

            def __format__(self, spec):
                return format(float(self), spec) if spec else str(self)
        """,
        ("3.280839895", "0.3048"),
    ),
    unittest_suite("subclass-of-user-list", "class SortedList(UserList) that stays sorted; add(x).", "SortedList", """
        import random
        import unittest

        class TestSortedList(unittest.TestCase):
            def test_add(self):
                random.seed(3)
                numbers = [random.randrange(50) for _ in range(30)]
                result = SortedList()
                for n in numbers:
                    result.add(n)
                self.assertEqual(result, sorted(numbers))
                self.assertEqual(list(result), sorted(numbers))
                self.assertEqual(result[0], min(numbers))

            def test_made(self):
                result = SortedList("cab")
                self.assertEqual(result.data, ["a", "b", "c"])
                self.assertEqual(list(reversed(result)), ["c", "b", "a"])
                self.assertIn("b", result)
                self.assertEqual(result.count("b"), 1)
        """, """
        import bisect
        from collections import UserList

        class SortedList(UserList):
            def __init__(self, items=()):
                super().__init__(sorted(items))

            def add(self, x):
                bisect.insort(self.data, x)
        """,
        ("sorted(items)", "items"),
    ),
    unittest_suite("typed-named-tuple", "class Point(NamedTuple) with x, y=0, norm(), and class method origin().",
        "Point", """
        import unittest

        class TestPoint(unittest.TestCase):
            def test_fields(self):
                point = Point(3, y=4)
                self.assertEqual(point, (3, 4))
                self.assertEqual((point.x, point[1]), (3, 4))
                self.assertEqual(point._fields, ("x", "y"))
                self.assertEqual(point._asdict(), {"x": 3, "y": 4})
                self.assertEqual(repr(point), "Point(x=3, y=4)")
                self.assertIsInstance(point, tuple)

            def test_methods(self):
                self.assertEqual(Point(3, 4).norm(), 5)
                self.assertEqual(Point(1), Point(1, 0))
                self.assertEqual(Point.origin(), Point(0, 0))
                self.assertEqual(Point(1, 2)._replace(x=9), Point(9, 2))
                x, y = Point(5, 6)
                self.assertEqual(x + y, 11)

            def test_frozen(self):
                with self.assertRaises(AttributeError):
                    Point(1, 2).x = 3
        """, """
        from typing import NamedTuple

        class Point(NamedTuple):
            x: float
            y: float = 0

            def norm(self):
                return (self.x ** 2 + self.y ** 2) ** 0.5

            @classmethod
            def origin(cls):
                return cls(0)
        """,
        ("x: float\n    y: float = 0", "y: float\n    x: float = 0"),
    ),
    check_suite("named-tuples-in-a-list",
        "def parse(lines):  # 'name,age' lines to a list of the named tuple Person(name, age)", "parse", """
        people = candidate(["ann,31", "bob,25"])
        assert people == [("ann", 31), ("bob", 25)]
        assert [p.name for p in people] == ["ann", "bob"]
        assert people[0] == Person("ann", 31) and people[0].age == 31
        assert sorted(people, key=lambda p: p.age)[0].name == "bob"
        assert people[1]._replace(name="x") == Person(name="x", age=25)
        assert {p: p.age for p in people}[Person("bob", 25)] == 25
        """, """
        from collections import namedtuple

        Person = namedtuple("Person", "name age")

        def parse(lines):
            return [Person(name, int(age)) for name, age in (line.split(",") for line in lines)]
        """,
        ("Person(name, int(age)) for", "(name, int(age)) for"),
    ),
    check_suite("attribute-dict", "class AttrDict(dict): keys are attributes too.", "AttrDict", """
        d = candidate(a=1, b=2)
        assert d.a == 1 and d["b"] == 2
        d.c = 3
        assert d["c"] == 3 and sorted(d) == ["a", "b", "c"]
        d["e"] = 5
        assert d.e == 5 and hasattr(d, "e") and not hasattr(d, "z")
        del d.a
        assert "a" not in d and d == {"b": 2, "c": 3, "e": 5}
        assert getattr(d, "nope", None) is None
        try:
            d.nope
            assert False
        except AttributeError as error:
            assert "nope" in str(error)
        """, """
        class AttrDict(dict):
            def __getattr__(self, name):
                try:
                    return self[name]
                except KeyError:
                    raise AttributeError(name) from None

            def __setattr__(self, name, value):
                self[name] = value

            def __delattr__(self, name):
                del self[name]
        """,
        ("    def __setattr__(self, name, value):\n        self[name] = value\n", ""),
    ),
    unittest_suite("subclass-of-set", "class Tags(set): tags in small letters; add(tag), and joined(), in order.",
        "Tags", """
        import unittest

        class TestTags(unittest.TestCase):
            def test_tags(self):
                tags = Tags()
                tags.add("Red")
                tags.add("red")
                tags.add("Blue")
                self.assertEqual(tags, {"red", "blue"})
                self.assertSetEqual(tags, {"blue", "red"})
                self.assertEqual(tags.joined(), "blue,red")
                self.assertEqual(tags & {"red", "x"}, {"red"})
                self.assertTrue(tags.issuperset(["red"]))
                self.assertEqual(len(tags | {"x"}), 3)
                tags.discard("red")
                self.assertNotIn("red", tags)
        """, """
        class Tags(set):
            def add(self, tag):
                super().add(tag.lower())

            def joined(self):
                return ",".join(sorted(self))
        """,
        ("tag.lower()", "tag"),
    ),
]
