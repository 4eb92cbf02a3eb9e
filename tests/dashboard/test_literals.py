"""Values are compared item by item: what is missing, extra or changed, and what is no difference."""

import re
from typing import Any

import pytest

from dashboard.text import diff_view, values


def drawn(expected: str, actual: str, checker: str | None = "value", **more: Any) -> list[str]:
    """Each row of the table as text, its cells between bars; the head first."""
    found = values.compare(expected, actual, checker, **more)
    if found is None:
        return []
    html = diff_view.rows(found, expected, actual)
    rows = [re.sub("<.*?>", "", re.sub("</t[dh]>", "|", row)) for row in html.split("</tr>")[:-1]]
    return [row.strip("|").replace("&#x27;", "'") for row in rows]


LONG = str(list(range(30)))


@pytest.mark.parametrize(
    ("expected", "actual", "rows"),
    [
        (LONG, LONG.replace(" 12,", ""), [
            "expected · 30 items|actual · 29 items: 1 missing", "… 9 equal items", "9|9|9|9", "10|10|10|10",
            "11|11|11|11", "−|12|12||item 12 is missing", "13|13|12|13", "14|14|13|14", "15|15|14|15",
            "… 14 equal items",
        ]),
        ("[1,2]", "[1, 3, 2]", [
            "expected · 2 items|actual · 3 items: 1 extra", "0|1|0|1", "+||item 1 is extra|1|3", "1|2|2|2",
        ]),
        ("[[1, 2], [3, 4], [5, 6]]", "[[3, 9], [5, 6]]", [
            "expected · 3 items|actual · 2 items: 1 missing, 1 changed", "−|0|[1, 2]||item 0 is missing",
            "~|1|[3, 4]|0|[3, 9]", "2|[5, 6]|1|[5, 6]",
        ]),
        ('{"a": 1, "b": true, "1": 0}', "{'a': 2, 'c': None, 1: 0}", [
            "expected · 3 keys|actual · 3 keys: 1 missing, 1 extra, 1 changed", "~||'a': 1||'a': 2",
            "−||'b': True||key 'b' is missing", "'1': 0||1: 0", "+||key 'c' is extra||'c': None",
        ]),
        ("{1, 2}", "{2, 3}", [
            "expected · 2 items|actual · 2 items: 1 missing, 1 extra", "−||1||it is missing", "2||2",
            "+||it is extra||3",
        ]),
        ("'a\\nb\\nc\\n'", "'a\\nc\\n'", [
            "expected · 3 lines|actual · 2 lines: 1 missing", "1|a|1|a", "−|2|b||line 2 is missing", "3|c|2|c",
        ]),
        ("3", "4", ["expected|actual", "~||3||4"]),
    ],
)  # fmt: skip
def test_items_keys_members_and_lines_are_rows(expected: str, actual: str, rows: list[str]) -> None:
    assert drawn(expected, actual) == rows


def test_a_long_item_is_taken_apart_at_its_place() -> None:
    one = [{"name": "x" * 120, "tags": ["a", "b", "c"]}, {"name": "y", "tags": list(range(60))}]
    other = [{"name": "x" * 120, "tags": ["a", "c"]}, {"name": "y", "tags": [*range(59), 7]}]
    assert drawn(str(one), str(other))[2:] == [
        "~||[0]['tags']: ['a', 'b', 'c']||[0]['tags']: ['a', 'c']", "[1]['name']: 'y'||[1]['name']: 'y'",
        "… 56 equal items", "[1]['tags'][56]: 56||[1]['tags'][56]: 56", "[1]['tags'][57]: 57||[1]['tags'][57]: 57",
        "[1]['tags'][58]: 58||[1]['tags'][58]: 58", "~||[1]['tags'][59]: 59||[1]['tags'][59]: 7",
    ]  # fmt: skip


def test_what_the_checker_accepts_is_no_difference() -> None:
    assert drawn("[0.3, (1, 2), 5]", "[0.30000001, [1, 2], 6]", "value:tolerance=1e-5")[1:] == [
        "0|0.3|0|0.30000001", "1|(1, 2)|1|[1, 2]", "~|2|5|2|6",
    ]  # fmt: skip
    assert drawn("[1, 2, 3]", "[3, 1, 4]", "unordered")[1:] == [
        "1||1", "−||2||it is missing", "3||3", "+||it is extra||4",
    ]  # fmt: skip
    assert drawn("[1, 2]", "(1, 2)", "python") == ["expected|actual", "~||[1, 2]||(1, 2)"]


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ("[1,2]", "<object object>"), ("[1,2]", "[1, 2]"), ("f([1,2])", "[1,2]"), ("[1,2]", ""),
        ("[" * 5_000, "[1,2]"), ("-" * 60_000 + "1", "[1,2]"), ("{[]: 1}", "1"), ("[1] * 10 ** 9", "[1]"),
        ("[" + "1," * 40_000 + "]", "[1,2]"),
    ],
)  # fmt: skip
def test_what_is_no_literal_or_would_look_equal_is_compared_as_text(expected: str, actual: str) -> None:
    assert values.compare(expected, actual, None) is None


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (str(list(range(10_000))), str(list(range(9_999, -1, -1)))),
        (str([[n] for n in range(7_000)]), str([[n, n] for n in range(5_000)])),
        (str({n: [n] * 9 for n in range(1_100)}), str({n: [n] * 8 for n in range(1_100)})),
        ("[" * 90 + "1" + "]" * 90, "[" * 90 + "2" + "]" * 90),
        (str([{"a": list(range(90))}] * 90), str([{"a": list(range(1, 90))}] * 90)),
    ],
)
def test_large_values_are_compared_in_bounded_space(expected: str, actual: str) -> None:
    """In bounded time, too."""
    found = values.compare(expected, actual, "value")
    assert found is not None
    assert len(diff_view.rows(found, expected, actual)) < 1_000_000


def test_nothing_in_a_value_is_markup() -> None:
    html = diff_view.rows(values.compare("{'<b>': '<i>'}", "{'<u>': 1}", None) or pytest.fail("no rows"), "", "")
    assert not re.search("<[bu]>", html)
    assert "&lt;b&gt;" in html


def test_the_same_value_in_another_spelling_is_the_same() -> None:
    assert values.same_literal("['a', 'b']", '["a",\n"b"]')
    assert not values.same_literal("1", "1.0")
    assert not values.same_literal("f(1)", "f( 1)")
