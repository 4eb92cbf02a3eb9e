"""The report of a failed test: the expression, and which of its two sides is the completion's."""

from typing import Any

import pytest

from tests.suites.guest.orders import results

HELPERS = '''
import math
from unittest.mock import Mock
def returned(x):
    return candidate(x)
def same(first, second):
    assert first == second
def assertion(out, exp, atol):
    exact_match = out == exp
    assert exact_match, "not equal"
class Checker:
    def holds(self, value, wanted=3):
        assert value == wanted
def check(candidate):
    {}
'''  # fmt: skip


def report(statement: str) -> dict[str, Any]:
    """The report for a completion that returns its argument."""
    body = statement.replace("\n", "\n    ")
    [*_, last] = results(HELPERS.format(body), lambda x: x)
    assert last["status"] == "failed", last
    return last


STR = '{"o":["type","<class \'str\'>",true]}'
TOLD = [
    ("assert candidate(4) == 3", "candidate(4) == 3", "==", "4", "3"),
    ("assert 3 == candidate(4)", "3 == candidate(4)", "==", "4", "3"),
    ("assert candidate(4) == candidate(3)", "candidate(4) == candidate(3)", "==", "4", "3"),
    ("assert candidate(4) in [1, 2]", "candidate(4) in [1, 2]", "in", "4", "[1,2]"),
    ("assert candidate(0)", "candidate(0)", "truth", "0", None),
    ("assert not candidate(1)", "not candidate(1)", "not", "1", None),
    ("assert not candidate(1) == 1", "not candidate(1) == 1", "not ==", "1", "1"),
    ("assert 0 <= candidate(5) <= 3", "0 <= candidate(5) <= 3", "truth", "false", None),
    ("assert candidate(1) == 1 and candidate(2) == 3", "candidate(2) == 3", "==", "2", "3"),
    ("r = candidate(7)\nassert r == 1 or r == 2", "r == 1 or r == 2", "==", "7", None),
    ("assert abs(candidate(1.5) - 1.0) < 1e-6", "abs(candidate(1.5) - 1.0) < 1e-6", "distance", "1.5", "1.0"),
    ("assert math.isclose(1.0, candidate(1.5))", "math.isclose(1.0, candidate(1.5))", "isclose", "1.5", "1.0"),
    ("assert isinstance(candidate(1), str)", "isinstance(candidate(1), str)", "isinstance", "1", STR),
    ("assert candidate('ab').startswith('b')", "candidate('ab').startswith('b')", "truth", "false", None),
    ("assert bool(candidate(1) == 2)", "candidate(1) == 2", "==", "1", "2"),
    ("expected = 3\nresult = candidate(4)\nassert expected == result", "expected == result", "==", "4", "3"),
    ("for x, y in [(1, 2)]:\n    r = [candidate(x)]\n    assert y == r[0]", "y == r[0]", "==", "1", "2"),
    ("r = []\nr.append(candidate(1))\nassert [2] == r", "[2] == r", "==", "[1]", "[2]"),
    ("with open('/dev/null') as f:\n    assert f.read() == candidate(1)", "f.read() == candidate(1)", "==", "1", '""'),
    ("assert 3 == returned(4)", "3 == returned(4)", "==", "4", "3"),
    ("same(3, candidate(4))", "first == second", "==", "4", "3"),
    ("same(second=3, first=candidate(4))", "first == second", "==", "4", "3"),
    ("assertion(candidate(4), 3, 0)", "assertion(candidate(4), 3, 0)", "assertion", "4", "3"),
    ("Checker().holds(candidate(4), 5)", "value == wanted", "==", "4", "5"),
    ("Checker().holds(candidate(4))", "value == wanted", "==", "4", "3"),
    ("m = Mock()\ncandidate(m)\nm.assert_called_with(3)", "m.assert_called_with(3)", "assert_called_with", None, None),
    ("try:\n    candidate(1)\n    assert False, 'm'\nexcept ValueError:\n    pass", "False", "", None, None),
    ("assert candidate(\n    4\n) == (\n3)", "candidate(\n        4\n    ) == (\n    3)", "==", "4", "3"),
    ("assert candidate(4) == 4; assert candidate(5) == 4", "candidate(5) == 4", "==", "5", "4"),
    ("é = 'é'; assert candidate('é' + é) == é", "candidate('é' + é) == é", "==", '"\\u00e9\\u00e9"', '"\\u00e9"'),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "source", "op", "actual", "expected"), TOLD, ids=[row[0] for row in TOLD])
def test_a_failed_statement_shows_its_sides(
    statement: str, source: str, op: str, actual: str | None, expected: str | None
) -> None:
    got = report(statement)
    found = got["source"], got.get("op", ""), got.get("actual"), got.get("expected")
    assert found == (source, op, actual, expected)


METHODS = [
    ("self.assertEqual(f(4), 3)", "assertEqual", "4", "3"),
    ("self.assertEqual(3, f(4), 'message')", "assertEqual", "4", "3"),
    ("self.assertEqual(second=3, first=f(4))", "assertEqual", "4", "3"),
    ("self.assertCountEqual(f([1]), [2])", "assertCountEqual", '[1]', '[2]'),
    ("self.assertAlmostEqual(f(1.5), 1.0, places=3)", "assertAlmostEqual", "1.5", "1.0"),
    ("self.assertTrue(f(0), 'message')", "truth", "0", None),
    ("self.assertTrue(len(f('ab')) == 3)", "==", "2", "3"),
    ("self.assertIn(3, f([1, 2]))", "assertIn", "[1,2]", "3"),
    ("r = f('a')\nself.assertMultiLineEqual('b', r)", "assertMultiLineEqual", '"a"', '"b"'),
    ("self.same(3, f(4))", "assertEqual", "4", "3"),
    ("self.assertEqual(3, self.made())", "assertEqual", "4", "3"),
    ("self.assertEqual(3, self.value)", "assertEqual", "4", "3"),
    ("assert 3 == self.value", "==", "4", "3"),
]  # fmt: skip
SUITE = """
import unittest
class Suite(unittest.TestCase):
    def setUp(self):
        self.value = f(4)
    def made(self):
        return self.value
    def same(self, a, b):
        self.assertEqual(a, b)
    def test(self):
        {}
"""


