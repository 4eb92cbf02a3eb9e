"""Every page for a file of rollouts that is opened without grading it."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import opening, workspace
from dashboard.filters import export
from dashboard.queries import console
from dashboard.state import Filter
from dashboard.workspace import OpenRun
from evaluator.runs.notes import note_rollout, notes_folder, read_notes
from tests.dashboard.rows import Show
from tests.dashboard.test_pages import cards, click, component, searched, text, visit

CHECK = "def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(3) == 6\n"
DATASET = [
    {"task_id": "double", "prompt": "def double(n):\n", "entry_point": "double", "test": CHECK},
    {"task_id": "other", "prompt": "def other():\n", "entry_point": "other", "test": CHECK},
]
GRADED = [
    {"task_id": "double", "completion": "    return 2 * n\n", "model": "good", "recorded_verdict": "passed",
     "recorded_by": "their judge", "recorded_word": "AC"},
    {"task_id": "double", "completion": "    return n * n\n", "model": "poor", "recorded_verdict": "wrong_answer",
     "recorded_by": "their judge", "recorded_word": "WA"},
]  # fmt: skip
PLAIN = [{"task_id": row["task_id"], "completion": row["completion"], "prompt": "Double it."} for row in GRADED]


def lines(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def test_a_folder_of_dumps_shows_its_own_tests_and_calls_tasks_by_their_prompts(tmp_path: Path, show: Show) -> None:
    folder = tmp_path / "dumps"
    folder.mkdir()
    tests = json.dumps({"inputs": ["1"], "outputs": ["2"], "fn_name": "f"})
    for step, verb in ((1, "doubles"), (2, "halves")):
        row = {
            "input": f"user\nWrite a function that {verb} `x`.",
            "output": "x",
            "gts": tests,
            "score": 0.0,
            "step": step,
        }
        lines(folder / f"{step}.jsonl", [row])
    show(rollouts=[folder], datasets={str(folder): str(folder)})
    rows = component(visit("rollouts"), "task_grid")["rows"]
    assert [row["label"] for row in rows] == ["doubles x.", "halves x."]
    assert all(row["id"].startswith("prompt-") for row in rows)
    shown = text(visit("tasks", task=rows[1]["id"]))
    assert "halves x." in shown
    assert "test cases</span> <b>1" in shown


@pytest.fixture
def files(tmp_path: Path, show: Show) -> list[str]:
    """A file with recorded grades, and one without; no dataset."""
    found = [lines(tmp_path / "theirs.jsonl", GRADED), lines(tmp_path / "plain.jsonl", PLAIN)]
    show(rollouts=found)
    return found


@pytest.fixture
def with_tests(files: list[str], tmp_path: Path, show: Show) -> list[str]:
    """The same, with the dataset beside them."""
    show(rollouts=files, dataset=lines(tmp_path / "dataset.jsonl", DATASET), allow_rerun=True)
    return files


def opened(place: int = 0) -> OpenRun:
    """One of the files, once it is read."""
    entry = workspace.entries()[place]
    assert entry.rollouts is not None
    reading = opening.reading(entry.rollouts)
    reading.look()
    while reading.running:
        reading._thread.join()
    return workspace.open_run(entry)


def drawn(page: str, **params: str) -> AppTest:
    """A page of `plain.jsonl`, or of the run in the address: it does not speak of grades that are not ours."""
    params = {"run": "plain.jsonl"} | params
    opened(params["run"] == "plain.jsonl")
    app = visit(page, **params)
    assert "not verified" not in text(app)
    assert "0 of 0" not in text(app)
    labels = [box.label for box in app.selectbox]
    assert "Verified" not in labels
    assert not [label for label in labels if label.startswith(("Given reward", "Recorded verdict"))]
    return app


@pytest.mark.usefixtures("files")
def test_recorded_grades_stand_for_ours_and_are_said_in_the_words_of_their_source() -> None:
    assert "Reward by model" in text(drawn("rewards", run="theirs.jsonl"))
    said = text(drawn("completion", run="theirs.jsonl", verdict="wrong_answer"))
    assert "“WA”" in said
    assert "recorded by their judge" in said
    assert "start the dashboard with --dataset" in said
    app = drawn("compare", run="theirs.jsonl")
    assert "The grades of A and B came with the rollouts." in text(app)
    assert component(app, "compare_tasks")["recorded"] == [True, True]
    assert [row["label"] for row in component(app, "compare_tasks")["rows"]] == ["double"]
    assert "1 of 2 rollouts" in text(searched(drawn("rollouts", run="theirs.jsonl", view="search", find="n * n")))


@pytest.mark.usefixtures("files")
def test_without_grades_or_tests_there_are_no_failures_or_suspects_and_what_needs_a_run_says_what_to_do() -> None:
    app = drawn("overview")
    assert list(cards(app)) == ["rollouts", "tasks", "without a verdict"]
    assert "Failures that look alike" not in text(app)
    assert "The first of them: double" in text(app)
    assert "rollscope view" in text(app)
    assert not [button for button in app.button if button.key == "first_failure"]
    assert component(app, "verdict_bars")["recorded"] is True
    app = drawn("tasks")
    assert [row["cells"] for row in component(app, "task_list")["rows"]] == [["", "double", "0/0", ""]]
    assert "Double it." in text(app)
    assert "Its test cases are in the dataset" in text(app)
    for tab in ("why", "output"):
        said = text(drawn("completion", tab=tab))
        assert "not graded yet" in said
        assert "Nothing ran here" in said
        assert "--dataset" in said


@pytest.mark.usefixtures("with_tests")
def test_the_datasets_test_cases_are_listed_and_run_from_the_editor_before_anything_is_graded() -> None:
    app = drawn("tasks", sort="task")
    assert [row["cells"][1] for row in component(app, "task_list")["rows"]] == ["double", "other"]
    assert len(component(app, "case_list")["rows"]) == 2
    assert "Nothing ran yet" in text(app)
    rows = component(drawn("completion", task="double", test="1"), "dataset_cases")
    assert [row["cells"] for row in rows["rows"]] == [
        ["0", "assert candidate(2) == 4"],
        ["1", "assert candidate(3) == 6"],
    ]
    assert rows["selected"] == 1
    app = drawn("completion", task="double", sample="double#1", test="1", view="edit")
    assert app.text_area[0].value == "def double(n):\n    return n * n\n"  # a continuation of the task's prompt
    click(app, "rerun_one")
    assert "run here, test 1" in text(app)
    assert "9" in text(app)
    assert "rs-v-wrong_answer own" in text(app)


def test_the_prompt_is_the_datasets_else_the_files_and_the_audit_needs_grades(
    with_tests: list[str], tmp_path: Path
) -> None:
    lines(tmp_path / "plain.jsonl", [*PLAIN, {"task_id": "unknown", "completion": "1", "prompt": "From the file."}])
    assert "def double(n):" in text(drawn("completion", task="double", view="prompt"))
    assert "From the file." in text(drawn("completion", task="unknown", view="prompt"))
    app = drawn("audit", run="theirs.jsonl")
    assert "needs our own grades" in text(app)
    assert "Grade the rollouts" in [link.label for link in app.page_link]


@pytest.mark.slow
@pytest.mark.usefixtures("with_tests")
def test_a_statement_reads_texts_of_the_file_and_the_dataset_and_the_other_pages_open() -> None:
    for page in ("overview", "sql", "bad_lines"):
        drawn(page, run="theirs.jsonl")
    sql = """SELECT r.completion, r.code, t.prompt, len(t.cases) > 2 AS cases FROM rollouts r
             JOIN tasks t USING (task_id) WHERE verdict = 'passed'"""
    table, more = console.rows(opened(), sql, lambda _: None)
    assert table.to_pylist()[0] | {"code": ""} == {
        "completion": "    return 2 * n\n", "code": "", "prompt": "def double(n):\n", "cases": True,
    }  # fmt: skip
    assert not more


@pytest.mark.usefixtures("files")
def test_the_filtered_rollouts_are_exported() -> None:
    run, filter_ = opened(), Filter(verdicts=("passed",))
    for form in ("jsonl", "html"):
        to = io.BytesIO()
        export._write(run, filter_, to, form, "rollout", export.default_columns(run, "rollout"))
        assert b"return n * n" not in to.getvalue()
        if form == "jsonl":
            assert [json.loads(line)["completion"] for line in to.getvalue().splitlines()] == [GRADED[0]["completion"]]
        assert export.file_name(run, filter_, "rollout", form) == f"theirs.jsonl.passed.{form}"


@pytest.mark.usefixtures("files")
def test_notes_survive_a_cleaned_cache(tmp_path: Path) -> None:
    run = opened()
    note_rollout(run.path, "double", "double#0", tags=("look",), note="well done")
    assert notes_folder(run.path).is_relative_to(tmp_path / "data" / "rollscope" / "notes")
    for path in sorted((tmp_path / "cache").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    assert read_notes(run.path).rollouts[0].note == "well done"


def test_the_failing_test_case_that_a_file_recorded_is_shown_as_what_the_file_said(tmp_path: Path, show: Show) -> None:
    account = {"error_code": -2, "error_message": "Wrong answer", "inputs": "1 2\n", "output": "7\n", "expected": "3\n"}
    row = {"question_id": "q", "code_list": ["print(7)"], "graded_list": [False], "metadata": [json.dumps(account)]}
    show(rollouts=[lines(tmp_path / "theirs.jsonl", [row])])
    opened()
    said = text(visit("completion"))
    assert "Its failing test case, as LiveCodeBench recorded it" in said
    assert "First difference: line 1, column 1, expected `3`, got `7`" in said


@pytest.mark.usefixtures("with_tests")
def test_a_completion_that_is_not_graded_has_a_link_to_grade_the_file() -> None:
    links = [link.label for link in drawn("completion").get("page_link")]
    assert "Grade all 2 rollouts" in links
