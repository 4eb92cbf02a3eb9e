"""Values that are written alike before they are compared on the screen."""

import pytest

from dashboard.text import case_view


@pytest.mark.parametrize(
    ("expected", "actual", "shown"),
    [
        ('[\n    "a", "b"\n]', "['a']", ("['a', 'b']", "['a']")),
        ("[4,6,8,10]", "[6, 8]", ("[4, 6, 8, 10]", "[6, 8]")),
        ('{"a":-1}', "{'a': 1.0}", ("{'a': -1}", "{'a': 1.0}")),
    ],
)
def test_spaces_quotes_and_line_breaks_are_no_difference(expected: str, actual: str, shown: tuple[str, str]) -> None:
    assert case_view.alike(expected, actual) == shown


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ("[1,2]", "<object object>"),
        ("[1,2]", "[1, 2]"),
        ("f([1,2])", "[1,2]"),
        ("[1,2]", ""),
        ("[" * 5_000, "[1,2]"),
        ("[" + "1," * 20_000 + "]", "[1,2]"),
    ],
)
def test_what_is_no_literal_or_would_look_equal_stays_as_it_is(expected: str, actual: str) -> None:
    assert case_view.alike(expected, actual) == (expected, actual)


def test_the_same_value_in_another_spelling_is_the_same() -> None:
    assert case_view.same_literal("['a', 'b']", '["a",\n"b"]')
    assert not case_view.same_literal("1", "1.0")
    assert not case_view.same_literal("f(1)", "f( 1)")
