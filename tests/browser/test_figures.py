"""Marks of charts, cards and the table of models lead to what they count, and names in them are text."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from dashboard import escape
from tests.browser.conftest import settled, without_exception
from tests.dashboard.hostile_text import TEXTS

Visit = Callable[[str], Page]
SIZES = [(1280, 720), (1920, 1080)]


def click_middle(page: Page, mark: Locator) -> None:
    """Click a mark of a chart: what gets the click there is the layer above all marks."""
    mark.scroll_into_view_if_needed()
    box = mark.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def chart(page: Page, axis: str) -> Locator:
    """The chart with this in the title of its horizontal axis, once it is drawn."""
    found = page.locator(".js-plotly-plot").filter(has=page.locator(".xtitle", has_text=axis))
    expect(found).to_have_count(1)
    return found


@pytest.mark.parametrize(
    ("axis", "mark", "opens"),
    [
        ("mean over tasks", ".bars .point path", r"/rollouts\?.*model=.*r_min=.*r_max="),
        ("pass rate (n", ".scatter .points path", r"/rollouts\?.*task="),
    ],
)
def test_a_click_on_a_mark_opens_its_rollouts(visit: Visit, axis: str, mark: str, opens: str) -> None:
    page = visit("rewards?run=sample&view=all")
    click_middle(page, chart(page, axis).locator(mark).last)
    page.wait_for_url(re.compile(opens))
    settled(page)
    without_exception(page)
    expect(page.get_by_text("The filter matches none")).to_have_count(0)


def test_cards_and_the_table_of_models_lead_to_what_they_count(visit: Visit) -> None:
    page = visit("?run=sample")
    page.locator("a.card", has_text="no signal").click()
    page.wait_for_url("**/?*view=signal*")
    expect(page.locator(".signal.whole .task").first).to_be_visible()
    page.locator(".models a.name", has_text="small").click()
    page.wait_for_url("**/?*model=small*")
    expect(page.locator(".models .name.selected")).to_have_text("small")
    page.locator(".models .name.selected").click()
    page.wait_for_url(lambda url: "model=" not in url)
    page.locator(".models a.piece").first.click()
    page.wait_for_url("**/rollouts?*model=*")
    assert "verdict=" in page.url


def test_what_people_come_for_is_above_the_fold(visit: Visit) -> None:
    page = visit("?run=sample")
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        for wanted in (
            page.locator(".models"),
            page.get_by_text("Graded: tests"),
            page.locator(".bars.tall .row").first,
        ):
            expect(wanted).to_be_in_viewport(ratio=1)
    page = visit("rewards?run=sample")
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_function(
            """height => [...document.querySelectorAll('.js-plotly-plot .xtitle')]
                .filter((title) => title.getBoundingClientRect().bottom <= height).length >= 4""",
            arg=height,
        )


def test_no_name_is_markup_on_a_chart_or_in_the_table_of_models(visit: Visit, outside: list[str]) -> None:
    page = visit("rewards?run=hostile&view=all")
    rows = chart(page, "mean over tasks").locator(".ytick").all_text_contents()
    assert sorted(rows) == sorted(escape.text(text) for text in TEXTS)
    page = visit("?run=hostile")
    names = page.locator(".models .name").all_text_contents()
    assert sorted(names) == sorted(escape.text(text) for text in TEXTS)
    expect(page.locator(".models script, .models b, .signal b")).to_have_count(0)
    assert page.title().endswith(" · Rollscope")
    assert outside == []
