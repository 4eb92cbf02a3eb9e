"""The Tasks page in a browser: from the Overview to a wrong test case, and a new one tried on the samples."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from evaluator.runs.notes import read_notes
from tests.browser.conftest import Visit, press, settled

pytestmark = pytest.mark.slow


def test_three_clicks_from_the_overview_to_a_wrong_test_case_that_is_marked(
    visit: Visit, opened: dict[str, list[str]]
) -> None:
    page = visit("")
    page.get_by_role("link", name="Tasks", exact=True).click()
    tasks = page.get_by_label("tasks", exact=True)
    first = tasks.locator("tbody tr").first
    expect(first).to_contain_text("nobody passes")
    first.click()
    settled(page)
    expect(page.get_by_text("Answers to test 0 · nobody passes")).to_be_in_viewport()
    mark = page.get_by_role("button", name="bad", exact=True)
    expect(mark).to_be_in_viewport()
    mark.click()
    expect(first).to_contain_text("test 0 bad")
    said = read_notes(Path(opened["runs"][0])).tasks
    assert [(note.task_id, note.test, note.judgement) for note in said] == [("text/all-kinds", 0, "bad")]
    page.get_by_role("button", name="✓ bad", exact=True).click()
    expect(first).not_to_contain_text("bad")


def test_keys_judge_a_task_and_what_is_typed_into_the_note_presses_none(visit: Visit) -> None:
    page = visit("tasks?task=math/add")
    row = page.get_by_label("tasks", exact=True).locator("tr", has_text="math/add")
    press(page, "2", "bad")
    expect(row).to_contain_text("bad")
    note = page.get_by_placeholder("note on the task")
    note.fill("3 as")
    note.press("Enter")
    settled(page)
    expect(row).to_contain_text("bad")
    note.fill("typed, and then clicked")
    page.locator(".st-key-good_task button").click()
    expect(row).to_contain_text("good")
    settled(page)
    expect(note).to_have_value("typed, and then clicked")
    page.keyboard.press("1")
    expect(row).to_contain_text("note")
    expect(row).not_to_contain_text("good")
    note.fill("")
    page.get_by_role("button", name="Save Shortcut S").click()
    expect(row).not_to_contain_text("note")


def test_a_new_test_case_is_tried_on_every_sample(visit: Visit) -> None:
    page = visit("tasks?task=math/add&test=0&tab=new")
    given = page.get_by_label("Arguments, one JSON value per line")
    expect(given).to_have_value("0\n1")
    given.fill("20\n22")
    page.get_by_label("Expected, as JSON").fill("42")
    page.get_by_role("button", name="Run on 4 samples").click()
    expect(page.get_by_text("2 of 4 pass: 42 × 2")).to_be_visible()
    rows = page.get_by_label("samples", exact=True).locator("tbody tr")
    expect(rows).to_have_count(4)
    expect(rows.nth(1)).to_contain_text("E runtime_error")
    rows.nth(1).click()
    page.wait_for_url("**/completion?*sample=add%231*")


def test_the_references_run_in_the_sandbox_and_the_page_says_how_many_failed(visit: Visit) -> None:
    page = visit("tasks")
    page.get_by_role("button", name="Run the 1 reference").click()
    expect(page.get_by_text("1 run: 0 tasks failed or slow")).to_be_visible()


def test_the_list_ends_with_its_rows_and_the_answers_are_above_the_fold(visit: Visit) -> None:
    page = visit("tasks?task=math/add")
    expect(
        page.get_by_text("runtime_error: AttributeError").or_(page.get_by_text("Answers to test 0"))
    ).to_be_in_viewport()
    listed = page.get_by_label("tasks", exact=True)
    box, rows = listed.bounding_box(), listed.locator("table").bounding_box()
    assert box is not None
    assert rows is not None
    assert 0 <= box["height"] - rows["height"] < 5
