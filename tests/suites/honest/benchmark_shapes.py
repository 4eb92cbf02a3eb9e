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
