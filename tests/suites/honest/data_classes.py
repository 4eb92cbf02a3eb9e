"""Dataclasses: compared, ordered, frozen, replaced, taken apart."""

from __future__ import annotations

from tests.suites.honest_suite import Suite, check_suite, unittest_suite

SUITES: list[Suite] = [
    unittest_suite("dataclass-equality-and-repr", "@dataclass class Book: title: str, pages: int = 100.", "Book", """
        import unittest

        class TestBook(unittest.TestCase):
            def test_equal(self):
                self.assertEqual(Book("Emma", 300), Book("Emma", 300))
                self.assertNotEqual(Book("Emma", 300), Book("Emma", 301))
                self.assertNotEqual(Book("Emma"), ("Emma", 100))
                self.assertIn(Book("A"), [Book("B"), Book("A")])
                self.assertEqual([Book("A"), Book("B")].index(Book("B")), 1)

            def test_repr(self):
                self.assertEqual(repr(Book("Emma")), "Book(title='Emma', pages=100)")

            def test_change(self):
                book = Book(title="x")
                book.pages += 1
                self.assertEqual(book, Book("x", 101))
                with self.assertRaises(TypeError):
                    {book: 1}
        """, """
        from dataclasses import dataclass

        @dataclass
        class Book:
            title: str
            pages: int = 100
        """,
        ("@dataclass\n", "@dataclass(eq=False)\n"),
        ("= 100", "= 0"),
    ),
    check_suite("dataclass-order",
        "@dataclass(order=True) class Version: major, minor, label (which is not compared). def newest(versions).",
        "newest", """
        versions = [Version(1, 2, "b"), Version(1, 10, "c"), Version(0, 99, "d")]
        assert candidate(versions) is versions[1]
        assert candidate(versions).label == "c"
        assert Version(1, 2, "x") == Version(1, 2, "y")
        assert Version(1, 2) < Version(1, 3) <= Version(1, 3) < Version(2, 0)
        assert sorted(versions) == [versions[2], versions[0], versions[1]]
        assert [v.label for v in sorted(versions, reverse=True)] == ["c", "b", "d"]
        assert max(versions) > min(versions)
        """, """
        from dataclasses import dataclass, field

        @dataclass(order=True)
        class Version:
            major: int
            minor: int
            label: str = field(default="", compare=False)

        def newest(versions):
            return max(versions)
        """,
        (", compare=False", ""),
        ("return max(versions)", "return max(versions, key=lambda v: str(v.minor))"),
    ),
    unittest_suite("frozen-dataclass",
        "@dataclass(frozen=True) class Coordinate: lat: float, lon: float; moved(dlat, dlon), a new one.", "Coordinate",
        """
        import unittest
        from dataclasses import FrozenInstanceError

        class TestCoordinate(unittest.TestCase):
            def setUp(self):
                self.home = Coordinate(50.0, 8.0)

            def test_frozen(self):
                with self.assertRaises(FrozenInstanceError):
                    self.home.lat = 1
                with self.assertRaises(AttributeError):
                    del self.home.lon

            def test_hash(self):
                self.assertEqual({self.home: "home"}[Coordinate(50.0, 8.0)], "home")
                self.assertEqual(len({self.home, Coordinate(50, 8), Coordinate(0, 0)}), 2)
                self.assertEqual(hash(self.home), hash(Coordinate(50.0, 8.0)))

            def test_moved(self):
                moved = self.home.moved(1, -1)
                self.assertEqual(moved, Coordinate(51.0, 7.0))
                self.assertIsNot(moved, self.home)
                self.assertEqual(self.home.lat, 50.0)
        """, """
        from dataclasses import dataclass, replace

        @dataclass(frozen=True)
        class Coordinate:
            lat: float
            lon: float

            def moved(self, dlat, dlon):
                return replace(self, lat=self.lat + dlat, lon=self.lon + dlon)
        """,
        ("(frozen=True)", "(unsafe_hash=True)"),
        ("self.lon + dlon", "self.lon - dlon"),
    ),
    unittest_suite("dataclass-taken-apart",
        "@dataclass class Address: city, zip_code. @dataclass class Person: name, address, emails (a list, empty).",
        "Person", """
        import unittest
        from dataclasses import asdict, astuple, fields, is_dataclass, replace

        class TestPerson(unittest.TestCase):
            def setUp(self):
                self.person = Person("Ann", Address("Bonn", "53111"))

            def test_asdict(self):
                self.assertEqual(asdict(self.person), {
                    "name": "Ann", "address": {"city": "Bonn", "zip_code": "53111"}, "emails": [],
                })
                self.assertEqual(astuple(self.person), ("Ann", ("Bonn", "53111"), []))

            def test_fields(self):
                self.assertEqual([field.name for field in fields(Person)], ["name", "address", "emails"])
                self.assertTrue(is_dataclass(Address))

            def test_replace(self):
                other = replace(self.person, name="Bob")
                self.assertEqual(other.name, "Bob")
                self.assertEqual(other.address, self.person.address)
                self.assertEqual(self.person.name, "Ann")

            def test_emails(self):
                self.person.emails.append("a@b.c")
                self.assertEqual(Person("x", None).emails, [])
        """, """
        from dataclasses import dataclass, field

        @dataclass
        class Address:
            city: str
            zip_code: str

        @dataclass
        class Person:
            name: str
            address: Address
            emails: list[str] = field(default_factory=list)
        """,
        ("    city: str\n    zip_code: str", "    zip_code: str\n    city: str"),
    ),
    check_suite("dataclass-post-init",
        "@dataclass class Rectangle: width, height, and area, which is reckoned; a negative side is a ValueError.",
        "Rectangle", """
        r = candidate(3, 4)
        assert r.area == 12 and r == candidate(width=3, height=4)
        assert repr(r) == "Rectangle(width=3, height=4, area=12)"
        try:
            candidate(-1, 2)
        except ValueError as error:
            assert str(error) == "negative side"
        else:
            assert False
        try:
            candidate(1, 2, 3)
        except TypeError:
            return
        assert False, "area can't be given"
        """, """
        from dataclasses import dataclass, field

        @dataclass
        class Rectangle:
            width: float
            height: float
            area: float = field(init=False)

            def __post_init__(self):
                if min(self.width, self.height) < 0:
                    raise ValueError("negative side")
                self.area = self.width * self.height
        """,
        ("field(init=False)", "0"),
        ("< 0", "< -1"),
    ),
    check_suite("dataclasses-answered-with",
        "@dataclass class Token: kind, text. def tokenize(source): numbers, names and operators, as Tokens.",
        "tokenize", """
        assert candidate("") == []
        tokens = candidate("x1 + 42")
        assert [t.kind for t in tokens] == ["name", "op", "number"]
        assert tokens == [Token("name", "x1"), Token("op", "+"), Token("number", "42")]
        assert candidate("a*b")[1].text == "*"
        assert all(isinstance(t, Token) for t in tokens)
        assert " ".join(t.text for t in tokens) == "x1 + 42"
        kind, text = vars(tokens[0]).values()
        assert (kind, text) == ("name", "x1")
        """, """
        import re
        from dataclasses import dataclass

        @dataclass
        class Token:
            kind: str
            text: str

        def tokenize(source):
            pattern = r"(?P<number>[0-9]+)|(?P<name>[A-Za-z_][A-Za-z_0-9]*)|(?P<op>[-+*/])"
            return [Token(found.lastgroup, found.group()) for found in re.finditer(pattern, source)]
        """,
        ("[A-Za-z_0-9]*", "[A-Za-z_]*"),
        ("Token(found.lastgroup, found.group())", "(found.lastgroup, found.group())"),
    ),
    unittest_suite("dataclass-inheritance",
        "@dataclass class Employee: name, salary, raise_salary(percent); @dataclass class Manager(Employee): team.",
        "Manager", """
        import unittest

        class TestEmployees(unittest.TestCase):
            def test_manager(self):
                ann = Employee("Ann", 1000)
                boss = Manager("Bo", 2000, [ann])
                self.assertIsInstance(boss, Employee)
                self.assertEqual(boss.team, [Employee("Ann", 1000)])
                self.assertIs(boss.team[0], ann)
                boss.raise_salary(10)
                self.assertAlmostEqual(ann.salary, 1100)
                self.assertAlmostEqual(boss.salary, 2200)

            def test_default(self):
                self.assertEqual(Manager("X", 1).team, [])
                self.assertNotEqual(Manager("X", 1), Employee("X", 1))
        """, """
        from dataclasses import dataclass, field

        @dataclass
        class Employee:
            name: str
            salary: float

            def raise_salary(self, percent):
                self.salary *= 1 + percent / 100

        @dataclass
        class Manager(Employee):
            team: list[Employee] = field(default_factory=list)

            def raise_salary(self, percent):
                super().raise_salary(percent)
                for member in self.team:
                    member.raise_salary(percent)
        """,
        ("        super().raise_salary(percent)\n", ""),
        ("1 + percent / 100", "percent / 100"),
    ),
    check_suite("dataclasses-of-the-prompt", '''
        from dataclasses import dataclass

        @dataclass
        class Task:
            name: str
            hours: int

        def longest(tasks: list[Task]) -> Task | None:
            """The task with the most hours, None where there are none."""
        ''', "longest", """
        tasks = [Task("a", 2), Task("b", 5), Task("c", 5)]
        assert candidate(tasks) == Task("b", 5)
        assert candidate(tasks) is tasks[1]
        assert candidate([]) is None
        assert candidate(tasks[:1]).name == "a"
        """, """
        from dataclasses import dataclass

        @dataclass
        class Task:
            name: str
            hours: int

        def longest(tasks):
            return max(tasks, key=lambda task: task.hours, default=None)
        """,
        ("lambda task: task.hours", "lambda task: (task.hours, task.name)"),
    ),
]
