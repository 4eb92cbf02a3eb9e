"""The filter: what it offers with which counts, saved filters, and the exports of what it lets through."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import parse_qsl

import msgspec
import pytest

from dashboard import state, workspace
from dashboard.filters import export
from dashboard.queries import filter_sql, options
from dashboard.state import Filter
from dashboard.workspace import Entry, OpenRun
from evaluator.model import Flag, Grade, Rollout, Verdict
from evaluator.runs.export import export_columns
from evaluator.runs.noted import CASE_NOTE_COLUMNS, NOTE_COLUMNS
from evaluator.runs.notes import note_rollout, note_task, read_notes
from evaluator.runs.reading import Manifest, RunWriter
from tests.dashboard import sample_run
from tests.dashboard.test_pages import no_exception, text, visit

HOSTILE = sample_run.HOSTILE
NAME = "<img src=x> **bold** :red[x], $x$"
FIELDS = ("verdicts", "model", "err", "flag", "verified", "given", "tag")


@pytest.fixture(scope="module")
def steps_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rollouts with every field that the filter knows."""
    path = tmp_path_factory.mktemp("runs") / "steps"
    verdicts = (Verdict.PASSED, Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR, Verdict.SANDBOX_ERROR)
    with RunWriter.create(path, Manifest()) as writer:
        for row in range(48):
            verdict = verdicts[row % 4]
            raised = {"error_type": f"E{row % 3}", "error_message": f"at {row}"} if row % 4 == 2 else {}
            flags = (Flag("missing_package", ("pandas", "torch")[row % 2]),) * (row % 5 == 0)
            grade = Grade(
                task_id=f"t{row % 6}", sample_id=f"s{row}", verdict=verdict, verified=row % 7 != 0, code="pass",
                reward=None if row % 4 == 3 else 1 / 3 if row % 4 else 1.0, flags=flags,
                unverified_reason="one process" if row % 14 == 0 else None, **raised,
            )  # fmt: skip
            given = {"given_reward": float(row % 2)} if row % 3 else {}
            rollout = Rollout(
                task_id=grade.task_id, sample_id=grade.sample_id, completion="c" * row, model=f"m{row % 5}",
                step=row // 10 * 100, **given,
            )  # fmt: skip
            writer.add(rollout, grade, row)
        writer.close("finished")
    note_rollout(path, "t0", "s0", tags=("look", HOSTILE), note="")
    note_rollout(path, "t1", "s1", tags=("look",), note="")
    note_task(path, "t2", judgement="bad", tags=("look",))
    return path


@pytest.fixture(scope="module")
def steps(steps_path: Path) -> OpenRun:
    return workspace.open_run(Entry("steps", steps_path))


FILTERS = [
    Filter(),
    Filter(verdicts=("failed",)),
    Filter(model="m1", verdicts=("passed", "wrong_answer")),
    Filter(err="E1: at N", given="higher"),
    Filter(flag="missing_package: torch", verified="no"),
    Filter(tag="look"),
    Filter(tag="look", verdicts=("passed",), q="t"),
    Filter(q="s1", step_min=100, len_max=40),
    Filter(find="pass", r_max=0.5, verified="yes"),
    Filter(model="nobody", tag="look"),
]


@pytest.mark.parametrize("filter_", FILTERS, ids=repr)
def test_an_option_counts_the_rollouts_that_choosing_it_would_show(steps: OpenRun, filter_: Filter) -> None:
    found = options.options(steps, filter_)
    for field in FIELDS:
        counts = dict(found[field].rows) if field in found else {}
        for name in dict(options.options(steps, Filter())[field].rows):
            value = (name,) if field == "verdicts" else name
            narrowed = msgspec.structs.replace(filter_, **{field: value})
            assert counts.get(name, 0) == filter_sql.count(steps, narrowed), (field, name)


@pytest.fixture
def seen(steps_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"runs": [str(steps_path)]}))
    return steps_path


@pytest.mark.usefixtures("seen")
def test_the_panel_offers_the_fields_that_the_run_has() -> None:
    app = visit("rollouts")
    labels = {box.label for box in app.selectbox}
    assert {"Model", "Error", "Flag", "Tag", "Verified", "Given reward, against ours"} <= labels
    numbers = {box.key.partition(".")[0]: box.placeholder for box in app.number_input}
    assert (numbers["w_step_min"], numbers["w_step_max"], numbers["w_len_max"]) == ("0", "400", "47")
    assert not next(e for e in app.expander if e.label == "Reward, time, length").proto.expanded


@pytest.mark.usefixtures("opened")
def test_the_panel_leaves_out_what_the_run_lacks() -> None:
    app = visit("rollouts")
    assert not {"Tag", "Given reward, against ours"} & {box.label for box in app.selectbox}
    assert "w_step_min" not in {box.key for box in app.number_input}


