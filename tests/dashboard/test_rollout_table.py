"""The table of rollouts and of groups: what it shows, in what order, and what its rows and headers lead to."""

from urllib.parse import parse_qsl, urlsplit

import pytest

from dashboard import state
from dashboard.components import rollout_table
from dashboard.components.rollout_table import Header
from dashboard.facts import short_sample
from dashboard.queries import listing
from dashboard.queries.orders import COLUMNS, GROUPS
from dashboard.rollouts.rollouts_table import HEADERS
from dashboard.state import Filter
from dashboard.workspace import OpenRun
from tests.dashboard import sample_run
from tests.dashboard.test_pages import component, mostly_slow, open_link, text, visit

pytestmark = pytest.mark.usefixtures("opened")

GRADES = sample_run.grades()


def test_every_column_of_the_queries_has_a_header() -> None:
    assert list(HEADERS) == list(COLUMNS)


@pytest.mark.parametrize("name", ["wall_s", "memory_mb", "reward", "tests", "error_line"])
def test_a_column_of_numbers_sorts_both_ways_with_the_missing_ones_last(run: OpenRun, name: str) -> None:
    sql = f'SELECT "row", {COLUMNS[name].key} FROM rollouts'
    values = {row: value for row, value in run.rows(sql) if value is not None}
    ids = dict(run.rows('SELECT "row", sample_id FROM rollouts'))
    missing = [ids[row] for row in sorted(ids) if row not in values]
    up = [ids[row] for row in sorted(values, key=lambda row: (values[row], row))]
    down = [ids[row] for row in sorted(values, key=lambda row: (-values[row], row))]
    assert [sample for _, sample, _ in listing.table(run, Filter(), name, 1, [name])] == up + missing
    assert [sample for _, sample, _ in listing.table(run, Filter(), f"-{name}", 1, [name])] == down + missing


def test_verdicts_sort_in_display_order(run: OpenRun) -> None:
    found = [verdict for *_, verdict in listing.table(run, Filter(), "verdict", 1, ["verdict"])]
    assert found[:5] == ["passed", "passed", "wrong_answer", "runtime_error", "runtime_error"]
    assert found[-1] == "unknown"


@pytest.mark.parametrize(
    ("sort", "look", "following"),
    [
        ("", "number", "-wall_s"), ("-wall_s", "number", "wall_s"), ("wall_s", "number", ""),
        ("x", "number", "-wall_s"), ("", "", "wall_s"), ("wall_s", "", "-wall_s"), ("-wall_s", "", ""),
        ("slow", "", "wall_s"),
    ],
)  # fmt: skip
def test_a_header_sorts_its_better_way_first_then_the_other_then_not(sort: str, look: str, following: str) -> None:
    assert rollout_table.next_sort(sort, Header("wall_s", "wall", look)) == following  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("task", "sample", "model", "shown"),
    [
        ("HumanEval/0", "HumanEval/0#2", None, "#2"), ("HumanEval/0", "HumanEval/0/gpt/1", "gpt", "1"),
        ("HumanEval/0", "HumanEval/0/gpt/1", None, "gpt/1"), ("add", "add/gpt", "gpt", "gpt"),
        ("add", "add", "add", "add"), ("add", "other#1", "m", "other#1"), ("add", "add/", "m", "add/"),
        ("example/maze", "maze/base/3", "base", "3"), ("x/0", "01", None, "01"), ("x/0", "x/0/01", None, "01"),
    ],
)  # fmt: skip
def test_a_sample_is_named_without_its_task_and_model(task: str, sample: str, model: str | None, shown: str) -> None:
    assert short_sample(task, sample, model) == shown


def test_the_columns_are_the_address_s_or_the_usual_ones_that_are_used() -> None:
    usual = [column["name"] for column in component(visit("rollouts", view="table"), "rollout_table")["columns"]]
    assert usual[:5] == ["verdict", "task_id", "model", "sample_id", "reward"]
    assert "unverified_reason" in usual
    app = visit("rollouts", view="table", fields="length,nonsense,verdict,1; DROP TABLE rollouts")
    table = component(app, "rollout_table")
    assert [column["name"] for column in table["columns"]] == ["verdict", "length"]
    assert table["rows"][0]["cells"] == [{"letter": "P", "text": ""}, "58"]


def test_a_row_is_a_link_that_keeps_the_order_and_the_way_back() -> None:
    app = visit("rollouts", view="table", sort="-wall_s", verdict="failed")
    row = component(app, "rollout_table")["rows"][0]
    target = state.parse(dict(parse_qsl(urlsplit(row["href"]).query)))
    assert (target.sort, target.filter.verdicts) == ("-wall_s", ("failed",))
    page, above = target.above()
    assert page == "rollouts"
    assert (above.view, above.sort, above.at) == ("table", "-wall_s", f"{target.task}|{target.sample}")
    assert component(visit("rollouts", **above.params()), "rollout_table")["selected"] == 0


@pytest.mark.parametrize("by", GROUPS)
def test_groups_hold_every_rollout(run: OpenRun, by: str) -> None:
    groups = listing.groups(run, Filter(), by, "", 1).rows
    assert sum(group.rollouts for group in groups) == len(GRADES)
    for group in groups:
        assert sum(group.verdicts.values()) == group.rollouts


def test_a_groups_rates_leave_out_what_is_not_graded(run: OpenRun) -> None:
    (kinds,) = [g for g in listing.groups(run, Filter(), "task_id", "", 1).rows if g.value == "text/all-kinds"]
    assert (kinds.rollouts, kinds.pass_rate, kinds.reward) == (8, 0.0, 0.0)
    (unknown,) = [g for g in listing.groups(run, Filter(), "verdict", "", 1).rows if g.value == "unknown"]
    assert (unknown.pass_rate, unknown.reward) == (None, None)


@pytest.mark.parametrize("sort", ["value", "-value", "rollouts", "-pass_rate", "reward", "no such", "1; DROP TABLE x"])
def test_groups_are_sorted_by_known_columns_only(run: OpenRun, sort: str) -> None:
    names = [str(group.value) for group in listing.groups(run, Filter(), "task_id", sort, 1).rows]
    assert len(names) == 3
    if sort in ("value", "-value"):
        assert names == sorted(names, reverse=sort == "-value")


@pytest.mark.parametrize("by", mostly_slow(GROUPS, "model", "step"))
def test_the_table_of_groups_links_to_their_rollouts(by: str) -> None:
    for row in component(visit("rollouts", view="table", by=by), "group_table")["rows"]:
        if row["href"] is None:
            assert (by, row["cells"][0]) == ("step", "none")
            continue
        followed = open_link(row["href"])
        if by != "task_id":
            assert f"{row['cells'][1]} of 13 rollouts" in text(followed)
