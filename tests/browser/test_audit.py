"""An audit as a person runs it: the button, the progress, what depends on the checker."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit, settled

pytestmark = pytest.mark.slow


def test_an_audit_runs_from_its_button_and_leads_to_a_completion(visit: Visit) -> None:
    page = visit("audit?run=long&graders=exact%2Clines%2Cunordered")
    page.get_by_role("button", name="Audit 2 rollouts").click()
    expect(page.get_by_text("depend on the checker: 0 of 2")).to_be_visible()
    expect(page.get_by_text("pays 1 of 2 (50.0%)")).to_have_count(3)
    settled(page)
    page.reload()
    expect(page.get_by_text("depend on the checker: 0 of 2")).to_be_visible()  # kept for its run and checkers


CLICK_DURING_BACK = """(count, link) => {
  const app = document.querySelector('[data-testid="stApp"]');
  new MutationObserver((_, observer) => {
    if (app.dataset.testScriptState !== "running" || !location.pathname.endsWith("/rollouts")) return;
    observer.disconnect();
    addEventListener("popstate", () => setTimeout(() => count.click()), { once: true });
    history.back();
  }).observe(app, { attributes: true });
  link.click();
}"""
"""Goes to another page, back while that is being drawn, and clicks at once: the first page is shown all the time."""


def test_flags_and_counts_of_recorded_against_own_lead_to_their_rollouts(visit: Visit) -> None:
    page = visit("audit?run=sample")
    flag = page.locator(".letters a.row").filter(has_text="ctypes")
    flag.click()
    page.wait_for_url("**/rollouts?*flag=ctypes*")
    settled(page)
    page.go_back()
    row = page.locator(".counts tr").filter(has_text="passed")
    expect(row.locator(".chip.recorded")).to_have_css("background-color", "rgba(0, 0, 0, 0)")
    expect(row.locator(".chip.recorded")).to_have_css("outline-color", "rgb(0, 158, 115)")
    settled(page)
    row.locator("a").nth(1).evaluate(CLICK_DURING_BACK, flag.element_handle())
    page.wait_for_url("**/rollouts?*recorded=passed&verdict=runtime_error*")
    settled(page)
    expect(page.get_by_text("1 of 13 rollouts")).to_be_visible()


def test_a_reason_on_the_page_of_bad_lines_is_chosen_with_a_click_and_is_in_the_address(visit: Visit) -> None:
    page = visit("?run=sample")
    page.get_by_role("link", name="1 bad input line left out").click()
    page.wait_for_url("**/bad_lines?*")
    settled(page)
    page.locator(".list tbody tr").filter(has_text="not JSON").click()
    page.wait_for_url("**/bad_lines?*view=not+JSON*")
    settled(page)
    expect(page.locator(".rs-bad-lines code")).to_contain_text("<img src=x")
    assert page.title().startswith("sample")
