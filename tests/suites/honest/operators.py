"""Comparisons, hashes, arithmetic and formats of the completion's objects."""

from __future__ import annotations

from tests.suites.honest_suite import Suite, check_suite, unittest_suite

SUITES: list[Suite] = [
    unittest_suite("fraction-like", "class Ratio(n, d): always in lowest terms; +, -, *, /, ==, <, float().", "Ratio",
        """
        import unittest

        class TestRatio(unittest.TestCase):
            def test_lowest_terms(self):
                half = Ratio(2, 4)
                self.assertEqual((half.n, half.d), (1, 2))
                self.assertEqual(half, Ratio(1, 2))
                self.assertEqual(Ratio(1, -2), Ratio(-1, 2))
                self.assertNotEqual(half, Ratio(1, 3))

            def test_arithmetic(self):
                self.assertEqual(Ratio(1, 2) + Ratio(1, 3), Ratio(5, 6))
                self.assertEqual(Ratio(1, 2) - Ratio(1, 3), Ratio(1, 6))
                self.assertEqual(Ratio(2, 3) * Ratio(3, 4), Ratio(1, 2))
                self.assertEqual(Ratio(1, 2) / Ratio(1, 4), Ratio(2, 1))
                self.assertIsInstance(Ratio(1, 2) + Ratio(1, 2), Ratio)

            def test_order(self):
                self.assertLess(Ratio(1, 3), Ratio(1, 2))
                self.assertFalse(Ratio(1, 2) < Ratio(2, 4))
                self.assertAlmostEqual(float(Ratio(1, 3)), 0.3333, places=4)
        """, """
        from math import gcd

        class Ratio:
            def __init__(self, n, d):
                divisor = gcd(n, d) if d > 0 else -gcd(n, d)
                self.n, self.d = n // divisor, d // divisor

            def __add__(self, other):
                return Ratio(self.n * other.d + other.n * self.d, self.d * other.d)

            def __sub__(self, other):
                return Ratio(self.n * other.d - other.n * self.d, self.d * other.d)

            def __mul__(self, other):
                return Ratio(self.n * other.n, self.d * other.d)

            def __truediv__(self, other):
                return Ratio(self.n * other.d, self.d * other.n)

            def __eq__(self, other):
                return (self.n, self.d) == (other.n, other.d)

            def __lt__(self, other):
                return self.n * other.d < other.n * self.d

            def __float__(self):
                return self.n / self.d
        """,
        (" if d > 0 else -gcd(n, d)", ""),
        ("self.n * other.d < other.n", "self.n * other.d <= other.n"),
    ),
    check_suite("points-in-sets-and-dicts", "class Point(x, y) with ==, hash and a repr such as Point(1, 2).", "Point",
        """
        assert candidate(1, 2) == candidate(1, 2)
        assert not candidate(1, 2) != candidate(1, 2)
        assert candidate(1, 2) != candidate(2, 1)
        assert candidate(1, 2) != (1, 2) and candidate(1, 2) != None
        assert hash(candidate(1, 2)) == hash(candidate(1, 2))
        points = {candidate(0, 0), candidate(0, 0), candidate(0, 1)}
        assert len(points) == 2 and candidate(0, 1) in points
        names = {candidate(3, 3): "a"}
        names[candidate(3, 3)] = "b"
        assert names == {candidate(3, 3): "b"}
        assert repr(candidate(1, -2)) == "Point(1, -2)"
        assert repr([candidate(1, 2)]) == "[Point(1, 2)]"
        """, """
        class Point:
            def __init__(self, x, y):
                self.x, self.y = x, y

            def __eq__(self, other):
                if not isinstance(other, Point):
                    return NotImplemented
                return (self.x, self.y) == (other.x, other.y)

            def __hash__(self):
                return hash((self.x, self.y))

            def __repr__(self):
                return f"Point({self.x}, {self.y})"
        """,
        ("return hash((self.x, self.y))", "return id(self)"),
        ("if not isinstance(other, Point):\n            return NotImplemented\n        ", ""),
    ),
    unittest_suite("money-of-two-currencies",
        "class Money(amount, currency) with +, *, ==, <; CurrencyError (a ValueError) for unlike currencies.", "Money",
        """
        import unittest

        class TestMoney(unittest.TestCase):
            def setUp(self):
                self.five = Money(5, "EUR")
                self.dollar = Money(1, "USD")

            def test_sum(self):
                self.assertEqual(self.five + Money(2, "EUR"), Money(7, "EUR"))
                self.assertEqual((self.five * 3).amount, 15)
                self.assertEqual(3 * self.five, self.five * 3)
                self.assertEqual(sum([self.five, self.five], Money(0, "EUR")), Money(10, "EUR"))

            def test_unlike(self):
                self.assertNotEqual(Money(1, "EUR"), self.dollar)
                with self.assertRaises(CurrencyError):
                    self.five + self.dollar
                with self.assertRaisesRegex(ValueError, "EUR and USD"):
                    self.five < self.dollar

            def test_order(self):
                wallet = [Money(3, "EUR"), self.five, Money(1, "EUR")]
                self.assertEqual([m.amount for m in sorted(wallet)], [1, 3, 5])
                self.assertEqual(max(wallet), self.five)
        """, """
        class CurrencyError(ValueError):
            pass

        class Money:
            def __init__(self, amount, currency):
                self.amount, self.currency = amount, currency

            def _same(self, other):
                if self.currency != other.currency:
                    raise CurrencyError(f"{self.currency} and {other.currency}")

            def __add__(self, other):
                self._same(other)
                return Money(self.amount + other.amount, self.currency)

            def __mul__(self, times):
                return Money(self.amount * times, self.currency)

            __rmul__ = __mul__

            def __eq__(self, other):
                return isinstance(other, Money) and vars(self) == vars(other)

            def __lt__(self, other):
                self._same(other)
                return self.amount < other.amount

            def __gt__(self, other):
                return other < self
        """,
        ("vars(self) == vars(other)", "self.amount == other.amount"),
        ("    __rmul__ = __mul__\n", ""),
    ),
    check_suite("vector-arithmetic",
        "class Vector(*numbers) with +, -, unary -, * by a number on either side, @ (dot product), abs, len, iter, ==.",
        "Vector", """
        a, b = candidate(1, 2, 3), candidate(4, 5, 6)
        assert a + b == candidate(5, 7, 9) and b - a == candidate(3, 3, 3)
        assert a * 2 == 2 * a == candidate(2, 4, 6)
        assert a @ b == 32
        assert -a == candidate(-1, -2, -3)
        assert abs(candidate(3, 4)) == 5.0
        assert len(a) == 3 and list(a) == [1, 2, 3] and tuple(b) == (4, 5, 6)
        x, y, z = a
        assert (x, y, z) == (1, 2, 3)
        assert sum(a) == 6 and max(b) == 6 and 2 in a
        c = a
        c += b
        assert c == candidate(5, 7, 9) and list(a) == [1, 2, 3]
        """, """
        class Vector:
            def __init__(self, *numbers):
                self.numbers = list(numbers)

            def __iter__(self):
                return iter(self.numbers)

            def __len__(self):
                return len(self.numbers)

            def __add__(self, other):
                return Vector(*(x + y for x, y in zip(self, other)))

            def __neg__(self):
                return Vector(*(-x for x in self))

            def __sub__(self, other):
                return self + -other

            def __mul__(self, factor):
                return Vector(*(x * factor for x in self))

            __rmul__ = __mul__

            def __matmul__(self, other):
                return sum(x * y for x, y in zip(self, other))

            def __abs__(self):
                return (self @ self) ** 0.5

            def __eq__(self, other):
                return self.numbers == other.numbers
        """,
        ("return self + -other", "return other + -self"),
        ("    def __neg__",
            "    def __iadd__(self, other):\n        self.numbers[:] = self + other\n        return self\n\n"
            "    def __neg__"),
    ),
    unittest_suite("sum-needs-radd", "class Duration(minutes) with +, sum() of several, str such as '1:05'.",
        "Duration", """
        import unittest

        class TestDuration(unittest.TestCase):
            def test_sum(self):
                total = sum([Duration(30), Duration(40), Duration(5)])
                self.assertIsInstance(total, Duration)
                self.assertEqual(total.minutes, 75)
                self.assertEqual(str(total), "1:15")
                self.assertEqual((10 + Duration(5)).minutes, 15)
                self.assertEqual((Duration(5) + 10).minutes, 15)

            def test_in_place(self):
                total = Duration(0)
                for minutes in (20, 45):
                    total += Duration(minutes)
                self.assertEqual(f"{total}", "1:05")
        """, """
        class Duration:
            def __init__(self, minutes):
                self.minutes = minutes

            def __add__(self, other):
                return Duration(self.minutes + (other.minutes if isinstance(other, Duration) else other))

            __radd__ = __add__

            def __str__(self):
                return f"{self.minutes // 60}:{self.minutes % 60:02}"
        """,
        ("    __radd__ = __add__\n", ""),
        (":02}", "}"),
    ),
    check_suite("total-ordering", "class Version(text), such as '1.10.2', with all comparisons.", "Version", """
        V = candidate
        texts = ["1.10", "1.2", "0.9.9", "1.2.1", "2.0"]
        assert [str(v) for v in sorted(map(V, texts))] == ["0.9.9", "1.2", "1.2.1", "1.10", "2.0"]
        assert sorted(texts, key=V)[-1] == "2.0"
        assert V("1.2") < V("1.10") and V("1.10") > V("1.2")
        assert V("1.2") <= V("1.2") and V("1.2") >= V("1.2")
        assert V("1.2") == V("1.2") and V("1.2") != V("1.2.1")
        assert V("1.0") < V("1.5") < V("2.0")
        assert not V("1") < V("1")
        try:
            V("1") < 3
        except TypeError:
            pass
        else:
            assert False
        """, """
        from functools import total_ordering

        @total_ordering
        class Version:
            def __init__(self, text):
                self.text = text
                self.parts = tuple(int(part) for part in text.split("."))

            def __str__(self):
                return self.text

            def __eq__(self, other):
                return isinstance(other, Version) and self.parts == other.parts

            def __lt__(self, other):
                if not isinstance(other, Version):
                    return NotImplemented
                return self.parts < other.parts
        """,
        ("tuple(int(part) for part in text.split('.'))".replace("'", '"'), 'tuple(text.split("."))'),
        ("@total_ordering\n", ""),
    ),
    unittest_suite("formats-of-an-object",
        "class Angle(degrees): str '90°', repr 'Angle(90)', formats 'r' (radians, 3 places) and 'd'.", "Angle", """
        import unittest

        class TestAngle(unittest.TestCase):
            def test_text(self):
                angle = Angle(90)
                self.assertEqual(str(angle), "90°")
                self.assertEqual(repr(angle), "Angle(90)")
                self.assertEqual(f"{angle} {angle!r}", "90° Angle(90)")
                self.assertEqual("%s" % angle, "90°")

            def test_format(self):
                angle = Angle(180)
                self.assertEqual(f"{angle:r}", "3.142")
                self.assertEqual("{:d}".format(angle), "180")
                self.assertEqual(format(angle), "180°")
                self.assertEqual("{0:r}/{0}".format(angle), "3.142/180°")
                with self.assertRaises(ValueError):
                    format(angle, "x")
        """, """
        import math

        class Angle:
            def __init__(self, degrees):
                self.degrees = degrees

            def __str__(self):
                return f"{self.degrees}°"

            def __repr__(self):
                return f"Angle({self.degrees})"

            def __format__(self, spec):
                if spec == "":
                    return str(self)
                if spec == "r":
                    return f"{math.radians(self.degrees):.3f}"
                if spec == "d":
                    return str(self.degrees)
                raise ValueError(spec)
        """,
        (":.3f", ":.2f"),
        ("raise ValueError(spec)", "return str(self)"),
    ),
    check_suite("numbers-of-an-object",
        "class Roman(text) with int(), +, use as an index, round, bool, and str of a sum.", "Roman", """
        four = candidate("IV")
        assert int(four) == 4 and float(four) == 4.0
        assert ["a", "b", "c", "d", "e"][four] == "e"
        assert list(range(candidate("III"))) == [0, 1, 2]
        assert str(four + candidate("VI")) == "X" and int(four + 1) == 5
        assert bool(four) and not candidate("")
        assert divmod(int(candidate("IX")), int(four)) == (2, 1)
        assert "ab" * candidate("II") == "abab"
        assert hex(candidate("X")) == "0xa"
        """, """
        SIGNS = [(10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]

        class Roman:
            def __init__(self, text):
                self.text, self.value, rest = text, 0, text
                for value, sign in SIGNS:
                    while rest.startswith(sign):
                        self.value, rest = self.value + value, rest[len(sign):]

            def __index__(self):
                return self.value

            def __bool__(self):
                return self.value > 0

            def __add__(self, other):
                left, text = self.value + int(other), ""
                for value, sign in SIGNS:
                    while left >= value:
                        left, text = left - value, text + sign
                return Roman(text)

            def __str__(self):
                return self.text
        """,
        ("    def __bool__(self):\n        return self.value > 0\n", ""),
        ('(4, "IV"), ', ""),
    ),
    check_suite("matrix-indices", "class Matrix(rows) with m[i, j], m[i, j] = x, @, ==, transpose() and shape.",
        "Matrix", """
        m = candidate([[1, 2], [3, 4], [5, 6]])
        assert m.shape == (3, 2) and m[2, 1] == 6
        m[2, 1] = 7
        assert m[2, 1] == 7 and m.rows[2] == [5, 7]
        assert m.transpose().shape == (2, 3) and m.transpose()[0, 2] == 5
        assert m.transpose().transpose() == m
        identity = candidate([[1, 0], [0, 1]])
        assert m @ identity == m
        assert (m @ candidate([[1], [1]])).rows == [[3], [7], [12]]
        try:
            m[3, 0]
            assert False
        except IndexError:
            pass
        """, """
        class Matrix:
            def __init__(self, rows):
                self.rows = [list(row) for row in rows]

            @property
            def shape(self):
                return len(self.rows), len(self.rows[0])

            def __getitem__(self, key):
                i, j = key
                return self.rows[i][j]

            def __setitem__(self, key, value):
                i, j = key
                self.rows[i][j] = value

            def transpose(self):
                return Matrix(zip(*self.rows))

            def __matmul__(self, other):
                columns = other.transpose().rows
                return Matrix([[sum(a * b for a, b in zip(row, column)) for column in columns] for row in self.rows])

            def __eq__(self, other):
                return self.rows == other.rows
        """,
        ("columns = other.transpose().rows", "columns = other.rows"),
        ("return self.rows[i][j]", "return self.rows[j][i]"),
    ),
    unittest_suite("compared-within-containers",
        "class Card(rank, suit) with ==, hash, < (by rank), and class Deck with cards and draw(n).", "Deck", """
        import unittest

        class TestDeck(unittest.TestCase):
            def setUp(self):
                self.deck = Deck()

            def test_cards(self):
                self.assertEqual(len(self.deck.cards), 52)
                self.assertEqual(len(set(self.deck.cards)), 52)
                self.assertIn(Card(14, "S"), self.deck.cards)
                self.assertNotIn(Card(1, "S"), self.deck.cards)
                self.assertEqual(self.deck.cards.count(Card(2, "C")), 1)

            def test_draw(self):
                hand = self.deck.draw(3)
                self.assertEqual(hand, [Card(2, "C"), Card(3, "C"), Card(4, "C")])
                self.assertCountEqual(hand, [Card(4, "C"), Card(2, "C"), Card(3, "C")])
                self.assertEqual(max(hand), Card(4, "C"))
                self.assertEqual(sorted(hand, reverse=True)[0].rank, 4)
                self.assertEqual({"hand": (hand[0], 1)}, {"hand": (Card(2, "C"), 1)})
                self.assertEqual(len(self.deck.cards), 49)
        """, """
        class Card:
            def __init__(self, rank, suit):
                self.rank, self.suit = rank, suit

            def __eq__(self, other):
                return (self.rank, self.suit) == (other.rank, other.suit)

            def __hash__(self):
                return hash((self.rank, self.suit))

            def __lt__(self, other):
                return self.rank < other.rank

        class Deck:
            def __init__(self):
                self.cards = [Card(rank, suit) for suit in "CDHS" for rank in range(2, 15)]

            def draw(self, n):
                drawn, self.cards = self.cards[:n], self.cards[n:]
                return drawn
        """,
        ("range(2, 15)", "range(1, 14)"),
        ("drawn, self.cards = self.cards[:n], self.cards[n:]", "drawn = self.cards[:n]"),
    ),
    check_suite("interval-operators",
        "class Interval(low, high) with in, &, |, bool, <= (is part of), and EMPTY, a class attribute.", "Interval",
        """
        a, b = candidate(0, 5), candidate(3, 9)
        assert 0 in a and 5 in a and 5.1 not in a
        assert a & b == candidate(3, 5)
        assert (a | b).low == 0 and (a | b).high == 9
        assert not a & candidate(6, 7)
        assert (a & candidate(6, 7)) is candidate.EMPTY
        assert candidate(1, 2) <= a and not b <= a
        assert a & b <= a and a & b <= b
        for x in range(12):
            assert (x in a and x in b) == (x in (a & b)), x
        """, """
        class Interval:
            def __init__(self, low, high):
                self.low, self.high = low, high

            def __contains__(self, x):
                return self.low <= x <= self.high

            def __bool__(self):
                return self.low <= self.high

            def __and__(self, other):
                made = Interval(max(self.low, other.low), min(self.high, other.high))
                return made if made else Interval.EMPTY

            def __or__(self, other):
                return Interval(min(self.low, other.low), max(self.high, other.high))

            def __le__(self, other):
                return other.low <= self.low and self.high <= other.high

            def __eq__(self, other):
                return (self.low, self.high) == (other.low, other.high)

        Interval.EMPTY = Interval(1, 0)
        """,
        ("return made if made else Interval.EMPTY", "return made"),
        ("self.low <= x <= self.high", "self.low <= x < self.high"),
    ),
]
