"""Dataclasses and enumerations: compared, ordered, iterated, looked up, taken apart, handed in and answered with."""

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
]
