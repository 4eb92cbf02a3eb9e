"""Tests that put mocks in the place of library names: the environment, files, printing, identifiers and hosts."""

from __future__ import annotations

from tests.suites.honest_suite import Suite, unittest_suite

SUITES: list[Suite] = [
    unittest_suite("settings-from-a-replaced-environment",
        "Write task_func(prefix): os.environ's PREFIX_NAME as {name: value}; digits are int, yes and no are bool.",
        "task_func", """
        import os
        import unittest
        from unittest.mock import patch

        class TestCases(unittest.TestCase):
            @patch.dict(os.environ, {"APP_PORT": "8080", "APP_NAME": "shop", "APPLE": "1", "PORT": "1"}, clear=True)
            def test_prefix(self):
                settings = task_func("APP")
                self.assertEqual(settings, {"port": 8080, "name": "shop"})
                self.assertIsInstance(settings["port"], int)

            def test_values(self):
                values = {"yes": True, "No": False, "YES": True, "0": 0, "-7": "-7", "": "", "1.5": "1.5"}
                for text, value in values.items():
                    with self.subTest(text), patch.dict(os.environ, {"X_MY_KEY": text}):
                        found = task_func("X")["my_key"]
                        self.assertEqual(found, value)
                        self.assertIs(type(found), type(value))

            def test_after_the_patch(self):
                before = dict(os.environ)
                with patch.dict("os.environ", {"ONLY_HERE_A": "1"}):
                    os.environ["ONLY_HERE_B"] = "2"
                    self.assertEqual(sorted(task_func("ONLY_HERE")), ["a", "b"])
                self.assertEqual(task_func("ONLY_HERE"), {})
                self.assertEqual(dict(os.environ), before)

            def test_empty_environment(self):
                with patch.dict(os.environ, clear=True):
                    self.assertEqual(task_func("APP"), {})
        """, """
        import os

        def task_func(prefix):
            settings = {}
            for name, text in os.environ.items():
                if name.startswith(prefix + "_"):
                    value = text
                    if text.isdigit():
                        value = int(text)
                    elif text.lower() in ("yes", "no"):
                        value = text.lower() == "yes"
                    settings[name[len(prefix) + 1:].lower()] = value
            return settings
        """,
        ('name.startswith(prefix + "_")', "name.startswith(prefix)"),
        ('text.lower() in ("yes", "no")', 'text in ("yes", "no")'),
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
        ("except shutil.SameFileError:", "except OSError:"),
        ("os.path.relpath(path, folder)", "path"),
    ),
    unittest_suite("menu-with-replaced-input-and-print",
        "Write task_func(items): prints the numbered items, asks by input() until 'done'; the list of chosen items.",
        "task_func", """
        import unittest
        from unittest.mock import call, patch

        ITEMS = ["soup", "rice", "tea"]

        class TestCases(unittest.TestCase):
            @patch("builtins.print")
            @patch("builtins.input", side_effect=["2", "3", "2", "done", "1"])
            def test_choice(self, asked, printed):
                self.assertEqual(task_func(ITEMS), ["rice", "tea", "rice"])
                self.assertEqual(asked.call_count, 4)
                lines = [call(f"{n}. {item}") for n, item in enumerate(ITEMS, 1)]
                self.assertEqual(printed.call_args_list, lines + [call("3 chosen")])
                printed.assert_called_with("3 chosen")

            @patch("builtins.print")
            @patch("builtins.input", side_effect=["0", "4", "-1", "x", "1", " DONE "])
            def test_bad_choices(self, asked, printed):
                self.assertEqual(task_func(ITEMS), ["soup"])
                for text in ("0", "4", "-1", "x"):
                    printed.assert_any_call(f"no such item: {text}")
                self.assertEqual(printed.call_count, 3 + 4 + 1)

            @patch("builtins.print")
            def test_end_of_input(self, printed):
                with patch("builtins.input", side_effect=["1", EOFError]) as asked:
                    self.assertEqual(task_func(["bread"]), ["bread"])
                asked.assert_called_with("> ")
                printed.assert_called_with("1 chosen")
        """, """
        def task_func(items):
            for n, item in enumerate(items, 1):
                print(f"{n}. {item}")
            chosen = []
            while True:
                try:
                    answer = input("> ").strip()
                except EOFError:
                    break
                if answer.lower() == "done":
                    break
                if answer.isdigit() and 1 <= int(answer) <= len(items):
                    chosen.append(items[int(answer) - 1])
                else:
                    print(f"no such item: {answer}")
            print(f"{len(chosen)} chosen")
            return chosen
        """,
        ("1 <= int(answer) <= len(items)", "int(answer) <= len(items)"),
        ("chosen.append(items[int(answer) - 1])", "chosen.append(items[int(answer)])"),
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
        ("        used.add(ticket)\n", ""),
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
        ("except OSError:", "except Exception:"),
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
        ("None if done.returncode else ", ""),
        (".strip()", ""),
    ),
]
