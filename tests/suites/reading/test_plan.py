"""How a check is cut into test cases, and which tests can not be planned at all."""

import pytest

from evaluator.model import Mode, Task
from evaluator.suites.reading.literal_calls import extract_calls
from evaluator.suites.reading.plan import notes_on, plan_suite
from tests.suites.reading.check_tasks import check_task, planned, shown, task


def test_each_judging_statement_is_a_test_case_with_what_prepares_it() -> None:
    plan = planned("""
        '''The cases.'''
        import math
        xs = [3, 1]
        assert candidate(1) == 2, 'one'
        candidate(xs)
        assert xs == [1, 3]
        ys = []
        ys.append(4)
        print(ys)
        assert not candidate(ys)
        """)
    assert plan.suite.form == "statements"
    assert plan.suite.spans == ((0, 3, True), (4, 5, True), (6, 9, True))
    assert [case.index for case in plan.cases] == [0, 1, 2]
    assert shown(plan) == [
        ("xs = [3, 1]\nassert candidate(1) == 2, 'one'", "2"),
        ("xs = [3, 1]\ncandidate(xs)\nassert xs == [1, 3]", "[1, 3]"),
        ("ys = []\nys.append(4)\nprint(ys)\nassert not candidate(ys)", "a false value"),
    ]
    assert (plan.suite.methods, plan.suite.form) == ((), "statements")


def test_a_compound_statement_is_one_test_case_and_shown_from_the_margin() -> None:
    body = """
        for i in range(3):
            assert candidate(i) == i
        assertion(candidate(3), 3)
        while candidate(1) < 1:
            pass
        if candidate(2):
            assert True
        """
    plan = planned(body, before="def assertion(out, exp): assert out == exp")
    assert plan.suite.spans == ((0, 0, True), (1, 1, True), (2, 2, True), (3, 3, True))
    assert plan.cases[0].input == "for i in range(3):\n    assert candidate(i) == i"


def test_calls_of_the_completion_after_the_last_judgement_are_a_test_case_and_other_statements_are_dropped() -> None:
    plan = planned("assert candidate(1) == 1\nx = 2\ncandidate(x)\n")
    assert plan.suite.spans == ((0, 0, True), (1, 2, False))
    assert shown(plan)[1] == ("x = 2\ncandidate(x)", "")
    assert planned("assert candidate(1) == 1\nx = 2\nprint(x)\n").suite.spans == ((0, 0, True),)
    through_a_helper = planned("assert candidate(1) == 1\nx = run()\n", before="def run():\n    return f(2)\n")
    assert through_a_helper.suite.spans == ((0, 0, True), (1, 1, False))
    of_a_result = planned("made = candidate(1)\nassert made\nleft = made.close()\n")
    assert of_a_result.suite.spans == ((0, 1, True), (2, 2, False))


@pytest.mark.parametrize(
    "body",
    [
        "assert candidate(1) == 1\nyield",
        "global seen\nseen = candidate(1)\nassert seen == 1",
        "x = candidate(1)\ncandidate(x)",
    ],
)
def test_a_check_that_makes_sense_as_a_whole_alone_is_one_test_case(body: str) -> None:
    plan = planned(body)
    assert (plan.suite.spans, plan.continues, plan.restarts) == (((0, -1, True),), False, True)
    assert plan.cases[0].input.startswith("def check(candidate):\n")


@pytest.mark.parametrize("head", ["async def check(candidate):", "@staticmethod\ndef check(candidate):"])
def test_a_check_that_is_no_plain_function_is_one_test_case(head: str) -> None:
    assert plan_suite(task(f"{head}\n    assert candidate(1) == 1\n    assert candidate(2) == 2")).suite.spans == (
        (0, -1, True),
    )


@pytest.mark.parametrize(
    ("statement", "prepares"),
    [
        ("random.seed(1)", True),
        ("np.random.seed(1)", True),
        ("os.makedirs('x')", True),
        ("assert True", True),
        ("assert False", False),
        ("'text'", True),
        ("x.append(1)", True),
        ("x += 1", True),
        ("case.assertEqual(x, 1)", False),
        ("verify(x)", False),
        ("list(map(verify, x))", False),
        ("harmless(x)", True),
        ("np.testing.assert_allclose(x, 1)", False),
        ("assert_allclose(x, 1)", False),
        ("x.insert(0, verify(1))", False),
        ("made.deposit(1)", True),
        ("made.deposit(verify(1))", False),
    ],
)
def test_a_statement_prepares_only_where_it_can_not_say_that_the_completion_is_wrong(
    statement: str, prepares: bool
) -> None:
    before = """
        import os, random, unittest
        import numpy as np
        from numpy.testing import assert_allclose
        case = unittest.TestCase()
        x = [1]
        def verify(x): assert x
        def harmless(x): return x
        """
    plan = planned(f"made = candidate(0)\n{statement}\nassert candidate(1) == 1", before=before)
    assert (len(plan.suite.spans) == 1) is prepares


