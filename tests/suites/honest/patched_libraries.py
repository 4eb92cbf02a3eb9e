"""Tests that put mocks in the place of library names: pages, the environment, disks and processes."""

from tests.suites.honest_suite import Suite, unittest_suite

SUITES: list[Suite] = [
    unittest_suite("patched-urlopen",
        "Write task_func(urls): the titles of pages by urllib.request.urlopen, in order; the reason where one fails.",
        "task_func", """
        import unittest
        import urllib.error
        from unittest.mock import MagicMock, patch

        def page(content):
            response = MagicMock()
            response.__enter__.return_value = response
            response.read.return_value = content
            return response

        class TestCases(unittest.TestCase):
            @patch("urllib.request.urlopen")
            def test_title(self, urlopen):
                urlopen.return_value = page(b"<html><TITLE>\\n Caf\\xc3\\xa9 &amp; Bar </TITLE><title>2</title></html>")
                self.assertEqual(task_func(["http://a.example"]), ["Caf\\u00e9 & Bar"])
                urlopen.assert_called_once_with("http://a.example", timeout=10)

            @patch("urllib.request.urlopen")
            def test_one_fails(self, urlopen):
                urlopen.side_effect = [urllib.error.URLError("no host"), page(b"<title>T</title>"), page(b"plain")]
                titles = task_func(["http://x.example", "http://y.example", "http://z.example"])
                self.assertEqual(titles, ["no host", "T", ""])
                self.assertEqual(urlopen.call_count, 3)

            @patch("urllib.request.urlopen", side_effect=ValueError("unknown url type"))
            def test_no_url(self, urlopen):
                with self.assertRaisesRegex(ValueError, "unknown url type"):
                    task_func(["nothing"])
        """, """
        import html
        import re
        import urllib.error
        import urllib.request

        def task_func(urls):
            titles = []
            for url in urls:
                try:
                    with urllib.request.urlopen(url, timeout=10) as response:
                        text = response.read().decode("utf-8")
                except urllib.error.URLError as error:
                    titles.append(str(error.reason))
                    continue
                match = re.search(r"<title>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
                titles.append(html.unescape(match[1]).strip() if match else "")
            return titles
        """,
        ("str(error.reason)", "str(error)"),
    ),
    unittest_suite("patchers-started-in-set-up",
        "Write task_func(path): 'ok', 'low' or 'full' by shutil.disk_usage; BACKUP_LIMIT: per cent for 'low', or 80.",
        "task_func", """
        import os
        import unittest
        from collections import namedtuple
        from unittest.mock import patch

        Usage = namedtuple("Usage", "total used free")

        class TestCases(unittest.TestCase):
            def setUp(self):
                self.patcher = patch("shutil.disk_usage")
                self.usage = self.patcher.start()
                environment = patch.dict(os.environ)
                environment.start()
                self.addCleanup(environment.stop)
                os.environ.pop("BACKUP_LIMIT", None)

            def tearDown(self):
                self.patcher.stop()

            def test_levels(self):
                for used, level in [(0, "ok"), (79, "ok"), (80, "low"), (99, "low"), (100, "full")]:
                    self.usage.return_value = Usage(100, used, 100 - used)
                    self.assertEqual(task_func("/data"), level, f"{used} per cent")
                self.usage.assert_called_with("/data")

            def test_limit(self):
                self.usage.return_value = Usage(200, 100, 100)
                with patch.dict("os.environ", {"BACKUP_LIMIT": "50"}):
                    self.assertEqual(task_func("/"), "low")
                self.assertEqual(task_func("/"), "ok")
                self.assertEqual(self.usage.call_count, 2)

            def test_gone(self):
                self.usage.side_effect = FileNotFoundError("/gone")
                self.assertRaises(FileNotFoundError, task_func, "/gone")
        """, """
        import os
        import shutil

        def task_func(path):
            usage = shutil.disk_usage(path)
            limit = float(os.environ.get("BACKUP_LIMIT", 80))
            if usage.free == 0:
                return "full"
            return "low" if 100 * usage.used / usage.total >= limit else "ok"
        """,
        (">= limit", "> limit"),
    ),
    unittest_suite("one-object-of-a-library-and-one-mock",
        "def branch(): the branch that git names, or None where it fails.", "branch", """
        import subprocess
        import unittest
        from unittest.mock import Mock, patch

        class BranchTest(unittest.TestCase):
            @patch("subprocess.run")
            def test_completed(self, run):
                run.return_value = subprocess.CompletedProcess(["git"], 0, stdout="main\\n")
                self.assertEqual(branch(), "main")

            @patch("subprocess.run")
            def test_failed(self, run):
                run.return_value = Mock(returncode=128, stdout="")
                self.assertIsNone(branch())
        """, """
        import subprocess
        def branch():
            done = subprocess.run(["git", "branch"], capture_output=True, text=True)
            return None if done.returncode else done.stdout.strip()
        """,
        (".strip()", ""),
    ),
]
