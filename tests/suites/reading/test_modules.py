"""Tests that are suites, functions or statements of a module, and those that can not be run."""

import pytest

from evaluator.model import Mode, Task
from evaluator.suites.reading import UngradableError
from evaluator.suites.reading.plan import plan_suite
from tests.suites.reading.check_tasks import shown, task


def test_a_module_without_check_is_judged_by_its_own_statements() -> None:
    plan = plan_suite(
        task("""
        import numpy as np
        def assertion(out, exp, atol):
            assert out == exp or np.allclose(out, exp, atol=atol)
        inputs = [[1], [2]]
        results = [1, 2]
        for inp, exp in zip(inputs, results):
            assertion(f(*inp), exp, 0)
        if __name__ == "__main__":
            print("done")
        assert f(3) == 3
        """)
    )
    assert (plan.suite.form, plan.suite.spans) == ("module", ((0, 4, True), (5, 5, True)))
    assert plan.cases[0].input.startswith("inputs = [[1], [2]]\nresults = [1, 2]\nfor inp, exp in")


def test_calls_of_check_in_its_module_are_left_out_and_lines_keep_their_numbers() -> None:
    plan = plan_suite(
        task("""
        def check(candidate):
            assert candidate(1) == 1
        def test_check():
            check(f)
        test_check()
        check(
            f,
        ); x = 1
        """)
    )
    assert plan.suite.spans == ((0, 0, True),)
    assert plan.suite.test.split("\n")[4:] == ["pass", "pass", "", "x = 1", ""]


@pytest.mark.parametrize(
    ("test", "reason"),
    [
        ("", "no test code"),
        ("def check(candidate:\n    pass", "the test is not Python: '(' was never closed (line 1 of the test)"),
        ("def check(candidate):\n    global candidate\n    assert candidate", "the test is not Python"),
        ("def check(candidate):\n    assert 1 == 1", "never calls the completion"),
        ("def check(candidate):\n    def never(): assert candidate(1)", "never calls the completion"),
        ("import unittest\nif True:\n    class T(unittest.TestCase):\n        def test_a(self): f(1)", "never calls"),
        ("def check(one, two):\n    assert one(1) == two", "line 1 of the test: `check` takes more than one argument"),
        (
            "def check(candidate):\n    assert candidate(1)\nassert f(2)",
            "line 3 of the test: a statement outside `check`",
        ),
        ("def test_it(tmp_path):\n    assert f(tmp_path)", "line 1 of the test: `test_it` needs a fixture `tmp_path`"),
        ("import unittest\nclass T(unittest.TestCase):\n    def helper(self): f(1)", "have no test methods"),
        ("import unittest\nclass T(unittest.TestCase):\n    def test_a(self): pass", "never calls the completion"),
        (
            "import unittest\nclass T(unittest.TestCase):\n    @parameterized.expand([1])\n    def test_a(_, x): f(x)",
            "line 3 of the test: the tests that `parameterized.expand` makes",
        ),
        (
            "def test_a(): assert f(1)\nclass TestIt:\n    def test_b(self): assert f(2)",
            "line 2 of the test: `TestIt` must be",
        ),
        ("def check(candidate):\n    assert candidate(1)" + " + 1" * 200_000, "the test is"),
        ("x = 1  #" + "x" * 8 * 1024 * 1024, "longer than 8,388,608 characters"),
    ],
)
def test_a_test_that_can_not_be_run_is_refused_with_the_reason(test: str, reason: str) -> None:
    with pytest.raises(UngradableError) as refused:
        plan_suite(Task(task_id="t", mode=Mode.ASSERT, test=test, entry_point="f"))
    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_check_of_no_arguments_uses_the_entry_point_by_name() -> None:
    plan = plan_suite(task("def check():\n    assert f(1) == 1\n    assert f(2) == 2"))
    assert plan.suite.spans == ((0, 0, True), (1, 1, True))