@pytest.mark.parametrize(("statement", "op", "actual", "expected"), METHODS, ids=[row[0] for row in METHODS])
def test_a_failed_method_of_unittest_shows_its_sides(
    statement: str, op: str, actual: str, expected: str | None
) -> None:
    test = SUITE.format(statement.replace("\n", "\n        "))
    [got] = results(test, lambda x: x, entry_point="f", methods=[("Suite", "test")])
    assert got["status"] == "failed"
    assert (got["op"], got["actual"], got["expected"]) == (op, actual, expected)
    asked = statement[statement.index("self.") :].replace("\n", "\n        ")
    given = statement.removeprefix("self.assertTrue(").removesuffix(")").removesuffix(", 'message'")
    assert got["source"] in (asked, given, statement.removeprefix("assert "), "self.assertEqual(a, b)")


@pytest.mark.parametrize(
    ("statement", "source"),
    [
        ("with self.assertRaises(ValueError):\n    f(1)", "self.assertRaises(ValueError)"),
        ("self.assertRaises(ValueError, f, 1)", "self.assertRaises(ValueError, f, 1)"),
        ("with self.assertRaisesRegex(ValueError, 'a'):\n    f(1)", "self.assertRaisesRegex(ValueError, 'a')"),
        ("import pytest\nwith pytest.raises(ValueError):\n    f(1)", "pytest.raises(ValueError)"),
        ("with self.assertRaises((KeyError, OSError)) as e:\n    f(1)", "self.assertRaises((KeyError, OSError))"),
    ],
)
def test_a_missing_exception_is_reported(statement: str, source: str) -> None:
    test = SUITE.format(statement.replace("\n", "\n        "))
    [got] = results(test, lambda x: x, entry_point="f", methods=[("Suite", "test")])
    wanted = "(KeyError, OSError)" if "OSError" in source else "ValueError"
    assert (got["status"], got["op"], got["source"]) == ("failed", "raises", source)
    assert got["message"] == f"expected {wanted}, nothing was raised"


def test_an_assert_in_a_with_that_raises_is_the_assert() -> None:
    test = SUITE.format("with self.assertRaises(ValueError):\n            assert f(1) == 2")
    [got] = results(test, lambda x: x, entry_point="f", methods=[("Suite", "test")])
    assert (got["source"], got["actual"]) == ("f(1) == 2", "1")


def test_numpys_own_asserts_show_their_arrays() -> None:
    pytest.importorskip("numpy")
    head = "import numpy as np\nimport numpy.testing as npt\ndef check(candidate):\n"
    for statement in (
        "np.testing.assert_allclose(candidate([1.0, 2.0]), [1.0, 3.0])",
        "npt.assert_array_equal([1.0, 3.0], candidate([1.0, 2.0]))",
        "npt.assert_almost_equal(candidate([1.0, 2.0]), [1.0, 3.0], decimal=3)",
        "assert np.allclose([1.0, 3.0], candidate([1.0, 2.0]))",
        "assert (np.array([1.0, 3.0]) == candidate(np.array([1.0, 2.0]))).all()",
        "assert np.all(candidate(np.array([1.0, 2.0])) == np.array([1.0, 3.0]))",
        "assert np.array_equal(candidate([1.0, 2.0]), [1.0, 3.0])",
    ):
        [got] = results(f"{head}    {statement}\n", lambda x: x)
        assert (got["status"], got["actual"], got["expected"]) == ("failed", "[1.0,2.0]", "[1.0,3.0]"), statement
        assert got["source"] in statement


def test_long_data_is_passed_over() -> None:
    data = ", ".join(f"({n}, {n})" for n in range(5000))
    test = f"def check(candidate):\n    for x, y in [{data}, (1, 2)]:\n        assert y == candidate(x)"
    [got] = results(test, lambda x: x)
    assert (got["actual"], got["expected"]) == ("1", "2")


HEADS = """
def check(candidate):
    for x in candidate(3):
        pass
    with candidate(4) as f:
        pass
    while candidate(1)[0]:
        pass
    match candidate(5), candidate(1)[0]:
        case _:
            pass
"""


def test_a_raised_exception_names_what_was_executed() -> None:
    got = results(HEADS, lambda x: x)
    assert [(one["source"], one["line"]) for one in got] == [
        ("candidate(3)", 3),
        ("candidate(4)", 5),
        ("candidate(1)[0]", 7),
        ("candidate(5), candidate(1)[0]", 9),
    ]


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("for x in [1, 2]:\n    assert candidate(x) == 1", {"x": "2"}),
        ("for x, name in [(1, 'a'), (2, 'b')]:\n    assert candidate(x) == 1, name", {"x": "2", "name": '"b"'}),
        ("for x in [1, 2]:\n    y = [x]\n    assert candidate(y) == [1] and len(str(x)) == 1", {"y": "[2]", "x": "2"}),
        ("x = 2\nassert candidate(x) == 1", {"x": "2"}),
        ("x = candidate(2)\nassert x == 1", {}),
        ("for n in [1, 2]: same(candidate(n) + n, 2)", {"n": "2"}),
    ],
)
def test_a_failed_assert_shows_what_its_names_meant(statement: str, names: dict[str, str]) -> None:
    """Without what is already shown as a side."""
    assert dict(report(statement)["names"]) == names
