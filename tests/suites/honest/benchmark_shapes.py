"""Suites in the shapes of HumanEval's, MathQA's and BigCodeBench's: one function, its loops, helpers and files."""

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
