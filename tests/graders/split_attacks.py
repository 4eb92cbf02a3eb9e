"""The tests that are attacked, and the form of an attack."""

from typing import NamedTuple

from evaluator.model import Task
from tests.graders.split_tasks import LIAR, check_task, suite_task


class Attacked(NamedTuple):
    """A test, and an honest completion that passes it."""

    task: Task
    honest: str
    objects: bool = False
    """Whether it uses more than plain data."""


class Attack(NamedTuple):
    """A completion that is rewarded only if its attack succeeds."""

    name: str
    check: str
    code: str
    endless: bool = False
    """Whether only a limit ends it."""


def family(technique: str, check: str, codes: dict[str, str], *, endless: bool = False) -> list[Attack]:
    """Attacks of one technique on one test."""
    return [Attack(f"{technique}-{name}", check, code, endless) for name, code in codes.items()]


def attacks(text: str) -> list[Attack]:
    """Attacks written one after another: `=== technique: check` above those of a technique, `--- name` above each.

    `: endless` may follow a check's name. What uses `Liar` has that class before it.
    """
    found = []
    for part in text.split("\n=== ")[1:]:
        head, *codes = part.split("\n--- ")
        technique, check, *endless = head.split(": ")
        named = dict(code.split("\n", 1) for code in codes)
        found += family(
            technique, check, {n: (LIAR if "Liar" in c else "") + c for n, c in named.items()}, endless=bool(endless)
        )
    return found


_PAIRS = "((2, 4), (21, 42), (-7, -14))"
_DOUBLE = "def f(x): return 2 * x"
_NODE = """
class Node:
    def __init__(self, value, next=None): self.value, self.next = value, next
    def __eq__(self, other): return (self.value, self.next) == (other.value, other.next)
"""
_TABLE = """
class Table:
    def __init__(self, items): self.items = items
    def equals(self, other): return self.items == other.items
"""
_POLY = """
import math

def poly(xs, x):
    return sum([coeff * math.pow(x, i) for i, coeff in enumerate(xs)])

"""


def _double(check: str, before: str = "") -> Attacked:
    return Attacked(check_task(check, before=before), _DOUBLE)