CLASSEVAL = """
    import unittest
    class ZooTestFeed(unittest.TestCase):
        def setUp(self):
            self.zoo = Zoo()
        def test_feed_2(self):
            res = self.zoo.feed('cat')
            self.assertEqual(res, ['cat'])
        # none left
        def test_feed_1(self):
            with self.assertRaises(KeyError):
                self.zoo.feed('dog')
    class ZooTest(ZooTestFeed):
        def test_feed_2(self):
            self.assertTrue(self.zoo.feed('cow'))
            self.assertIsNone(self.zoo.feed(None))
        test_feed_1 = None
    class Helper:
        def test_nothing(self): pass
    if __name__ == '__main__':
        unittest.main()
    """
SKELETON = '''
    import datetime
    OPENS = datetime.time(9)
    class Animal:
        def __init__(self, name):
            self.name = name
    class Zoo:
        """Keeps animals."""
        def __init__(self):
            self.animals = []
        def feed(self, name: str):
            """
            >>> Zoo().feed('cat')
            """
    '''


@pytest.mark.parametrize("entry_point", ["Zoo", None])
def test_methods_run_as_unittest_orders_them_and_the_class_is_the_completions(entry_point: str | None) -> None:
    plan = plan_suite(task(CLASSEVAL, mode=Mode.UNITTEST, entry_point=entry_point, prompt=SKELETON))
    assert (plan.suite.form, plan.continues, plan.restarts, plan.one_process) == ("methods", True, True, None)
    assert plan.suite.methods == (
        ("ZooTest", "test_feed_2"),
        ("ZooTestFeed", "test_feed_1"),
        ("ZooTestFeed", "test_feed_2"),
    )
    assert [case.expected for case in plan.cases] == ["", "an exception: KeyError", "['cat']"]
    title = "ZooTestFeed.test_feed_2\ndef test_feed_2(self):\n"
    assert plan.cases[2].input == f"{title}    res = self.zoo.feed('cat')\n    self.assertEqual(res, ['cat'])"
    assert plan.suite.names == (() if entry_point else ("Zoo",))
    assert "class Animal" in plan.suite.definitions
    assert "OPENS = datetime.time(9)" in plan.suite.definitions
    assert "class Zoo" not in plan.suite.definitions
    assert plan.suite.classes == ("Animal",)
    assert "Zoo" in plan.suite.mentioned


def test_what_would_start_a_suite_is_left_out() -> None:
    plan = plan_suite(
        task(
            """
            import sys, unittest
            class Tests(unittest.TestCase):
                def test_it(self): self.assertEqual(f(1), 1)
            def run_tests():
                unittest.TextTestRunner().run(unittest.makeSuite(Tests))
            run_tests()
            suite = unittest.defaultTestLoader.loadTestsFromTestCase(Tests)
            result = unittest.TextTestRunner().run(suite)
            sys.exit(not result.wasSuccessful())
            """,
            mode=Mode.UNITTEST,
        )
    )
    assert plan.suite.test.split("\n")[5:] == [
        "pass",
        "suite = unittest.defaultTestLoader.loadTestsFromTestCase(Tests)",
        "pass",
        "pass",
        "",
    ]


def test_test_functions_are_cases_in_the_order_in_which_they_stand() -> None:
    plan = plan_suite(task("def test_b():\n    assert f(1) == 1\n\ndef test_a():\n    assert f(2) == 2\n"))
    assert (plan.suite.form, plan.suite.methods) == ("methods", (("", "test_b"), ("", "test_a")))
    assert shown(plan)[0] == ("def test_b():\n    assert f(1) == 1", "1")


def test_test_functions_that_the_module_calls_itself_are_its_statements() -> None:
    plan = plan_suite(task("def test_a():\n    assert f(1) == 1\ntest_a()\nassert f(2) == 2"))
    assert (plan.suite.form, plan.suite.spans) == ("module", ((0, 1, True), (2, 2, True)))


def test_an_import_of_the_completion_becomes_its_names() -> None:
    plan = plan_suite(task("from solution import (\n    f,\n    Node as N,\n)\ndef test_a():\n    assert f(N(1)) == 1"))
    assert plan.suite.test.split("\n")[:5] == ["N = Node", "", "", "", "def test_a():"]
    assert plan.suite.names == ("Node",)
    assert plan.one_process is None
