"""What test and completion hand each other: exact values, the same object twice, exceptions, what is changed later."""

from tests.suites.honest_suite import Suite, check_suite, unittest_suite

SUITES: list[Suite] = [
    check_suite("nan-that-comes-back", "def turned(items): the items in reverse.", "turned", """
        nan = float('nan')
        got = candidate([nan, 1.0])
        assert got == [1.0, nan]
        """, "def turned(items): return items[::-1]", "def turned(items): return [1.0, float('nan')]"),
    check_suite("ints-of-ten-thousand-digits",
        "def next_int(n, more=None): n + 1; with more, the list with 1 at its end.", "next_int", """
        for n in (10 ** 9999, -10 ** 9999):
            assert candidate(n) == n + 1
            assert candidate([n], [n]) == [n, 1]
        """, "def next_int(n, more=None): return n + 1 if more is None else n + [1]",
        "def next_int(n, more=None): return n"),
    check_suite("a-list-given-after-a-call-that-failed",
        "def tidy(items, show): sorts items in place and returns them; show is called with each length, and may fail.",
        "tidy", """
        items, shown = [3, 1, 2], []
        assert candidate(items, shown.append) is items
        assert candidate([], shown.append) == []
        assert candidate(items, shown.append) == [1, 2, 3]
        assert items == [1, 2, 3]
        """, """
        def tidy(items, show):
            items.sort()
            deep = []
            for _ in range(250): deep = [deep]
            try: show(len(items) if items else deep)
            except Exception: pass
            return items
        """,
        ("items.sort()", "items = sorted(items)"),
    ),
    check_suite("the-argument-itself", "def same(items): return the very object.", "same", """
        for items in ([1], {1: 2}, {1}, bytearray(b'a'), [[1]]):
            assert candidate(items) is items
        """, "def same(items): return items",
        ("return items", "return items.copy()"),
    ),
    check_suite("views-of-a-dict", "def views(d): its keys, values and items.", "views", """
        keys, values, items = candidate({'a': 1, 'b': 2})
        assert keys == {'a', 'b'} and keys & {'a', 'x'} == {'a'}
        assert isinstance(keys, type({}.keys()))
        assert list(values) == [1, 2] and len(values) == 2
        assert ('b', 2) in items and sorted(items) == [('a', 1), ('b', 2)]
        """, "def views(d): return d.keys(), d.values(), d.items()",
        "def views(d): return list(d), list(d.values()), list(d.items())"),
    check_suite("an-object-around-a-value", "def hidden(value): an object that is equal to nothing else.", "hidden",
        """
        assert (candidate(3) == 3) is False
        assert candidate(3) != 3 and candidate(3) != candidate(3)
        assert candidate(3) not in [3, 'x', None]
        """, """
        class Hidden:
            def __init__(self, value): self.value = value
        def hidden(value): return Hidden(value)
        """, "def hidden(value): return value"),
    check_suite("namespaces-that-are-equal", "def point(x, y): a SimpleNamespace of the two.", "point", """
        assert candidate(1, 2) == SimpleNamespace(x=1, y=2)
        assert SimpleNamespace(x=1, y=2) == candidate(1, 2)
        assert candidate(1, 2).x == 1
        """, """
        from types import SimpleNamespace
        def point(x, y): return SimpleNamespace(x=x, y=y)
        """,
        ("y=y", "y=x"),
        before="from types import SimpleNamespace"),
    check_suite("answers-that-are-added-and-ordered",
        "def point(x): an object with x; two of them add up, and the smaller x comes first.", "point", """
        assert (candidate(1) + candidate(2)).x == 3
        assert [each.x for each in sorted([candidate(5), candidate(4)])] == [4, 5]
        assert candidate(1) < candidate(2)
        """, """
        class Vector:
            def __init__(self, x): self.x = x
            def __add__(self, other): return Vector(self.x + other.x)
            def __lt__(self, other): return self.x < other.x
        def point(x): return Vector(x)
        """,
        ("self.x < other.x", "self.x > other.x"),
    ),
    unittest_suite("assert-raises-regex",
        "Write validate_email(text), which raises ValueError, its message saying why.", "validate_email", """
        import unittest

        class TestEmail(unittest.TestCase):
            def test_good(self):
                self.assertTrue(validate_email("a.b@example.org"))

            def test_bad(self):
                with self.assertRaisesRegex(ValueError, r"^no @ in 'example\\.org'$"):
                    validate_email("example.org")
                self.assertRaisesRegex(ValueError, "2 @", validate_email, "a@b@c")
                with self.assertRaisesRegex(ValueError, "(?i)EMPTY"):
                    validate_email("@x")
        """, """
        def validate_email(text):
            parts = text.split("@")
            if len(parts) == 1:
                raise ValueError(f"no @ in {text!r}")
            if len(parts) > 2:
                raise ValueError(f"{len(parts) - 1} @ in {text!r}")
            if not all(parts):
                raise ValueError("empty part")
            return True
        """,
        ("no @ in {text!r}", "no @ in {text}"),
    ),
    unittest_suite("chained-exceptions",
        "Write ConfigError (an Exception) and read_port(config), which raises it from what went wrong.", "read_port",
        """
        import unittest

        class TestPort(unittest.TestCase):
            def test_port(self):
                self.assertEqual(read_port({"port": "80"}), 80)

            def test_missing(self):
                with self.assertRaises(ConfigError) as caught:
                    read_port({})
                self.assertIsInstance(caught.exception.__cause__, KeyError)
                self.assertEqual(caught.exception.__cause__.args, ("port",))

            def test_bad(self):
                try:
                    read_port({"port": "http"})
                except ConfigError as error:
                    self.assertIsInstance(error.__cause__, ValueError)
                    self.assertIn("http", str(error.__cause__))
                else:
                    self.fail("no ConfigError")
        """, """
        class ConfigError(Exception):
            pass

        def read_port(config):
            try:
                return int(config["port"])
            except (KeyError, ValueError) as error:
                raise ConfigError("no port") from error
        """,
        ("from error", "from None"),
    ),
    unittest_suite("methods-of-an-exception",
        "Write the exception ApiError(status, detail) with to_dict() and a property retryable; and fetch(status).",
        "fetch", """
        import unittest

        class TestApiError(unittest.TestCase):
            def test_raised(self):
                with self.assertRaises(ApiError) as caught:
                    fetch(503)
                self.assertEqual(caught.exception.to_dict(), {"status": 503, "detail": "Service Unavailable"})
                self.assertTrue(caught.exception.retryable)
                self.assertEqual(str(caught.exception), "[503] Service Unavailable")

            def test_constructed(self):
                error = ApiError(404, "Not Found")
                self.assertFalse(error.retryable)
                self.assertEqual(str(error), "[404] Not Found")
                with self.assertRaises(ApiError):
                    raise error

            def test_fine(self):
                self.assertEqual(fetch(200), "OK")
        """, """
        from http import HTTPStatus

        class ApiError(Exception):
            def __init__(self, status, detail):
                super().__init__(status, detail)
                self.status, self.detail = status, detail

            @property
            def retryable(self):
                return self.status >= 500

            def to_dict(self):
                return {"status": self.status, "detail": self.detail}

            def __str__(self):
                return f"[{self.status}] {self.detail}"

        def fetch(status):
            phrase = HTTPStatus(status).phrase
            if status >= 400:
                raise ApiError(status, phrase)
            return phrase
        """,
        ("return self.status >= 500", "return self.status >= 400"),
    ),
]
