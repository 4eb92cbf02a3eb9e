"""Comparing two models as a person does: from the Overview to the code of both sides in two clicks."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit, press, settled

pytestmark = pytest.mark.slow


def test_two_models_are_compared_with_two_clicks(visit: Visit) -> None:
    page = visit("?run=sample")
    page.get_by_role("link", name="Compare").click()  # 1
    row = page.locator(".letters a.row").filter(has_text="math/add")
    row.click()  # 2
    expect(page.locator(".rs-title").filter(has_text="math/add ·")).to_have_count(1)
    sides = page.locator(".rs-title .rs-chip")
    expect(sides).to_have_count(2)
    table = page.locator(".rs-code-diff")
    expect(table.locator("th")).to_have_text(["A", "B"])
    expect(table).to_contain_text("return b + a")
    page.wait_for_url("**/compare?*task=math%2Fadd*")
    assert "a=sample%7Csmall" in page.url
    assert "b=sample%7Clarge" in page.url
    box = page.locator(".letters").evaluate("e => [e.scrollWidth, e.clientWidth]")
    assert box[0] <= box[1]


def test_the_keys_walk_through_the_tasks_and_back_leads_back(visit: Visit) -> None:
    page = visit("compare?run=sample")
    selected = page.locator(".letters a.row[aria-current]")
    first = selected.get_attribute("title")
    press(page, "j", "Next")
    page.wait_for_url("**task=*")
    expect(selected).not_to_have_attribute("title", first or "")
    settled(page)
    page.keyboard.press("k")
    expect(selected).to_have_attribute("title", first or "")
    settled(page)
    page.get_by_role("button", name="Swap").click()
    page.wait_for_url("**a=sample%7Clarge**")
    settled(page)
