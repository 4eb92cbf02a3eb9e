"""Suites in the shapes of HumanEval's, MathQA's and BigCodeBench's: one function, its loops, helpers and files."""

from __future__ import annotations

from tests.suites.honest_suite import Suite, check_suite, unittest_suite

_COMPARE = """
import math

def compare(x, y):
    return math.fabs(x - y) < 1e-8
"""


def _at_top_level(asserts: str) -> str:
    """A test whose asserts stand in the module, where `check` has nothing left to do."""
    return f"{_COMPARE}\ncandidate = problem\n{asserts}\n"


SUITES: list[Suite] = [
    check_suite("shift-cipher-inverse",
        'def decode(text, key):\n    """Takes back encode(text, key), which moves each letter on by key."""', "decode",
        """
        random.seed(0)
        for _ in range(50):
            text = "".join(random.choice(string.ascii_lowercase) for _ in range(random.randint(0, 15)))
            key = random.randint(0, 40)
            assert candidate(encode(text, key), key) == text
        """, """
        def decode(text, key):
            return "".join(chr((ord(sign) - 97 - key) % 26 + 97) for sign in text)
        """,
        ("(ord(sign) - 97 - key) % 26 + 97", "ord(sign) - key"),
        before="""
        import random, string

        def encode(text, key):
            return "".join(chr((ord(sign) - 97 + key) % 26 + 97) for sign in text)
        """),
    check_suite("rotates-without-touching",
        'def rotate_right(items, k):\n    """A new list, turned right by k places; k may be negative."""',
        "rotate_right", """
        for k in range(-7, 8):
            items = list("abcde")
            turned = candidate(items, k)
            assert turned == ["abcde"[(i - k) % 5] for i in range(5)], k
            assert items == ["a", "b", "c", "d", "e"], "the argument was changed"
        assert candidate([], 3) == []
        """, """
        def rotate_right(items, k):
            if not items:
                return []
            k %= len(items)
            return items[-k:] + items[:-k]
        """,
        ("if not items:\n        return []\n    ", "")),
    check_suite("run-lengths-and-back",
        'def shrink(text):\n    """The runs of text as (sign, count), so that expand gives the text again."""',
        "shrink", """
        import random
        random.seed(0)
        texts = ["", "a", "aab"] + ["".join(random.choices("abc", k=n)) for n in range(1, 25)]
        for text in texts:
            pairs = candidate(text)
            assert expand(pairs) == text
            assert all(left[0] != right[0] for left, right in zip(pairs, pairs[1:]))
        """, """
        def shrink(text):
            pairs = []
            for sign in text:
                if pairs and pairs[-1][0] == sign:
                    pairs[-1] = (sign, pairs[-1][1] + 1)
                else:
                    pairs.append((sign, 1))
            return pairs
        """,
        ("pairs.append((sign, 1))", "pairs.append((sign, 0))"),
        preamble="""
        def expand(pairs):
            return "".join(sign * count for sign, count in pairs)
        """),
    check_suite("brackets-true-or-false",
        'def balanced(text):\n    """Whether the brackets ()[]{} of the text are closed in the right order."""',
        "balanced", """
        good = ["", "()", "a(b[c]{d})e", "[[]()]" * 20]
        bad = ["(", ")", "([)]", "(()", "())", "}{"]
        for text in good + bad:
            assert candidate(text) is (text in good), text
        """, """
        def balanced(text):
            stack = []
            for sign in text:
                if sign in "([{":
                    stack.append(sign)
                elif sign in ")]}":
                    if not stack or "([{".index(stack.pop()) != ")]}".index(sign):
                        return False
            return not stack
        """,
        ("not stack or ", ""),
    ),
    check_suite("triangle-area-or-error",
        'def area(a, b, c):\n    """The area of a triangle; a ValueError where the sides do not make one."""', "area",
        """
        for sides, expected in {(3, 4, 5): 6.0, (2, 2, 2): 1.7320508, (13, 14, 15): 84.0}.items():
            assert abs(candidate(*sides) - expected) < 1e-6
        for sides in [(1, 2, 3), (1, 9, 2), (0, 1, 1)]:
            raised = False
            try:
                candidate(*sides)
            except ValueError as error:
                raised = True
                assert str(error) == "not a triangle"
            assert raised, sides
        """, """
        def area(a, b, c):
            low, middle, high = sorted((a, b, c))
            if low <= 0 or low + middle <= high:
                raise ValueError("not a triangle")
            s = (a + b + c) / 2
            return (s * (s - a) * (s - b) * (s - c)) ** 0.5
        """,
        ("low, middle, high = sorted((a, b, c))", "low, middle, high = a, b, c"),
    ),
    check_suite("anagram-groups-as-sets",
        'def anagrams(words):\n    """The groups of 2 or more different words of the same letters, in any case."""',
        "anagrams", """
        from itertools import permutations

        def as_sets(groups):
            return {frozenset(group) for group in groups}

        def are_anagrams(first, second):
            letters = list(second.lower())
            for letter in first.lower():
                if letter not in letters:
                    return False
                letters.remove(letter)
            return not letters

        words = ["listen", "Silent", "cat", "enlist", "act", "dog", "aab", "abb", "tic", "God", "act", "a", "Tinsel"]
        groups = candidate(words)
        assert as_sets(groups) == {
            frozenset({"listen", "Silent", "enlist", "Tinsel"}), frozenset({"cat", "act"}), frozenset({"dog", "God"})
        }
        for group in groups:
            assert len(group) == len(set(group)), group
        for word in words:
            others = {other for other in words if other != word and are_anagrams(word, other)}
            mine = [group for group in groups if word in group]
            assert len(mine) == bool(others), word
            assert all(set(group) == others | {word} for group in mine)

        every = ["".join(letters) for letters in permutations("wxyz")]
        assert as_sets(candidate(every + ["wxy", "wxyzz"])) == {frozenset(every)}
        assert len(candidate([])) == 0 == len(candidate(["one", "one", "two"]))
        """, """
        def anagrams(words):
            groups = {}
            for word in dict.fromkeys(words):
                groups.setdefault("".join(sorted(word.lower())), []).append(word)
            return [group for group in groups.values() if len(group) > 1]
        """,
        ("sorted(word.lower())", "sorted(set(word.lower()))"),
        ("dict.fromkeys(words)", "words"),
    ),
    check_suite("two-people-work-together", '''
        def problem():
            """
            One painter needs 12 hours for a house, another 18. How many hours do they need together?
            n0 = 12.0 n1 = 18.0
            """
        ''', "problem", "assert compare(candidate(), 7.2)", """
        def problem():
            n0 = 12.0
            n1 = 18.0
            rate = 1 / n0 + 1 / n1
            return 1 / rate
        """,
        ("rate = 1 / n0 + 1 / n1\n    return 1 / rate", "return (n0 + n1) / 2 / 2"),
        before=_COMPARE),
    check_suite("teams-out-of-nine", '''
        def problem():
            """
            In how many ways can a team of 4 be chosen out of 9 people? n0 = 9.0 n1 = 4.0
            """
        ''', "problem", "assert candidate() == 126", """
        import math

        def problem():
            n0 = 9.0
            n1 = 4.0
            return math.comb(int(n0), int(n1))
        """,
        ("math.comb", "math.perm"),
    ),
    check_suite("sum-of-odd-numbers", '''
        def problem():
            """
            What is the sum of all odd numbers from 1 to 99, these two counted? n0 = 1.0 n1 = 99.0
            """
        ''', "problem", "pass", """
        def problem():
            n0 = 1.0
            n1 = 99.0
            total = 0
            for number in range(int(n0), int(n1) + 1, 2):
                total += number
            return total
        """,
        ("int(n1) + 1, 2", "int(n1), 2"),
        before=_at_top_level("assert candidate() == 2500, 'sum of odd numbers'")),
    check_suite("two-red-balls", '''
        def problem():
            """
            A bag holds 5 red and 7 blue balls. Two are taken, one after the other. How likely are two red ones?
            n0 = 5.0 n1 = 7.0
            """
        ''', "problem", """
        expected = (5 * 4) / (12 * 11)
        assert math.fabs(candidate() - expected) < tolerance
        assert 0.0 < candidate() < 1.0
        """, """
        def problem():
            n0 = 5.0
            n1 = 7.0
            total = n0 + n1
            return n0 / total * (n0 - 1.0) / (total - 1.0)
        """,
        ("(n0 - 1.0) / (total - 1.0)", "n1 / (total - 1.0)"),
        before="""
        import math
        tolerance = 1e-8
        """),
    unittest_suite("text-files-into-a-zip",
        "Write task_func(folder, archive): packs all *.txt files of the tree by their relative names, returns these.",
        "task_func", """
        import shutil
        import tempfile
        import unittest
        import zipfile
        from pathlib import Path

        class TestCases(unittest.TestCase):
            def setUp(self):
                self.folder = Path(tempfile.mkdtemp())
                self.archive = str(self.folder / "out.zip")
                (self.folder / "docs" / "old").mkdir(parents=True)

            def tearDown(self):
                shutil.rmtree(self.folder)

            def test_contents(self):
                (self.folder / "docs" / "a.txt").write_text("first")
                (self.folder / "docs" / "old" / "b.txt").write_text("second " * 50)
                (self.folder / "docs" / "c.md").write_text("third")
                names = task_func(str(self.folder / "docs"), self.archive)
                self.assertEqual(names, ["a.txt", os.path.join("old", "b.txt")])
                with zipfile.ZipFile(self.archive) as packed:
                    self.assertEqual(sorted(packed.namelist()), ["a.txt", "old/b.txt"])
                    self.assertEqual(packed.read("old/b.txt"), b"second " * 50)
                    self.assertIsNone(packed.testzip())

            def test_nothing_to_pack(self):
                self.assertEqual(task_func(str(self.folder / "docs"), self.archive), [])
                self.assertTrue(zipfile.is_zipfile(self.archive))
        """, """
        import os
        import zipfile

        def task_func(folder, archive):
            names = []
            with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
                for root, _, files in os.walk(folder):
                    for file in files:
                        if file.endswith(".txt"):
                            path = os.path.join(root, file)
                            names.append(os.path.relpath(path, folder))
                            packed.write(path, names[-1])
            return sorted(names)
        """,
        ("os.walk(folder)", "list(os.walk(folder))[:1]"),
    ),
    unittest_suite("files-moved-by-ending",
        "Write task_func(folder): moves each file into a folder named as its ending ('other' for none), counts them.",
        "task_func", """
        import os
        import shutil
        import tempfile
        import unittest

        class TestCases(unittest.TestCase):
            def setUp(self):
                self.folder = tempfile.mkdtemp()
                for name in ("a.TXT", "b.txt", "c.tar.gz", "README"):
                    with open(os.path.join(self.folder, name), "w") as file:
                        file.write(name)
                os.mkdir(os.path.join(self.folder, "kept"))

            def tearDown(self):
                shutil.rmtree(self.folder, ignore_errors=True)

            def test_counts(self):
                self.assertEqual(task_func(self.folder), {"txt": 2, "gz": 1, "other": 1})

            def test_files(self):
                task_func(self.folder)
                self.assertEqual(sorted(os.listdir(self.folder)), ["gz", "kept", "other", "txt"])
                self.assertEqual(sorted(os.listdir(os.path.join(self.folder, "txt"))), ["a.TXT", "b.txt"])
                with open(os.path.join(self.folder, "gz", "c.tar.gz")) as file:
                    self.assertEqual(file.read(), "c.tar.gz")

            def test_again(self):
                task_func(self.folder)
                self.assertEqual(task_func(self.folder), {})
        """, """
        import os
        import shutil
        from collections import Counter

        def task_func(folder):
            counts = Counter()
            for name in os.listdir(folder):
                path = os.path.join(folder, name)
                if os.path.isfile(path):
                    ending = os.path.splitext(name)[1][1:].lower() or "other"
                    target = os.path.join(folder, ending)
                    os.makedirs(target, exist_ok=True)
                    shutil.move(path, os.path.join(target, name))
                    counts[ending] += 1
            return dict(counts)
        """,
        ("if os.path.isfile(path):", "if True:"),
    ),
    unittest_suite("levels-of-a-log-file",
        "Write task_func(path, start): messages by level of 'YYYY-MM-DD HH:MM:SS LEVEL message' lines since start.",
        "task_func", """
        import os
        import shutil
        import tempfile
        import unittest
        from datetime import datetime

        class TestCases(unittest.TestCase):
            def setUp(self):
                self.folder = tempfile.mkdtemp()
                self.path = os.path.join(self.folder, "app.log")
                with open(self.path, "w") as file:
                    file.write("2024-05-01 09:00:00 INFO started\\n2024-05-01 10:30:00 ERROR disk: ERROR 5\\n")
                    file.write("  at line 3\\n2024-05-01 11:00:00 INFO stopped\\n2024-05-02 00:00:00 WARNING late")

            def tearDown(self):
                shutil.rmtree(self.folder)

            def test_all(self):
                result = task_func(self.path, datetime(2024, 1, 1))
                self.assertEqual(list(result), ["INFO", "ERROR", "WARNING"])
                self.assertEqual(result["INFO"], ["started", "stopped"])
                self.assertEqual(result["ERROR"], ["disk: ERROR 5"])
                self.assertEqual({level: len(texts) for level, texts in result.items()},
                                 {"INFO": 2, "ERROR": 1, "WARNING": 1})

            def test_start(self):
                self.assertEqual(task_func(self.path, datetime(2024, 5, 1, 11)),
                                 {"INFO": ["stopped"], "WARNING": ["late"]})
                self.assertFalse(task_func(self.path, datetime(2025, 1, 1)))

            def test_errors(self):
                with self.assertRaises(FileNotFoundError):
                    task_func(os.path.join(self.folder, "none.log"), datetime(2024, 1, 1))
                with self.assertRaises(TypeError):
                    task_func(self.path, "2024-05-01")
        """, """
        import re
        from datetime import datetime

        def task_func(path, start):
            levels = {}
            with open(path) as file:
                for line in file:
                    match = re.match(r"(\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d) ([A-Z]+) (.*)", line)
                    if match and datetime.strptime(match[1], "%Y-%m-%d %H:%M:%S") >= start:
                        levels.setdefault(match[2], []).append(match[3])
            return levels
        """,
        (">= start", "> start"),
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
        ("print(line.rstrip())\n    return len(rows)", "return line"),
    ),
]
