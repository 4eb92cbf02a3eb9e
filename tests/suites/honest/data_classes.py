"""Dataclasses and enumerations: compared, ordered, iterated, looked up, taken apart, handed in and answered with."""

from __future__ import annotations

from tests.suites.honest_suite import Suite, check_suite, unittest_suite

SUITES: list[Suite] = [
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
        ("Token(found.lastgroup, found.group())", "(found.lastgroup, found.group())"),
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
    unittest_suite("enum-lookup-and-iteration", "class Color(Enum) with RED = 1, GREEN = 2, BLUE = 3.", "Color", """
        import unittest
        from enum import Enum

        class TestColor(unittest.TestCase):
            def test_iterate(self):
                self.assertEqual([color.name for color in Color], ["RED", "GREEN", "BLUE"])
                self.assertEqual([color.value for color in Color], [1, 2, 3])
                self.assertEqual(len(Color), 3)
                self.assertEqual(list(Color)[0], Color.RED)

            def test_lookup(self):
                self.assertIs(Color(2), Color.GREEN)
                self.assertIs(Color["BLUE"], Color.BLUE)
                self.assertIn(Color.RED, Color)
                with self.assertRaises(ValueError):
                    Color(4)
                with self.assertRaises(KeyError):
                    Color["PINK"]

            def test_members(self):
                self.assertTrue(issubclass(Color, Enum))
                self.assertIsInstance(Color.RED, Color)
                self.assertNotEqual(Color.RED, 1)
                self.assertEqual(str(Color.RED), "Color.RED")
                self.assertEqual(repr(Color.GREEN), "<Color.GREEN: 2>")
        """, """
        from enum import Enum

        class Color(Enum):
            RED = 1
            GREEN = 2
            BLUE = 3
        """,
        ("GREEN = 2\n    BLUE = 3", "BLUE = 3\n    GREEN = 2")),
    check_suite("traffic-light", "class Light(Enum): RED, GREEN, YELLOW. def next_light(light): the one after it.",
        "next_light", """
        assert candidate(Light.RED) is Light.GREEN
        assert candidate(Light.GREEN) == Light.YELLOW
        assert candidate(Light.YELLOW) == Light.RED
        light = Light.RED
        for _ in range(3):
            light = candidate(light)
        assert light is Light.RED and light.name == "RED"
        for each in Light:
            assert candidate(each) != each and candidate(each) in Light
            assert isinstance(candidate(each), Light)
        """, """
        from enum import Enum, auto

        class Light(Enum):
            RED = auto()
            GREEN = auto()
            YELLOW = auto()

        def next_light(light):
            lights = list(Light)
            return lights[(lights.index(light) + 1) % len(lights)]
        """,
        ("return lights[(lights.index(light) + 1) % len(lights)]", "return light.value % 3 + 1"),
    ),
    unittest_suite("int-enum",
        "class Priority(IntEnum): LOW = 1, MEDIUM = 5, HIGH = 10; def most_urgent(tasks), of (name, priority).",
        "most_urgent", """
        import unittest

        class TestPriority(unittest.TestCase):
            def test_order(self):
                self.assertLess(Priority.LOW, Priority.HIGH)
                self.assertEqual(Priority.MEDIUM, 5)
                self.assertEqual(Priority.LOW + 1, 2)
                self.assertEqual(sorted([Priority.HIGH, Priority.LOW]), [Priority.LOW, Priority.HIGH])
                self.assertEqual(max(Priority), Priority.HIGH)

            def test_most_urgent(self):
                tasks = [("a", Priority.LOW), ("b", Priority.HIGH), ("c", Priority.MEDIUM)]
                self.assertEqual(most_urgent(tasks), ("b", Priority.HIGH))
                self.assertEqual(most_urgent(tasks)[1].name, "HIGH")
                self.assertIsNone(most_urgent([]))
        """, """
        from enum import IntEnum

        class Priority(IntEnum):
            LOW = 1
            MEDIUM = 5
            HIGH = 10

        def most_urgent(tasks):
            return max(tasks, key=lambda task: task[1], default=None)
        """,
        (", default=None", ""),
    ),
    check_suite("flags",
        "class Permission(Flag): READ, WRITE, EXECUTE. def allowed(granted, wanted): is all of wanted in granted.",
        "allowed", """
        R, W, X = Permission.READ, Permission.WRITE, Permission.EXECUTE
        both = R | W
        assert candidate(both, R) and candidate(both, both)
        assert not candidate(R, both) and not candidate(both, X)
        assert R in both and X not in both
        assert both & W == W and both ^ R == W
        assert not (R & W) and bool(both)
        assert both == Permission(3) and both.value == 3
        assert (R | W | X) & ~W == R | X
        assert [p.name for p in Permission] == ["READ", "WRITE", "EXECUTE"]
        """, """
        from enum import Flag, auto

        class Permission(Flag):
            READ = auto()
            WRITE = auto()
            EXECUTE = auto()

        def allowed(granted, wanted):
            return granted & wanted == wanted
        """,
        ("return granted & wanted == wanted", "return bool(granted & wanted)"),
    ),
    check_suite("str-enum-from-text",
        "class Level(StrEnum): DEBUG, INFO, ERROR. def parse_level(text): the Level, in any case, else a ValueError.",
        "parse_level", """
        assert candidate("info") is Level.INFO
        assert candidate(" ERROR ") == Level.ERROR
        assert candidate("Debug") == "debug"
        assert Level.INFO == "info" and f"{Level.INFO}!" == "info!" and Level.INFO.upper() == "INFO"
        assert {level: len(level) for level in Level} == {"debug": 5, "info": 4, "error": 5}
        try:
            candidate("loud")
        except ValueError as error:
            assert "loud" in str(error)
        else:
            assert False
        """, """
        from enum import StrEnum, auto

        class Level(StrEnum):
            DEBUG = auto()
            INFO = auto()
            ERROR = auto()

        def parse_level(text):
            return Level(text.strip().lower())
        """,
        ("text.strip().lower()", "text.lower()"),
    ),
    unittest_suite("enums-as-keys",
        "class Suit(Enum) with CLUBS, HEARTS; class Card(suit, rank); def count_suits(cards): a dict.", "count_suits",
        """
        import unittest
        from collections import Counter

        class TestSuits(unittest.TestCase):
            def test_counts(self):
                cards = [Card(Suit.HEARTS, 2), Card(Suit.CLUBS, 3), Card(Suit.HEARTS, 5)]
                counts = count_suits(cards)
                self.assertEqual(counts, {Suit.HEARTS: 2, Suit.CLUBS: 1})
                self.assertEqual(counts[Suit.HEARTS], 2)
                self.assertEqual(Counter(card.suit for card in cards)[Suit.CLUBS], 1)
                self.assertEqual({suit.name for suit in counts}, {"HEARTS", "CLUBS"})
                self.assertEqual(len({Suit.CLUBS, Suit.CLUBS, Suit.HEARTS}), 2)

            def test_none(self):
                self.assertDictEqual(count_suits([]), {Suit.CLUBS: 0, Suit.HEARTS: 0})
        """, """
        from enum import Enum

        class Suit(Enum):
            CLUBS = "c"
            HEARTS = "h"

        class Card:
            def __init__(self, suit, rank):
                self.suit, self.rank = suit, rank

        def count_suits(cards):
            counts = dict.fromkeys(Suit, 0)
            for card in cards:
                counts[card.suit] += 1
            return counts
        """,
        ("dict.fromkeys(Suit, 0)", "dict.fromkeys((card.suit for card in cards), 0)"),
    ),
    unittest_suite("enum-aliases-and-members",
        "class Status(Enum): ACTIVE = 'active', LIVE an alias of it, CLOSED = 'closed'; is_open property.", "Status",
        """
        import unittest

        class TestStatus(unittest.TestCase):
            def test_alias(self):
                self.assertIs(Status.LIVE, Status.ACTIVE)
                self.assertEqual(Status.LIVE.name, "ACTIVE")
                self.assertEqual(list(Status), [Status.ACTIVE, Status.CLOSED])
                self.assertEqual(list(Status.__members__), ["ACTIVE", "LIVE", "CLOSED"])

            def test_open(self):
                self.assertTrue(Status("active").is_open)
                self.assertFalse(Status.CLOSED.is_open)
                self.assertEqual([s.value for s in Status if s.is_open], ["active"])
                self.assertTrue(hasattr(Status, "CLOSED"))
                self.assertFalse(hasattr(Status, "OPEN"))
                self.assertIs(getattr(Status, "CLOSED"), Status.CLOSED)
        """, """
        from enum import Enum

        class Status(Enum):
            ACTIVE = "active"
            LIVE = "active"
            CLOSED = "closed"

            @property
            def is_open(self):
                return self is not Status.CLOSED
        """,
        ("    @property\n", ""),
    ),
]
