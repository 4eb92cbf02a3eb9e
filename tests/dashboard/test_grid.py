"""The grid: how its columns are arranged, which cell is selected, and what stands beside it."""

from __future__ import annotations

import pytest

from dashboard.components import grid, grid_columns
from dashboard.components.grid_columns import Head
from dashboard.queries import answers, listing
from dashboard.queries.columns import COLUMNS
from dashboard.queries.listing import GridRow
from dashboard.state import Filter
from dashboard.workspace import OpenRun
from tests.dashboard import sample_run
from tests.dashboard.test_pages import component, no_exception, text, visit


def row(task: str, models: list[str], steps: list[int | None]) -> GridRow:
    """A task with one sample per model and step."""
    letters = "PWECTMO"[: len(models)]
    ids = [f"{task}#{number}" for number in range(len(models))]
    return GridRow(task, 0, len(models), letters, "1" * len(models), ids, models, steps, "0" * len(models))


ROWS = [
    row("a", ["x", "y", "x", ""], [100, 20, None, 20]),
    row("b", ["y", "y"], [3, 3]),
]


def test_columns_under_their_models_leave_gaps_so_that_tasks_line_up() -> None:
    columns = grid_columns.arranged(ROWS, "model")
    assert columns.heads == [Head("x", 2), Head("y", 2), Head("no model", 1)]
    assert columns.samples == [[0, 2, 1, None, 3], [None, None, 0, 1, None]]


def test_steps_are_in_the_order_of_training() -> None:
    columns = grid_columns.arranged(ROWS, "step")
    assert columns.heads == [Head("step 3", 2), Head("step 20", 2), Head("step 100", 1), Head("no step", 1)]
    assert columns.samples == [[None, None, 1, 3, 0, 2], [0, 1, None, None, None, None]]


@pytest.mark.parametrize("cols", ["", "nonsense"])
def test_without_groups_columns_are_the_samples_in_the_file_s_order(cols: str) -> None:
    assert grid_columns.arranged(ROWS, cols) == ([], [[0, 1, 2, 3], [0, 1]])


@pytest.mark.parametrize(("asked", "width"), [(None, 20), (20, 20), (9, 8), (1, 6), (-5, 6), (10**9, 28)])
def test_any_zoom_of_an_address_is_one_of_the_widths(asked: int | None, width: int) -> None:
    assert grid.nearest_zoom(asked) == width


def test_answers_to_a_test_case_are_counted_with_their_verdict(run: OpenRun) -> None:
    found = answers.of_test(run, "math/add", 1)
    assert [(a.text, a.verdict, a.error, a.rollouts) for a in found.rows] == [
        ("3", "passed", None, 3),
        (None, "runtime_error", "AttributeError", 1),
    ]
    assert found.total == 2


@pytest.mark.usefixtures("opened")
@pytest.mark.parametrize(
    ("params", "selected", "shown"),
    [
        ({}, [0, 1], "runtime_error · math/add · test 1 (0 to 2)"),
        ({"at": "math/add|add#2"}, [0, 2], "runtime_error · math/add · test 2 (0 to 2)"),
        ({"at": "math/add|add#2", "cols": "model"}, [0, 5], "runtime_error · math/add · test 2 (0 to 2)"),
        ({"at": "math/add|no such"}, [0, 1], "runtime_error · math/add · test 1 (0 to 2)"),
        ({"verdict": "passed"}, [0, 0], "passed · math/add"),
        ({"verdict": "no_code"}, [0, 6], "no_code · text/all-kinds"),
    ],
)
def test_the_selected_cell_is_the_address_s_or_the_first_failure_in_the_filter(
    params: dict[str, str], selected: list[int], shown: str
) -> None:
    app = visit("rollouts", **params)
    no_exception(app)
    assert component(app, "task_grid")["selected"] == selected
    assert shown in text(app)


@pytest.mark.usefixtures("opened")
def test_one_task_shows_the_answers_to_the_selected_test_and_marks_the_rollout_s_own() -> None:
    app = visit("rollouts", task="math/add", at="math/add|add#2", test="2")
    no_exception(app)
    assert component(app, "case_grid")["selected"] == [2, 2]
    shown = text(app)
    assert "Answers to test 2" in shown
    here = shown.partition('class="here"')[2].partition("</li>")[0]
    assert "NameError" in here


def test_every_cell_of_the_page_is_inside_or_outside_the_filter(run: OpenRun) -> None:
    for each in listing.grid(run, Filter(model="small"), "", 1):
        assert [model == "small" for model in each.models] == [mark == "1" for mark in each.mask]


@pytest.mark.usefixtures("opened")
@pytest.mark.parametrize(
    "params",
    [
        {"view": "search", "find": "<img"},
        {"view": "search"},
        {"view": "table", "by": "task_id", "page": "99"},
        {"view": "table", "by": "err", "sort": "-nonsense"},
        {"view": "table", "fields": ",".join(COLUMNS), "sort": "-tags"},
        {"view": "table", "fields": ",,"},
        {"zoom": "999", "cols": "step", "at": "|||"},
        {"task": "math/add", "at": "math/add|add#1", "test": "-3"},
        {"task": "math/add", "view": "search", "find": "/(/"},
        {"task": f"text/{sample_run.HOSTILE}", "at": f"text/{sample_run.HOSTILE}|s/{sample_run.HOSTILE}"},
    ],
    ids=str,
)
def test_no_address_makes_the_page_fail_or_draws_markup_from_a_file(params: dict[str, str]) -> None:
    app = visit("rollouts", **params)
    no_exception(app)
    assert "<img" not in text(app)
