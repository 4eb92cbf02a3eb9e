"""What people come for, and in how many clicks. The jobs of one page are tested with that page."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PATIENCE_MS, Visit, press, settled

pytestmark = pytest.mark.slow

PRINTED = """[...document.querySelectorAll('[data-testid=stMain] button')]
    .map((button) => button.innerText.trim().split(/\\s+/).at(-1)).filter((word) => /^[A-Z]$/.test(word))"""
"""The keys on the buttons of a page."""


def test_a_copied_address_shows_the_same_view_in_another_browser(visit: Visit, page: Page) -> None:
    there = page.context.browser
    assert there is not None
    other = there.new_context(viewport={"width": 1280, "height": 720}).new_page()
    other.set_default_timeout(PATIENCE_MS)
    for path in (
        "?run=sample&verdict=failed",
        "rollouts?run=sample&view=table&sort=slow&model=small",
        "completion?run=sample&task=math/add&sample=add%232&verdict=runtime_error&tab=output",
        "tasks?run=sample&task=math/add&test=1",
    ):
        visit(path)
        settled(page)
        other.goto(page.url)
        other.get_by_role("link", name="Overview").wait_for()
        settled(other)
        for part in ("stMain", "stSidebar"):
            expect(other.get_by_test_id(part)).to_have_text(page.get_by_test_id(part).inner_text(), use_inner_text=True)
        assert other.url == page.url
    other.context.close()


def test_the_keys_of_a_page_are_listed_and_the_tab_says_which_run_and_page_it_is(visit: Visit) -> None:
    page = visit("completion?run=sample")
    settled(page)
    assert page.title() == "sample · Completion · Rollscope"
    press(page, "h", "Keys")
    keys = page.get_by_role("dialog").locator("kbd")
    expect(keys.filter(has_text="J")).to_be_visible()
    listed = set(keys.all_inner_texts())
    page.keyboard.press("Escape")
    printed = set(page.evaluate(PRINTED))
    assert {"J", "K", "U", "N", "E", "M"} <= printed
    assert printed <= listed
