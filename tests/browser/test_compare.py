"""Comparing two models as a person does: from the Overview to the code of both sides in two clicks."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from dashboard import escape
from tests.browser.conftest import settled, without_exception
from tests.dashboard.hostile_text import TEXTS

Visit = Callable[[str], Page]


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
    without_exception(page)
    page.wait_for_url("**/compare?*task=math%2Fadd*")
    assert "a=sample%7Csmall" in page.url
    assert "b=sample%7Clarge" in page.url


def test_the_keys_walk_through_the_tasks_and_back_leads_back(visit: Visit) -> None:
    page = visit("compare?run=sample")
    selected = page.locator(".letters a.row[aria-current]")
    first = selected.get_attribute("title")
    page.keyboard.press("j")
    page.wait_for_url("**task=*")
    expect(selected).not_to_have_attribute("title", first or "")
    settled(page)
    page.keyboard.press("k")
    expect(selected).to_have_attribute("title", first or "")
    settled(page)
    page.get_by_role("button", name="Swap").click()
    page.wait_for_url("**a=sample%7Clarge**")
    settled(page)
    without_exception(page)


def test_the_rows_of_the_table_are_links_and_fit_their_box(visit: Visit) -> None:
    page = visit("compare?run=sample")
    row = page.locator(".letters a.row").first
    href = row.get_attribute("href")
    assert href is not None
    assert href.startswith("compare?run=sample&task=")
    box = page.locator(".letters").evaluate("e => [e.scrollWidth, e.clientWidth]")
    assert box[0] <= box[1]
    chip = row.locator(".chip").first
    assert chip.inner_text() in "PWECTMONRS?."
    assert chip.get_attribute("title")


def test_hostile_names_are_text_everywhere(visit: Visit, outside: list[str]) -> None:
    page = visit("compare?run=hostile")
    labels = page.locator(".letters a.row .label").all_text_contents()
    assert labels
    assert set(labels) <= {escape.text(text) for text in TEXTS}
    page.get_by_test_id("stMain").get_by_label("model").first.locator("visible=true").click()
    for text in TEXTS:
        expect(page.get_by_role("option", name=escape.text(text), exact=True)).to_be_attached()
    page.keyboard.press("Escape")
    assert page.title().endswith(" · Rollscope")
    assert page.locator("[data-testid='stMain'] img").count() == 0
    assert outside == []
    without_exception(page)
