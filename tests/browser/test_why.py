"""The Why and Siblings tabs in a browser: keys, clicks and the code view beside them."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Visit

pytestmark = pytest.mark.slow

ADD = "completion?task=math/add&sample=add%231&test=1"


def marked(page: Page) -> Locator:
    return page.locator(".rs-code .ln.at")


def test_keys_slider_and_clicks_move_through_the_steps_and_the_code(visit: Visit) -> None:
    page = visit(f"{ADD}&tab=why")
    steps = page.get_by_role("listbox", name="steps")
    selected = steps.get_by_role("option", selected=True)
    expect(selected).to_contain_text("raised AttributeError: 'int' object has no attribute 'plus'")
    expect(marked(page)).to_have_attribute("id", "L4")
    box = steps.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 720, "above the fold"
    steps.press("ArrowUp")
    expect(selected).to_contain_text("for _ in range(b):")
    expect(marked(page)).to_have_attribute("id", "L3")
    steps.press("Home")
    expect(selected).to_contain_text("total = 1")
    page.get_by_role("slider", name="step").fill("2")
    expect(marked(page)).to_have_attribute("id", "L4")
    steps.get_by_text("total = a").click()
    expect(marked(page)).to_have_attribute("id", "L2")
    expect(page.locator(".names .changed")).to_have_text(re.compile("total.*1"))


def test_the_steps_of_an_edit_take_the_place_of_the_runs_and_say_what_a_condition_reads(visit: Visit) -> None:
    page = visit(f"{ADD}&tab=why&view=edit")
    rows = page.get_by_role("listbox", name="steps").get_by_role("option")
    expect(rows).to_have_count(3)
    editor = page.get_by_role("textbox", name="Code", exact=True)
    editor.fill("def add(a, b):\n    c = [[a]]\n    if c[-1][0] < b:\n        return 9\n")
    editor.blur()
    expect(page.get_by_text("Replay of the edit.")).to_be_visible()
    expect(rows).to_contain_text(["c = [[a]]", "if c[-1][0] < b:", "return 9"])
    rows.nth(1).click()
    expect(page.locator(".names .read")).to_have_text(re.compile(r"c\[-1\]\[0\].*1"))
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_text("open Edit for the edit's")).to_be_visible()
    expect(rows.last).to_contain_text("raised AttributeError")
    expect(marked(page)).to_have_attribute("id", "L4")


def test_the_steps_of_a_loop_unfold(visit: Visit) -> None:
    page = visit("completion?run=long&task=long&sample=extra&tab=why")
    steps = page.get_by_role("listbox", name="steps")
    fold = steps.get_by_text(re.compile(r"▸ lines 1–2 × ")).last
    expect(fold).to_be_visible()
    before = steps.get_by_role("option").count()
    fold.click()
    expect(steps.get_by_text(re.compile(r"▾ lines 1–2 × "))).to_have_count(1)
    assert steps.get_by_role("option").count() > before + 100
    expect(steps.get_by_text("steps not kept")).to_have_count(1)
    steps.get_by_text(re.compile(r"▾ lines 1–2 × ")).click()
    expect(steps.get_by_role("option")).to_have_count(before)