@pytest.mark.usefixtures("seen")
def test_a_bound_in_the_address_opens_the_folded_part_and_applies() -> None:
    app = visit("rollouts", len_min="40", step_max="400")
    assert next(e for e in app.expander if e.label == "Reward, time, length").proto.expanded
    assert app.number_input(key="w_len_min").value == 40
    assert "8 of 48 rollouts" in text(app)
    app.number_input(key="w_len_min").set_value(44).run()
    assert app.query_params["len_min"] == "44"
    assert "4 of 48 rollouts" in text(app)


@pytest.mark.usefixtures("seen")
@pytest.mark.parametrize(
    "params",
    [
        {"model": HOSTILE},
        {"tag": "a, b\n<b>"},
        {"len_min": "9" * 40},
        {"step_max": "-" + "9" * 17},
        {"r_min": "1e308", "wall_max": "-1e308"},
        {"given": "sideways"},
    ],
    ids=repr,
)
def test_unknown_values_in_the_address_stay_shown_and_break_nothing(params: dict[str, str]) -> None:
    app = visit("rollouts", **params)
    no_exception(app)
    assert "<img" not in text(app)
    for field in ("model", "tag"):
        if field in params:
            assert app.selectbox(key=f"w_{field}").value == params[field]


@pytest.mark.usefixtures("seen")
def test_a_reward_of_a_third_is_found_by_its_address() -> None:
    view = state.View(filter=Filter(r_min=1 / 3, r_max=1 / 3))
    assert "24 of 48 rollouts" in text(visit("rollouts", **view.params()))


def test_a_filter_is_saved_chosen_and_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = sample_run.write(tmp_path / "run")
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"runs": [str(run)]}))
    app = visit("rollouts", verdict="failed", q="add", find="x, y")
    app.text_input(key="saved_name").set_value(f"  {NAME} ")
    app.button(key="save_filter").click().run()
    no_exception(app)
    (saved,) = read_notes(run).filters.items()
    assert saved[0] == NAME
    assert state.parse(dict(parse_qsl(saved[1]))).filter == Filter(verdicts=("failed",), q="add", find="x, y")

    other = visit("rewards")
    other.button(key="saved_0").click().run()
    no_exception(other)
    assert (other.query_params["verdict"], other.query_params["find"]) == ("failed", "x, y")
    other.button(key="remove_0").click().run()
    assert read_notes(run).filters == {}
    assert "No filter is saved" in text(other)


def test_a_side_file_that_can_not_be_written_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = sample_run.write(tmp_path / "run")
    (run / ".notes-lock").mkdir()  # as in a directory that can't be written to
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"runs": [str(run)]}))
    app = visit("rollouts", verdict="failed")
    app.text_input(key="saved_name").set_value("mine")
    app.button(key="save_filter").click().run()
    no_exception(app)
    assert "notes.json: can&#x27;t be written" in text(app)


@pytest.mark.usefixtures("seen")
@pytest.mark.parametrize("page", list(state.PAGES))
def test_every_page_offers_to_export_what_is_filtered(page: str) -> None:
    assert not visit(page, verdict="wrong_answer").button(key="export").disabled
    assert visit(page, verdict="rejected").button(key="export").disabled


def test_the_columns_of_notes_are_chosen_where_there_are_notes(steps: OpenRun, run: OpenRun) -> None:
    assert set(NOTE_COLUMNS) <= set(export.default_columns(steps, "rollout"))
    assert NOTE_COLUMNS[0] not in export.default_columns(run, "rollout")
    assert "error_kind" in export.default_columns(run, "rollout")
    for each in (steps, run):
        for per in ("rollout", "case"):
            assert set(export.default_columns(each, per)) <= set(export_columns(per))


def test_the_judgement_of_a_test_case_is_exported_where_there_is_one(tmp_path: Path) -> None:
    path = sample_run.write(tmp_path / "run")
    assert not set(CASE_NOTE_COLUMNS) & set(export.default_columns(_opened(path), "case"))
    note_task(path, "math/add", 1, judgement="bad")
    assert set(CASE_NOTE_COLUMNS) <= set(export.default_columns(_opened(path), "case"))


def _opened(path: Path) -> OpenRun:
    return workspace.open_run(Entry("run", path))


def test_the_name_of_a_file_says_the_run_and_the_filter(steps: OpenRun) -> None:
    filter_ = Filter(verdicts=("time_limit", "passed"), model="a/../b", q="é<b>" * 100)
    name = export.file_name(steps, filter_, "case", "csv")
    assert name.startswith("steps.time_limit.passed.a_.._b.")
    assert name.endswith(".cases.csv")
    assert len(name) < 130
    assert export.file_name(steps, Filter(), "rollout", "html") == "steps.html"
