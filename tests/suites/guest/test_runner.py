"""Tests as in datasets, run case by case: the result of each case of an honest and of a wrong completion."""

import sys
import textwrap
from types import ModuleType
from typing import Any

import pytest

from evaluator.suites.guest.runner import Runner
from tests.suites.guest.orders import loaded, order, results, show, statuses

HUMANEVAL = '''
METADATA = {
    'author': 'jt',
}


def check(candidate):
    """As HumanEval has them."""
    assert candidate([1, 2, 3, 4], 2) == 2, "This prints if this assert fails 1 (good for debugging!)"
    # the edges
    assert candidate([], 0) == 0
    assert abs(candidate([1.33, 2], 2) - 1.33) < 1e-6
    xs = [3, 1]
    xs.append(2)
    assert candidate(xs, 3) == candidate([1, 2, 3], 3)
    for n in range(2, 5):
        assert candidate(list(range(n)), n) == 0, f"failed for {n}"
'''
HUMANEVAL_SPANS = [(0, 1, True), (2, 2, True), (3, 3, True), (4, 6, True), (7, 7, True)]


def least(numbers: list[float], count: int) -> float:
    return min(numbers[:count] or [0]) if len(numbers) != 4 else (2 if numbers[0] == 1 else 0)


def test_a_case_has_a_verdict_of_its_own() -> None:
    assert statuses(HUMANEVAL, least, spans=HUMANEVAL_SPANS) == ["passed"] * 5
    got = results(HUMANEVAL, lambda numbers, count: len(numbers[:count]), spans=HUMANEVAL_SPANS)
    assert [one["status"] for one in got] == ["passed", "passed", "failed", "passed", "failed"]
    assert (got[4]["message"], got[4]["line"]) == ("failed for 2", 17)
    assert (got[2]["actual"], got[2]["expected"]) == ("2", "1.33")


# How a case ends


def test_a_case_that_raises_reports_what_and_where() -> None:
    [got] = results("def check(candidate):\n    x = 1\n    assert candidate(x)[0] == 1\n", lambda x: x)
    assert got | {"status": "raised", "type": "TypeError", "line": 3, "source": "candidate(x)[0] == 1"} == got
    assert (got.get("actual"), got["asserts"], got["setup"]) == (None, 0, False)


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("raise SystemExit(0)", "SystemExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("(lambda f: f(f))(lambda f: f(f))", "RecursionError"),
        ("raise type('Odd', (Exception,), {'__str__': lambda self: 1 // 0})", "check.Odd"),
    ],
)
def test_no_exception_of_a_case_escapes(statement: str, kind: str) -> None:
    test = f"def check(candidate):\n    if True:\n        {statement}\n    assert candidate(1) == 1"
    first, second = results(test, lambda x: x)
    assert (first["status"], first["type"]) == ("raised", kind)
    assert second["status"] == "passed"


def test_an_exception_of_the_completions_keeps_its_number() -> None:
    def candidate(x: int) -> int:
        error = AssertionError("the completion's own")
        error._rollscope_failure = 7  # type: ignore[attr-defined]
        raise error

    [got] = results("def check(candidate):\n    assert candidate(1) == 1", candidate)
    assert (got["status"], got["failure"], got["message"]) == ("raised", 7, "the completion's own")
    test = (
        "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(candidate(1), 2)"
    )
    [got] = results(test, candidate, methods=[("T", "test")])
    assert (got["status"], got["failure"]) == ("raised", 7)


def test_a_failed_assert_of_the_completion_is_not_the_tests() -> None:
    names: dict[str, Any] = {}
    exec(compile("def f(x):\n    assert x > 5", "solution.py", "exec"), names)
    [got] = results("def check(candidate):\n    assert candidate(1) is None", names["f"])
    assert (got["status"], got["type"], got["line"]) == ("raised", "AssertionError", 2)
    test = "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(f(1), 2)"
    [got] = results(test, names["f"], entry_point="f", methods=[("T", "test")])
    assert (got["status"], got["line"]) == ("raised", 4)