def test_a_long_value_is_not_shown_with_every_test_case_that_needs_it() -> None:
    body = f"xs = {list(range(2000))}\n" + "assert candidate(xs)\n" * 3
    plan = planned(body)
    assert [case.input.startswith("xs = ") for case in plan.cases] == [True, False, False]


@pytest.mark.parametrize(
    ("body", "continues", "restarts"),
    [
        ("assert candidate(1) == 1\nassert candidate(2) == 2", True, True),
        ("x = 1\nassert candidate(x) == 1\nassert candidate(2) == x", True, True),
        ("for i in 1, 2: assert candidate(i)\nfor i in 3, 4: assert candidate(i)", True, True),
        ("x = candidate(1)\nassert x == 1\nassert candidate(2) == 2", True, False),
        ("candidate([])\nassert candidate(1) == 1\nassert candidate(2) == 2", True, False),
        ("assert candidate(1) == 1\nx = candidate(2)\nassert x == 2", True, True),
        ("def run(x): return candidate(x)\nassert run(1)\nassert run(2)", True, True),
        ("with open('x') as file: text = file.read()\nassert candidate(text)", False, False),
        ("for i in 1, 2: assert candidate(i)\nassert i == 2", False, False),
        ("assert (x := candidate(1)) == 1\nassert candidate(x)", False, False),
        ("for i in 1, 2: assert candidate(i)\ni = 3\nassert candidate(i)", True, True),
    ],
)
def test_what_a_test_case_leaves_to_those_after_it_decides_whether_they_can_do_without(
    body: str, continues: bool, restarts: bool
) -> None:
    plan = planned(body)
    assert (plan.continues, plan.restarts) == (continues, restarts)


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("assert candidate(1) == [2]", "[2]"),
        ("assert [2] == candidate(1)", "[2]"),
        ("assert candidate(1) != 2", "anything but 2"),
        ("assert candidate(1) in (1, 2)", "one of (1, 2)"),
        ("assert 2 in candidate(1)", "a value that contains 2"),
        ("assert abs(candidate(1) - 2) < 1e-6", "< 1e-6"),
        ("assert candidate(1)", "a true value"),
        ("assert not candidate(1)", "a false value"),
        ("assert candidate(1) == known", "[1, 2]"),
        ("assert math.isclose(candidate(1), 0.5)", "close to 0.5"),
        ("assert np.allclose([0.5], candidate(1))", "close to [0.5]"),
        ("assert isinstance(candidate(1), list)", "an instance of list"),
        ("np.testing.assert_array_equal(candidate(1), [2])", "[2]"),
        ("assert 0 < candidate(1) < 2", ""),
        ("assert candidate(1) and candidate(2)", ""),
        ("with pytest.raises(ValueError):\n    candidate(1)", "an exception: ValueError"),
        ("try:\n    candidate(1)\n    assert False\nexcept ValueError:\n    pass", "an exception: ValueError"),
        ("for i in 1, 2:\n    assert candidate(i) == 1", ""),
    ],
)
def test_the_needs_of_a_statement_are_listed(statement: str, expected: str) -> None:
    before = "import math, pytest\nimport numpy as np\n"
    assert planned(f"known = [1, 2]\n{statement}", before=before).cases[-1].expected == expected


CHECKS = [
    "assert candidate([1], key='a') == (3,), 'one'\nassert True, 'fine'\nassert candidate(-1.5) == {\n    'ü': 0,\n}",
    "assert not candidate(1)\nassert candidate(2) is None\nassert True\nassert candidate(4)\nprint",
]


@pytest.mark.parametrize("body", CHECKS)
def test_literal_checks_have_the_same_test_cases_either_way(body: str) -> None:
    checked = check_task(body)
    calls = extract_calls(checked)
    assert calls
    assert plan_suite(checked).cases == tuple(call.case for call in calls)


def test_a_comparison_of_the_candidate_with_itself_is_noted_with_its_lines() -> None:
    checked = check_task("""
        assert tuple(candidate([1, 2])) == tuple(f([1, 2]))
        assert candidate([1, 2]) == f([2, 1])
        assert candidate(3) == [3]
        np.testing.assert_allclose(candidate(4), candidate(4))
        assert candidate(5) != candidate(5)
        """)
    assert notes_on(checked) == ("compares the candidate with itself: lines 2, 5 of the test",)
    assert notes_on(check_task("assert candidate(1) == 1")) == ()
    assert notes_on(Task(task_id="t", mode=Mode.STDIN)) == ()
    assert notes_on(task("def check(:")) == ()


def test_a_check_that_says_nothing_leaves_the_judging_to_the_module() -> None:
    """As in mxeval's MathQA."""
    plan = plan_suite(task("assert f() == 3\n\ndef check(x):\n    pass\n"))
    assert (plan.suite.form, len(plan.cases)) == ("module", 1)
