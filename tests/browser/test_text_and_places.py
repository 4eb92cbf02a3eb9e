"""Text from files stays text when a browser has drawn it, and an address brings back the place it was copied from."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from dashboard import escape
from tests.browser.conftest import settled
from tests.browser.test_in_chromium import click_cell, go_up, open_table_row
from tests.dashboard import hostile_text
from tests.dashboard.hostile_text import TEXTS

Visit = Callable[[str], Page]


def test_a_models_name_is_plain_text_in_every_legend(visit: Visit, outside: list[str]) -> None:
    page = visit("rewards?run=hostile&view=all")
    legend = page.locator(".js-plotly-plot").filter(has=page.locator(".legendtext", has_text="zero"))
    expect(legend).to_have_count(1)
    drawn = legend.locator(".legendtext").all_text_contents()
    assert sorted(drawn) == sorted(escape.text(text) for text in TEXTS)
    expect(page.locator(".js-plotly-plot a")).to_have_count(0)
    expect(page.locator(".js-plotly-plot .legendtext [style*=bold], .legendtext .line")).to_have_count(0)
    assert page.title().endswith(" · Rollscope")
    assert outside == []


def test_what_hovers_over_a_mark_is_plain_text(visit: Visit) -> None:
    page = visit("rewards?run=hostile&view=all")
    plot = page.locator(".js-plotly-plot").filter(has=page.locator(".xtitle", has_text="mean over tasks"))
    label = plot.locator(".hoverlayer .hovertext")
    seen = [""]
    for bar in plot.locator(".bars .point").all():
        bar.hover(force=True)
        expect(label).to_have_count(1)
        expect(label).not_to_have_text(seen[-1])  # until then it is the one of the bar before
        seen.append(label.text_content() or "")
    for text in TEXTS:
        assert any(escape.text(text) in each for each in seen), (text, seen)


def test_a_list_of_options_shows_names_as_they_are(visit: Visit) -> None:
    page = visit("?run=hostile")
    page.get_by_label("Model", exact=True).locator("visible=true").click()
    for text in TEXTS:
        expect(page.get_by_role("option", name=f"{escape.text(text)} (2)", exact=True)).to_be_attached()


def test_what_is_not_seen_is_drawn_in_code_and_copied_as_it_is(visit: Visit) -> None:
    page = visit("completion?run=hostile&verdict=wrong_answer")
    line = page.locator(".rs-code .ln").nth(1)
    mark = line.locator(".rs-unseen").first
    assert mark.evaluate("e => getComputedStyle(e, '::before').content") == '"⟨U+202E⟩"'
    box = mark.bounding_box()
    assert box is not None
    assert box["width"] > 30
    places = line.evaluate(
        """line => [...line.querySelectorAll('.rs-unseen')].map(mark => mark.getBoundingClientRect().left)"""
    )
    assert places == sorted(places)  # an override would have turned what follows round
    copied = line.evaluate("""line => { getSelection().selectAllChildren(line); return getSelection().toString(); }""")
    assert hostile_text.CODE.split("\n")[1] in copied


LISTS = [
    ("rollouts?view=table&sort=worst", open_table_row, {"view=table", "sort=worst"}),
    ("rollouts?task=math%2Fadd&verdict=failed", lambda page: click_cell(page, row=1, column=1), {"task=math%2Fadd"}),
]


@pytest.mark.parametrize(("path", "leave", "kept"), LISTS, ids=[path for path, *_ in LISTS])
def test_up_leads_back_to_the_list_as_it_was(
    visit: Visit, path: str, leave: Callable[[Page], None], kept: set[str]
) -> None:
    page = visit(path)
    leave(page)
    page.wait_for_url("**/completion?*task=*")
    settled(page)
    copied = page.url
    page.goto(copied)  # by its address alone, as somebody else would
    page.get_by_role("link", name="Overview").wait_for()
    settled(page)
    go_up(page)
    page.wait_for_url("**/rollouts?*")
    assert kept <= set(page.url.partition("?")[2].split("&"))
