import re

import pytest

from dashboard.text import diff, diff_view, values
from dashboard.text.diff import GAP, taken_apart
from evaluator.checkers import shortened
from evaluator.model import Excerpt

LINES = [f"line {n}" for n in range(20_000)]
WHOLE = "".join(f"{line}\n" for line in LINES)


def kept(text: str) -> str:
    """A text as the grader keeps it."""
    return shortened(text, 64 * 1024, separator="\n", parts=4)


def shown(expected: str, actual: str) -> str:
    """The comparison's text: cells behind bars, one row a line."""
    html = diff_view.side_by_side(expected, actual)
    return re.sub("<.*?>", "", re.sub("</t[dh]>", "|", html.replace("</tr>", "\n")))


@pytest.mark.parametrize(("separator", "parts", "limit"), [("\n", 4, 64 * 1024), (" ", 3, 2 * 1024)])
def test_a_text_that_was_shortened_is_its_head_and_its_tail(separator: str, parts: int, limit: int) -> None:
    found = taken_apart(shortened(WHOLE, limit, separator=separator, parts=parts))
    assert found.gap is not None
    head, tail = found.lines[: found.gap], found.lines[found.gap + 1 :]
    assert head == LINES[: len(head)]
    assert tail == LINES[-len(tail) :]
    assert found.lines[found.gap] == GAP
    assert found.characters == len(WHOLE)
    assert found.left_out == sum(len(line) + 1 for line in LINES[len(head) : -len(tail)])


def test_one_long_line_keeps_both_of_its_ends() -> None:
    found = taken_apart(shortened("a" * 200_000 + "z" * 200_000, 2 * 1024))
    assert found.gap == 1
    assert found.lines[0].startswith("aaa")
    assert found.lines[2].endswith("zzz")


SAID = "... 12 characters left out ...\n"


@pytest.mark.parametrize("printed", [SAID, f"a\n{SAID}b\n", "a\n" * 4_000 + SAID + "b\n"])
def test_a_program_that_prints_the_words_has_printed_them(printed: str) -> None:
    assert taken_apart(printed).lines == printed.splitlines()


def test_a_difference_in_the_middle_is_said_to_be_left_out() -> None:
    assert "the difference was not stored" in shown(kept(WHOLE), kept(WHOLE.replace("line 9999\n", "line\n")))


def test_the_line_numbers_before_the_cut_stay() -> None:
    text = shown(kept(WHOLE), kept("debug\n" + WHOLE))
    assert f"expected · head and tail of {len(WHOLE):,} characters|" in text
    assert "+||line 1 is extra|1|debug|\n|1|line 0|2|line 0|\n" in text


def test_long_output_against_a_short_expectation_shows_its_head_its_cut_and_its_tail() -> None:
    text = shown("1\n", kept(WHOLE + "1\n"))
    assert "1|line 0|" in text
    assert re.search(r"[\d,]+ characters of actual not shown", text)
    assert "||line 19999|" in text  # the number of lines before it is not known
    assert diff.compare("1\n", kept(WHOLE)).actual.number(10_000) is None


def test_a_part_around_the_difference_has_its_own_line_numbers_and_says_which_part_it_is() -> None:
    kept = "".join(f"{line}\n" for line in LINES[5_000:5_100])
    excerpt = Excerpt("line", (5_000, 20_000), (5_000, 20_001))
    found = diff.compare(kept, kept.replace("line 5050\n", "other\n"), excerpt)
    text = re.sub("<.*?>", "", re.sub("</t[dh]>", "|", diff_view.rows(found, "", "").replace("</tr>", "\n")))
    assert "expected · lines 5,001 to 5,100 of 20,000|actual · lines 5,001 to 5,100 of 20,001: 1 changed|" in text
    assert "~|5051|line 5050|5051|other|" in text
    assert diff_view.banner(found).startswith("First difference: line 5051, ")


def test_a_part_of_a_long_list_has_its_own_indices() -> None:
    part = list(range(500, 600))
    excerpt = Excerpt("item", (500, 9_000), (500, 8_999))
    found = values.compare(str(part), str([*part[:50], *part[51:], 600]), "value", excerpt)
    assert found is not None
    [row] = [row for row in found.rows if row.kind == "change"]
    assert row.said == "item 550 is missing"
    assert found.expected.extent == "items 500 to 599 of 9,000"


def test_characters_of_one_long_line_have_no_line_numbers() -> None:
    excerpt = Excerpt("character", (500, 1_000), (500, 900))
    text = diff_view.rows(diff.compare("a" * 400, "b" * 400, excerpt), "", "")
    assert "characters 501 to 900 of 1,000" in text
    assert '<td class="no">1' not in text
