"""What people come for, and in how many clicks. The jobs of one page are tested with that page."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit, press, settled

pytestmark = pytest.mark.slow

PRINTED = """[...document.querySelectorAll('[data-testid=stMain] button')]
    .map((button) => button.innerText.trim().split(/\\s+/).at(-1)).filter((word) => /^[A-Z]$/.test(word))"""
"""The keys on the buttons of a page."""


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
