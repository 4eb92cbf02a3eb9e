"""Suites for one `task_func` that reads and writes files and folders, as many of BigCodeBench's do."""

from __future__ import annotations

from tests.suites.honest_suite import Suite, unittest_suite

SUITES: list[Suite] = [
    unittest_suite("csv-column-totals",
        "Write task_func(path): a dict with the total of each csv column that holds only numbers.", "task_func", """
        import csv
        import os
        import shutil
        import tempfile
        import unittest

        class TestCases(unittest.TestCase):
            def setUp(self):
                self.folder = tempfile.mkdtemp()
                self.path = os.path.join(self.folder, "sales.csv")

            def tearDown(self):
                shutil.rmtree(self.folder)

            def write(self, *rows):
                with open(self.path, "w", newline="") as file:
                    csv.writer(file).writerows(rows)

            def test_totals(self):
                self.write(["shop", "sold", "price"], ["Ely, north", 3, 1.5], ["Bath", 4, 2.25])
                result = task_func(self.path)
                self.assertIsInstance(result, dict)
                self.assertEqual(result, {"sold": 7.0, "price": 3.75})
                self.assertNotIn("shop", result)

            def test_header_only(self):
                self.write(["shop", "sold"])
                self.assertEqual(task_func(self.path), {})

            def test_no_file(self):
                with self.assertRaises(FileNotFoundError):
                    task_func(os.path.join(self.folder, "none.csv"))
        """, """
        import csv

        def task_func(path):
            with open(path, newline="") as file:
                rows = list(csv.DictReader(file))
            totals = {}
            for name in rows[0] if rows else []:
                try:
                    totals[name] = sum(float(row[name]) for row in rows)
                except ValueError:
                    continue
            return totals
        """,
        (" if rows else []", ""),
        ("continue", "totals[name] = 0.0"),
        ("rows = list(csv.DictReader(file))",
            "lines = [line.strip().split(',') for line in file]\n"
            "        rows = [dict(zip(lines[0], line)) for line in lines[1:]]"),
    ),
    unittest_suite("json-files-merged",
        "Write task_func(folder): one dict of all *.json files, in the order of their names; lists are joined.",
        "task_func", """
        import json
        import os
        import tempfile
        import unittest

        class TestCases(unittest.TestCase):
            def setUp(self):
                self.temporary = tempfile.TemporaryDirectory()
                self.folder = self.temporary.name

            def tearDown(self):
                self.temporary.cleanup()

            def save(self, name, data):
                with open(os.path.join(self.folder, name), "w") as file:
                    json.dump(data, file)

            def test_later_files_win(self):
                self.save("b.json", {"x": 2, "y": [3]})
                self.save("a.json", {"x": 1, "y": [1, 2], "z": None})
                self.assertEqual(task_func(self.folder), {"x": 2, "y": [1, 2, 3], "z": None})

            def test_other_files(self):
                self.save("c.json", {"k": "v"})
                self.save("json.txt", {"k": "other"})
                self.assertDictEqual(task_func(self.folder), {"k": "v"})

            def test_empty_folder(self):
                self.assertEqual(len(task_func(self.folder)), 0)

            def test_no_folder(self):
                with self.assertRaises(ValueError):
                    task_func(os.path.join(self.folder, "none"))
        """, """
        import json
        import os

        def task_func(folder):
            if not os.path.isdir(folder):
                raise ValueError(f"no such folder: {folder}")
            merged = {}
            for name in sorted(os.listdir(folder)):
                if name.endswith(".json"):
                    with open(os.path.join(folder, name)) as file:
                        for key, value in json.load(file).items():
                            if isinstance(value, list):
                                value = merged.get(key, []) + value
                            merged[key] = value
            return merged
        """,
        ("merged.get(key, []) + value", "value"),
        ('name.endswith(".json")', '"json" in name'),
        ('if not os.path.isdir(folder):\n        raise ValueError(f"no such folder: {folder}")\n    ', ""),
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
        ("packed.write(path, names[-1])", "packed.write(path)"),
        ("os.path.relpath(path, folder)", "file"),
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
        ("[1][1:].lower()", "[1][1:]"),
        ("os.path.splitext(name)[1][1:]", 'name.partition(".")[2]'),
        ("if os.path.isfile(path):", "if True:"),
    ),
    unittest_suite("most-common-words-of-a-file",
        "Write task_func(path, n): the n most common words as (word, count), equal counts by the alphabet.",
        "task_func", """
        import os
        import tempfile
        import unittest

        class TestCases(unittest.TestCase):
            def setUp(self):
                self.temporary = tempfile.TemporaryDirectory()
                self.path = os.path.join(self.temporary.name, "text.txt")
                with open(self.path, "w", encoding="utf-8") as file:
                    file.write("The cat saw the dog.\\nThe dog ran; a cat ran too. Caf\\u00e9!")

            def tearDown(self):
                self.temporary.cleanup()

            def test_words(self):
                self.assertEqual(task_func(self.path, 4), [("the", 3), ("cat", 2), ("dog", 2), ("ran", 2)])

            def test_types(self):
                result = task_func(self.path, 2)
                self.assertIsInstance(result, list)
                self.assertTrue(all(isinstance(pair, tuple) and len(pair) == 2 for pair in result))

            def test_all(self):
                result = task_func(self.path, 100)
                self.assertEqual(len(result), 8)
                self.assertIn(("caf\\u00e9", 1), result)
                self.assertEqual(sum(count for _, count in result), 13)

            def test_errors(self):
                self.assertRaises(FileNotFoundError, task_func, self.path + ".bak", 1)
                self.assertRaises(ValueError, task_func, self.path, 0)
        """, """
        import re
        from collections import Counter

        def task_func(path, n):
            if n < 1:
                raise ValueError("n has to be at least 1")
            with open(path, encoding="utf-8") as file:
                counts = Counter(re.findall(r"\\w+", file.read().lower()))
            return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:n]
        """,
        ("(-pair[1], pair[0])", "(pair[1], pair[0])"),
        ("sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:n]", "counts.most_common(n - 1)"),
        ('r"\\w+"', 'r"[a-z]+"'),
    ),
    unittest_suite("same-files-by-checksum",
        "Write task_func(folder): SHA-256 of each content that two or more files have, with their sorted names.",
        "task_func", """
        import hashlib
        import os
        import tempfile
        import unittest

        class TestCases(unittest.TestCase):
            def run_with(self, contents):
                with tempfile.TemporaryDirectory() as folder:
                    os.mkdir(os.path.join(folder, "inner"))
                    for name, content in contents.items():
                        with open(os.path.join(folder, name), "wb") as file:
                            file.write(content)
                    return task_func(folder)

            def test_same(self):
                found = self.run_with({"z": b"one\\r\\n", "b": b"\\x00\\xff", "a": b"one\\r\\n", "c": b"one\\n"})
                self.assertEqual(found, {hashlib.sha256(b"one\\r\\n").hexdigest(): ["a", "z"]})

            def test_empty_files(self):
                found = self.run_with({"x": b"", "y": b""})
                self.assertEqual(list(found.values()), [["x", "y"]])
                for key in found:
                    self.assertIsInstance(key, str)
                    self.assertEqual(len(key), 64)

            def test_none(self):
                self.assertDictEqual(self.run_with({"x": b"1", "y": b"2"}), {})
        """, """
        import hashlib
        import os
        from collections import defaultdict

        def task_func(folder):
            names = defaultdict(list)
            for name in sorted(os.listdir(folder)):
                path = os.path.join(folder, name)
                if os.path.isfile(path):
                    with open(path, "rb") as file:
                        names[hashlib.sha256(file.read()).hexdigest()].append(name)
            return {key: same for key, same in names.items() if len(same) > 1}
        """,
        ("len(same) > 1", "len(same) > 0"),
        ("hashlib.sha256", "hashlib.md5"),
        ('with open(path, "rb") as file:\n                names[hashlib.sha256(file.read())',
            'with open(path, errors="ignore") as file:\n                names[hashlib.sha256(file.read().encode())'),
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
        ("([A-Z]+) (.*)", "(.*) ([A-Z]+)"),
        ('(.*)"', '(\\w+)"'),
    ),
]
