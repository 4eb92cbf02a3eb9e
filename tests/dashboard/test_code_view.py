import re
from html import unescape

from hypothesis import given
from hypothesis import strategies as some

from dashboard.text import code_view
from tests.dashboard.hostile_text import CODE


def text_of(html: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", html))


@given(some.text(alphabet="def x():\n '\"#<>&\\t[]{}é…", max_size=80))
def test_every_character_of_the_code_is_shown_and_none_is_markup(code: str) -> None:
    lines = code_view.coloured_lines(code)
    assert [text_of(line) for line in lines] == code.split("\n")
    assert all(re.fullmatch(r"(?:[^<]|<span class=\"\w\">|</span>)*", line) for line in lines)


@given(some.text(alphabet="def x():\n '\"#<>&é…", max_size=40), some.integers(0, 40), some.integers(1, 40))
def test_what_was_found_is_marked_whatever_tokens_and_lines_it_spans(code: str, start: int, length: int) -> None:
    found = [(start, min(start + length, len(code)))] if start < len(code) else []
    for lines in (code_view.coloured_lines(code, found), code_view.plain_lines(code, found)):
        assert text_of("\n".join(lines)) == code
        marked = re.findall(r"<mark>(.*?)</mark>", "\n".join(lines), re.DOTALL)
        assert text_of("".join(marked)) == "".join(code[a:b].replace("\n", "") for a, b in found)


def test_code_is_drawn_with_marks_and_still_holds_its_own_text() -> None:
    html = "\n".join(code_view.coloured_lines(CODE))
    assert '# <span class="rs-unseen" data-mark="U+202E">\u202e</span> } ' in html
    assert text_of(html) == CODE


def test_the_failing_line_is_filled_and_says_why_and_the_frames_are_outlined() -> None:
    html = code_view.code("a\nb\nc\n", failing=2, frames={1, 2}, note="Boom: <b>")
    assert '<span class="ln frame" id="L1">' in html
    assert '<span class="ln fail" id="L2">' in html
    assert "Boom: &lt;b&gt;" in html
    assert '<span class="ln" id="L3">' in html


def test_very_long_code_is_shown_round_the_failing_line() -> None:
    html = code_view.code("x = 1\n" * 50_000, failing=40_000)
    assert 'id="L40000"' in html
    assert 'id="L1"' not in html
    assert "not shown" in html
    assert len(html) < 2_000_000


def test_a_raw_completion_shows_which_lines_were_run() -> None:
    html = code_view.raw("Sure:\n```\nx = 1\n```", taken=range(3, 4), failing=3)
    assert '<span class="ln cut" id="R1">' in html
    assert '<span class="ln took fail" id="R3">' in html