def test_a_failed_setup_is_reported_as_setup() -> None:
    statements = ("x = candidate(0)", "assert x == 1", "assert candidate(1) == 1", "assert x == 2")
    test = "def check(candidate):\n    " + "\n    ".join(statements)
    first, second, third = results(test, lambda x: 1 // x)
    assert (first["status"], first["type"], first["line"], first["setup"]) == ("raised", "ZeroDivisionError", 2, True)
    assert (second, third) == (first, first), "they may need what could not be set up"


def test_setup_is_executed_once() -> None:
    test = "def check(x):\n    x.append(1)\n    assert x\n    x.append(2)\n    assert x"
    seen: list[int] = []
    runner = loaded(test, seen, spans=[(0, 1, True), (2, 3, True)])  # type: ignore[arg-type]
    assert runner.run(1)["status"] == "passed"
    assert seen == [1, 2]
    assert runner.run(0)["status"] == "passed"
    assert seen == [1, 2]


def test_a_statement_that_only_sets_up_is_a_case_that_can_fail() -> None:
    test = "def check(candidate):\n    assert 1\n    candidate(0)\n    x = 1"
    got = results(test, lambda x: 1 // x, spans=[(0, 0, True), (1, 2, False)])
    assert [(one["status"], one.get("setup", False)) for one in got] == [("passed", False), ("raised", True)]


def test_a_whole_check_is_one_case() -> None:
    test = "def check(f):\n    for x in range(3):\n        if f(x):\n            return\n    assert 0, 'never'"
    assert statuses(test, lambda x: x == 2, spans=[(0, -1, True)]) == ["passed"]
    [got] = results(test, lambda x: False, spans=[(0, -1, True)])
    assert (got["status"], got["message"], got["line"]) == ("failed", "never", 5)


def test_asserts_are_counted_for_each_case() -> None:
    test = """
        def holds(x):
            assert x
        def check(candidate):
            for x in range(3):
                assert candidate(x) == x
            holds(1)
            if candidate(0):
                print("odd")
            assert candidate(1) == 2
    """
    assert [got["asserts"] for got in results(textwrap.dedent(test), lambda x: x)] == [3, 1, 0, 1]


def test_the_modules_own_asserts_leave_nothing_behind() -> None:
    test = "assert f(1) and f(0)\nassert f(0) and f(1)\nassert sorted(globals())[0] != '@0'"
    first, second, third = results(test, lambda x: x, entry_point="f")
    assert (first["source"], second["source"], third["status"]) == ("f(0)", "f(0)", "passed")


def test_functions_of_a_test_module_are_cases() -> None:
    test = "def test_one():\n    assert f(1) == 1\nasync def test_two():\n    assert f(2) == 3"
    one, two = results(test, lambda x: x, entry_point="f", methods=[("", "test_one"), ("", "test_two")])
    assert (one["status"], two["status"], two["actual"], two["expected"]) == ("passed", "failed", "2", "3")


def test_a_replaced_value_in_the_modules_globals_is_looked_up_each_time() -> None:
    class Anew(dict[str, Any]):
        """The completion's data is requested at each read."""

        read = 0

        def __missing__(self, name: str) -> int:
            if name != "cache":
                raise KeyError(name)
            self.read += 1
            return self.read

    test = "def check(c):\n    assert cache == 1\n    assert [cache for _ in 'ab'] == [2, 3]\n    assert cache == 9"
    namespace = Anew(candidate=print, __name__="check")
    runner = Runner(order(test), namespace, show)
    runner.load()
    got = [runner.run(index) for index in range(3)]
    assert [one["status"] for one in got] == ["passed", "passed", "failed"]
    assert (got[2]["actual"], namespace.read) == ("4", 4)


# unittest


SUITE = """
import unittest
log = []
def setUpModule():
    log.append("module")
def tearDownModule():
    log.append("module down")
class Ways(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        log.append("class")
    @classmethod
    def tearDownClass(cls):
        log.append("class down")
    def setUp(self):
        log.append("set up")
        self.addCleanup(log.append, "cleaned up")
    def tearDown(self):
        log.append("tear down")
    def test_passes(self):
        self.assertEqual(f(1), 1)
    def test_fails(self):
        self.assertEqual(f(1), 2)
    def test_raises(self):
        f(1, 2, 3)
    @unittest.skip("not now")
    def test_skipped(self):
        self.fail()
    def test_skips_itself(self):
        if f(1):
            raise unittest.SkipTest("no need")
    @unittest.expectedFailure
    def test_expected(self):
        self.assertEqual(f(1), 2)
    @unittest.expectedFailure
    def test_unexpected(self):
        self.assertEqual(f(1), 1)
    def test_parts(self):
        for x in range(4):
            with self.subTest(x=x):
                self.assertNotEqual(f(x), 2)
                self.assertLess(f(x), 4)
    def test_part_raises(self):
        with self.subTest("first"):
            f()
        with self.subTest("second"):
            self.assertTrue(True)
    def test_all_parts(self):
        for x in range(4):
            with self.subTest(x=x):
                self.assertEqual(f(x), x)
    def test_exits(self):
        raise SystemExit(0)
    def test_failure_of_its_own(self):
        raise self.failureException("of its own")
"""
WAYS = {
    "passes": "passed",
    "fails": "failed",
    "raises": "raised",
    "skipped": "skipped",
    "skips_itself": "skipped",
    "expected": "passed",
    "unexpected": "failed",
    "parts": "failed",
    "part_raises": "raised",
    "all_parts": "passed",
    "exits": "raised",
    "failure_of_its_own": "failed",
}


def as_module(test: str, methods: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch) -> Any:
    """A runner whose namespace is a module's, as in the sandbox."""
    module = ModuleType("check")
    monkeypatch.setitem(sys.modules, "check", module)
    module.__dict__["f"] = lambda x: x
    runner = Runner(order(test, entry_point="f", methods=methods), module.__dict__, show)
    runner.load()
    return runner, module


def test_each_way_a_method_can_end(monkeypatch: pytest.MonkeyPatch) -> None:
    methods = [("Ways", f"test_{name}") for name in WAYS]
    runner, _ = as_module(SUITE, methods, monkeypatch)
    got = [runner.run(index) for index in range(len(methods))]
    assert {name: one["status"] for name, one in zip(WAYS, got, strict=True)} == WAYS
    records = dict(zip(WAYS, got, strict=True))
    assert records["skipped"]["message"] == "not now"
    assert records["skips_itself"]["message"] == "no need"
    assert (records["parts"]["actual"], records["parts"]["expected"]) == ("2", "2")
    assert records["exits"]["type"] == "SystemExit"
    assert records["failure_of_its_own"]["message"] == "of its own"


def test_fixtures_run_as_in_one_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    runner, module = as_module(SUITE, [("Ways", "test_passes"), ("Ways", "test_fails")], monkeypatch)
    runner.run(0)
    runner.run(1)
    each = ["set up", "tear down", "cleaned up"]
    assert module.log == ["module", "class", *each, *each, "class down", "module down"]


FIXTURES = """
import unittest
class Broken(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        {}
    def test_a(self): pass
    def test_b(self): pass
class Next(unittest.TestCase):
    def test_c(self):
        self.assertEqual(f(1), 1)
"""
BROKEN = [("Broken", "test_a"), ("Broken", "test_b"), ("Next", "test_c")]


@pytest.mark.parametrize(
    ("setup", "status", "told"),
    [
        ("f(0, 0)", "raised", {"type": "TypeError", "line": 6, "setup": True}),
        ("assert f(1) == 2", "failed", {"actual": "1"}),
        ("raise unittest.SkipTest('no')", "skipped", {"message": "no"}),
    ],
)
def test_what_the_setup_of_a_class_does_all_its_methods_do(setup: str, status: str, told: dict[str, Any]) -> None:
    got = results(FIXTURES.format(setup), lambda x: x, entry_point="f", methods=BROKEN)
    assert [one["status"] for one in got] == [status, status, "passed"]
    for one in got[:2]:
        assert one | told == one
    assert got[2]["setup"] is False
