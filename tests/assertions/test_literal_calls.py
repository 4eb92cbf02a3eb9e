"""Checks that are read as literal calls, those that must not be, and what each assert asks of a result."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.assertions.literal_calls import (
    Expectation,
    LiteralCall,
    LiteralCalls,
    NotLiteral,
    Relation,
    expectation_holds,
    extract_calls,
)
from evaluator.model import Mode, Opaque, Task


def task(test: str, *, prompt: str = "", preamble: str = "", entry_point: str = "f") -> Task:
    return Task(task_id="t", mode=Mode.ASSERT, test=test, prompt=prompt, preamble=preamble, entry_point=entry_point)


def extracted(*statements: str, **fields: str) -> LiteralCalls | NotLiteral:
    body = "\n".join(f"    {line}" for statement in statements for line in statement.split("\n"))
    return extract_calls(task(f"def check(candidate):\n{body}\n", **fields))


def calls(*statements: str, **fields: str) -> tuple[LiteralCall, ...]:
    found = extracted(*statements, **fields)
    assert isinstance(found, LiteralCalls), found
    return found.calls


def reason(*statements: str, **fields: str) -> str:
    found = extracted(*statements, **fields)
    assert isinstance(found, NotLiteral), found
    return found.reason


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
    found = extract_calls(task(test))
    assert isinstance(found, LiteralCalls)
    first, second = found.calls
    assert (first.index, first.args, first.kwargs, first.line) == (0, ([1, 2],), {"key": "a"}, 6)
    assert (second.index, second.args, second.kwargs, second.line) == (1, (-1.5,), {}, 8)
    assert [call.expectation for call in found.calls] == [
        Expectation(Relation.EQUAL, (3,)), Expectation(Relation.EQUAL, {"ü": None}),
    ]  # fmt: skip
    assert first.source == "assert candidate([1, 2], key='a') == (3,), 'Test 1'"
    assert second.expected_source == "{\n        'ü': None,\n    }"


@pytest.mark.parametrize(
    ("statement", "relation", "value", "expected_source"),
    [
        ("assert candidate(1) == 2", Relation.EQUAL, 2, "2"),
        ("assert 2 == candidate(1)", Relation.EQUAL, 2, "2"),
        ("assert candidate(1) != 2", Relation.UNEQUAL, 2, "anything but 2"),
        ("assert candidate(1) is None", Relation.IDENTICAL, None, "None"),
        ("assert candidate(1) is not True", Relation.NOT_IDENTICAL, True, "anything but True"),
        ("assert candidate(1) in (1, 2)", Relation.AMONG, (1, 2), "one of (1, 2)"),
        ("assert candidate(1) not in [1]", Relation.NOT_AMONG, [1], "none of [1]"),
        ("assert candidate(1)", Relation.TRUE, None, "a true value"),
        ("assert not candidate(1)", Relation.FALSE, None, "a false value"),
        ("assert candidate(1) == 2, str(candidate(1)) + other", Relation.EQUAL, 2, "2"),
    ],
)
def test_forms_of_an_assert(statement: str, relation: Relation, value: object, expected_source: str) -> None:
    (call,) = calls(statement)
    assert call.args == (1,)
    assert call.expectation == Expectation(relation, value)
    assert call.expected_source == expected_source


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("-0", 0),
        ("+1.5", 1.5),
        ("1 + 2j", 1 + 2j),
        ("3 * 19 * 3 + 7 // 2 - 5 % 3", 172),
        ("2 ** -1", 0.5),
        ("1 << 8 | 3", 259),
        ("~5", -6),
        ("not 1", False),
        ("'ab' 'c' + 'd' * 2", "abcdd"),
        ("[0] * 3 + [1]", [0, 0, 0, 1]),
        ("2 * (1,)", (1, 1)),
        ("[*range(3), *'ab']", [0, 1, 2, "a", "b"]),
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


def test_arguments_may_be_unpacked() -> None:
    assert calls("assert candidate(*[[1, 2], 3], 4) == 5")[0].args == ([1, 2], 3, 4)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("assert abs(candidate(1) - 0.5) < 1e-6", "line 2 of the test: a comparison by Lt"),
        ("assert tuple(candidate(1)) == (1,)", "a call of `tuple` in place of a call of the entry point"),
        ("assert candidate(1) == candidate(1)", "a call of `candidate` is not a literal"),
        ("assert candidate(x) == 0", "the name `x` is not a literal"),
        ("assert candidate(1).size == 0", "an attribute in place"),
        ("assert candidate(1)[0] == 0", "a subscript in place"),
        ("assert candidate(lambda: 1) == 0", "a lambda is not a literal"),
        ("assert candidate([i for i in 'ab']) == 0", "a comprehension is not a literal"),
        ("assert candidate(f'{1}') == 0", "an f-string is not a literal"),
        ("assert candidate('a'.upper()) == 0", "a call of the method `upper` is not a literal"),
        ("assert 0 < candidate(1) < 2", "a comparison is neither a literal call"),
        ("assert candidate(1) == 1 and candidate(2) == 2", "and / or is neither a literal call"),
        ("assert candidate(1) is 5", "`is` with something other than"),
        ("assert candidate(1) in 'abc'", "`in` a str"),
        ("assert (candidate(1) == 1, 'message')", "an assert of a tuple, which never fails"),
        ("assert candidate(1) == 1, (x := 2)", "a message with side effects"),
        ("assert candidate(**{'a': 1}) == 1", "arguments unpacked with **"),
        ("assert candidate(1 / 0) == 1", "an expression that raises ZeroDivisionError"),
        ("assert candidate(9 ** 9 ** 9) == 1", "an int of more than"),
        ("assert candidate(1 << 10 ** 9) == 1", "an int of more than"),
        ("assert candidate([0] * 10 ** 9) == 1", "a value of more than"),
        ("assert candidate(list(range(10 ** 9))) == 1", "a value of more than"),
        ("assert candidate('%d' % 5) == 1", "an operator between a str and a int"),
        ("assert False", "an assert that always fails"),
        ("assert candidate(1) == 1\nfor x in [1]: pass", "line 3 of the test: a for loop is not a literal assert"),
        ("import math", "an import is not a literal assert"),
        ("candidate(1)", "a call of `candidate` is not a literal assert"),
        ("candidate = len", "assigned more than once"),
        ("x = [1]\nassert f(x) == 1\nassert x == [1, 2]", "`x` is used more than once"),
        ("assert f(x) == 1\nx = 1", "the name `x`"),
        ("set = 1\nassert f(set()) == 1", "a call of `set`"),
        ("pass", "the check calls nothing"),
        ("assert candidate([1, 2) == 1", "the test does not parse"),
        ("assert candidate(" + "[" * 500 + "]" * 500 + ") == 1", "the test does not parse"),
    ],
)
def test_other_checks_are_not_literal(statement: str, words: str) -> None:
    assert words in reason(statement)


@pytest.mark.parametrize("deep", ["-" * 3000 + "1", "'a'" + " + 'a'" * 3000])
def test_deep_expressions_are_read_or_refused(deep: str) -> None:
    assert isinstance(extracted(f"assert candidate({deep}) == 1"), LiteralCalls | NotLiteral)


def test_printed_literals_change_nothing() -> None:
    assert len(calls("print", "print('a', [1])", "assert candidate(1) == 1")) == 1


def test_named_literals_stand_where_they_are_used() -> None:
    (call,) = calls("x = [1]", "y = (x, 2)", "want = (3,)", "assert candidate(y, 4) == want, f'{x} {want}'")
    assert (call.args, call.expectation.value) == ((([1], 2), 4), (3,))
    assert call.source.split("\n")[:3] == ["x = [1]", "y = (x, 2)", "want = (3,)"]
    assert call.expected_source == "(3,)"
    assert [call.args for call in calls("n = 5", "assert f(n) == n", "assert f(n, n) == 1")] == [(5,), (5, 5)]


def test_a_constructor_that_the_dataset_defines_is_no_constructor() -> None:
    statement = "assert candidate(set()) == 1"
    assert calls(statement, prompt="Write a function f. It isn't hard.")
    for fields in ({"prompt": "def set(): ..."}, {"preamble": "from m import x as set"}, {"entry_point": "set"}):
        assert "a call of `set`" in reason(statement, **fields)


@pytest.mark.parametrize(
    ("test", "words"),
    [
        ("x = 1", "defines no `check(candidate)`"),
        ("def check(a, b):\n    assert f(1) == 1", "not a plain function of one argument"),
        ("def check(a=1):\n    assert f(1) == 1", "not a plain function of one argument"),
        ("@wraps\ndef check(a):\n    assert f(1) == 1", "not a plain function of one argument"),
        ("async def check(a):\n    assert f(1) == 1", "defines no `check(candidate)`"),
        ("def check(a):\n    assert f(1) == 1\ncheck = print", "defined more than once"),
        ("def f(x): return x\ndef check(candidate):\n    assert f(1) == 1\n", ""),
        ("def check(a):\n    assert f(1) == 1\nassert f(2) == 3", "line 3 of the test: a statement outside"),
        ("\0", "does not parse"),
        ("def check(a):\n  assert a('\\ud800') == " + "1" * 60_000, "does not parse"),
    ],
)
def test_tests_of_another_shape(test: str, words: str) -> None:
    found = extract_calls(task(test))
    assert isinstance(found, NotLiteral)
    assert words in found.reason


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
    assert isinstance(extract_calls(task(test)), LiteralCalls)


def test_a_task_without_a_test() -> None:
    assert extract_calls(Task(task_id="t", mode=Mode.ASSERT, entry_point="f")) == NotLiteral("the task has no test")


def test_windows_line_ends_do_not_shift_the_source() -> None:
    found = extract_calls(task("def check(c):\r\n    assert c(1) == 'ü'\r\n    assert c(\r\n2) == 3\r\n"))
    assert isinstance(found, LiteralCalls)
    assert [call.source for call in found.calls] == ["assert c(1) == 'ü'", "assert c(\n2) == 3"]


def test_each_call_has_its_own_arguments() -> None:
    first, second = calls("assert f([1]) == 1", "assert f([1]) == 1")
    assert first.args[0] is not second.args[0]


GENERATOR = Opaque("generator", "g")


@pytest.mark.parametrize(
    ("relation", "wanted", "met", "unmet"),
    [
        (Relation.EQUAL, (1, 2), [(1, 2)], [[1, 2], None, GENERATOR]),
        (Relation.EQUAL, True, [True, 1, 1.0], [2, "True"]),
        (Relation.UNEQUAL, 1, [2, "1", GENERATOR], [1, True, 1.0]),
        (Relation.IDENTICAL, None, [None], [0, False, [], GENERATOR]),
        (Relation.IDENTICAL, True, [True], [1, 1.0, "x", GENERATOR]),
        (Relation.NOT_IDENTICAL, None, [0, False, GENERATOR], [None]),
        (Relation.AMONG, [1, "a"], [1, True, "a"], [2, None, GENERATOR]),
        (Relation.NOT_AMONG, [1, "a"], [2, None, GENERATOR], [1, True, "a"]),
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
    among = expectation_holds(Expectation(Relation.AMONG, [1, 2]), 3)
    assert str(among) == "expected one of [1, 2], got 3"
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
    assert isinstance(extract_calls(task(test, prompt=prompt)), NotLiteral)
    extracted(test)
