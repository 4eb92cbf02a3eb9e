"""Enumerations and flags: iterated, looked up, compared, handed in and answered with."""

from __future__ import annotations

from tests.suites.honest_suite import Suite, check_suite, unittest_suite

SUITES: list[Suite] = [
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
        ("GREEN = 2\n    BLUE = 3", "BLUE = 3\n    GREEN = 2"), """
        class Color:
            RED = 1
            GREEN = 2
            BLUE = 3
        """),
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
        (" + 1)", " - 1)"),
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
        ("max(tasks", "min(tasks"),
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
    unittest_suite("enum-with-data-and-methods",
        "class Planet(Enum) with EARTH and MARS, each (mass, radius); property gravity; class method heaviest().",
        "Planet", """
        import unittest

        class TestPlanet(unittest.TestCase):
            def test_gravity(self):
                self.assertAlmostEqual(Planet.EARTH.gravity, 9.80, delta=0.05)
                self.assertAlmostEqual(Planet.MARS.gravity, 3.71, delta=0.05)
                self.assertGreater(Planet.EARTH.gravity, Planet.MARS.gravity)

            def test_values(self):
                self.assertEqual(Planet.MARS.radius, 3.3972e6)
                self.assertEqual(Planet.MARS.value, (6.421e23, 3.3972e6))
                self.assertIs(Planet((6.421e23, 3.3972e6)), Planet.MARS)
                self.assertIs(Planet.heaviest(), Planet.EARTH)
        """, """
        from enum import Enum

        class Planet(Enum):
            EARTH = (5.976e24, 6.37814e6)
            MARS = (6.421e23, 3.3972e6)

            def __init__(self, mass, radius):
                self.mass, self.radius = mass, radius

            @property
            def gravity(self):
                return 6.67300e-11 * self.mass / self.radius ** 2

            @classmethod
            def heaviest(cls):
                return max(cls, key=lambda planet: planet.mass)
        """,
        ("self.radius ** 2", "self.radius"),
        ("return max(", "return min("),
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
        ("counts[card.suit] += 1", "counts[card.suit] += card.rank"),
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
        ('LIVE = "active"', 'LIVE = "live"'),
        ("    @property\n", ""),
    ),
]
