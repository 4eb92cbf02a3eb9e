"""The Rollouts page in a browser: the preview beside the grid, the table whose rows open, the search."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit, settled
from tests.browser.test_in_chromium import click_cell, open_table_row

pytestmark = pytest.mark.slow


def preview(page: Page, text: str) -> None:
    expect(page.locator(".rs-preview-head b")).to_contain_text(text)


def cursor(page: Page) -> dict[str, int]:
    found: dict[str, int] = page.locator(".grid").evaluate("root => root.__grid.cursor")
    return found


def test_a_click_shows_the_failing_line_beside_the_grid_and_a_second_opens_it(visit: Visit) -> None:
    page = visit("")
    page.get_by_role("link", name="Rollouts", exact=True).click()
    preview(page, "math/add · test 1 (0 to 2)")  # the first failure, before any click
    click_cell(page, row=0, column=2)
    preview(page, "math/add · test 2 (0 to 2)")
    line = page.locator(".rs-code .ln.fail")
    expect(line).to_contain_text("161    return missing")
    expect(line).to_be_in_viewport()
    expect(page.locator("#P158")).to_be_in_viewport()
    page.wait_for_url("**at=math%2Fadd%7Cadd%232**")
    settled(page)
    click_cell(page, row=0, column=2)
    page.wait_for_url("**/completion?*sample=add%232**")


def test_the_preview_follows_the_keys_and_up_returns_to_the_cell(visit: Visit) -> None:
    page = visit("rollouts?run=sample")
    before = page.evaluate("history.length")
    expect(page.locator(".scroller")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("End")
    preview(page, "unknown · text/all-kinds")
    settled(page)
    assert page.evaluate("history.length") == before, "a step for each cell would make the back button useless"
    page.get_by_role("button", name="Open (Enter)").click()
    page.wait_for_url("**/completion?*")
    expect(page.locator(".rs-title")).to_contain_text("sample 8 of 8")
    settled(page)
    page.keyboard.press("k")
    expect(page.locator(".rs-title")).to_contain_text("sample 7 of 8")
    settled(page)
    page.keyboard.press("u")
    page.wait_for_url("**/rollouts?*at=*")
    preview(page, "no_code · text/all-kinds")
    settled(page)
    assert cursor(page) == {"row": 2, "column": 6}
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".status")).to_contain_text("sample 6 · sandbox_error")


def test_zoom_and_columns_are_in_the_address(visit: Visit) -> None:
    page = visit("rollouts?run=sample")
    page.get_by_test_id("stMain").get_by_text("By model", exact=True).click()
    page.wait_for_url("**cols=model**")
    settled(page)
    assert page.locator(".grid").evaluate("root => root.__grid.data.rows[0].letters") == "EP  PE  "
    for width in (14, 10, 8):
        page.get_by_role("button", name="\N{MINUS SIGN}").click()
        page.wait_for_url(f"**zoom={width}**")
        settled(page)
    box = page.locator(".scroller canvas").bounding_box()
    assert box is not None
    left = page.locator(".grid").evaluate("root => root.__grid.left")
    page.mouse.move(box["x"] + left + 8 * 4 + 3, box["y"] + 36 + 3)
    expect(page.locator(".status")).to_contain_text("math/add · sample 1 · passed · add#0 · small")


def test_one_task_shows_the_answers_to_the_selected_test(visit: Visit) -> None:
    page = visit("rollouts?run=sample&task=math%2Fadd")
    preview(page, "runtime_error · math/add · test 1 (0 to 2)")
    assert page.locator(".rs-answers li").all_inner_texts() == ["P\n3\n3", "E\nAttributeError\n1"]
    click_cell(page, row=2, column=2)
    preview(page, "runtime_error · math/add · test 2 (0 to 2)")
    expect(page.locator(".rs-answers li.here")).to_have_text("ENameError1")
    page.wait_for_url("**test=2**")


def test_a_click_anywhere_in_a_row_opens_it_and_a_header_sorts_all_rows(visit: Visit) -> None:
    page = visit("rollouts?run=sample&view=table")
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(13)
    page.get_by_role("button", name="wall, s").click()
    page.wait_for_url("**sort=-wall_s**")
    expect(rows.first).to_contain_text("text/all-kinds")
    page.get_by_role("button", name="wall, s ▼").click()
    page.wait_for_url("**sort=wall_s**")
    expect(rows.first).to_contain_text("#0")
    settled(page)
    rows.nth(4).locator("td").last.click()
    page.wait_for_url("**/completion?*sort=wall_s**")
    expect(page.get_by_text("5 of 13", exact=True)).to_be_visible()
    settled(page)
    page.keyboard.press("u")
    expect(page.locator("tr[aria-selected=true]")).to_have_count(1)
    settled(page)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/completion?*")
    expect(page.get_by_text("6 of 13", exact=True)).to_be_visible()


def test_every_completion_that_contains_a_text_is_found_and_opens(visit: Visit) -> None:
    page = visit("rollouts?run=sample")
    main = page.get_by_test_id("stMain")
    main.get_by_text("Search", exact=True).click()
    field = main.get_by_label("Find", exact=True).locator("visible=true")
    field.fill("/tot\\w+\\.plus/")
    field.press("Enter")
    page.wait_for_url(re.compile("find="))
    hit = page.locator("tbody tr")
    expect(hit).to_have_count(1)
    expect(hit.locator("mark")).to_have_text("total.plus")
    settled(page)
    open_table_row(page)
    expect(page.locator(".rs-title")).to_contain_text("math/add / sample 2 of 4")
    expect(page.get_by_text("1 of 1", exact=True)).to_be_visible()
    page.go_back()
    expect(hit.locator("mark")).to_have_text("total.plus")
