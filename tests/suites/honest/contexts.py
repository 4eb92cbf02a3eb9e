"""Context managers of the completion's, entered by the test."""

from __future__ import annotations

from tests.suites.honest_suite import Suite, check_suite, unittest_suite

SUITES: list[Suite] = [
    check_suite("transaction",
        "class Transaction(account), a context manager: it takes back what was done when an exception passes.",
        "Transaction", """
        account = {"balance": 10}
        with candidate(account) as transaction:
            account["balance"] -= 3
            assert transaction.active
        assert account == {"balance": 7} and not transaction.active
        try:
            with candidate(account):
                account["balance"] -= 9
                raise ValueError("overdrawn")
        except ValueError as error:
            assert str(error) == "overdrawn"
        else:
            assert False, "the exception did not pass"
        assert account == {"balance": 7}
        """, """
        class Transaction:
            def __init__(self, account):
                self.account, self.active = account, False

            def __enter__(self):
                self.before, self.active = dict(self.account), True
                return self

            def __exit__(self, kind, error, traceback):
                self.active = False
                if kind is not None:
                    self.account.clear()
                    self.account.update(self.before)
                return False
        """,
        ("return False", "return True"),
        ("if kind is not None", "if kind is None"),
    ),
    unittest_suite("contextmanager-function",
        "def tag(name, out), a contextmanager that appends '<name>' and '</name>' to the list out.", "tag", """
        import unittest

        class TestTag(unittest.TestCase):
            def setUp(self):
                self.out = []

            def test_nested(self):
                with tag("a", self.out) as depth, tag("b", self.out):
                    self.out.append("x")
                self.assertEqual(self.out, ["<a>", "<b>", "x", "</b>", "</a>"])
                self.assertEqual(depth, 1)

            def test_error(self):
                with self.assertRaises(ZeroDivisionError):
                    with tag("p", self.out):
                        self.out.append(1 // 0)
                self.assertEqual(self.out, ["<p>", "</p>"])
        """, """
        from contextlib import contextmanager

        @contextmanager
        def tag(name, out):
            out.append(f"<{name}>")
            try:
                yield len(out)
            finally:
                out.append(f"</{name}>")
        """,
        ("    try:\n        yield len(out)\n    finally:\n        out",
            "    yield len(out)\n    if True:\n        out"),
    ),
    unittest_suite("suppresses-some-exceptions",
        "class Ignoring(*kinds), a context manager that passes over these exceptions and keeps the last as caught.",
        "Ignoring", """
        import unittest

        class TestIgnoring(unittest.TestCase):
            def test_ignored(self):
                with Ignoring(KeyError, IndexError) as ignoring:
                    {}["x"]
                    self.fail("not reached")
                self.assertIsInstance(ignoring.caught, KeyError)
                self.assertEqual(ignoring.caught.args, ("x",))

            def test_subclass(self):
                with Ignoring(LookupError) as ignoring:
                    [][3]
                self.assertIs(type(ignoring.caught), IndexError)

            def test_not_ignored(self):
                with self.assertRaises(ZeroDivisionError):
                    with Ignoring(KeyError):
                        1 / 0

            def test_nothing_raised(self):
                with Ignoring(KeyError) as ignoring:
                    pass
                self.assertIsNone(ignoring.caught)
        """, """
        class Ignoring:
            def __init__(self, *kinds):
                self.kinds, self.caught = kinds, None

            def __enter__(self):
                return self

            def __exit__(self, kind, error, traceback):
                if kind is not None and issubclass(kind, self.kinds):
                    self.caught = error
                    return True
                return False
        """,
        ("issubclass(kind, self.kinds)", "kind in self.kinds"),
        ("return True\n        return False", "return True\n        return True"),
    ),
    check_suite("exit-sees-the-exception",
        "class Recorder, a context manager; log is a list of 'enter' and 'exit' or 'exit NAME: TEXT' of the exception.",
        "Recorder", """
        recorder = candidate()
        with recorder as same:
            assert same is recorder
            assert recorder.log == ["enter"]
        for error in [OSError("disk"), RuntimeError("x")]:
            try:
                with recorder:
                    raise error
            except type(error) as seen:
                assert seen is error
        assert recorder.log == ["enter", "exit", "enter", "exit OSError: disk", "enter", "exit RuntimeError: x"]
        for i in range(2):
            with recorder:
                if i == 0:
                    continue
                break
        assert recorder.log[-4:] == ["enter", "exit"] * 2
        def early():
            with recorder:
                return "value"
        assert early() == "value" and len(recorder.log) == 12
        """, """
        class Recorder:
            def __init__(self):
                self.log = []

            def __enter__(self):
                self.log.append("enter")
                return self

            def __exit__(self, kind, error, traceback):
                self.log.append(f"exit {kind.__name__}: {error}" if kind else "exit")
        """,
        ("{kind.__name__}", "{kind}"),
        ("return self", "pass"),
    ),
    unittest_suite("exit-stack-of-resources",
        "class Resource(name, log), open/close written to log; def open_all(names, log), a contextmanager of a list.",
        "open_all", """
        import unittest
        from contextlib import ExitStack

        class TestResources(unittest.TestCase):
            def test_open_all(self):
                log = []
                with open_all(["a", "b"], log) as resources:
                    self.assertEqual([r.name for r in resources], ["a", "b"])
                    self.assertTrue(all(r.is_open for r in resources))
                self.assertFalse(any(r.is_open for r in resources))
                self.assertEqual(log, ["open a", "open b", "close b", "close a"])

            def test_own_stack(self):
                log = []
                with ExitStack() as stack:
                    first = stack.enter_context(Resource("x", log))
                    stack.enter_context(Resource("y", log))
                    stack.callback(log.append, "callback")
                    self.assertEqual(first.name, "x")
                self.assertEqual(log, ["open x", "open y", "callback", "close y", "close x"])
        """, """
        from contextlib import ExitStack, contextmanager

        class Resource:
            def __init__(self, name, log):
                self.name, self.log, self.is_open = name, log, False

            def __enter__(self):
                self.log.append(f"open {self.name}")
                self.is_open = True
                return self

            def __exit__(self, *exception):
                self.log.append(f"close {self.name}")
                self.is_open = False

        @contextmanager
        def open_all(names, log):
            with ExitStack() as stack:
                yield [stack.enter_context(Resource(name, log)) for name in names]
        """,
        ("    with ExitStack() as stack:\n"
            "        yield [stack.enter_context(Resource(name, log)) for name in names]\n",
            "    resources = [Resource(name, log).__enter__() for name in names]\n    yield resources\n"
            "    for resource in resources:\n        resource.__exit__(None, None, None)\n"),
    ),
    check_suite("reentrant-indent",
        "class Indenter with with-blocks that indent, and write(text); text() is all lines.", "Indenter", """
        out = candidate()
        out.write("a")
        with out:
            out.write("b")
            with out:
                out.write("c")
            out.write("d")
        out.write("e")
        assert out.text() == "a\\n  b\\n    c\\n  d\\ne"
        """, """
        class Indenter:
            def __init__(self):
                self.level, self.lines = 0, []

            def __enter__(self):
                self.level += 1
                return self

            def __exit__(self, *exception):
                self.level -= 1

            def write(self, text):
                self.lines.append("  " * self.level + text)

            def text(self):
                return "\\n".join(self.lines)
        """,
        ("self.level -= 1", "self.level = 0"),
    ),
]
