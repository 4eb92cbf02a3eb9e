"""The grid: how its columns are arranged, which cell is selected, and what stands beside it."""

import pytest

from dashboard.components import grid
from dashboard.components.grid import Head
from dashboard.queries import listing
from dashboard.queries.listing import GridRow
from dashboard.rollouts.rollouts import _selected_sample
from dashboard.state import Filter
from dashboard.workspace import OpenRun
from tests.dashboard import rows
from tests.dashboard.rows import Written
from tests.dashboard.test_pages import component, text, visit

pytestmark = pytest.mark.usefixtures("opened")


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
    columns = grid.arranged(ROWS, "model")
    assert columns.heads == [Head("x 50%", 2), Head("y 33%", 2), Head("no model 0%", 1)]
    assert columns.samples == [[0, 2, 1, None, 3], [None, None, 0, 1, None]]


def test_steps_are_in_the_order_of_training() -> None:
    columns = grid.arranged(ROWS, "step")
    assert columns.heads == [
        Head("step 3 50%", 2),
        Head("step 20 0%", 2),
        Head("step 100 100%", 1),
        Head("no step 0%", 1),
    ]
    assert columns.samples == [[None, None, 1, 3, 0, 2], [0, 1, None, None, None, None]]
    some = grid.arranged(ROWS, "step", Filter(step_min=4, step_max=100))
    assert [head.label for head in some.heads] == ["step 20 0%", "step 100 100%"]
    assert columns.changes == [(0.0, 1.0), None]  # what a task's pass rate was at its first step and at its last


@pytest.mark.parametrize("cols", ["", "nonsense"])
def test_without_groups_columns_are_the_samples_in_the_file_s_order(cols: str) -> None:
    assert grid.arranged(ROWS, cols) == ([], [[0, 1, 2, 3], [0, 1]], ())


def test_a_grid_of_very_many_cells_does_not_send_what_each_of_them_is(written: Written) -> None:
    written([rows.row("t", f"s{n}", reward=1.0) for n in range(grid._DESCRIBED + 1)])
    (line,) = component(visit("rollouts"), "task_grid")["rows"]
    assert (len(line["letters"]), line["cells"]) == (grid._DESCRIBED + 1, [])


@pytest.mark.parametrize(("asked", "width"), [(None, 20), (20, 20), (9, 8), (1, 6), (-5, 6), (10**9, 28)])
def test_any_zoom_of_an_address_is_one_of_the_widths(asked: int | None, width: int) -> None:
    assert grid.nearest_zoom(asked) == width


@pytest.mark.parametrize(
    ("at", "cols", "filter_", "selected"),
    [
        ("", "", Filter(), (0, 1)),
        ("math/add|add#2", "model", Filter(), (0, 5)),
        ("math/add|no such", "", Filter(), (0, 1)),
        ("", "", Filter(verdicts=("passed",)), (0, 0)),
        ("", "", Filter(verdicts=("no_code",)), (0, 6)),
    ],
)
def test_the_selected_cell_is_the_address_s_or_the_first_failure_in_the_filter(
    run: OpenRun, at: str, cols: str, filter_: Filter, selected: tuple[int, int]
) -> None:
    found = listing.grid(run, filter_, "", 1)
    assert _selected_sample(found, grid.arranged(found, cols).samples, at) == selected


def test_beside_the_grid_is_the_selected_cells_rollout() -> None:
    app = visit("rollouts", at="math/add|add#2")
    assert component(app, "task_grid")["selected"] == [0, 2]
    assert [box.label for box in app.main.selectbox if box.label == "Order"] == ["Order"]
    assert "runtime_error · math/add · test 2 (0 to 2)" in text(app)
    assert "passed · math/add" in text(visit("rollouts", verdict="passed"))


def test_one_task_shows_the_answers_to_the_selected_test_and_marks_the_rollout_s_own() -> None:
    app = visit("rollouts", task="math/add", at="math/add|add#2", test="2")
    assert component(app, "case_grid")["selected"] == [2, 2]
    shown = text(app)
    assert "Answers to test 2" in shown
    assert "NameError" in shown.partition('class="here"')[2].partition("</li>")[0]
