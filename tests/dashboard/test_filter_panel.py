"""The filter: what it offers with which counts, saved filters, and the exports of what it lets through."""

from pathlib import Path
from urllib.parse import parse_qsl

import msgspec
import pytest

from dashboard import state, workspace
from dashboard.filters import export
from dashboard.queries import options, query
from dashboard.state import Filter
from dashboard.workspace import Entry, OpenRun
from evaluator.model import Flag, Verdict
from evaluator.runs.export import export_columns
from evaluator.runs.notes import CASE_NOTE_COLUMNS, NOTE_COLUMNS, note_rollout, note_task, read_notes
from tests.dashboard import rows, sample_run
from tests.dashboard.rows import Row, Show
from tests.dashboard.test_pages import click, text, visit

HOSTILE = sample_run.HOSTILE
NAME = "<img src=x> **bold** :red[x], $x$"
FIELDS = ("verdicts", "model", "err", "flag", "verified", "given", "tag")
VERDICTS = (Verdict.PASSED, Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR, Verdict.SANDBOX_ERROR)


def rollout(place: int) -> Row:
    """One with every field that the filter knows."""
    raised = {"error_type": f"E{place % 3}", "error_message": f"at {place}"} if place % 4 == 2 else {}
    made, grade = rows.row(
        f"t{place % 6}", f"s{place}", verdict=VERDICTS[place % 4], verified=place % 7 != 0, code="pass",
        reward=None if place % 4 == 3 else 1 / 3 if place % 4 else 1.0, model=f"m{place % 5}", step=place // 10 * 100,
        flags=(Flag("missing_package", ("pandas", "torch")[place % 2]),) * (place % 5 == 0), completion="c" * place,
        unverified_reason="one process" if place % 14 == 0 else None, **raised,
    )  # fmt: skip
    return msgspec.structs.replace(made, given_reward=float(place % 2) if place % 3 else None), grade


@pytest.fixture(scope="module")
def steps_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = rows.write(tmp_path_factory.mktemp("runs") / "steps", map(rollout, range(48)))
    note_rollout(path, "t0", "s0", tags=("look", HOSTILE), note="")
    note_rollout(path, "t1", "s1", tags=("look",), note="")
    note_task(path, "t2", judgement="bad", tags=("look",))
    return path


@pytest.fixture(scope="module")
def steps(steps_path: Path) -> OpenRun:
    return workspace.open_run(Entry("steps", steps_path))


FILTERS = [
    Filter(model="m1", verdicts=("passed", "wrong_answer")),
    Filter(err="E1: at N", given="higher"),
    Filter(flag="missing_package: torch", verified="no"),
    Filter(tag="look", verdicts=("passed",), q="t"),
    Filter(find="pass", r_max=0.5, verified="yes"),
]


@pytest.mark.parametrize("filter_", FILTERS, ids=repr)
def test_an_option_counts_the_rollouts_that_choosing_it_would_show(steps: OpenRun, filter_: Filter) -> None:
    found = options.options(steps, filter_)
    for field in FIELDS:
        counts = dict(found[field].rows) if field in found else {}
        for name in dict(options.options(steps, Filter())[field].rows):
            value = (name,) if field == "verdicts" else name
            narrowed = msgspec.structs.replace(filter_, **{field: value})
            assert counts.get(name, 0) == query.count(steps, narrowed), (field, name)


@pytest.fixture
def seen(steps_path: Path, show: Show) -> Path:
    show(steps_path)
    return steps_path


@pytest.mark.usefixtures("seen")
def test_the_panel_offers_the_fields_that_the_run_has() -> None:
    app = visit("rollouts")
    labels = {box.label for box in app.selectbox}
    assert {"Model", "Error", "Flag", "Tag", "Verified", "Given reward, against ours"} <= labels
    numbers = {box.key.partition(".")[0]: box.placeholder for box in app.number_input}
    assert "no: one process (4)" in app.selectbox(key="w_verified").options
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
        {"model": HOSTILE, "tag": "a, b\n<b>"},
        {"len_min": "9" * 40, "step_max": "-" + "9" * 17, "r_min": "1e308", "wall_max": "-1e308", "given": "sideways"},
    ],
    ids=repr,
)
def test_unknown_values_in_the_address_stay_shown_and_break_nothing(params: dict[str, str]) -> None:
    app = visit("rollouts", **params)
    assert "<img" not in text(app)
    for field in params.keys() & {"model", "tag"}:
        assert app.selectbox(key=f"w_{field}").value == params[field]
        assert app.selectbox(key=f"w_{field}").options[0].endswith(" (0)")


def test_a_filter_is_saved_chosen_and_removed(sample: Path) -> None:
    app = visit("rollouts", verdict="failed", q="add", find="x, y")
    app.text_input(key="saved_name").set_value(f"  {NAME} ")
    click(app, "save_filter")
    (saved,) = read_notes(sample).filters.items()
    assert saved[0] == NAME
    assert state.parse(dict(parse_qsl(saved[1]))).filter == Filter(verdicts=("failed",), q="add", find="x, y")

    other = click(visit("rewards"), "saved_0")
    assert (other.query_params["verdict"], other.query_params["find"]) == ("failed", "x, y")
    click(other, "remove_0")
    assert read_notes(sample).filters == {}
    assert "No filter is saved" in text(other)

    (sample / ".notes-lock").unlink(missing_ok=True)
    (sample / ".notes-lock").mkdir()  # as in a directory that can't be written to
    app.text_input(key="saved_name").set_value("mine")
    click(app, "save_filter")
    assert "notes.json: can&#x27;t be written" in text(app)


@pytest.mark.usefixtures("seen")
def test_what_is_filtered_can_be_exported_unless_it_is_nothing() -> None:
    assert not visit("sql", verdict="wrong_answer").button(key="export").disabled
    assert visit("sql", verdict="rejected").button(key="export").disabled


def test_the_columns_of_notes_are_chosen_where_there_are_notes(steps: OpenRun, run: OpenRun, tmp_path: Path) -> None:
    assert set(NOTE_COLUMNS) <= set(export.default_columns(steps, "rollout"))
    assert NOTE_COLUMNS[0] not in export.default_columns(run, "rollout")
    assert "error_kind" in export.default_columns(run, "rollout")
    for each in (steps, run):
        for per in ("rollout", "case"):
            assert set(export.default_columns(each, per)) <= set(export_columns(per))
    assert not set(CASE_NOTE_COLUMNS) & set(export.default_columns(run, "case"))
    judged = Entry("judged", sample_run.write(tmp_path / "run"))
    note_task(judged.path, "math/add", 1, judgement="bad")
    assert set(CASE_NOTE_COLUMNS) <= set(export.default_columns(workspace.open_run(judged), "case"))


def test_the_name_of_a_file_says_the_run_and_the_filter(steps: OpenRun) -> None:
    filter_ = Filter(verdicts=("time_limit", "passed"), model="a/../b", q="é<b>" * 100)
    name = export.file_name(steps, filter_, "case", "csv")
    assert name.startswith("steps.time_limit.passed.a_.._b.")
    assert name.endswith(".cases.csv")
    assert len(name) < 130
    assert export.file_name(steps, Filter(), "rollout", "html") == "steps.html"
