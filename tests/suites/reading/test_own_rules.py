"""Whether an assert of a test holds something of the test's own against the completion."""

import pytest

from tests.suites.reading.check_tasks import planned

PROVES = [
    "assert candidate(1) == 2",
    "for one, want in zip(candidate([1]), [2]):\n    assert one == want",
    "assert candidate(Point(1, 2)) == 3",
    "assert helper(2) == 3",
    "assert same(candidate(1), 2)\nassert candidate(1) == 2",
    "with open('a') as file:\n    assert file.read() == '2'\ncandidate(1)",
    "self.assertTrue(0 < candidate(1) < 5, f'got {candidate(1)}')",
    "assert repr(candidate(Point(1, 2))) == 'Point(2, 1)'",
    "ok = candidate(1) == 2\nassert ok",
    "if candidate(1) != 2:\n    raise AssertionError('wrong')",
    "assert sorted(candidate([2, 1]).items()) == [(1, 2)]",
    "bank = candidate()\nbank.add(Account(1))\nassert bank.total() == 1",
]
PROVES_NOTHING = [
    "assert same(candidate(1), 2)",
    "assert same(candidate(1), 2) == True",
    "assert not differs(candidate(1), 2)",
    "alike = same\nassert alike(candidate(1), 2)",
    "found = same(candidate(1), 2)\nassert found",
    "assert all(map(same, [candidate(1)], [2]))",
    "if not same(candidate(1), 2):\n    assert False",
    "assert candidate(Point(1, 2)) == Point(2, 1)",
    "assert (candidate(Point(1, 2)) == Point(2, 1)) is True",
    "ok = candidate(Point(1, 2)) == Point(2, 1)\nassert ok",
    "if candidate(Point(1, 2)) != Point(2, 1):\n    raise AssertionError('wrong')",
    "assert [candidate(Point(1, 2))].count(Point(2, 1)) == 1",
    "assert {Point(2, 1): 1}[candidate(Point(1, 2))] == 1",
    "assert candidate(1) is not None",
    "self.assertEqual(candidate([1]), candidate([1]), 'a message')",
    "assert candidate([1]) == candidate([1])",
    "candidate('a')\nassert open('a').read() == open('b').read()",
    "import filecmp\ncandidate('a')\nassert filecmp.cmp('a', 'b')",
    "from filecmp import cmp as same_files\ncandidate('a')\nself.assertTrue(same_files('a', 'b'))",
    "import linecache\ncandidate('a')\nassert linecache.getlines('a') == linecache.getlines('b')",
    "import os\ncandidate('a')\na = os.open('a', 0)\nb = os.open('b', 0)\nassert os.read(a, 9) == os.read(b, 9)",
]


@pytest.mark.parametrize("test", PROVES)
def test_an_assert_proves_something(test: str) -> None:
    assert planned(test).proves_nothing is None


@pytest.mark.parametrize("test", PROVES_NOTHING)
def test_no_assert_proves_anything(test: str) -> None:
    assert planned(test).proves_nothing is not None
