"""The text checkers, each by examples of both kinds, and by what must hold for any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.checkers import get_checker
from evaluator.model import Difference

TEXT_CHECKERS = ["exact", "lines", "tokens", "floats", "unordered"]

EQUAL = [
    ("exact", "a b\n", "a b\n"),
    ("lines", "1 2\n3\n", "1 2\n3"),
    ("lines", "1 2\n3", "  1 2 \r\n3\r\n\r\n \n"),
    ("lines", "", "\n \n\t\n"),
    ("lines", "a\n\nb", "a\n  \nb"),
    ("tokens", "1 2\n3", "1\n2\n\n3\n"),
    ("floats", "0.5", "0.50"),
    ("floats", "0.5 x\n", "0.500000001   x"),
    ("floats", "1e3", "1000"),
    ("floats", "1e3", "1000.0005"),
    ("floats", "5", "5.0"),
    ("floats", "1000", "+.1000e+0004"),
    ("floats", "0", "-0.00e999999999999999999999"),
    ("floats", "1000000000000000000", "1000000000000000000.000"),
    ("floats", "1000000000000000000.0", "1000000000000000007"),
    pytest.param("floats", "7" * 5000, "7" * 5000 + ".0", id="a long int"),
    ("floats", "-.5", "-0.5"),
    ("floats", "1000000.0", "1000000.9"),
    ("floats", "0.0", "-0.0"),
    ("floats", "nan inf 1_0", "nan inf 1_0"),
    ("floats", "1e999 x", "1e999  x"),
    ("unordered", "a\nb\nb", "b\na\n b \n\n"),
]

DIFFERENT = [
    ("exact", "a b\n", "a  b\n", 1, 3),
    ("exact", "a\n", "a", 1, 2),
    ("exact", "a\nbcd\n", "a\nbxd\n", 2, 2),
    ("lines", "a\nb", "a\n\nb", 2, 1),
    ("lines", "a b", "a  b", 1, 3),
    ("lines", "a\n  bcd", "a\n    bxd", 2, 6),
    ("lines", "a", "a\nb\nc\n\n", 2, 1),
    ("lines", "1.0", "1", 1, 2),
    ("tokens", "1 2\n3", "1\n2\n4\n", 3, 1),
    ("floats", "0.5", "0.50001", 1, 1),
    ("floats", "1 2\n1 0.25", "1 2\n1  0.35", 2, 4),
    ("floats", "7", "007", 1, 1),
    ("floats", "5", "+5", 1, 1),
    ("floats", "100000000000000000001", "100000000000000000002", 1, 1),
    ("floats", "3", "3.0000001", 1, 1),
    ("floats", "1 5", "1 5.0000000000000000000001", 1, 3),
    ("floats", "1000000000000000007", "1e18", 1, 1),
    ("floats", "9007199254740993", "9007199254740992.0", 1, 1),
    ("floats", "0", "1e-400", 1, 1),
    ("floats", "1", "1e999999999", 1, 1),
    ("floats", "1", "1e-999999999999999999999", 1, 1),
    ("floats", "10", "1e", 1, 1),
    ("floats", "0", ".", 1, 1),
    ("floats", "0", "0x0", 1, 1),
    ("floats", "5", "5.0_0", 1, 1),
    ("floats", "5", "\u0665.0", 1, 1),
    pytest.param("floats", "7" * 5000, "7" * 4999 + "8.0", 1, 1, id="a long int"),
    ("floats", "1.0", "nan", 1, 1),
    ("floats", "nan", "NaN", 1, 1),
    ("floats", "1e999", "inf", 1, 1),
    ("floats", "1e999", "2e999", 1, 1),
    ("floats", "10.0", "1_0.0", 1, 1),
    ("floats", "1.0", "1.0 2.0", 1, 5),
    ("floats", "1.0", "\u0661.0", 1, 1),
    ("floats", "1 2", "1\n2", 1, 2),
    ("unordered", "a\nb\nb", "b\na", 3, 1),
]


def check(name: str, expected: str, actual: str) -> Difference | None:
    return get_checker(name).rules["text"](expected, actual)


@pytest.mark.parametrize(("name", "expected", "actual"), EQUAL)
def test_accepts(name: str, expected: str, actual: str) -> None:
    assert check(name, expected, actual) is None


@pytest.mark.parametrize(("name", "expected", "actual", "line", "column"), DIFFERENT)
def test_refuses_and_says_where(name: str, expected: str, actual: str, line: int, column: int) -> None:
    found = check(name, expected, actual)
    assert found is not None
    assert (found.line, found.column) == (line, column)


@pytest.mark.parametrize(
    ("name", "expected", "actual", "message"),
    [
        ("floats", "1\n2 0.5", "1\n2 0.7", "line 2, column 3: expected '0.5', got '0.7'"),
        ("floats", "1 2", "1", "line 1, column 2: expected '2', got the end of the line"),
        ("tokens", "1", "1 2", "line 1, column 3: expected the end of the output, got '2'"),
        ("lines", "a\nb", "a", "line 2 is missing: expected 'b'"),
        ("lines", "a\nb\nc", "a", "2 lines are missing from line 2: expected 'b'"),
        ("lines", "a\nb\nc\nd", "a\nb\nc\nd\ne\nf", "2 extra lines from line 5: got 'e'"),
        ("lines", "a", "a\nb", "1 extra line, line 2: got 'b'"),
        ("lines", "a\nb\nc\n", "a\n c", "line 2 is missing, before 'c': expected 'b'"),
        ("floats", "1\n2.0\n", "x\ny\n1\n2.00\n", "2 extra lines from line 1, before '1': got 'x'"),
        ("lines", "a\nb\nc", "a\nd", "line 2, column 1: expected 'b', got 'd'"),
        ("exact", "ab\n", "ab", "line 1, column 3: expected 'ab\\n', got 'ab'"),
        ("unordered", "a\nb", "a\nc", "line 2: 'c' is not expected; missing 'b'"),
        ("unordered", "a\nb", "a\nb\nb", "line 3: 'b' comes too often"),
        ("unordered", "a\nb", "b", "1 line is missing: 'a'"),
    ],
)
def test_message(name: str, expected: str, actual: str, message: str) -> None:
    assert str(check(name, expected, actual)) == message


def test_long_lines_are_quoted_around_the_difference() -> None:
    found = check("lines", "a" * 5000 + "b" + "c" * 5000, "a" * 5000 + "x" + "c" * 5000)
    assert found is not None
    assert found.column == 5001
    assert "ab" in found.message
    assert "ax" in found.message
    assert len(found.message) <= 300


# Texts made of what the rules care about, so that generated pairs are often nearly equal.
texts = st.text(st.sampled_from("01. \n\r\te-+ax_")) | st.text()


@pytest.mark.parametrize("name", TEXT_CHECKERS)
@given(expected=texts, actual=texts)
def test_a_text_equals_itself_and_any_difference_is_located_and_bounded(name: str, expected: str, actual: str) -> None:
    assert check(name, actual, actual) is None
    found = check(name, expected, actual)
    if found is None:
        return
    lines = actual.split("\n")
    assert found.line is not None
    assert found.column is not None
    assert 1 <= found.line <= len(lines) + 1
    assert 1 <= found.column <= max(len(line) for line in [*lines, ""]) + 1
    assert len(found.message) <= 300


@given(expected=texts, actual=texts)
def test_exact_names_the_first_differing_character(expected: str, actual: str) -> None:
    found = check("exact", expected, actual)
    if found is None:
        return
    assert found.line is not None
    assert found.column is not None
    at = sum(len(line) + 1 for line in actual.split("\n")[: found.line - 1]) + found.column - 1
    assert expected[:at] == actual[:at]
    assert expected[at : at + 1] != actual[at : at + 1]


LARGE = {
    "tokens": "7 " * 80_000, "lines": "12 3.5\n" * 20_000, "empty lines": "\n" * 130_000 + "x",
    "an int": "1" * 1_000_000, "a float": "0." + "1" * 1_000_000, "white space": " " * 1_000_000 + "x",
}  # fmt: skip


@pytest.mark.parametrize("name", TEXT_CHECKERS)
@pytest.mark.parametrize("big", LARGE.values(), ids=LARGE)
def test_large_outputs(name: str, big: str) -> None:
    assert check(name, big, big + "\n") is None or name == "exact"
    found = check(name, big + "4.5", big + "4.6")
    assert name == "floats" or found is not None
    assert check(name, big, "") is not None or not big.strip()
    assert check(name, big, big + "y") is not None
