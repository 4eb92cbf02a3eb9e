"""What only a browser can show: clicks, keys, scrolling, and that nothing leaves the machine."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit, settled
from tests.dashboard import hostile_text, sample_run

HOSTILE = quote(f"text/{sample_run.HOSTILE}", safe="")
NAME = "&".join(
    f"{field}={quote(text, safe='')}"
    for field, text in (("task", hostile_text.TEXTS[6]), ("sample", f"15 {hostile_text.TEXTS[7]}"))
)
MAIN = "[data-testid=stMain]"
PATHS = {  # the Overview, the grid, a completion and the charts are opened by other tests
    "rollouts?view=table": "tbody tr", "tasks": ".rs-tested, tbody tr", "compare": ".letters a.row",
}  # fmt: skip
"""An address, and what is drawn there."""
MORE_PATHS = {
    "": ".models", "rewards": ".js-plotly-plot",
    "audit": ".counts tr", "sql": MAIN + " textarea", "bad_lines": ".rs-bad-lines code",
    "docs?run=sample": ".st-key-document table",
    "rollouts": ".scroller canvas", "completion": ".rs-code", "rollouts?task=math/add": ".scroller",
    "?run=checks": ".models",
    "tasks?run=checks&task=checks/top&test=3": MAIN, "tasks?run=checks&task=checks/stack": MAIN,
    "completion?run=checks&task=checks/top&sample=top%231&test=5": ".rs-code",
    "completion?run=checks&task=checks/stack&sample=stack%231": ".rs-code",
    "completion?task=text/all-kinds&sample=k/no_code&view=raw": ".rs-code",
    f"rollouts?task={HOSTILE}": ".scroller canvas", f"tasks?task={HOSTILE}": MAIN,
    f"completion?task={HOSTILE}&view=transcript": ".rs-text:has-text('<img src=x')",
    f"completion?task={HOSTILE}&view=json": ".rs-text:has-text('<img src=x')",
    f"completion?task={HOSTILE}&tab=why": ".why .row", f"completion?task={HOSTILE}&tab=siblings": ".answers .row",
    f"completion?run=hostile&{NAME}&view=transcript": ".turn", f"completion?run=hostile&{NAME}&view=json": ".rs-text",
    f"completion?run=hostile&{NAME}&view=raw": ".rs-code", f"completion?run=hostile&{NAME}&view=edit": "textarea",
}  # fmt: skip
NOTHING_SIDEWAYS = """width => {
    const main = document.querySelector('[data-testid="stMain"]');
    return document.documentElement.clientWidth === width && document.documentElement.scrollWidth <= width
        && main.scrollWidth <= main.clientWidth;
}"""


@pytest.mark.parametrize(
    ("path", "drawn"),
    [*PATHS.items(), *(pytest.param(*more, marks=pytest.mark.slow) for more in MORE_PATHS.items())],
)
def test_every_page_fits_without_an_error_or_markup_from_a_file(
    visit: Visit, page: Page, path: str, drawn: str
) -> None:
    page.goto("about:blank")
    before = page.evaluate("history.length")
    visit(path)
    expect(page).to_have_url(re.compile(r"[?&]run="))
    expect(page.locator(drawn).first).to_be_visible()
    settled(page)
    assert page.evaluate("history.length") <= before + 1, "the address says which run it is of, without a step more"
    expect(page.get_by_test_id("stAlert")).to_have_count(0)
    for width, height, scheme in ((1280, 720, "light"), (1920, 1080, "dark"), (1024, 700, "dark")):
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        page.set_viewport_size({"width": width, "height": height})  # the first is what it has
        settled(page)
        page.wait_for_function(NOTHING_SIDEWAYS, arg=width)  # tables and charts follow the window a moment later
    assert page.title() != "owned"
    assert page.locator("img[src='x'], a[href^='http://e.example']").count() == 0


def test_four_clicks_from_the_overview_to_a_fixed_code_that_passes(visit: Visit) -> None:
    page = visit("")
    button = page.get_by_role("button", name="Open the first failure")
    box = button.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 720, "above the fold"
    button.click()  # 1
    line = page.locator(".rs-code .ln.fail")
    expect(line).to_contain_text("total = total.plus(1)")
    expect(line).to_be_in_viewport()
    assert "verdict=failed" in page.url
    settled(page)
    page.get_by_role("button", name="Edit").click()  # 2
    editor = page.get_by_label("Code", exact=True)
    expect(editor).to_have_value(re.compile("plus"))
    settled(page)
    editor.click()  # 3
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.insert_text("def add(a, b):\n    return a + b\n")
    page.get_by_role("button", name="Run this test").click()  # 4
    result = page.locator(".rs-beside")
    expect(result.locator(".rs-v-passed")).to_be_visible()
    expect(result.locator(".rs-v-runtime_error")).to_be_visible()
    expect(result).to_be_in_viewport()


def test_a_failing_line_far_down_is_scrolled_into_sight_and_frames_scroll_to_theirs(visit: Visit) -> None:
    page = visit("completion?task=math/add&sample=add%232")
    expect(page.locator("#L161")).to_be_in_viewport()
    page.evaluate("document.querySelector('.rs-code').scrollTop = 0")
    expect(page.locator("#L161")).not_to_be_in_viewport()
    page.locator(".rs-frames a").first.click()
    expect(page.locator("#L161")).to_be_in_viewport()
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop") == 0


def test_the_grid_is_worked_with_the_keyboard(visit: Visit) -> None:
    page = visit("rollouts")
    page.locator(".scroller").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".status")).to_contain_text("math/add · sample 2 · runtime_error · add#1 · large")
    page.keyboard.press("End")
    expect(page.locator(".status")).to_contain_text("sample 4 · passed")
    page.keyboard.press("j")
    page.keyboard.press("Home")
    expect(page.locator(".status")).to_contain_text("sample 1 · wrong_answer")
    page.keyboard.press("Enter")
    expect(page.locator(".rs-title")).to_contain_text("wrong_answer")


@pytest.mark.slow
def test_a_click_on_a_task_shows_its_rollouts_by_test_case(visit: Visit) -> None:
    page = visit("rollouts")
    click_cell(page, row=0, column=-1)
    page.wait_for_url("**/rollouts?*task=math*")
    page.mouse.move(0, 0)
    expect(page.locator(".status", has_text=re.compile(r"test \d|no rollout passes"))).to_be_visible()  # the new grid
    settled(page)
    page.locator(".scroller").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".status")).to_contain_text("add#1 · test 1 · runtime_error · large")
    page.keyboard.press("Enter")
    page.wait_for_url("**/completion?*test=1*")


@pytest.mark.slow
def test_the_grid_marks_what_is_not_verified_in_a_corner_and_the_legend_filters_by_it(visit: Visit) -> None:
    page = visit("rollouts?run=checks")
    expect(page.locator(".status")).to_contain_text("checks/top")
    settled(page)
    drawn = [corner_and_middle(page, row=1, column=column) for column in range(4)]
    assert [corner != middle for corner, middle in drawn] == [True, True, True, False]
    page.locator(".scroller").focus()
    page.keyboard.press("j")
    page.keyboard.press("Home")
    expect(page.locator(".status")).to_contain_text("sample 1 · passed · stack#0 · m · not verified")
    page.locator(".bars a", has_text="not verified").click()
    page.wait_for_url("**/rollouts?*verified=no*")
    expect(page.get_by_text("4 of 7 rollouts")).to_be_visible()


@pytest.mark.slow
def test_a_long_statement_is_folded_and_keeps_its_indentation(visit: Visit) -> None:
    page = visit("completion?run=checks&task=checks/top&sample=top%231&test=3")
    box = page.locator(".rs-code", has=page.locator("#I1"))
    expect(box.locator(".ln")).to_have_count(5)
    assert box.evaluate("e => e.scrollWidth - e.clientWidth") <= 0
    assert box.evaluate("e => getComputedStyle(e).fontFamily").startswith("ui-monospace")
    assert box.locator(".ln").nth(1).inner_text().endswith("    given = [5, 1, n]")


def corner_and_middle(page: Page, *, row: int, column: int) -> tuple[list[int], list[int]]:
    """The colours of a cell in its upper right corner and at its left edge, where no letter is."""
    x, y = left_edge(page) + 20 * column, 18 + 20 * row
    return tuple(
        page.locator(".scroller canvas").evaluate(
            "(canvas, [x, y]) => [...canvas.getContext('2d').getImageData(x, y, 1, 1).data]", [x + right, y + 2]
        )
        for right in (16, 2)
    )


@pytest.mark.slow
def test_keys_walk_the_filter_and_the_failing_tests(visit: Visit) -> None:
    page = visit("completion?verdict=runtime_error")
    expect(page.get_by_text("1 of 2", exact=True)).to_be_visible()
    settled(page)  # the button that the key stands for is drawn after this text
    page.keyboard.press("j")
    expect(page.get_by_text("2 of 2", exact=True)).to_be_visible()
    settled(page)
    page.keyboard.press("k")
    expect(page.get_by_text("1 of 2", exact=True)).to_be_visible()
    settled(page)
    page.locator(".strip button").first.click()
    page.wait_for_url("**test=0*")
    settled(page)
    page.keyboard.press("n")
    page.wait_for_url("**test=1*")
    settled(page)
    page.keyboard.press("u")
    page.wait_for_url("**/rollouts?*verdict=runtime_error*")


def open_table_row(page: Page) -> None:
    page.locator("tbody tr").first.locator("td").nth(1).click()


def look_for_text(page: Page) -> None:
    page.get_by_label("Text").fill("add#1")
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 of 13 rollouts")).to_be_visible()


def open_navigation_link(page: Page) -> None:
    page.get_by_test_id("stPageLink-NavLink").get_by_text("Completion", exact=True).click()


TO_ANOTHER_PAGE = [
    (
        "?run=sample&q=a",
        lambda page: page.locator(".bars a", has_text="wrong_answer").first.click(),
        "**/rollouts?*verdict=wrong_answer*",
    ),
    ("?run=sample&q=a", lambda page: page.keyboard.press("f"), "**/completion?*task=math*"),
    ("?run=sample&q=a", open_navigation_link, "**/completion?*q=a*"),
    ("rollouts?run=sample&q=a", lambda page: click_cell(page, row=0, column=1), "**/completion?*task=math*"),
    ("rollouts?run=sample&view=table", open_table_row, "**/completion?*task=math*"),
]
WITHIN_A_PAGE = [
    ("rollouts?run=sample&q=a", lambda page: click_cell(page, row=0, column=-1), "**/rollouts?*task=math*"),
    (
        "rollouts?run=sample&task=math%2Fadd&q=a",
        lambda page: page.get_by_role("link", name="All tasks").click(),
        "**/rollouts?run=sample&q=a",
    ),
    ("rollouts?run=sample", look_for_text, "**/rollouts?run=sample&q=add*"),
]


Way = tuple[str, Callable[[Page], None], str]


def some_fast(ways: list[Way], fast: Callable[[Page], None]) -> list[Any]:
    """One way is enough for `make test`."""
    return [way if way[1] is fast else pytest.param(*way, marks=pytest.mark.slow) for way in ways]


@pytest.mark.parametrize(("path", "leave", "target"), some_fast(WITHIN_A_PAGE, look_for_text))
def test_back_within_a_page_returns_to_what_it_showed(
    visit: Visit, address: str, path: str, leave: Callable[[Page], None], target: str
) -> None:
    page = visit(path)
    before = page.evaluate("history.length")
    leave(page)
    page.wait_for_url(target)
    settled(page)
    assert page.evaluate("history.length") == before + 1
    page.go_back()
    settled(page)
    assert page.url == f"{address}/{path}"
    expect(page.get_by_label("Text").locator("visible=true")).to_have_value("a" if "q=a" in path else "")
    page.go_forward()
    page.wait_for_url(target)


@pytest.mark.parametrize(("path", "leave", "target"), some_fast(TO_ANOTHER_PAGE, open_table_row))
def test_back_returns_to_the_page_that_was_left_even_before_the_next_is_drawn(
    visit: Visit, address: str, path: str, leave: Callable[[Page], None], target: str
) -> None:
    page = visit(path)
    before = page.evaluate("history.length")
    page.evaluate(BACK_AT_ONCE)
    leave(page)
    page.evaluate("window.wasBack")
    settled(page)
    assert page.url == f"{address}/{path}"
    page.go_forward()
    page.wait_for_url(target)
    expect(page.locator(".rs-title" if "completion" in target else ".scroller")).to_be_visible()
    settled(page)
    assert page.evaluate("history.length") == before + 1
    page.go_back()
    settled(page)
    assert page.url == f"{address}/{path}"


BACK_AT_ONCE = """
window.wasBack = new Promise((done) => addEventListener("popstate", () => {
  addEventListener("popstate", done, { once: true });
  history.back();
}, { once: true }));
void 0;  // else it is waited for
"""
"""The first time that the page goes elsewhere the visitor is back before the server can have heard of it."""


def test_nothing_repeats_between_two_pages(visit: Visit) -> None:
    """A timer of the page that is left would ask for a part of it, which the server draws after the new page."""
    page = visit("rollouts?run=sample")
    assert page.evaluate(REPEATED_WHILE_LEAVING) == 0
    page.wait_for_function("window.repeated > 0")


REPEATED_WHILE_LEAVING = """async () => {
  document.querySelector("a[data-testid=stPageLink-NavLink][href*=tasks]").click();
  window.repeated = 0;
  setInterval(() => { window.repeated += 1; });
  for (let turn = 0; turn < 3; turn += 1) await new Promise((done) => setTimeout(done));
  return window.repeated;
}"""
"""How often an interval without a delay runs before the server can have drawn the page of a link that is clicked."""


@pytest.mark.slow
def test_twenty_thousand_lines_of_output_scroll_in_boxes_of_their_own(visit: Visit) -> None:
    page = visit("completion?run=long&task=long&sample=extra")
    extra = page.locator(".rs-diff td.actual", has_text="more")
    extra.scroll_into_view_if_needed()
    expect(extra).to_be_in_viewport()
    expect(page.locator(".rs-diff td.expected")).to_have_count(0)
    page.get_by_text("Output", exact=True).click()
    expect(page.get_by_text("stdout: 204.0 KiB, head and tail stored: 16.0 KiB")).to_be_visible()
    expect(page.get_by_test_id("stCode").get_by_text("line 19999")).to_be_attached()
    assert page.get_by_test_id("stMain").evaluate("e => e.scrollHeight") < 1_500


def click_cell(page: Page, *, row: int, column: int) -> None:
    """Click a cell of the grid; column -1 is the row's name. Cells are 20 px, under a head of 18.

    This selects the cell, or opens it if it is selected: at first, the first failure is.
    """
    expect(page.locator(".status")).not_to_be_empty()
    settled(page)
    canvas = page.locator(".scroller canvas")
    x = 20 if column < 0 else left_edge(page) + 20 * column + 9
    canvas.click(position={"x": x, "y": 18 + 20 * row + 9})


def left_edge(page: Page) -> float:
    """Where the first column begins."""
    return float(page.locator(".grid").evaluate("root => root.__grid.left"))
