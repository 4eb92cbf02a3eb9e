"""Pages of asserts and unittest methods: what is not verified and why, and the source of a test as its input."""

import re
from html import unescape
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from tests.dashboard import check_run
from tests.dashboard.rows import Show
from tests.dashboard.test_pages import cards, component, text, visit
from tests.runs.older_run import forget_columns

pytestmark = pytest.mark.usefixtures("opened")


def completion(sample: str, **params: str) -> str:
    """The page of a rollout of `checks`, or of the run in the address."""
    task = f"checks/{sample.partition('#')[0]}"
    return unescape(text(visit("completion", **({"run": "checks", "task": task, "sample": sample} | params))))


def test_overview_says_why_rollouts_are_not_verified_each_reason_a_link_to_its_rollouts() -> None:
    app = visit("overview", run="checks")
    card = cards(app)["not verified"]
    assert (card["value"], card["note"], card["href"]) == ("4", "57.1%", "rollouts?run=checks&verified=no")
    rows = component(app, "unverified_bars")["rows"]
    assert [(row["label"], row["count"]) for row in rows] == [(check_run.PATCHES, "3"), (check_run.COMPARES, "1")]
    query = dict(parse_qsl(urlsplit(rows[0]["href"]).query))
    assert query == {"run": "checks", "verified": f"no: {check_run.PATCHES}"}
    assert "Not verified, with their reward" in text(app)
    assert "Not verified, without a reward" in text(visit("overview", run="withheld"))
    assert "Not verified" not in text(visit("overview", run="checks", verified="yes"))


def test_a_completion_that_is_not_verified_says_why_and_what_that_means_for_its_reward() -> None:
    kept = completion("stack#0")
    assert f"not verified: {check_run.PATCHES}." in kept
    assert "with --unverified unknown it would be unknown" in kept
    left = completion("stack#0", run="withheld")
    assert "</span> unknown · <a" in left
    assert f"not verified: {check_run.PATCHES}. So it is unknown and has no reward" in left
    assert "not verified" not in completion("stack#3")


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


def test_a_completion_of_a_version_that_kept_no_reasons_says_so(tmp_path: Path, show: Show) -> None:
    show(forget_columns(check_run.write(tmp_path / "old"), "unverified_reason"))
    assert "not verified: no reason was given." in completion("stack#0", run="old")
    visit("overview", verified="no: no reason was given")


def test_a_failed_statement_shows_its_source_as_code_and_both_sides() -> None:
    shown = completion("top#1", test="1")
    assert "Input of test 1: statement" in shown
    assert 'class="rs-code"' in shown
    plain = re.sub("<.*?>", "", shown)
    assert "assert candidate(numbers, 3) == [39, 38, 37], numbers" in plain
    assert "`candidate(numbers, 3) == [39, 38, 37]`, got `[37, 38, 39]`" in plain
    assert "First difference" not in plain
    assert '<td class="expected">' in shown


@pytest.mark.parametrize(
    ("sample", "test", "expected", "missing"),
    [
        ("top#1", "2", "expected ValueError, nothing was raised", '<td class="expected">'),
        ("top#1", "3", "got `[5, 1, 0]`", 'class="rs-diff"'),
        ("top#1", "5", "a true value", '<td class="expected">'),
        ("top#0", "2", "ValueError: n is negative", '<td class="expected">'),
        ("top#0", "3", "Passed: the statement raised nothing.", 'class="rs-diff"'),
    ],
)
def test_what_a_check_asks_for_in_words_is_not_compared_as_text(
    sample: str, test: str, expected: str, missing: str
) -> None:
    shown = completion(sample, test=test)
    assert expected in shown
    assert missing not in shown


def test_tasks_lists_the_statements_that_judge_and_the_names_of_methods() -> None:
    app = visit("tasks", run="checks", task="checks/top", test="1")
    listed = inputs(app)
    assert listed[1] == "assert candidate(numbers, 3) == [39, 38, 37], numbers"
    assert listed[2] == "with pytest.raises(ValueError): candidate([1], -1)"
    assert listed[4] == check_run.MARKDOWN
    assert "before = list(numbers)" in re.sub("<.*?>", "", unescape(text(app)))
    assert inputs(visit("tasks", run="checks", task="checks/stack")) == ["TestStack.test_pop", "TestStack.test_saved"]


def inputs(app: AppTest) -> list[str]:
    """The column `input` of the table of test cases."""
    table = component(app, "case_list")
    place = [column["name"] for column in table["columns"]].index("input")
    return [row["cells"][place] for row in table["rows"]]


@pytest.mark.parametrize("page", ["tasks", "completion"])
def test_the_source_of_a_test_is_never_markdown_or_markup(page: str) -> None:
    app = visit(page, run="checks", task="checks/top", sample="top#0", test="4")
    assert not any("**bold**" in e.value for e in app.markdown)
    assert "&lt;b&gt;" in text(app)
    assert '<b>"' not in text(app)
