"""The SQL page in Chromium: typed statements, charts, files, and rows that open a completion."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from dashboard.queries import console
from tests.browser.conftest import Visit, settled

pytestmark = pytest.mark.slow


def test_a_statement_is_typed_run_drawn_saved_and_found_again_by_its_address(visit: Visit) -> None:
    page = visit("sql?run=sample&verdict=failed")
    page.get_by_role("link", name="Rewards by error").click()
    page.wait_for_url("**query=SELECT*")
    expect(page.locator("b", has_text="rows")).to_be_visible()
    expect(page.get_by_role("textbox", name="Statement")).to_have_value(console.EXAMPLES[-1].sql)

    statement = "SELECT verdict, count(*) AS n FROM rollouts GROUP BY verdict ORDER BY n DESC"
    page.get_by_role("textbox", name="Statement").fill(statement)
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**GROUP+BY+verdict*")
    expect(page.get_by_test_id("stDataFrame")).to_be_visible()
    settled(page)
    page.get_by_test_id("stMain").get_by_text("Bar", exact=True).click()
    page.wait_for_url("**view=bar*")
    expect(page.locator(".js-plotly-plot .xtick", has_text="passed")).to_be_visible()
    assert "verdict=failed" in page.url

    page.goto(page.url)
    expect(page.locator(".js-plotly-plot .xtick", has_text="passed")).to_be_visible()
    settled(page)
    expect(page.get_by_role("textbox", name="Statement")).to_have_value(statement)
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    assert download.value.path().read_text().splitlines()[0] == "verdict,n"


def test_a_row_opens_its_completion(visit: Visit) -> None:
    sql = "SELECT task_id, sample_id, verdict FROM rollouts WHERE sample_id = 'add#1'"
    page = visit("sql?" + urlencode({"run": "sample", "query": sql}))
    expect(page.get_by_test_id("stDataFrame")).to_be_visible()
    settled(page)
    # A transparent scroller lies over the table.
    page.get_by_test_id("stDataFrame").locator("canvas").first.click(position={"x": 120, "y": 36 + 13}, force=True)
    page.wait_for_url("**/completion?*add%231*")
    expect(page.locator(".rs-title")).to_contain_text("add / sample")


def test_an_endless_statement_does_not_hold_up_another_page(visit: Visit, page: Page, address: str) -> None:
    endless = "WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a) SELECT count(*) FROM a"
    context = page.context.browser.new_context() if page.context.browser else None
    assert context is not None
    other = context.new_page()
    other.goto(f"{address}/sql?" + urlencode({"run": "sample", "query": endless}))
    expect(other.get_by_text("Running, ")).to_be_visible()
    shown = visit("rollouts?run=sample&verdict=failed")
    expect(shown.locator(".scroller canvas")).to_be_visible()
    expect(other.get_by_text("stopped after 10 s, the limit")).to_be_visible()
    context.close()
