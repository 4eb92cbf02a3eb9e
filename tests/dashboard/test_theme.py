import re

import pytest

from dashboard import theme
from evaluator.model import Verdict


def contrast(a: str, b: str) -> float:
    def luminance(colour: str) -> float:
        channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("verdict", Verdict)
def test_each_verdict_has_a_colour_and_a_letter_that_is_legible_on_it(verdict: Verdict) -> None:
    colour = theme.COLOURS[verdict]
    assert contrast(theme.ink(colour), colour) >= 4.5


@pytest.mark.parametrize("dark", [False, True])
def test_what_is_written_is_legible_on_all_that_it_stands_on(dark: bool) -> None:
    colours = dict(re.findall(r"--rs-([\w-]+): (#\w+);", theme.stylesheet(dark=dark)))
    inks = ("text", "soft", "accent", "fail-text", "keyword", "string", "number", "comment", "name", "builtin")
    places = ("panel", "fail-fill", "minus", "plus")
    faint = {(ink, place) for ink in inks for place in places if contrast(colours[ink], colours[place]) < 4.5}
    faint |= {
        ("text", place) for place in ("minus-mark", "plus-mark") if contrast(colours["text"], colours[place]) < 4.5
    }
    assert faint == set()


def test_no_two_verdicts_look_alike() -> None:
    assert len(set(theme.COLOURS.values())) == len(Verdict)


def test_a_verdict_of_a_newer_version_is_shown_as_unknown() -> None:
    assert theme.verdict("something_new") is Verdict.UNKNOWN


@pytest.mark.parametrize("dark", [False, True])
def test_the_style_sheet_has_a_rule_for_each_verdict_and_loads_nothing(dark: bool) -> None:
    css = theme.stylesheet(dark=dark)
    assert all(f".rs-v-{v.value} " in css for v in Verdict)
    assert "url(" not in css
    assert "@import" not in css
    assert "</" not in css
