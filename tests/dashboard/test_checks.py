"""Pages of asserts and unittest methods: what is not verified and why, and the source of a test as its input."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import workspace
from tests.dashboard import check_run
from tests.dashboard.test_pages import PAGES, component, no_exception, text, visit
from tests.runs.older_run import forget_columns


@pytest.mark.usefixtures("opened")
def test_overview_says_why_rollouts_are_not_verified_each_reason_a_link_to_its_rollouts() -> None:
    app = visit("overview", run="checks")
    card = {card["name"]: card for card in component(app, "cards")["cards"]}["not verified"]
    assert (card["value"], card["note"], card["href"]) == ("4", "57.1%", "rollouts?run=checks&verified=no")
    rows = component(app, "unverified_bars")["rows"]
    assert [(row["label"], row["count"]) for row in rows] == [(check_run.PATCHES, "3"), (check_run.COMPARES, "1")]
    query = dict(parse_qsl(urlsplit(rows[0]["href"]).query))
    assert query == {"run": "checks", "verified": f"no: {check_run.PATCHES}"}
    assert "3 of 7 rollouts" in text(visit("rollouts", **query))
    assert "Not verified, with their reward" in text(app)
    assert "Not verified, without a reward" in text(visit("overview", run="withheld"))


@pytest.mark.usefixtures("opened")
def test_a_run_that_is_all_verified_has_no_place_for_reasons() -> None:
    app = visit("overview", run="checks", verified="yes")
    assert "Not verified" not in text(app)
    assert {card["name"]: card for card in component(app, "cards")["cards"]}["not verified"]["href"] is None


@pytest.mark.usefixtures("opened")
def test_a_completion_that_is_not_verified_says_why_and_what_that_means_for_its_reward() -> None:
    kept = unescape(text(visit("completion", run="checks", task="checks/stack", sample="stack#0")))
    assert f"not verified: {check_run.PATCHES}." in kept
    assert "with --unverified unknown it would be unknown" in kept
    left = unescape(text(visit("completion", run="withheld", task="checks/stack", sample="stack#0")))
    assert "</span> unknown · <a" in left
    assert f"not verified: {check_run.PATCHES}. So it is unknown and has no reward" in left
    assert "not verified" not in text(visit("completion", run="checks", task="checks/stack", sample="stack#3"))


@pytest.mark.usefixtures("opened")
def test_the_grid_marks_what_is_not_verified_and_says_so() -> None:
    app = visit("rollouts", run="checks")
    row = {row["id"]: row for row in component(app, "task_grid")["rows"]}["checks/stack"]
    assert row["corners"] == "1110"
    assert [cell.endswith(" · not verified") for cell in row["cells"]] == [True, True, True, False]
    last = component(app, "verdict_legend")["rows"][-1]
    assert last["label"].endswith(" not verified")
    assert (last["count"], last["href"]) == ("4", "rollouts?run=checks&verified=no")
    rows = component(visit("rollouts", run="checks", task="checks/stack"), "case_grid")["rows"]
    assert [row["corner"] for row in rows] == [True, True, True, False]


@pytest.mark.usefixtures("opened")
def test_the_table_has_a_column_of_reasons_where_there_are_any() -> None:
    columns = component(visit("rollouts", run="checks", view="table"), "rollout_table")["columns"]
    assert "not verified" in [column["label"] for column in columns]
    columns = component(visit("rollouts", run="checks", view="table", verified="yes"), "rollout_table")["columns"]
    assert "not verified" not in [column["label"] for column in columns]


@pytest.mark.usefixtures("opened")
def test_the_sidebar_filters_by_verified() -> None:
    app = visit("rollouts", run="checks")
    reasons = [f"no: {check_run.PATCHES} (3)", f"no: {check_run.COMPARES} (1)"]
    assert app.selectbox(key="w_verified").options == ["yes (3)", "no (4)", *reasons]
    app.selectbox(key="w_verified").set_value("yes").run()
    assert app.query_params["verified"] == "yes"
    assert "3 of 7 rollouts" in text(app)


def test_a_run_of_a_version_that_kept_no_reasons_opens(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run = forget_columns(check_run.write(tmp_path / "old"), "unverified_reason")
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"runs": [str(run)]}))
    for page in PAGES:
        no_exception(visit(page, verified="no: no reason was given"))
    no_exception(visit("rollouts", task="checks/stack", view="table"))
    app = visit("completion", task="checks/stack", sample="stack#0")
    no_exception(app)
    assert "not verified: no reason was given." in text(app)


@pytest.mark.usefixtures("opened")
def test_a_failed_statement_shows_its_source_as_code_and_both_sides() -> None:
    shown = unescape(text(visit("completion", run="checks", task="checks/top", sample="top#1", test="1")))
    assert "Input of test 1: statement" in shown
    assert 'class="rs-code wrap"' in shown
    plain = re.sub("<.*?>", "", shown)
    assert "assert candidate(numbers, 3) == [39, 38, 37], numbers" in plain
    assert "`candidate(numbers, 3) == [39, 38, 37]`, got `[37, 38, 39]`" in plain
    assert "First difference" not in plain
    assert '<td class="expected">' in shown


@pytest.mark.usefixtures("opened")
@pytest.mark.parametrize(
    ("sample", "test", "expected", "missing"),
    [
        ("top#1", "2", "expected ValueError, nothing was raised", '<td class="expected">'),
        ("top#1", "3", "got `[5, 1, 0]`", 'class="rs-diff"'),
        ("top#1", "5", "a true value", '<td class="expected">'),
        ("top#0", "2", "ValueError: n is negative", '<td class="expected">'),
        ("top#0", "3", "It holds.", 'class="rs-diff"'),
    ],
)
def test_what_a_check_asks_for_in_words_is_not_compared_as_text(
    sample: str, test: str, expected: str, missing: str
) -> None:
    shown = unescape(text(visit("completion", run="checks", task="checks/top", sample=sample, test=test)))
    assert expected in shown
    assert missing not in shown


@pytest.mark.usefixtures("opened")
def test_tasks_lists_the_statements_that_judge_and_the_names_of_methods() -> None:
    app = visit("tasks", run="checks", task="checks/top", test="1")
    listed = inputs(app)
    assert listed[1] == "assert candidate(numbers, 3) == [39, 38, 37], numbers"
    assert listed[2] == "with pytest.raises(ValueError): candidate([1], -1)"
    assert listed[4] == check_run.MARKDOWN
    plain = re.sub("<.*?>", "", unescape(text(app)))
    assert "before = list(numbers)" in plain
    methods = visit("tasks", run="checks", task="checks/stack")
    assert inputs(methods) == ["TestStack.test_pop", "TestStack.test_saved"]


def inputs(app: AppTest) -> list[str]:
    """The column `input` of the table of test cases."""
    table = component(app, "case_list")
    place = [column["name"] for column in table["columns"]].index("input")
    return [row["cells"][place] for row in table["rows"]]


@pytest.mark.usefixtures("opened")
@pytest.mark.parametrize("page", ["tasks", "completion"])
def test_the_source_of_a_test_is_never_markdown_or_markup(page: str) -> None:
    app = visit(page, run="checks", task="checks/top", sample="top#0", test="4")
    assert not any("**bold**" in e.value for e in app.markdown)
    assert "&lt;b&gt;" in text(app)
    assert '<b>"' not in text(app)
