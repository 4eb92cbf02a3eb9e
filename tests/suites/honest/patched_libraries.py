"""Tests that put mocks in the place of library names: the environment, files, printing, identifiers and hosts."""

from __future__ import annotations

from tests.suites.honest_suite import Suite, unittest_suite

SUITES: list[Suite] = [
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
    unittest_suite("backup-with-replaced-copies",
        "Write task_func(folder, target): os.walk, shutil.copy of each *.cfg to target with the folders joined by '-'.",
        "task_func", """
        import os
        import shutil
        import unittest
        from unittest.mock import MagicMock, call, patch

        TREE = [
            ("etc", ["app", "old"], ["main.cfg", "notes.txt"]),
            (os.path.join("etc", "app"), ["deep"], ["main.cfg", "cfg", "x.cfg.bak"]),
            (os.path.join("etc", "app", "deep"), [], ["z.cfg"]),
            (os.path.join("etc", "old"), [], []),
        ]

        class TestCases(unittest.TestCase):
            @patch("shutil.copy")
            @patch("os.walk", return_value=TREE)
            def test_copies(self, walk, copy):
                self.assertEqual(task_func("etc", "save"), 3)
                walk.assert_called_once_with("etc")
                expected = []
                for parts in (["main.cfg"], ["app", "main.cfg"], ["app", "deep", "z.cfg"]):
                    source, goal = os.path.join("etc", *parts), os.path.join("save", "-".join(parts))
                    expected.append(call(source, goal))
                self.assertEqual(copy.call_args_list, expected)

            @patch("os.walk", return_value=TREE[:1])
            @patch("shutil.copy", side_effect=PermissionError("read only"))
            def test_denied(self, copy, walk):
                with self.assertRaises(PermissionError):
                    task_func("etc", "save")
                self.assertEqual(copy.call_count, 1)

            @patch("os.walk", return_value=TREE)
            @patch("shutil.copy", side_effect=[None, shutil.SameFileError("same"), None])
            def test_same_file(self, copy, walk):
                self.assertEqual(task_func("etc", "etc"), 2)
                self.assertEqual(copy.call_count, 3)

            def test_empty(self):
                with patch("os.walk", MagicMock(return_value=[])), patch("shutil.copy") as copy:
                    self.assertEqual(task_func("none", "save"), 0)
                copy.assert_not_called()
        """, """
        import os
        import shutil

        def task_func(folder, target):
            copied = 0
            for root, _, names in os.walk(folder):
                for name in names:
                    if not name.endswith(".cfg"):
                        continue
                    path = os.path.join(root, name)
                    flat = os.path.relpath(path, folder).replace(os.sep, "-")
                    try:
                        shutil.copy(path, os.path.join(target, flat))
                    except shutil.SameFileError:
                        continue
                    copied += 1
            return copied
        """,
        ("os.path.relpath(path, folder)", "path"),
    ),
    unittest_suite("tickets-with-replaced-identifiers",
        "Write task_func(names, taken): {name: id}, id the first 6 signs of uuid.uuid4().hex, drawn again while taken.",
        "task_func", """
        import unittest
        import uuid
        from unittest.mock import MagicMock, Mock, patch

        def identifier(text):
            return Mock(hex=text.ljust(32, "0"))

        class TestCases(unittest.TestCase):
            @patch("uuid.uuid4", return_value=MagicMock(hex="abcdef0123456789abcdef0123456789"))
            def test_first_signs(self, uuid4):
                self.assertEqual(task_func(["ann"], []), {"ann": "abcdef"})
                uuid4.assert_called_once_with()

            def test_drawn_again(self):
                drawn = [identifier(text) for text in ("aaa", "bbb1", "aaa", "bbb1", "ccc22", "ddd")]
                with patch("uuid.uuid4", side_effect=drawn) as uuid4:
                    tickets = task_func(["x", "y", "z"], {"aaa000"})
                self.assertEqual(tickets, {"x": "bbb100", "y": "ccc220", "z": "ddd000"})
                self.assertEqual(uuid4.call_count, len(drawn))

            def test_taken_stays(self):
                taken = ["111111"]
                with patch("uuid.uuid4", side_effect=[identifier("111111"), identifier("222222")]):
                    self.assertEqual(list(task_func(["one"], taken).values()), ["222222"])
                self.assertListEqual(taken, ["111111"])

            def test_none(self):
                with patch.object(uuid, "uuid4") as uuid4:
                    self.assertEqual(task_func([], ["1"]), {})
                self.assertFalse(uuid4.called)

            def test_real_ones(self):
                tickets = task_func([f"guest {n}" for n in range(20)], [])
                self.assertEqual(len(set(tickets.values())), 20)
                for ticket in tickets.values():
                    self.assertRegex(ticket, "^[0-9a-f]{6}$")
        """, """
        import uuid

        def task_func(names, taken):
            used = set(taken)
            tickets = {}
            for name in names:
                ticket = uuid.uuid4().hex[:6]
                while ticket in used:
                    ticket = uuid.uuid4().hex[:6]
                used.add(ticket)
                tickets[name] = ticket
            return tickets
        """,
        ("uuid.uuid4().hex[:6]", "str(uuid.uuid4())[:6]"),
    ),
    unittest_suite("hosts-with-a-replaced-resolver",
        "Write task_func(hosts, tries=2): {host: address} by socket.gethostbyname, None after so many failures.",
        "task_func", """
        import socket
        import unittest
        from unittest.mock import call, patch

        class TestCases(unittest.TestCase):
            @patch("socket.gethostbyname", side_effect=["10.0.0.1", "10.0.0.2"])
            def test_addresses(self, resolve):
                found = task_func(["a.example", "b.example", "a.example"])
                self.assertEqual(found, {"a.example": "10.0.0.1", "b.example": "10.0.0.2"})
                self.assertEqual(resolve.call_args_list, [call("a.example"), call("b.example")])

            @patch("socket.gethostbyname")
            def test_second_try(self, resolve):
                resolve.side_effect = [socket.gaierror("busy"), "10.1.1.1", socket.gaierror(-2, "none"), TimeoutError]
                self.assertEqual(task_func(["slow", "gone"]), {"slow": "10.1.1.1", "gone": None})
                self.assertEqual([each.args[0] for each in resolve.call_args_list], ["slow"] * 2 + ["gone"] * 2)

            @patch("socket.gethostbyname", side_effect=OSError("down"))
            def test_tries(self, resolve):
                for tries in range(1, 5):
                    resolve.reset_mock()
                    self.assertEqual(task_func(["x"], tries), {"x": None})
                    self.assertEqual(resolve.call_count, tries)

            @patch("socket.gethostbyname", side_effect=UnicodeError("label too long"))
            def test_bad_name(self, resolve):
                with self.assertRaisesRegex(ValueError, "too long"):
                    task_func(["." * 80])
                resolve.assert_called_once()

            def test_by_a_table(self):
                table = {f"host{n}": f"192.168.0.{n}" for n in range(5)}
                with patch("socket.gethostbyname", side_effect=table.get) as resolve:
                    self.assertDictEqual(task_func(sorted(table, reverse=True)), table)
                self.assertEqual(resolve.call_count, len(table))
        """, """
        import socket

        def task_func(hosts, tries=2):
            addresses = {}
            for host in dict.fromkeys(hosts):
                addresses[host] = None
                for _ in range(tries):
                    try:
                        addresses[host] = socket.gethostbyname(host)
                        break
                    except OSError:
                        continue
            return addresses
        """,
        ("in dict.fromkeys(hosts):", "in hosts:"),
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
