import re

import pytest
from hypothesis import given
from hypothesis import strategies as some

from dashboard.text import diff, diff_view, words
from evaluator.checkers import shortened

_text = some.text(alphabet="ab \n\t\r", max_size=60)


def sides(comparison: diff.Comparison) -> tuple[list[str], list[str]]:
    left = ["".join(text for text, _ in row.left) for row in comparison.rows if row.left is not None]
    right = ["".join(text for text, _ in row.right) for row in comparison.rows if row.right is not None]
    return left, right


@given(_text, _text)
def test_the_first_difference_is_where_the_texts_part(expected: str, actual: str) -> None:
    first = diff.compare(expected, actual).first
    if expected == actual:
        assert first is None
        return
    assert first is not None
    offset = sum(len(line) + 1 for line in expected.split("\n")[: first.line - 1]) + first.column - 1
    assert expected[:offset] == actual[:offset]
    assert expected[offset : offset + 1] != actual[offset : offset + 1]


@given(some.lists(some.sampled_from("abc"), max_size=12), some.lists(some.sampled_from("abc"), max_size=12))
def test_no_line_is_lost_or_moved_when_nothing_is_folded(left: list[str], right: list[str]) -> None:
    comparison = diff.compare("\n".join([*left, ""]), "\n".join([*right, ""]))
    if left != right and not any(row.kind == "fold" for row in comparison.rows):
        assert sides(comparison) == (left, right)


def test_extra_output_at_the_end_is_always_shown() -> None:
    expected = "\n".join(str(n) for n in range(5_000)) + "\n"
    html = diff_view.side_by_side(expected, expected + "one line too many\n")
    assert "one line too many" in html
    assert "equal lines" in html
    assert "end" in diff_view.side_by_side("\n".join(["a"] * 900), "\n".join(["b"] * 899 + ["the end"]))


@pytest.mark.parametrize(
    ("expected", "actual", "line", "outlined"),
    [
        ("0.5\n2\n", "0.50\n3\n", 2, 2),
        ("0.5\n2\n", "0.50\n3\n", None, 1),
        ("a\n0.5\nb\n", "a\n0.50\n", 3, 3),
        ("0.5\n", "0.50\nmore\n", 2, 2),
        ("0.5\n", "0.50\n", 9, 1),
    ],
    ids=["equal numbers before it", "not said", "a missing line", "an extra line", "beyond the end"],
)
def test_the_row_of_the_checkers_first_difference_is_outlined(
    expected: str, actual: str, line: int | None, outlined: int
) -> None:
    html = diff_view.side_by_side(expected, actual, line)
    [row] = re.findall(r'<tr class="first">.*?</tr>', html)
    assert f'<td class="no">{outlined}</td>' in row


def test_white_space_is_drawn_where_it_differs_and_not_elsewhere() -> None:
    html = diff_view.side_by_side("a b\n", "a b \t\n")
    assert "<i>·→</i>" in html
    assert "a b" in html
    html = diff_view.side_by_side("a\nb\n", "a\r\nb")
    assert "carriage return" in html
    assert "no newline at its end" in html
    assert "␍" in html


def marked(expected: str, actual: str) -> tuple[list[str], list[str]]:
    """The marked pieces of each line."""
    left, right = words.changed_spans(expected, actual)
    return [text for text, differs in left if differs], [text for text, differs in right if differs]


@pytest.mark.parametrize(
    ("expected", "actual", "marks"),
    [
        ("True", "False", (["True"], ["False"])),
        ("[1, True, 12]", "[1, False, 2]", (["True", "12"], ["False", "2"])),
        ("0.5 1", "0.25 1", (["0.5"], ["0.25"])),
        ("x" * 50 + "at", "x" * 50 + "bt", (["a"], ["b"])),
        ("a b", "a  b", ([], [" "])),
        ("", "x", ([], ["x"])),
    ],
)
def test_a_word_that_differs_is_marked_as_a_whole(
    expected: str, actual: str, marks: tuple[list[str], list[str]]
) -> None:
    assert marked(expected, actual) == marks


def test_changes_of_a_code_are_lines_that_went_and_lines_that_came() -> None:
    html = diff_view.one_column("a\nb < c\nb\nd", "a\nb <= c\nx\nd\n")
    rows = [
        re.sub(r"<[^>]*>", "", row.replace("</td>", " ")).strip().split(maxsplit=2) for row in html.split("</tr>")[:-1]
    ]
    assert rows == [
        ["1", "1", "a"], ["2", "−", "b &lt; c"], ["3", "−", "b"], ["2", "+", "b &lt;= c"], ["3", "+", "x"],
        ["4", "4", "d"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("expected", "actual", "said"),
    [
        ("0.5\n", "0.50\n", "line 1, column 4, expected `0.5`, got `0.50`"),
        ("a\n1 2\n", "a\n1 3\n", "line 2, column 3, expected `2`, got `3`"),
        ("a", "", "line 1, column 1, expected `a`, got the end of the text"),
    ],
)
def test_the_banner_says_where_and_what(expected: str, actual: str, said: str) -> None:
    assert diff_view.banner(diff.compare(expected, actual)) == f"First difference: {said}"


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ("x" * 400_000, "x" * 200_000 + "y" * 200_000),
        ("ab" * 100_000, "ba" * 100_000),
        ("\n".join(map(str, range(200_000))), "\n".join(map(str, range(1, 200_001)))),
        ("a\n" * 9_000, "b\n" * 9_000),
    ],
)
def test_large_outputs_are_compared_in_bounded_space(expected: str, actual: str) -> None:
    """In bounded time, too: aligned line by line, or character by character, they would take hours."""
    assert len(diff_view.side_by_side(expected, actual)) < 1_000_000


def test_text_that_is_too_long_to_align_gives_hashes_and_the_lines_round_the_difference() -> None:
    left = [f"line {n}" for n in range(30_000)]
    html = diff_view.side_by_side("\n".join(left), "\n".join([*left[:15_000], "other", *left[15_001:]]))
    assert "SHA-256" in html
    assert "15001" in html


def changed(expected: str, actual: str) -> list[tuple[str, str]]:
    rows = diff.compare(expected, actual).rows
    sides = ((row.left or [], row.right or []) for row in rows if row.kind == "change")
    return [("".join(text for text, _ in left), "".join(text for text, _ in right)) for left, right in sides]


def test_a_line_behind_what_was_left_out_of_both_is_found() -> None:
    lines = [str(number) for number in range(20_000)]
    expected = "\n".join(lines)
    for wrong in ("x", "x" * 5, "x" * 9):  # shorter, as long, longer: the tails begin elsewhere
        actual = "\n".join([*lines[:19_990], wrong, *lines[19_991:]])
        kept = [shortened(text, 64 * 1024, separator="\n", parts=4) for text in (expected, actual)]
        assert changed(*kept) == [("19990", wrong)]


def test_the_end_of_a_window_is_no_difference() -> None:
    lines = [str(number) for number in range(30_000)]
    assert changed("\n".join(lines), "\n".join([*lines[:10], "x", *lines[10:]])) == [("", "x")]


def test_nothing_in_a_text_is_markup() -> None:
    for html in (
        diff_view.side_by_side("<b>a</b>", "<i>&amp;</i><script>"),
        diff_view.side_by_side("<b>", "<b>"),
        diff_view.expected_alone("<b>", "<u>why</u>"),
        diff_view.text_block("<b>&"),
    ):
        assert "<b>" not in html
        assert "<script>" not in html
        assert "<u>" not in html
