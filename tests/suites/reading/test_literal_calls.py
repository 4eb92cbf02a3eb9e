"""Checks that are read as literal calls, those that must not be, and what each assert asks of a result."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.model import Mode, Opaque, Task
from evaluator.suites.reading.literal_calls import Expectation, LiteralCall, Relation, expectation_holds, extract_calls


def task(test: str, *, prompt: str = "", preamble: str = "", entry_point: str = "f") -> Task:
    return Task(task_id="t", mode=Mode.ASSERT, test=test, prompt=prompt, preamble=preamble, entry_point=entry_point)


def calls(*statements: str, **fields: str) -> tuple[LiteralCall, ...]:
    body = "\n".join(f"    {line}" for statement in statements for line in statement.split("\n"))
    return extract_calls(task(f"def check(candidate):\n{body}\n", **fields))


def test_each_assert_becomes_a_call() -> None:
    test = (
        "METADATA = {'author': 'x'}\n\n"
        "def check(candidate):\n"
        "    '''The cases.'''\n"
        "    # simple\n"
        "    assert candidate([1, 2], key='a') == (3,), 'Test 1'\n"
        "    assert True, 'fine'\n"
        "    assert f(-1.5) == {\n"
        "        'ü': None,\n"
        "    }\n"
    )
    first, second = extract_calls(task(test))
    assert (first.case.index, first.args, first.kwargs) == (0, ([1, 2],), {"key": "a"})
    assert (second.case.index, second.args, second.kwargs) == (1, (-1.5,), {})
    assert [call.expectation for call in (first, second)] == [
        Expectation(Relation.EQUAL, (3,)), Expectation(Relation.EQUAL, {"ü": None}),
    ]  # fmt: skip
    assert first.case.input == "assert candidate([1, 2], key='a') == (3,), 'Test 1'"
    assert second.case.expected == "{\n        'ü': None,\n    }"


@pytest.mark.parametrize(
    ("statement", "relation", "value", "expected_source"),
    [
        ("assert candidate(1) == 2", Relation.EQUAL, 2, "2"),
        ("assert 2 == candidate(1)", Relation.EQUAL, 2, "2"),
        ("assert candidate(1) is None", Relation.IDENTICAL, None, "None"),
        ("assert candidate(1)", Relation.TRUE, None, "a true value"),
        ("assert not candidate(1)", Relation.FALSE, None, "a false value"),
        ("assert candidate(1) == 2, str(candidate(1)) + other", Relation.EQUAL, 2, "2"),
    ],
)
def test_forms_of_an_assert(statement: str, relation: Relation, value: object, expected_source: str) -> None:
    (call,) = calls(statement)
    assert call.args == (1,)
    assert call.expectation == Expectation(relation, value)
    assert call.case.expected == expected_source


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("-0", 0),
        ("+1.5", 1.5),
        ("1 + 2j", 1 + 2j),
        ("3 * 19 * 3 + 7 // 2 - 5 % 3", 172),
        ("2 ** -1", 0.5),
        ("'ab' 'c' + 'd'", "abcd"),
        ("[0] + [1]", [0, 1]),
        ("set()", set()),
        ("frozenset([1])", frozenset({1})),
        ("tuple([1, 2])", (1, 2)),
        ("list(range(2, 8, 3))", [2, 5]),
        ("dict([(1, 2)])", {1: 2}),
        ("float('inf')", math.inf),
        ("int('12')", 12),
        ("...", ...),
    ],
)
def test_literals_are_folded(literal: str, value: object) -> None:
    (call,) = calls(f"assert candidate({literal}) == ({literal})")
    for folded in (call.args[0], call.expectation.value):
        assert type(folded) is type(value)
        assert folded == value


@pytest.mark.parametrize(
    "statement",
    [
        "assert abs(candidate(1) - 0.5) < 1e-6",
        "assert tuple(candidate(1)) == (1,)",
        "assert candidate(1) == candidate(1)",
        "assert candidate(x) == 0",
        "assert candidate(1).size == 0",
        "assert candidate(1)[0] == 0",
        "assert candidate(lambda: 1) == 0",
        "assert candidate([i for i in 'ab']) == 0",
        "assert candidate(f'{1}') == 0",
        "assert candidate('a'.upper()) == 0",
        "assert 0 < candidate(1) < 2",
        "assert candidate(1) == 1 and candidate(2) == 2",
        "assert candidate(1) is 5",
        "assert candidate(1) in [1, 2]",
        "assert candidate(1) != 2",
        "assert candidate(1) is not None",
        "assert candidate([0] * 3) == 1",
        "assert candidate(*[1, 2]) == 1",
        "assert (candidate(1) == 1, 'message')",
        "assert candidate(1) == 1, (x := 2)",
        "assert candidate(**{'a': 1}) == 1",
        "assert candidate(1 / 0) == 1",
        "assert candidate(9 ** 9 ** 9) == 1",
        "assert candidate(1 << 10 ** 9) == 1",
        "assert candidate([0] * 10 ** 9) == 1",
        "assert candidate(list(range(10 ** 9))) == 1",
        "assert candidate('%d' % 5) == 1",
        "assert False\nassert candidate(1) == 1",
        "assert candidate(1) == 1\nfor x in [1]: pass",
        "import math\nassert candidate(1) == 1",
        "candidate(1)\nassert candidate(1) == 1",
        "candidate = len\nassert candidate(1) == 1",
        "x = [1]\nassert f(x) == 1",
        "pass",
        "assert candidate([1, 2) == 1",
        "assert candidate(" + "[" * 500 + "]" * 500 + ") == 1",
    ],
)
def test_other_checks_are_not_literal(statement: str) -> None:
    assert calls(statement) == ()


@pytest.mark.parametrize("deep", ["-" * 3000 + "1", "'a'" + " + 'a'" * 3000])
def test_deep_expressions_are_read_or_refused(deep: str) -> None:
    assert len(calls(f"assert candidate({deep}) == 1")) <= 1


def test_printed_literals_change_nothing() -> None:
    assert len(calls("print", "print('a', [1])", "assert candidate(1) == 1")) == 1


def test_a_constructor_that_the_dataset_defines_is_no_constructor() -> None:
    statement = "assert candidate(set()) == 1"
    assert calls(statement, prompt="Write a function f. It isn't hard.")
    for fields in ({"prompt": "def set(): ..."}, {"preamble": "from m import x as set"}, {"entry_point": "set"}):
        assert calls(statement, **fields) == ()


@pytest.mark.parametrize(
    "test",
    [
        "x = 1",
        "def check(a, b):\n    assert f(1) == 1",
        "def check(a=1):\n    assert f(1) == 1",
        "@wraps\ndef check(a):\n    assert f(1) == 1",
        "async def check(a):\n    assert f(1) == 1",
        "def check(a):\n    assert f(1) == 1\ncheck = print",
        "def f(x): return x\ndef check(candidate):\n    assert f(1) == 1\n",
        "def check(a):\n    assert f(1) == 1\nassert f(2) == 3",
        "\0",
        "def check(a):\n  assert a('\\ud800') == " + "1" * 60_000,
    ],
)
def test_tests_of_another_shape(test: str) -> None:
    assert extract_calls(task(test)) == ()


@pytest.mark.parametrize(
    "test",
    [
        "def check(candidate):\n    assert candidate(1) == 1\n\ncheck(f)\n",
        "def check(fn):\n    assert fn(1) == 1\n",
        "def candidate(x): return x\ndef check(candidate):\n    assert candidate(1) == 1\n",
    ],
    ids=["its own call", "any name of the parameter", "the parameter's name elsewhere"],
)
def test_tests_of_the_same_shape(test: str) -> None:
    assert extract_calls(task(test))


def test_a_task_without_a_test() -> None:
    assert extract_calls(Task(task_id="t", mode=Mode.ASSERT, entry_point="f")) == ()


def test_windows_line_ends_do_not_shift_the_source() -> None:
    found = extract_calls(task("def check(c):\r\n    assert c(1) == 'ü'\r\n    assert c(\r\n2) == 3\r\n"))
    assert [call.case.input for call in found] == ["assert c(1) == 'ü'", "assert c(\n2) == 3"]


def test_each_call_has_its_own_arguments() -> None:
    first, second = calls("assert f([1]) == 1", "assert f([1]) == 1")
    assert first.args[0] is not second.args[0]


GENERATOR = Opaque("generator", "g")


@pytest.mark.parametrize(
    ("relation", "wanted", "met", "unmet"),
    [
        (Relation.EQUAL, (1, 2), [(1, 2)], [[1, 2], None, GENERATOR]),
        (Relation.EQUAL, True, [True, 1, 1.0], [2, "True"]),
        (Relation.IDENTICAL, None, [None], [0, False, [], GENERATOR]),
        (Relation.IDENTICAL, True, [True], [1, 1.0, "x", GENERATOR]),
        (Relation.TRUE, None, [1, [0], "a", -0.5], [0, [], "", None, GENERATOR]),
        (Relation.FALSE, None, [0, [], "", None, {}], [1, [0], GENERATOR]),
    ],
)
def test_expectations(relation: Relation, wanted: object, met: list[Any], unmet: list[Any]) -> None:
    expectation = Expectation(relation, wanted)
    assert [value for value in met if expectation_holds(expectation, value)] == []
    assert [value for value in unmet if not expectation_holds(expectation, value)] == []


def test_an_unmet_expectation_says_what_was_asked() -> None:
    truth = expectation_holds(Expectation(Relation.TRUE), GENERATOR)
    assert str(truth) == "expected a true value, got <generator: g>: a generator is not data"
    equal = expectation_holds(Expectation(Relation.EQUAL, [1, 2]), [1, 3])
    assert (str(equal), equal and equal.path) == ("[1]: expected 2, got 3", "[1]")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    )
)
def test_what_python_prints_is_read_back(value: object) -> None:
    (call,) = calls(f"assert candidate({value!r}) == {value!r}")
    assert call.args == (value,)
    assert expectation_holds(call.expectation, value) is None


@given(st.text(), st.text())
def test_any_text_is_read_or_refused(test: str, prompt: str) -> None:
    assert extract_calls(task(test, prompt=prompt)) == ()
    calls(test)
