"""Marks of charts, cards and the table of models lead to what they count, and names in them are text."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Visit, settled

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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("axis", "mark", "opens"),
    [
        ("mean reward over tasks", ".bars .point path", r"/rollouts\?.*model="),
        ("pass rate (n", ".scatter .points path", r"/rollouts\?.*signal="),
    ],
)
def test_a_click_on_a_mark_opens_its_rollouts(visit: Visit, axis: str, mark: str, opens: str) -> None:
    page = visit("rewards?run=sample&view=all")
    click_middle(page, chart(page, axis).locator(mark).last)
    page.wait_for_url(re.compile(opens))
    settled(page)
    expect(page.get_by_text("The filter matches none")).to_have_count(0)


@pytest.mark.slow
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
