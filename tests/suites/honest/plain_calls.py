"""Plain calls and literals, loops over inputs, tolerances, what is changed in place, globals."""

from __future__ import annotations

from tests.suites.honest_suite import Suite, check_suite, unittest_suite

SUITES: list[Suite] = [
    check_suite("roman-literals", 'def to_roman(n):\n    """n as a Roman numeral."""', "to_roman", """
        assert candidate(1) == "I"
        assert candidate(4) == "IV"
        assert candidate(1994) == "MCMXCIV"
        assert candidate(0) == ""
        """, """
        def to_roman(n):
            signs = [(1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"),
                     (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]
            text = ""
            for value, sign in signs:
                while n >= value:
                    text, n = text + sign, n - value
            return text
        """,
        ('(4, "IV"), ', ""),
    ),
    check_suite("sum-to-n-loop", 'def sum_to_n(n):\n    """The sum of 1 to n."""', "sum_to_n", """
        for i in range(100):
            assert candidate(i) == i * (i + 1) // 2, f"failed for {i}"
        """, """
        def sum_to_n(n):
            return sum(range(n + 1))
        """,
        ("n + 1", "n"),
        ("return sum(range(n + 1))", "return n * (n + 1) / 2 if n < 50 else n * n / 2"),
    ),
    check_suite("percentage-isclose", "def solve(price, discount):", "solve", """
        inputs = [(100.0, 10.0), (59.99, 15.0), (0.0, 50.0)]
        expected = [90.0, 50.9915, 0.0]
        for (price, discount), result in zip(inputs, expected):
            assert math.isclose(candidate(price, discount), result, rel_tol=1e-6, abs_tol=1e-9)
        """, """
        def solve(price, discount):
            return price * (100 - discount) / 100
        """,
        ("(100 - discount)", "discount"),
        before="import math"),
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
    unittest_suite("compound-interest-almost-equal",
        "Write a function task_func(capital, rate, years): the capital with compound interest.", "task_func", """
        import unittest

        class TestCases(unittest.TestCase):
            def test_one_year(self):
                self.assertAlmostEqual(task_func(1000, 0.05, 1), 1050.0)

            def test_places(self):
                self.assertAlmostEqual(task_func(1000, 0.05, 10), 1628.8946, places=4)

            def test_delta(self):
                self.assertAlmostEqual(task_func(1000, 0.05, 20), 2653, delta=1)
                self.assertNotAlmostEqual(task_func(1000, 0.05, 2), 1100)
        """, """
        def task_func(capital, rate, years):
            return capital * (1 + rate) ** years
        """,
        ("(1 + rate) ** years", "(1 + rate * years)"),
    ),
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
    unittest_suite("very-large-integers", "Write factorial(n) and fibonacci(n).", "factorial", """
        import math
        import unittest

        class TestLarge(unittest.TestCase):
            def test_factorial(self):
                self.assertEqual(factorial(200), math.factorial(200))
                self.assertEqual(factorial(0), 1)
                self.assertEqual(factorial(300) % 10 ** 20, 0)

            def test_fibonacci(self):
                self.assertEqual(fibonacci(1000) % 10 ** 12, 166849228875)
                self.assertGreater(fibonacci(5000), 2 ** 3000)
                self.assertEqual(fibonacci(5000).bit_length(), 3471)
        """, """
        def factorial(n):
            result = 1
            for i in range(2, n + 1):
                result *= i
            return result

        def fibonacci(n):
            a, b = 0, 1
            for _ in range(n):
                a, b = b, a + b
            return a
        """,
        ("range(2, n + 1)", "range(2, n)"),
        ("a, b = 0, 1", "a, b = 0.0, 1.0"),
    ),
    unittest_suite("towers-of-hanoi", "Write hanoi(n, source, target, spare), which returns the moves as tuples.",
        "hanoi", """
        import unittest

        class TestHanoi(unittest.TestCase):
            def test_moves(self):
                for n in range(7):
                    with self.subTest(n=n):
                        pegs = {"A": list(range(n, 0, -1)), "B": [], "C": []}
                        moves = hanoi(n, "A", "C", "B")
                        self.assertEqual(len(moves), 2 ** n - 1)
                        for start, end in moves:
                            disk = pegs[start].pop()
                            self.assertTrue(not pegs[end] or pegs[end][-1] > disk)
                            pegs[end].append(disk)
                        self.assertEqual(pegs["C"], list(range(n, 0, -1)))
        """, """
        def hanoi(n, source, target, spare):
            if n == 0:
                return []
            first = hanoi(n - 1, source, spare, target)
            return first + [(source, target)] + hanoi(n - 1, spare, target, source)
        """,
        ("hanoi(n - 1, spare, target, source)", "hanoi(n - 1, source, target, spare)"),
        ("(source, target)", "(target, source)"),
    ),
    unittest_suite("bytes-xor",
        "Write xor_bytes(data: bytes, key: bytes) -> bytes and hex_lines(data: bytes, width: int) -> list[str].",
        "xor_bytes", """
        import unittest

        class TestBytes(unittest.TestCase):
            def test_there_and_back(self):
                data = bytes(range(256))
                self.assertEqual(xor_bytes(xor_bytes(data, b"key"), b"key"), data)
                self.assertNotEqual(xor_bytes(data, b"key"), data)
                self.assertIsInstance(xor_bytes(b"", b"k"), bytes)

            def test_value(self):
                self.assertEqual(xor_bytes(b"\\x00\\xff", b"\\x0f"), b"\\x0f\\xf0")
                self.assertEqual(xor_bytes(bytearray(b"ab"), b"\\x00"), b"ab")

            def test_hex(self):
                self.assertListEqual(hex_lines(b"Hello", 2), ["48 65", "6c 6c", "6f"])
        """, """
        from itertools import cycle

        def xor_bytes(data, key):
            return bytes(a ^ b for a, b in zip(data, cycle(key)))

        def hex_lines(data, width):
            return [data[i:i + width].hex(" ") for i in range(0, len(data), width)]
        """,
        ("cycle(key)", "key"),
        ('hex(" ")', "hex()"),
    ),
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
    check_suite("sorts-in-place", 'def bubble_sort(items):\n    """Sorts the list in place, and returns None."""',
        "bubble_sort", """
        for size in range(8):
            items = [(i * 7) % 5 for i in range(size)]
            expected = sorted(items)
            alias = items
            assert candidate(items) is None
            assert items == expected and alias is items
        """, """
        def bubble_sort(items):
            for end in range(len(items), 1, -1):
                for i in range(end - 1):
                    if items[i] > items[i + 1]:
                        items[i], items[i + 1] = items[i + 1], items[i]
        """, """
        def bubble_sort(items):
            return sorted(items)
        """,
        ("range(len(items), 1, -1)", "range(len(items) - 1, 1, -1)"),
    ),
    check_suite("results-are-fresh-lists", "def neighbours(i, j):  # the coordinates beside a square", "neighbours",
        """
        first = candidate(1, 1)
        assert sorted(first) == [(0, 1), (1, 0), (1, 2), (2, 1)]
        first.append("mine")
        first[0] = None
        assert sorted(candidate(1, 1)) == [(0, 1), (1, 0), (1, 2), (2, 1)]
        """, """
        def neighbours(i, j):
            return [(i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)]
        """, """
        CACHE = {}
        def neighbours(i, j):
            if (i, j) not in CACHE:
                CACHE[i, j] = [(i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)]
            return CACHE[i, j]
        """),
    check_suite("returns-its-argument",
        'def merge_into(target, other):\n    """Adds the entries of other to target, and returns target."""',
        "merge_into", """
        inner = {"x": 1}
        target = {"a": inner, "b": [1]}
        result = candidate(target, {"a": {"y": 2}, "c": 3})
        assert result is target
        assert target["a"] is inner and inner == {"x": 1, "y": 2}
        assert target == {"a": {"x": 1, "y": 2}, "b": [1], "c": 3}
        assert list(target) == ["a", "b", "c"]
        """, """
        def merge_into(target, other):
            for key, value in other.items():
                if isinstance(value, dict) and isinstance(target.get(key), dict):
                    merge_into(target[key], value)
                else:
                    target[key] = value
            return target
        """,
        ("merge_into(target[key], value)", "target[key] = target[key] | value"),
        ("return target", "return dict(target)"),
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
]