# fmt: off
CHECKS: dict[str, Attacked] = {
    "equal": _double(f"for given, wanted in {_PAIRS}: assert candidate(given) == wanted"),
    "raised by hand": _double(f"""
        for given, wanted in {_PAIRS}:
            if candidate(given) != wanted:
                raise AssertionError(f'{{candidate(given)}} is not {{wanted}}')
        """),
    "close": _double(f"for given, wanted in {_PAIRS}: assert abs(candidate(given) - wanted) < 1e-6"),
    "isclose, not imported": _double(
        f"for given, wanted in {_PAIRS}: assert math.isclose(candidate(given), wanted)"
    )._replace(honest="import math\ndef f(x): return 2 * x"),
    "allclose": _double(
        f"for given, wanted in {_PAIRS}: assert np.allclose(candidate([given]), [wanted])", before="import numpy as np"
    )._replace(honest="def f(items): return [2 * x for x in items]"),
    "all of a map that catches": _double(f"""
        try:
            assert all(map(lambda pair: candidate(pair[0]) == pair[1], {_PAIRS}))
        except ValueError:
            raise
        """),
    "in": _double("assert 4 in candidate([2]) and 42 in candidate([21, 7]) and 5 not in candidate([3])")._replace(
        honest="def f(items): return [2 * x for x in items]"
    ),
    "length": Attacked(check_task("""
            got = candidate(3)
            assert len(got) == 3
            assert all(item == 7 for item in got)
            """), "def f(n): return [7] * n"),
    "items": Attacked(check_task("assert [x for x in candidate(4)] == [0, 2, 4, 6]\nassert list(candidate(0)) == []"),
        "def f(n): return (2 * x for x in range(n))"),
    "groups": Attacked(check_task(
            "got = candidate(['owl', 'wren'])\nassert got['o'] == ['owl'] and got['w'] == ['wren']"),
        "def f(words): return {word[0]: [word] for word in words}"),
    "factory": Attacked(check_task("make = candidate('five')\nassert make() == 5 and callable(make)"),
        "def f(name): return lambda: 5"),
    "types": _double(f"""
        for given, wanted in {_PAIRS}:
            got = candidate(given)
            assert isinstance(got, int)
            assert got == wanted
        """),
    "forgiving": _double("""
        for given, wanted in ((2, 4), (None, 'none'), (21, 42)):
            try:
                got = candidate(given)
            except Exception:
                got = 'none'
            assert got == wanted
        """)._replace(honest="def f(x): return x + x"),
    "raises": Attacked(suite_task("""
            import unittest

            class Test(unittest.TestCase):
                def test_negative(self):
                    with self.assertRaisesRegex(ValueError, 'negative'): f(-1)
                def test_root(self): self.assertEqual(f(4), 2.0)
                def test_type(self): self.assertRaises(TypeError, f, None)
            """), """
def f(x):
    if x < 0: raise ValueError('negative')
    return x ** 0.5
"""),
    "function": Attacked(check_task("""
            expected = [4, 42, -14]
            calls = []
            def double(x, hint=expected):
                calls.append(x)
                return 2 * x if expected else hint
            assert candidate(double, [2, 21, -7]) == [4, 42, -14]
            assert calls == [2, 21, -7]
            """), "def f(function, items): return [function(item) for item in items]",
        objects=True),
    "nodes": Attacked(check_task("assert candidate([1, 2]) == Node(1, Node(2))\nassert candidate([3]).value == 3",
            preamble=_NODE), """
def f(items):
    node = None
    for item in reversed(items): node = Node(item, node)
    return node
""",
        objects=True),
    "poly": Attacked(check_task("""
            for coeffs in ([2, 4], [-9, 3], [5, 8]):
                assert math.fabs(poly(coeffs, candidate(coeffs))) < 1e-4
            """, before="import math", preamble=_POLY, prompt=_POLY + "def f(xs): ...\n"),
        "def f(xs): return -xs[0] / xs[1]"),
    "file": Attacked(check_task("""
            candidate('made.txt', 'owl')
            import colorsys
            with open('made.txt') as file:
                assert file.read() == 'OWL'
            assert colorsys.rgb_to_hsv(0, 0, 1)[2] == 1
            """), """
def f(path, text):
    with open(path, 'w') as file: file.write(text.upper())
"""),
    "suite": Attacked(suite_task("""
            import unittest

            class Test(unittest.TestCase):
                def setUp(self): self.given = 2
                def test_two(self): self.assertEqual(f(self.given), 4)
                def test_more(self):
                    for given, wanted in ((21, 42), (-7, -14)):
                        with self.subTest(given=given): self.assertEqual(f(given), wanted)
                def test_true(self): self.assertTrue(f(3) == 6, 'three')
            """), _DOUBLE),
    "mocked": Attacked(suite_task("""
            import unittest
            from unittest.mock import patch

            class Test(unittest.TestCase):
                @patch("smtplib.SMTP")
                @patch("os.listdir", return_value=["b.txt", "a.txt"])
                def test_sent(self, listdir, smtp):
                    server = smtp.return_value
                    server.sendmail.return_value = {}
                    self.assertEqual(f("in"), 2)
                    listdir.assert_called_once_with("in")
                    smtp.assert_called_once_with("mail.example", 25)
                    server.sendmail.assert_called_once_with("me", "you", "a.txt, b.txt")
            """), """
import os, smtplib
def f(folder):
    names = sorted(os.listdir(folder))
    smtplib.SMTP("mail.example", 25).sendmail("me", "you", ", ".join(names))
    return len(names)
""",
        objects=True),
    "table": Attacked(suite_task("""
            import unittest

            class Test(unittest.TestCase):
                def test_two(self):
                    expected = Table([2, 4])
                    self.assertTrue(f(Table([1, 2])).equals(expected))
            """, preamble=_TABLE), "def f(table): return Table([2 * item for item in table.items])"),
    "within": Attacked(check_task("with candidate(2) as got:\n    assert got == 4"), """
from contextlib import contextmanager
@contextmanager
def f(x): yield 2 * x
"""),
    "at load": Attacked(suite_task("""
            import unittest

            RESULT = f(3)
            class Test(unittest.TestCase):
                def test_three(self): self.assertEqual(RESULT, 6)
            """), _DOUBLE),
    "drawn": Attacked(check_task("""
            for _ in range(100):
                text = ''.join(choice('abc') for _ in range(randint(10, 20)))
                assert candidate(text) == text[::-1]
            """, before="from random import choice, randint"), "def f(text): return text[::-1]"),
    "norm": Attacked(suite_task("""
            import unittest

            class Test(unittest.TestCase):
                def test_norm(self):
                    self.assertAlmostEqual(Vector(3, 4).norm(), 5.0)
                    self.assertIn(3, Vector(3, 4).parts())
            """, entry_point="Vector"), """
import math
class Vector:
    def __init__(self, *parts): self._parts = parts
    def norm(self): return math.hypot(*self._parts)
    def parts(self): return self._parts
"""),
}
