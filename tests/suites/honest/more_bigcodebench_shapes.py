"""Suites for one `task_func` with random numbers, dates, codes and printed text, as BigCodeBench's."""

from __future__ import annotations

from tests.suites.honest_suite import Suite, unittest_suite

SUITES: list[Suite] = [
    unittest_suite("combinations-with-a-sum",
        "Write task_func(numbers, size, total): the combinations of that size and sum, each once, and their count.",
        "task_func", """
        import unittest

        class TestCases(unittest.TestCase):
            def test_pairs(self):
                found, count = task_func([1, 5, 3, 3, 1], 2, 6)
                self.assertEqual(sorted(found), [(1, 5), (3, 3)])
                self.assertEqual(count, 2)

            def test_none(self):
                result = task_func([1, 2], 2, 99)
                self.assertIsInstance(result, tuple)
                self.assertEqual(list(result[0]), [])
                self.assertEqual(result[1], 0)

            def test_every_size(self):
                for size in range(1, 5):
                    found, count = task_func(range(1, 9), size, 9)
                    self.assertEqual(len(found), count)
                    self.assertEqual({sum(each) for each in found} | {9}, {9})
                    self.assertEqual(count, [0, 4, 3, 0][size - 1])

            def test_sizes_that_cannot_be(self):
                for size in (0, 3):
                    with self.assertRaises(ValueError):
                        task_func([1, 2], size, 3)
        """, """
        from itertools import combinations

        def task_func(numbers, size, total):
            if not 1 <= size <= len(numbers):
                raise ValueError("no such size")
            found = {each for each in combinations(sorted(numbers), size) if sum(each) == total}
            return found, len(found)
        """,
        ("{each for each in combinations(sorted(numbers), size) if sum(each) == total}",
            "[each for each in combinations(sorted(numbers), size) if sum(each) == total]"),
        ("combinations(sorted(numbers), size)", "combinations(numbers, size)"),
        ("1 <= size <= len(numbers)", "0 <= size <= len(numbers)"),
    ),
    unittest_suite("gaps-between-dates",
        "Write task_func(dates): the days between one date (YYYY-MM-DD) and the next, once they are sorted.",
        "task_func", """
        import unittest
        from datetime import date, timedelta

        class TestCases(unittest.TestCase):
            def test_gaps(self):
                self.assertEqual(task_func(["2024-03-01", "2024-02-28", "2023-12-31"]), [59, 2])

            def test_reference(self):
                start, steps = date(1999, 12, 20), [0, 1, 7, 30, 365]
                texts, day = [], start
                for step in steps:
                    day += timedelta(days=step)
                    texts.append(day.isoformat())
                self.assertListEqual(task_func(texts), steps[1:])
                self.assertEqual(texts[0], "1999-12-20")

            def test_short(self):
                self.assertEqual(task_func(["2024-01-01"]), [])
                self.assertEqual(task_func([]), [])

            def test_errors(self):
                with self.assertRaises(ValueError):
                    task_func(["2023-02-29", "2023-03-01"])
                with self.assertRaises(TypeError):
                    task_func("2024-01-01")
        """, """
        from datetime import datetime

        def task_func(dates):
            if not isinstance(dates, list):
                raise TypeError("a list of dates is needed")
            days = sorted(datetime.strptime(text, "%Y-%m-%d") for text in dates)
            return [(after - before).days for before, after in zip(days, days[1:])]
        """,
        ('sorted(datetime.strptime(text, "%Y-%m-%d") for text in dates)',
            '[datetime.strptime(text, "%Y-%m-%d") for text in dates]'),
        ("(after - before).days", "(after - before).days + 1"),
        ("raise TypeError", "raise ValueError"),
    ),
    unittest_suite("payload-in-base64",
        "Write task_func(data): base64 text of data as JSON with sorted keys, and the number of keys added as 'size'.",
        "task_func", """
        import base64
        import json
        import unittest

        class TestCases(unittest.TestCase):
            def decoded(self, text):
                return json.loads(base64.b64decode(text).decode("utf-8"))

            def test_round_trip(self):
                data = {"name": "Zo\\u00eb", "tags": ["a", None, 1.5], "inner": {"b": True}}
                text = task_func(data)
                self.assertIsInstance(text, str)
                self.assertEqual(self.decoded(text), {**data, "size": 3})

            def test_argument_stays(self):
                data = {"k": 1}
                task_func(data)
                self.assertEqual(data, {"k": 1})

            def test_order_of_keys(self):
                self.assertEqual(task_func({"x": 1, "a": 2}), task_func({"a": 2, "x": 1}))
                self.assertEqual(list(self.decoded(task_func({"z": 1, "a": 2}))), ["a", "size", "z"])

            def test_not_for_json(self):
                with self.assertRaises(TypeError):
                    task_func({"k": {1, 2}})
        """, """
        import base64
        import json

        def task_func(data):
            text = json.dumps({**data, "size": len(data)}, sort_keys=True)
            return base64.b64encode(text.encode("utf-8")).decode("ascii")
        """,
        ('.decode("ascii")', ""),
        (", sort_keys=True", ""),
        ("text = json.dumps({**data, ", 'data["size"] = len(data)\n    text = json.dumps({**data, '),
    ),
    unittest_suite("statistics-of-seeded-samples",
        "Write task_func(n, seed): mean, median, sample stdev of n numbers of random.gauss(0, 1) with that seed.",
        "task_func", """
        import random
        import statistics
        import unittest

        class TestCases(unittest.TestCase):
            def test_reference(self):
                random.seed(7)
                values = [random.gauss(0, 1) for _ in range(50)]
                result = task_func(50, 7)
                self.assertAlmostEqual(result["mean"], statistics.mean(values))
                self.assertAlmostEqual(result["median"], statistics.median(values))
                self.assertAlmostEqual(result["stdev"], statistics.stdev(values))

            def test_seeds(self):
                self.assertEqual(task_func(10, 1), task_func(10, 1))
                self.assertNotEqual(task_func(10, 1)["mean"], task_func(10, 2)["mean"])

            def test_shape(self):
                result = task_func(2, 0)
                self.assertCountEqual(result, ["mean", "median", "stdev"])
                self.assertTrue(all(isinstance(value, float) for value in result.values()))
                self.assertAlmostEqual(result["mean"], result["median"])

            def test_too_few(self):
                self.assertRaises(ValueError, task_func, 1, 0)
        """, """
        import random
        import statistics

        def task_func(n, seed):
            if n < 2:
                raise ValueError("at least two numbers are needed")
            random.seed(seed)
            values = [random.gauss(0, 1) for _ in range(n)]
            return {
                "mean": statistics.mean(values),
                "median": statistics.median(values),
                "stdev": statistics.stdev(values),
            }
        """,
        ("statistics.stdev", "statistics.pstdev"),
        ("random.seed(seed)", "random.seed(n)"),
        ("statistics.median(values)", "sorted(values)[n // 2]"),
    ),
    unittest_suite("passwords-after-a-seed",
        "Write task_func(count, length): a list of passwords; each sign is random.choice of the letters and digits.",
        "task_func", """
        import random
        import string
        import unittest

        class TestCases(unittest.TestCase):
            def setUp(self):
                random.seed(42)

            def test_reference(self):
                signs = string.ascii_letters + string.digits
                expected = ["".join(random.choice(signs) for _ in range(9)) for _ in range(3)]
                random.seed(42)
                self.assertEqual(task_func(3, 9), expected)

            def test_goes_on(self):
                first, second = task_func(1, 12), task_func(1, 12)
                self.assertNotEqual(first, second)
                random.seed(42)
                self.assertEqual(task_func(2, 12), first + second)

            def test_signs(self):
                result = task_func(5, 70)
                self.assertEqual([len(password) for password in result], [70] * 5)
                for password in result:
                    self.assertTrue(password.isalnum())

            def test_errors(self):
                with self.assertRaises(ValueError):
                    task_func(2, 0)
        """, """
        import random
        import string

        def task_func(count, length):
            if length < 1:
                raise ValueError("length has to be at least 1")
            signs = string.ascii_letters + string.digits
            return ["".join(random.choice(signs) for _ in range(length)) for _ in range(count)]
        """,
        ("signs = string", "random.seed(42)\n    signs = string"),
        ('"".join(random.choice(signs) for _ in range(length))', '"".join(random.sample(signs, length))'),
        ("string.ascii_letters + string.digits", "string.ascii_letters + string.digits + string.punctuation"),
    ),
    unittest_suite("table-on-patched-stdout",
        "Write task_func(rows): prints the rows, their columns as wide as needed, and returns the number of rows.",
        "task_func", """
        import io
        import unittest
        from unittest.mock import patch

        class TestCases(unittest.TestCase):
            def test_table(self):
                with patch("sys.stdout", new=io.StringIO()) as out:
                    result = task_func([["name", "n"], ["Al", 10], ["Gertrude", 7]])
                self.assertEqual(result, 3)
                self.assertEqual(out.getvalue(), "name     | n\\nAl       | 10\\nGertrude | 7\\n")

            @patch("sys.stdout", new_callable=io.StringIO)
            def test_one_column(self, out):
                task_func([["a"], ["bcd"]])
                self.assertEqual(out.getvalue().splitlines(), ["a", "bcd"])

            @patch("sys.stdout", new_callable=io.StringIO)
            def test_nothing(self, out):
                self.assertEqual(task_func([]), 0)
                self.assertEqual(out.getvalue(), "")
        """, """
        def task_func(rows):
            texts = [[str(cell) for cell in row] for row in rows]
            widths = [max(map(len, column)) for column in zip(*texts)]
            for row in texts:
                line = " | ".join(cell.ljust(width) for cell, width in zip(row, widths))
                print(line.rstrip())
            return len(rows)
        """,
        (".rstrip()", ""),
        ("cell.ljust(width)", "cell.rjust(width)"),
        ("print(line.rstrip())\n    return len(rows)", "return line"),
    ),
    unittest_suite("skips-on-redirected-stdout",
        "Write task_func(numbers, limit): prints 'skip N' for each number over limit, returns the sum of the others.",
        "task_func", """
        import contextlib
        import io
        import unittest

        class TestCases(unittest.TestCase):
            def call(self, *args):
                out = io.StringIO()
                with contextlib.redirect_stdout(out):
                    result = task_func(*args)
                return result, out.getvalue()

            def test_skips(self):
                self.assertEqual(self.call([3, 12, 10, 40], 10), (13, "skip 12\\nskip 40\\n"))

            def test_silent(self):
                result, text = self.call([1, 2, 3], 3)
                self.assertEqual(result, 6)
                self.assertFalse(text)

            def test_error(self):
                out = io.StringIO()
                with contextlib.redirect_stdout(out), self.assertRaises(TypeError):
                    task_func([9, "9"], 1)
                self.assertIn("skip 9", out.getvalue())
        """, """
        def task_func(numbers, limit):
            total = 0
            for number in numbers:
                if number > limit:
                    print(f"skip {number}")
                else:
                    total += number
            return total
        """,
        ("number > limit", "number >= limit"),
        ('print(f"skip {number}")', 'print("skip", end="")'),
        ("number > limit", "float(number) > limit"),
    ),
]
