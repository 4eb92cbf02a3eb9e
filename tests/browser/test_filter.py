"""The filter and its exports in a browser: real clicks, real files."""

from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from evaluator.report import write_report
from evaluator.runs.reading import Run
from tests.browser.conftest import Visit, settled
from tests.dashboard import hostile_text


def pick(page: Page, field: str, option: str) -> None:
    """Choose an option of a field of the filter."""
    page.get_by_label(field, exact=True).locator("visible=true").click()
    page.get_by_role("option", name=option).click()
    page.evaluate("document.activeElement.blur()")  # closes the list; Escape would clear a list that is closed already


@pytest.mark.slow
def test_time_outs_are_exported_as_csv_that_pandas_reads(visit: Visit, tmp_path: Path) -> None:
    page = visit("")
    pick(page, "Verdict", "time_limit (1)")
    expect(page.get_by_text("1 of 13 rollouts")).to_be_visible()
    settled(page)  # the sidebar, which has this text, is drawn before the rest
    pick(page, "Error", "time_limit (1)")
    page.wait_for_url("**/*err=time_limit*")
    settled(page)
    page.get_by_role("button", name="Export").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("1 of 13 rollouts, as filtered")).to_be_visible()
    with page.expect_download() as download:
        dialog.get_by_role("button", name="Download sample.time_limit.time_limit.csv").click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    found = pd.read_csv(file)
    assert found["sample_id"].tolist() == ["k/time_limit"]
    assert found["verdict"].tolist() == ["time_limit"]
    assert found["wall_s"].dtype == float
    assert found["error_kind"].tolist() == ["time_limit"]


@pytest.mark.slow
def test_a_choice_stays_when_another_one_changes_its_count(visit: Visit) -> None:
    page = visit("")
    pick(page, "Verdict", "failed (9)")
    page.wait_for_url("**/*verdict=failed")
    settled(page)
    pick(page, "Error", "time_limit (1)")
    page.wait_for_url("**/*err=time_limit*")
    settled(page)
    page.get_by_label("Text", exact=True).fill("time")
    page.keyboard.press("Enter")
    page.wait_for_url("**/*q=time*")
    settled(page)
    assert page.url.endswith("err=time_limit&q=time&verdict=failed")


@pytest.mark.slow
def test_the_report_downloads_and_is_about_the_filter(visit: Visit) -> None:
    page = visit("tasks?verdict=runtime_error")
    page.get_by_role("button", name="Export").click()
    page.get_by_role("dialog").get_by_text("HTML report").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download sample.runtime_error.html").click()
    text = download.value.path().read_text()
    assert "2 of 13 rollouts, chosen by <code>verdict=runtime_error</code>" in text


def test_without_scripts_the_report_is_readable_and_asks_for_nothing(browser: BrowserContext, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    write_report(Run.open(hostile_text.write(tmp_path / "hostile<b>")), report)
    asked: list[str] = []
    assert browser.browser is not None
    context = browser.browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.goto(report.as_uri())
    expect(page.get_by_role("heading", name="Failures 8 failures")).to_be_visible()
    assert page.title() == "hostile<b>: Rollscope report"
    assert page.locator("a, script, img, iframe").count() == 0
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        ground = page.locator("body").evaluate("e => getComputedStyle(e).backgroundColor")
        assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
    context.close()
    assert asked == [report.as_uri()]
