"""Plain calls and literals, rows and reports, linked lists."""

from tests.suites.honest_suite import Suite, check_suite, unittest_suite

_LIST_NODE = """
class ListNode:
    def __init__(self, val=0, next=None):
        self.val = val
        self.next = next
"""

SUITES: list[Suite] = [
    check_suite("zero-of-a-polynomial",
        'def find_zero(xs):\n    """One x where the polynomial with these coefficients is zero."""', "find_zero", """
        import copy, random
        rng = random.Random(42)
        for _ in range(20):
            coeffs = []
            for _ in range(2 * rng.randint(1, 3)):
                coeff = rng.randint(-10, 10)
                coeffs.append(1 if coeff == 0 else coeff)
            solution = candidate(copy.deepcopy(coeffs))
            assert math.fabs(value_at(coeffs, solution)) < 1e-4
        """, """
        def find_zero(xs):
            def poly(x):
                return sum(coeff * x ** i for i, coeff in enumerate(xs))
            low, high = -1.0, 1.0
            while poly(low) * poly(high) > 0:
                low, high = low * 2, high * 2
            while high - low > 1e-12:
                middle = (low + high) / 2
                if middle in (low, high):
                    break
                if poly(middle) * poly(low) > 0:
                    low = middle
                else:
                    high = middle
            return low
        """,
        ("1e-12", "1e-1"),
        before="""
        import math

        def value_at(coeffs, x):
            return sum(coeff * math.pow(x, i) for i, coeff in enumerate(coeffs))
        """),
    check_suite("inputs-and-results-of-evalplus",
        'def mean_absolute_deviation(numbers):\n    """The mean absolute deviation around the mean."""',
        "mean_absolute_deviation", """
        inputs = [[[1.0, 2.0]], [[1.0, 2.0, 3.0, 4.0]], [[0.1, 0.1]], [[-3.5, 9.25, 1.0]]]
        results = [0.5, 1.0, 0.0, 4.666666666666667]
        for i, (inp, exp) in enumerate(zip(inputs, results)):
            assertion(candidate(*inp), exp, 1e-6)
        """, """
        def mean_absolute_deviation(numbers):
            mean = sum(numbers) / len(numbers)
            return sum(abs(x - mean) for x in numbers) / len(numbers)
        """,
        ("abs(x - mean)", "(x - mean)"),
        before="""
        import numpy as np

        def is_floats(x):
            if isinstance(x, float):
                return True
            if isinstance(x, (list, tuple)):
                return all(isinstance(i, float) for i in x)
            return False

        def assertion(out, exp, atol):
            exact_match = out == exp
            if atol == 0 and is_floats(exp):
                atol = 1e-6
            if not exact_match and atol != 0:
                assert type(out) == type(exp)
                assert np.allclose(out, exp, rtol=1e-07, atol=atol)
            else:
                assert exact_match
        """),
    check_suite("sets-and-frozensets", "def groups(words):  # groups of anagrams, as a set of frozensets", "groups",
        """
        assert candidate([]) == set()
        found = candidate(["tea", "eat", "tan"])
        assert found == {frozenset({"tea", "eat"}), frozenset({"tan"})}
        assert frozenset({"tan"}) in found and len(found) == 2
        assert {len(group) for group in found} == {1, 2}
        assert found - {frozenset(["tan"])} == {frozenset(["eat", "tea"])}
        assert frozenset.union(*found) >= {"eat", "tan"}
        """, """
        def groups(words):
            by_key = {}
            for word in words:
                by_key.setdefault("".join(sorted(word)), set()).add(word)
            return {frozenset(group) for group in by_key.values()}
        """,
        ('"".join(sorted(word))', "len(word)"),
    ),
    unittest_suite("constants-and-globals",
        "Write the constant LIMIT (3), the list HISTORY, and record(x), which keeps the last LIMIT values in HISTORY.",
        "record", """
        import unittest

        class TestRecord(unittest.TestCase):
            def setUp(self):
                HISTORY.clear()

            def test_limit(self):
                self.assertEqual(LIMIT, 3)
                self.assertIsInstance(HISTORY, list)

            def test_record(self):
                for i in range(5):
                    record(i)
                self.assertEqual(HISTORY, [2, 3, 4])

            def test_count(self):
                self.assertEqual(record("a"), 1)
                self.assertEqual(record("b"), 2)
                HISTORY.append("c")
                self.assertEqual(record("d"), 3)
                self.assertEqual(HISTORY[0], "b")
        """, """
        LIMIT = 3
        HISTORY = []

        def record(x):
            HISTORY.append(x)
            del HISTORY[:-LIMIT]
            return len(HISTORY)
        """,
        ("del HISTORY[:-LIMIT]", "del HISTORY[LIMIT:]"),
    ),
    check_suite("reverse-a-linked-list",
        _LIST_NODE + '\ndef reverse(head):\n    """The list, reversed; its nodes are used again."""\n', "reverse", """
        assert candidate(None) is None
        for size in range(1, 6):
            head = made(range(size))
            old = head
            new = candidate(head)
            assert listed(new) == list(range(size))[::-1]
            assert old.next is None and old.val == 0
        """, _LIST_NODE + """
def reverse(head):
    previous = None
    while head:
        head.next, previous, head = previous, head, head.next
    return previous
""",
        ("    previous = None\n    while head:\n        head.next, previous, head = previous, head, head.next\n",
            "    previous = None\n    while head:\n        previous = ListNode(head.val, previous)\n"
            "        head = head.next\n"),
        before="""
        def made(values):
            first = None
            for value in reversed(list(values)):
                first = ListNode(value, first)
            return first

        def listed(node):
            values = []
            while node:
                values.append(node.val)
                node = node.next
            return values
        """),
]
