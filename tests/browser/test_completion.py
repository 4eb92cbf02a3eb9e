"""The Completion page in a browser: fixing a code, keeping the edit, copying its script, text that is no markup."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from evaluator.runs.notes import note_rollout, read_notes
from tests.browser.conftest import Visit, press, settled

ON_TOP = """e => { const box = e.getBoundingClientRect();
    return e.contains(document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2)); }"""
TAG = "<b>**not markup**</b>"
RIGHT = "def add(a, b):\n    return a + b\n"


@pytest.mark.slow
def test_an_edit_is_kept_on_other_pages_and_run_by_its_key(visit: Visit) -> None:
    page = visit("completion?task=math/add&sample=add%231&test=1&view=edit")
    page.get_by_label("Code", exact=True).fill(RIGHT)
    settled(page)
    page.locator(".rs-task").click()
    page.wait_for_url("**/tasks?*task=math*")
    settled(page)
    page.go_back()
    expect(page.get_by_label("Code", exact=True)).to_have_value(RIGHT)
    settled(page)
    press(page, "x", "Run this test")
    expect(page.locator(".rs-beside .rs-v-passed")).to_be_visible()
    settled(page)
    page.keyboard.press("e")
    expect(page.get_by_role("button", name="Edited")).to_be_visible()
    expect(page.locator(".rs-code .ln.fail")).to_contain_text("total.plus(1)")


@pytest.mark.slow
def test_all_that_is_typed_into_a_note_is_saved(visit: Visit, opened: dict[str, list[str]]) -> None:
    run = Path(opened["runs"][0])
    note_rollout(run, "math/add", "add#1", tags=(TAG,), note="")
    page = visit("completion?task=math/add&sample=add%233")
    press(page, "m", "Note")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name=TAG, exact=True).click()
    tags, note = dialog.get_by_label("New tags"), dialog.get_by_label("Note", exact=True)
    tags.click()
    page.keyboard.type("copied")
    page.keyboard.press("Enter")
    settled(page)
    for field in (tags, note, dialog.get_by_role("button", name="Save")):
        assert field.evaluate(ON_TOP)
    note.click(position={"x": 40, "y": 20})
    page.keyboard.type("as the first")
    tags.click()
    page.keyboard.press("End")
    page.keyboard.type(", half")
    dialog.get_by_role("button", name="Save").click()
    try:
        expect(page.locator(".rs-noted")).to_contain_text("as the first")
        kept = read_notes(run).rollout("math/add", "add#3")
        assert kept is not None
        assert (kept.tags, kept.note) == ((TAG, "copied", "half"), "as the first")
    finally:
        for sample in ("add#1", "add#3"):
            note_rollout(run, "math/add", sample, tags=(), note="")


def test_the_editor_indents_and_runs_by_its_keys(visit: Visit) -> None:
    page = visit("completion?task=math/add&sample=add%231&test=1&view=edit")
    editor = page.get_by_label("Code", exact=True)
    editor.fill("def add(a, b):\n")
    editor.press("Control+End")
    editor.press("Tab")
    editor.press_sequentially("return a + b")
    editor.press("Control+Enter")
    expect(page.locator(".rs-beside .rs-v-passed")).to_be_visible()
    settled(page)
    expect(editor).to_have_value("def add(a, b):\n    return a + b")
    page.get_by_role("button", name="Discard the edit").click()
    settled(page)


def test_the_script_of_a_test_case_and_a_name_are_copied(visit: Visit) -> None:
    page = visit("completion?task=math/add&sample=add%231&test=1")
    page.get_by_role("button", name="Repro").click()
    script = page.get_by_role("dialog").get_by_test_id("stCode")
    expect(script).to_contain_text("total = total.plus(1)")
    expect(script).to_contain_text("EXPECTED = '3'")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download repro.py").click()
    compile(download.value.path().read_text(), "repro.py", "exec")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    script.hover()
    page.get_by_role("button", name="Copy to clipboard").last.click(force=True)  # it is drawn while the mouse is there
    page.wait_for_function('async () => (await navigator.clipboard.readText()).startsWith(\'"""math/add\')')
    page.keyboard.press("Escape")
    page.locator(".rs-facts .rs-name").first.click()
    page.wait_for_function("async () => await navigator.clipboard.readText() === 'add#1'")


@pytest.mark.slow
def test_a_long_note_wraps_and_the_difference_is_above_the_fold(visit: Visit) -> None:
    page = visit("completion?task=math/add&sample=add%232&test=2")
    note = page.locator(".rs-code .note")
    expect(note).to_be_in_viewport()
    box = page.locator(".rs-code").first
    assert note.evaluate("e => e.getBoundingClientRect().right") <= box.evaluate("e => e.getBoundingClientRect().right")
    page = visit("completion?verdict=wrong_answer")
    for place in (".rs-error .what", ".rs-diff tr.first"):
        expect(page.locator(place)).to_be_in_viewport(ratio=1)


@pytest.mark.slow
def test_a_number_leads_to_its_turn(visit: Visit) -> None:
    page = visit("completion?task=math/add&sample=add%231&view=transcript")
    page.locator(".rs-jump a").last.click()
    expect(page.locator(".rs-transcript .turn").last).to_be_in_viewport()
    assert "#" not in page.url
