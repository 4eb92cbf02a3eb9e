"""A rollouts file before any grading: what its pages show, and what happens to them while it is written."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Visit, recorded_row, settled

pytestmark = pytest.mark.slow


@pytest.fixture
def file(recorded: Path) -> Iterator[Path]:
    """`recorded.jsonl`, with what it had afterwards."""
    before = recorded.read_bytes()
    yield recorded
    recorded.write_bytes(before)


def append(file: Path, text: str) -> None:
    with file.open("a") as opened:
        opened.write(text)


def lines(first: int, count: int) -> str:
    return "".join(recorded_row(number) for number in range(first, first + count))


def follow(page: Page) -> None:
    switch = page.get_by_role("switch", name="Follow", exact=True)
    switch.focus()
    page.keyboard.press("Space")
    expect(switch).to_be_checked()
    # The test before may have left more rows, which the page drops when it first looks: it is drawn again then.
    expect(page.get_by_text("240 rollouts, not graded here")).to_be_visible()
    settled(page)


def place(scroller: Locator) -> tuple[int, int]:
    inside: int = scroller.evaluate("box => Math.round(box.scrollTop)")
    page: int = scroller.page.evaluate("Math.round(document.querySelector('[data-testid=stMain]').scrollTop)")
    return inside, page


def test_a_file_opens_with_outlined_letters_filters_and_leads_to_a_completion_and_its_bad_line(visit: Visit) -> None:
    page = visit("rollouts?run=recorded.jsonl&verdict=passed&view=table")
    expect(page.get_by_text("240 rollouts, not graded here. Outlined: the grades that all came with.")).to_be_visible()
    expect(page.get_by_text("80 of 240 rollouts")).to_be_visible()
    page = visit("rollouts?run=recorded.jsonl")
    scroller = page.locator(".scroller")
    scroller.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/completion?**")
    settled(page)
    expect(page.locator(".rs-chip.rs-v-wrong_answer").first).to_have_css("background-color", "rgba(0, 0, 0, 0)")
    expect(page.locator(".rs-code").first).to_contain_text("print(1)")
    page = visit("bad_lines?run=recorded.jsonl")
    expect(page.get_by_text("{broken").first).to_be_visible()


def test_new_lines_are_shown_where_the_visitor_is(visit: Visit, file: Path) -> None:
    page = visit("rollouts?run=recorded.jsonl")
    follow(page)
    scroller, status = page.locator(".scroller"), page.locator(".status")
    scroller.focus()
    page.keyboard.press("ArrowDown")
    page.wait_for_url("**at=**")
    settled(page)
    said, address = status.inner_text(), page.url
    assert "task/" in said
    scroller.evaluate("box => { box.scrollTop = 150; document.querySelector('[data-testid=stMain]').scrollTop = 30; }")
    before = place(scroller)
    assert before[0] == 150
    append(file, lines(240, 5) + recorded_row(245)[:30])
    expect(page.get_by_text("245 rollouts, not graded here")).to_be_visible()
    expect(page.get_by_text("The last line is still being written: 30 bytes so far.")).to_be_visible()
    settled(page)
    assert place(scroller) == before
    assert (status.inner_text(), page.url) == (said, address)
    append(file, recorded_row(245)[30:])
    expect(page.get_by_text("246 rollouts, not graded here")).to_be_visible()
    expect(page.get_by_text("is still being written")).to_have_count(0)


def test_a_dialog_and_a_text_that_is_being_typed_stay_until_the_visitor_is_done(visit: Visit, file: Path) -> None:
    page = visit("rollouts?run=recorded.jsonl")
    follow(page)
    page.get_by_role("button", name="Keys").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    append(file, lines(240, 5) + '{"ha')
    expect(page.get_by_text("is still being written: 4 bytes")).to_be_visible()  # so the page has looked
    expect(dialog).to_be_visible()
    expect(page.get_by_text("240 rollouts, not graded here")).to_be_attached()
    page.keyboard.press("Escape")
    expect(page.get_by_text("245 rollouts, not graded here")).to_be_visible()
    settled(page)
    field = page.get_by_role("textbox", name="Text", exact=True)
    field.press_sequentially("task/0")
    append(file, "lf and mo")
    expect(page.get_by_text("is still being written: 13 bytes")).to_be_visible()
    append(file, "\n" + lines(245, 5) + '{"ne')
    expect(page.get_by_text("is still being written: 4 bytes")).to_be_visible()
    expect(field).to_have_value("task/0")
    expect(page.get_by_text("245 rollouts, not graded here")).to_be_visible()
    field.press("Enter")
    expect(page.get_by_text("250 rollouts, not graded here")).to_be_visible()
    page.wait_for_url("**q=task*")


def test_a_truncated_file_is_reported_and_read_again(visit: Visit, file: Path) -> None:
    page = visit("?run=recorded.jsonl")
    follow(page)
    file.write_text(lines(0, 30))
    expect(page.get_by_text("30 rollouts, not graded here")).to_be_visible()
    expect(page.get_by_text("was truncated from").first).to_be_visible()
    file.write_text("")
    expect(page.get_by_text("is empty").first).to_be_visible()
    append(file, json.dumps({"task_id": "new", "completion": "x"}) + "\n")
    expect(page.get_by_text("1 rollout, not graded yet.")).to_be_visible()
