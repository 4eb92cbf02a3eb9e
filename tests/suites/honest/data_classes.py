"""Dataclasses, enums, named tuples and subclasses of builtin types."""

from tests.suites.honest_suite import Suite, check_suite, unittest_suite

SUITES: list[Suite] = [
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
