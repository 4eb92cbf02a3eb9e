"""Tests that put mocks in the place of library names, which the completion uses as attributes of their modules."""

from __future__ import annotations

from tests.suites.honest_suite import Suite, unittest_suite

SUITES: list[Suite] = [
    unittest_suite("patched-listdir",
        "Write task_func(folders, ending): how many names with that ending each folder lists; None if denied.",
        "task_func", """
        import unittest
        from unittest.mock import call, patch

        class TestCases(unittest.TestCase):
            @patch("os.listdir")
            def test_one_folder(self, listdir):
                listdir.return_value = ["a.py", "b.pyc", "py", "c.py"]
                self.assertEqual(task_func(["src"], ".py"), {"src": 2})
                listdir.assert_called_once_with("src")

            @patch("os.listdir", side_effect=[["x.md"], PermissionError("no"), []])
            def test_folders(self, listdir):
                self.assertEqual(task_func(["docs", "secret", "new"], ".md"), {"docs": 1, "secret": None, "new": 0})
                self.assertEqual(listdir.call_args_list, [call("docs"), call("secret"), call("new")])

            @patch("os.listdir", side_effect=FileNotFoundError)
            def test_no_folder(self, listdir):
                with self.assertRaises(FileNotFoundError):
                    task_func(["gone"], ".md")

            @patch("os.listdir")
            def test_no_folders(self, listdir):
                self.assertEqual(task_func([], ".md"), {})
                listdir.assert_not_called()
        """, """
        import os

        def task_func(folders, ending):
            counts = {}
            for folder in folders:
                try:
                    counts[folder] = sum(name.endswith(ending) for name in os.listdir(folder))
                except PermissionError:
                    counts[folder] = None
            return counts
        """,
        ("name.endswith(ending)", "ending in name"),
        ("except PermissionError:", "except OSError:"),
        ("except PermissionError:\n            counts[folder] = None", "except PermissionError:\n            break"),
    ),
    unittest_suite("patched-open",
        "Write task_func(path): reads 'name = number' lines into a dict; {} if there is no file. Writes path + '.sum'.",
        "task_func", """
        import unittest
        from unittest.mock import mock_open, patch

        class TestCases(unittest.TestCase):
            def test_reads(self):
                with patch("builtins.open", mock_open(read_data="a = 1\\n\\nb = 2.5\\n")) as opened:
                    result = task_func("set.txt")
                self.assertEqual(result, {"a": 1.0, "b": 2.5})
                self.assertEqual(opened.call_args_list[0].args[0], "set.txt")

            def test_writes(self):
                opened = mock_open(read_data="a = 1\\nb = 3")
                with patch("builtins.open", opened):
                    task_func("set.txt")
                opened.assert_called_with("set.txt.sum", "w")
                opened().write.assert_called_once_with("4.0")

            @patch("builtins.open", side_effect=FileNotFoundError)
            def test_no_file(self, opened):
                self.assertEqual(task_func("none.txt"), {})
                self.assertEqual(opened.call_count, 1)

            @patch("builtins.open", new_callable=mock_open, read_data="a : 1")
            def test_bad_line(self, opened):
                with self.assertRaises(ValueError):
                    task_func("bad.txt")
        """, """
        def task_func(path):
            try:
                with open(path) as file:
                    lines = file.read().splitlines()
            except FileNotFoundError:
                return {}
            values = {}
            for line in lines:
                if line.strip():
                    name, value = line.split("=")
                    values[name.strip()] = float(value)
            with open(path + ".sum", "w") as file:
                file.write(str(sum(values.values())))
            return values
        """,
        ("if line.strip():", 'if line != "\\n":'),
        ("float(value)", "int(value)"),
        ("except FileNotFoundError:\n        return {}", "except FileNotFoundError:\n        lines = []"),
    ),
    unittest_suite("patched-check-output",
        "Write task_func(names): runs 'pip show NAME' by subprocess.check_output, gives versions, None if it fails.",
        "task_func", """
        import subprocess
        import unittest
        from unittest.mock import patch

        class TestCases(unittest.TestCase):
            @patch("subprocess.check_output", return_value=b"Metadata-Version: 2.1\\nName: tool\\nVersion: 2.10.1\\n")
            def test_version(self, check_output):
                self.assertEqual(task_func(["tool"]), {"tool": "2.10.1"})
                check_output.assert_called_once_with(["pip", "show", "tool"])

            @patch("subprocess.check_output")
            def test_failure(self, check_output):
                failed = subprocess.CalledProcessError(1, ["pip"])
                check_output.side_effect = [failed, b"Version: 1.0\\r\\n"]
                result = task_func(["none", "some"])
                self.assertIsNone(result["none"])
                self.assertEqual(result["some"], "1.0")
                self.assertEqual(check_output.call_count, 2)

            def test_no_version(self):
                with patch("subprocess.check_output", return_value=b"") as check_output:
                    self.assertEqual(task_func(["odd"]), {"odd": None})
                self.assertEqual(check_output.call_args.args[0][-1], "odd")
        """, """
        import re
        import subprocess

        def task_func(names):
            versions = {}
            for name in names:
                try:
                    output = subprocess.check_output(["pip", "show", name]).decode()
                except subprocess.CalledProcessError:
                    versions[name] = None
                    continue
                match = re.search(r"^Version: (\\S+)", output, re.MULTILINE)
                versions[name] = match[1] if match else None
            return versions
        """,
        (".decode()", ""),
        ("match[1] if match else None", "match[1]"),
        ("^Version", "Version"),
    ),
    unittest_suite("patched-time-and-sleep",
        "Write task_func(path, patience): sleeps 0.5 s until path exists; the seconds waited, or a TimeoutError.",
        "task_func", """
        import unittest
        from unittest.mock import patch

        class TestCases(unittest.TestCase):
            @patch("time.sleep")
            @patch("time.time", side_effect=[100.0, 100.0, 100.5, 101.0])
            @patch("os.path.exists", side_effect=[False, False, True])
            def test_waits(self, exists, now, sleep):
                self.assertAlmostEqual(task_func("flag", 60), 1.0)
                self.assertEqual(sleep.call_count, 2)
                sleep.assert_called_with(0.5)
                exists.assert_called_with("flag")

            @patch("time.sleep")
            @patch("time.time", side_effect=[5.0, 5.0, 6.0, 7.0, 8.0, 9.0])
            @patch("os.path.exists", return_value=False)
            def test_gives_up(self, exists, now, sleep):
                with self.assertRaises(TimeoutError):
                    task_func("flag", 2)
                self.assertEqual(exists.call_count, 3)

            @patch("time.sleep")
            @patch("time.time", return_value=3.0)
            @patch("os.path.exists", return_value=True)
            def test_at_once(self, exists, now, sleep):
                self.assertEqual(task_func("flag", 0), 0)
                sleep.assert_not_called()
        """, """
        import os
        import time

        def task_func(path, patience):
            start = time.time()
            while not os.path.exists(path):
                if time.time() - start >= patience:
                    raise TimeoutError(path)
                time.sleep(0.5)
            return time.time() - start
        """,
        ("while not os.path.exists(path):", "time.sleep(0.5)\n    while not os.path.exists(path):"),
        (">= patience", "> patience"),
        ("return time.time() - start", "return time.time()"),
    ),
    unittest_suite("patched-dice-and-input",
        "Write task_func(top): draws random.randint(1, top) and asks by input() until that is guessed; counts guesses.",
        "task_func", """
        import unittest
        from unittest.mock import call, patch

        class TestCases(unittest.TestCase):
            @patch("builtins.print")
            @patch("builtins.input", side_effect=["2", "6", " 4 "])
            @patch("random.randint", return_value=4)
            def test_guesses(self, randint, asked, printed):
                self.assertEqual(task_func(6), 3)
                randint.assert_called_once_with(1, 6)
                self.assertEqual(printed.call_args_list, [call("too low"), call("too high"), call("right")])

            @patch("builtins.print")
            @patch("builtins.input", side_effect=["x", "", "1"])
            @patch("random.randint", return_value=1)
            def test_no_numbers(self, randint, asked, printed):
                self.assertEqual(task_func(10), 1)
                self.assertEqual(asked.call_count, 3)
                printed.assert_any_call("not a number")
                self.assertEqual(printed.call_args, call("right"))

            @patch("builtins.print")
            @patch("builtins.input", side_effect=["5", "5"])
            @patch("random.randint", side_effect=[5, 5, 9])
            def test_games(self, randint, asked, printed):
                self.assertEqual([task_func(9), task_func(9)], [1, 1])
                self.assertEqual(randint.call_count, 2)
        """, """
        import random

        def task_func(top):
            drawn = random.randint(1, top)
            guesses = 0
            while True:
                try:
                    guess = int(input("Your guess: "))
                except ValueError:
                    print("not a number")
                    continue
                guesses += 1
                if guess == drawn:
                    print("right")
                    return guesses
                print("too low" if guess < drawn else "too high")
        """,
        ("random.randint(1, top)", "random.randint(0, top)"),
        ("guess < drawn", "guess > drawn"),
        ('print("not a number")\n            continue',
            'print("not a number")\n            guesses += 1\n            continue'),
    ),
    unittest_suite("patched-smtp",
        "Write task_func(to, subject, body): sends a mail from bot@example.org by smtplib.SMTP('localhost', 25).",
        "task_func", """
        import smtplib
        import unittest
        from unittest.mock import patch

        class TestCases(unittest.TestCase):
            @patch("smtplib.SMTP")
            def test_sends(self, smtp):
                server = smtp.return_value
                self.assertIs(task_func("ann@example.org", "Hi", "line 1\\nline 2"), True)
                smtp.assert_called_once_with("localhost", 25)
                server.sendmail.assert_called_once_with(
                    "bot@example.org", ["ann@example.org"], "Subject: Hi\\n\\nline 1\\nline 2"
                )
                server.quit.assert_called_once_with()

            @patch("smtplib.SMTP")
            def test_refused(self, smtp):
                smtp.return_value.sendmail.side_effect = smtplib.SMTPRecipientsRefused({})
                self.assertIs(task_func("nobody", "Hi", ""), False)
                smtp.return_value.quit.assert_called_once_with()

            @patch("smtplib.SMTP", side_effect=ConnectionRefusedError)
            def test_no_server(self, smtp):
                self.assertIs(task_func("ann@example.org", "Hi", ""), False)

            @patch("smtplib.SMTP")
            def test_lines_in_the_subject(self, smtp):
                with self.assertRaises(ValueError):
                    task_func("ann@example.org", "Hi\\nBcc: all", "")
                smtp.return_value.sendmail.assert_not_called()
        """, """
        import smtplib

        def task_func(to, subject, body):
            if "\\n" in subject:
                raise ValueError("a subject is one line")
            try:
                server = smtplib.SMTP("localhost", 25)
            except OSError:
                return False
            try:
                server.sendmail("bot@example.org", [to], f"Subject: {subject}\\n\\n{body}")
            except smtplib.SMTPException:
                return False
            finally:
                server.quit()
            return True
        """,
        ("    finally:\n        server.quit()\n    return True", "    server.quit()\n    return True"),
        ("{subject}\\n\\n{body}", "{subject}\\n{body}"),
        ("except OSError:", "except smtplib.SMTPException:"),
    ),
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
        ("(.*?)", "(.*)"),
        (' if match else ""', ""),
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
        ('float(os.environ.get("BACKUP_LIMIT", 80))', "80"),
        ("100 * usage.used / usage.total", "usage.used"),
    ),
]
