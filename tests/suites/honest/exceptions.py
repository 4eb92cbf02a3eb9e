"""Exceptions: builtin ones and the completion's own, raised, caught, made by the test and handed in."""

from __future__ import annotations

from tests.suites.honest_suite import Suite, check_suite, unittest_suite

SUITES: list[Suite] = [
    check_suite("value-error-or-assert-false",
        'def parse_age(text):\n    """The age in the text. Raises ValueError where it is none."""', "parse_age", """
        assert candidate(" 42 ") == 42
        for bad in ["", "x", "-1", "151"]:
            try:
                candidate(bad)
            except ValueError:
                pass
            else:
                assert False, "no ValueError for " + repr(bad)
        """, """
        def parse_age(text):
            age = int(text)
            if not 0 <= age <= 150:
                raise ValueError(f"{age} is no age")
            return age
        """,
        ("if not 0 <= age <= 150:", "if age > 150:"),
        ('raise ValueError(f"{age} is no age")', "return None"),
    ),
    unittest_suite("assert-raises-builtins",
        "Write element(items, index): the element, TypeError where index is no int, IndexError where there is none.",
        "element", """
        import unittest

        class TestElement(unittest.TestCase):
            def test_found(self):
                self.assertEqual(element("abc", 1), "b")

            def test_type(self):
                with self.assertRaises(TypeError) as caught:
                    element([1], "0")
                self.assertEqual(str(caught.exception), "index must be int, not str")
                self.assertRaises(TypeError, element, [1], 0.0)

            def test_index(self):
                with self.assertRaises(IndexError):
                    element([1], 1)
                with self.assertRaises((KeyError, IndexError)):
                    element([1], -1)
        """, """
        def element(items, index):
            if not isinstance(index, int):
                raise TypeError(f"index must be int, not {type(index).__name__}")
            if index < 0:
                raise IndexError(index)
            return items[index]
        """,
        ("if index < 0:", "if index < -1:"),
        ("{type(index).__name__}", "{type(index)}"),
    ),
    unittest_suite("own-exception-with-attributes",
        "Write InsufficientFundsError(balance, amount), an Exception, and withdraw(balance, amount) that raises it.",
        "withdraw", """
        import unittest

        class TestWithdraw(unittest.TestCase):
            def test_enough(self):
                self.assertEqual(withdraw(100, 30), 70)

            def test_not_enough(self):
                with self.assertRaises(InsufficientFundsError) as context:
                    withdraw(10, 30)
                self.assertEqual(context.exception.balance, 10)
                self.assertEqual(context.exception.missing, 20)
                self.assertEqual(str(context.exception), "20 more needed")
                self.assertIsInstance(context.exception, Exception)
                self.assertNotIsInstance(context.exception, ValueError)
        """, """
        class InsufficientFundsError(Exception):
            def __init__(self, balance, amount):
                super().__init__(f"{amount - balance} more needed")
                self.balance = balance
                self.missing = amount - balance

        def withdraw(balance, amount):
            if amount > balance:
                raise InsufficientFundsError(balance, amount)
            return balance - amount
        """,
        ("self.missing = amount - balance", "self.missing = balance - amount"),
        ("raise InsufficientFundsError(balance, amount)", "raise ValueError('too little')"),
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
    check_suite("made-by-the-test-and-handed-in",
        "Write the exception AppError(message, code=500) and def describe(error) for any exception.", "describe", """
        error = AppError("disk full", 507)
        assert candidate(error) == "AppError 507: disk full"
        assert candidate(AppError("x")) == "AppError 500: x"
        assert candidate(ValueError("bad")) == "ValueError: bad"
        assert candidate(KeyError("k")) == "KeyError: 'k'"
        assert error.code == 507 and error.args == ("disk full",)
        """, """
        class AppError(Exception):
            def __init__(self, message, code=500):
                super().__init__(message)
                self.code = code

        def describe(error):
            name = type(error).__name__
            if isinstance(error, AppError):
                return f"{name} {error.code}: {error}"
            return f"{name}: {error}"
        """,
        ("{error.code}: {error}", "{error.code}: {error!r}"),
    ),
    check_suite("exception-hierarchy",
        "StoreError, its subclasses NotFoundError and DuplicateError, and class Store with add(key, value), get(key).",
        "Store", """
        assert issubclass(NotFoundError, StoreError) and issubclass(DuplicateError, StoreError)
        assert issubclass(StoreError, Exception) and not issubclass(NotFoundError, DuplicateError)
        store = candidate()
        store.add("a", 1)
        assert store.get("a") == 1
        try:
            store.get("b")
            assert False
        except StoreError as error:
            assert type(error) is NotFoundError
            assert error.args == ("b",)
        try:
            store.add("a", 2)
        except NotFoundError:
            assert False, "the wrong one"
        except DuplicateError:
            pass
        assert store.get("a") == 1
        """, """
        class StoreError(Exception): pass
        class NotFoundError(StoreError): pass
        class DuplicateError(StoreError): pass

        class Store:
            def __init__(self):
                self._values = {}

            def add(self, key, value):
                if key in self._values:
                    raise DuplicateError(key)
                self._values[key] = value

            def get(self, key):
                if key not in self._values:
                    raise NotFoundError(key)
                return self._values[key]
        """,
        ("if key in self._values:\n            raise DuplicateError(key)\n        self._values[key] = value",
            "if key in self._values:\n            self._values[key] = value\n"
            "            raise DuplicateError(key)\n        self._values[key] = value"),
        ("raise NotFoundError(key)", "raise StoreError(key)"),
    ),
    check_suite("retry-of-a-function-of-the-test",
        'def retry(function, times):\n    """Calls it until it raises no ConnectionError, at most so many times."""',
        "retry", """
        calls = []
        def flaky():
            calls.append(len(calls))
            if len(calls) < 3:
                raise ConnectionError("down")
            return "up"
        assert candidate(flaky, 5) == "up"
        assert calls == [0, 1, 2]

        def broken():
            calls.append("x")
            raise ConnectionError("attempt %d" % calls.count("x"))
        try:
            candidate(broken, 3)
            raise AssertionError("nothing was raised")
        except ConnectionError as error:
            assert str(error) == "attempt 3"

        def other():
            calls.append("other")
            raise KeyError("other")
        try:
            candidate(other, 3)
        except KeyError:
            pass
        assert calls.count("other") == 1
        """, """
        def retry(function, times):
            for attempt in range(times):
                try:
                    return function()
                except ConnectionError:
                    if attempt == times - 1:
                        raise
        """,
        ("except ConnectionError:", "except Exception:"),
        ("range(times)", "range(times - 1)"),
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
        ("(KeyError, ValueError)", "KeyError"),
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
    check_suite("errors-as-results",
        'def run_all(functions):\n    """The results in order; of a function that raised, the exception."""', "run_all",
        """
        boom = RuntimeError("boom")
        def fail():
            raise boom
        results = candidate([lambda: 1, fail, lambda: [][0], lambda: None])
        assert len(results) == 4
        assert results[0] == 1 and results[3] is None
        assert isinstance(results[1], RuntimeError) and str(results[1]) == "boom"
        assert isinstance(results[2], IndexError)
        assert [type(r).__name__ for r in results] == ["int", "RuntimeError", "IndexError", "NoneType"]
        """, """
        def run_all(functions):
            results = []
            for function in functions:
                try:
                    results.append(function())
                except Exception as error:
                    results.append(error)
            return results
        """,
        ("results.append(error)", "results.append(str(error))"),
    ),
    check_suite("groups-of-exceptions",
        'def check_all(values):\n    """Raises an ExceptionGroup of a ValueError for each value that is negative."""',
        "check_all", """
        assert candidate([1, 2]) == 3
        try:
            candidate([1, -2, -3])
        except ExceptionGroup as group:
            assert group.message == "negative values"
            assert [str(e) for e in group.exceptions] == ["-2", "-3"]
            assert all(isinstance(e, ValueError) for e in group.exceptions)
        else:
            assert False
        """, """
        def check_all(values):
            errors = [ValueError(str(value)) for value in values if value < 0]
            if errors:
                raise ExceptionGroup("negative values", errors)
            return sum(values)
        """,
        ("raise ExceptionGroup", "errors = errors[:1]\n        raise ExceptionGroup"),
    ),
    check_suite("cleans-up-and-passes-on", "def with_resource(acquire, use, release):", "with_resource", """
        log = []
        def use(resource):
            log.append(resource)
            if resource == "bad":
                raise OSError(5, "read failed")
            return resource.upper()
        assert candidate(lambda: "good", use, log.append) == "GOOD"
        assert log == ["good", "good"]
        log.clear()
        try:
            candidate(lambda: "bad", use, log.append)
            assert False
        except OSError as error:
            assert error.errno == 5 and error.strerror == "read failed"
        assert log == ["bad", "bad"]
        """, """
        def with_resource(acquire, use, release):
            resource = acquire()
            try:
                return use(resource)
            finally:
                release(resource)
        """, """
        def with_resource(acquire, use, release):
            resource = acquire()
            result = use(resource)
            release(resource)
            return result
        """),
    unittest_suite("lookup-errors",
        "Write the class Registry with register(name, value) and lookup(name), and UnknownNameError, a KeyError.",
        "Registry", """
        import unittest

        class TestRegistry(unittest.TestCase):
            def setUp(self):
                self.registry = Registry()
                self.registry.register("a", 1)

            def test_lookup(self):
                self.assertEqual(self.registry.lookup("a"), 1)

            def test_unknown(self):
                for kind in (UnknownNameError, KeyError, LookupError):
                    with self.subTest(kind=kind.__name__), self.assertRaises(kind):
                        self.registry.lookup("b")

            def test_suggestion(self):
                with self.assertRaises(UnknownNameError) as caught:
                    self.registry.lookup("A")
                self.assertEqual(caught.exception.name, "A")
                self.assertEqual(caught.exception.known, ["a"])
        """, """
        class UnknownNameError(KeyError):
            def __init__(self, name, known):
                super().__init__(name)
                self.name = name
                self.known = known

        class Registry:
            def __init__(self):
                self.values = {}

            def register(self, name, value):
                self.values[name] = value

            def lookup(self, name):
                try:
                    return self.values[name]
                except KeyError:
                    raise UnknownNameError(name, sorted(self.values)) from None
        """,
        ("class UnknownNameError(KeyError)", "class UnknownNameError(Exception)"),
        ("sorted(self.values)", "self.values"),
    ),
]
