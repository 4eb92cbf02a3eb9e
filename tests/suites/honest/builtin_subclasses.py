"""Subclasses of the builtin types and of those of collections."""

from tests.suites.honest_suite import Suite, check_suite, unittest_suite

SUITES: list[Suite] = [
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
]
