"""Grading from the page with three visitors: one job, a run that grows in front of all, Stop and Resume."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import settled, without_exception

pytestmark = pytest.mark.slow

PRESS = "document.querySelector('.st-key-grade button')?.click()"
PROGRESS = ".st-key-progress"


@pytest.fixture
def visitors(browser: BrowserContext) -> Iterator[list[Page]]:
    """Three people, each with a tab and so a session of their own. What the browser has loaded once serves all."""
    tabs = [browser.new_page() for _ in range(3)]
    yield tabs
    for tab in tabs:
        tab.close()


def test_three_visitors_share_one_grading_and_each_has_a_view_of_their_own(visitors: list[Page], address: str) -> None:
    first, second, third = visitors
    for page in (first, second):
        page.goto(f"{address}/?run=waiting.jsonl")
        expect(page.get_by_role("button", name="Grade 65 rollouts")).to_be_visible()
        settled(page)
    third.goto(f"{address}/rollouts?run=sample&verdict=failed")
    expect(third.locator(".scroller canvas")).to_be_visible()
    settled(third)
    before = third.url

    # Both at once; the second may see the first one's job before its own click, which then does nothing.
    for page in (first, second):
        page.evaluate(PRESS)
    first.wait_for_url("**run=waiting-*")
    expect(first.locator(PROGRESS)).to_be_visible()
    expect(second.locator(PROGRESS)).to_be_visible()
    second.goto(f"{address}/rollouts?{first.url.partition('?')[2]}&sort=worst")
    expect(second.locator(".scroller canvas")).to_be_visible()  # what is graded so far
    without_exception(second)

    assert third.url == before
    expect(third.get_by_label("Run", exact=True).locator("visible=true")).to_have_value("sample")
    third.get_by_label("Run", exact=True).locator("visible=true").click()
    third.keyboard.press("Escape")
    third.reload()
    settled(third)
    third.get_by_label("Run", exact=True).locator("visible=true").click()
    expect(third.get_by_role("option", name="waiting-")).to_have_count(1)
    third.keyboard.press("Escape")

    first.close()
    shown = second.locator(PROGRESS)
    said = shown.inner_text()
    expect(shown).not_to_have_text(said)  # it goes on
    expect(shown).to_contain_text("Graded")
    assert "sort=worst" in second.url

    second.get_by_role("button", name="Stop").click()
    expect(second.get_by_text("Stopped at")).to_be_visible()
    expect(second.get_by_text("of 65 rollouts: figures are partial")).to_be_visible()
    expect(second.locator(".rs-command")).to_contain_text("--resume --output")
    second.get_by_role("button", name="Resume").click()
    expect(second.get_by_role("button", name="Stop")).to_be_visible()
    expect(second.locator(PROGRESS)).to_be_visible()
    second.get_by_role("button", name="Stop").click()
    expect(second.get_by_role("button", name="Resume")).to_be_visible()
    assert "sort=worst" in second.url
