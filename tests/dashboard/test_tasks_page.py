"""The Tasks page: the list, the answers, judgements, and a new test case."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dashboard import workspace
from dashboard.tasks import new_case
from dashboard.tasks.new_case import CaseError
from evaluator import grade
from evaluator.model import Kind, Mode, Task, TestCase, Verdict
from evaluator.runs.notes import read_notes
from tests.dashboard import sample_run
from tests.dashboard.test_pages import component, no_exception, text, visit


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sample, in a folder where notes may be written."""
    run = sample_run.write(tmp_path / "sample")
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"runs": [str(run)]}))
    return run


def rows(key: str, **params: str) -> list[list[str]]:
    app = visit("tasks", **params)
    no_exception(app)
    return [row["cells"] for row in component(app, key)["rows"]]


@pytest.mark.usefixtures("path")
def test_the_list_has_a_mark_the_rollouts_that_passed_and_why() -> None:
    found = {task: (mark, passed, why) for mark, task, passed, why in rows("task_list")}
    assert found["math/add"] == ("", "2/4", "")
    assert found["text/all-kinds"] == ("!", "0/6", "test 0: nobody passes (0 of 5)")


@pytest.mark.usefixtures("path")
def test_each_test_case_says_what_was_answered() -> None:
    found = rows("case_list", task="math/add")
    assert [row[1:4] for row in found] == [
        ["0", "4/4", "1 × 4"],
        ["1", "3/4", "3 × 3 · error × 1"],
        ["2", "3/4", "5 × 3 · error × 1"],
    ]


@pytest.mark.usefixtures("path")
def test_an_answer_links_to_each_of_its_samples_at_this_test() -> None:
    app = visit("tasks", task="math/add", test="1", verdict="passed")
    first, second = component(app, "answers")["rows"]
    assert (first["letter"], first["text"], first["count"]) == ("P", "3", "3 of 4")
    assert [sample["label"] for sample in first["samples"]] == ["#0", "#2", "#3"]
    assert (second["letter"], second["text"], second["count"]) == ("E", "runtime_error: AttributeError", "1 of 4")
    address = second["samples"][0]["href"]
    assert address.startswith("completion?run=sample&task=math%2Fadd&sample=add%231&test=1&up=")
    assert address.endswith("&verdict=passed")


@pytest.mark.usefixtures("path")
def test_the_most_suspect_test_case_is_selected_unless_the_address_names_one() -> None:
    app = visit("tasks", task="text/all-kinds")
    assert component(app, "case_list")["selected"] == 0
    assert "Answers to test 0 · nobody passes (0 of 5)" in text(app)
    assert component(visit("tasks", task="text/all-kinds", test="1"), "case_list")["selected"] == 1


@pytest.mark.usefixtures("path")
def test_a_random_sample_has_its_size_and_seed_in_the_address() -> None:
    app = visit("tasks")
    app.selectbox(key="w_task_sort").set_value("random").run()
    no_exception(app)
    assert app.query_params["sort"] == "random:20:0"
    app.number_input(key="w_size").set_value(2).run()
    app.number_input(key="w_seed").set_value(5).run()
    no_exception(app)
    assert app.query_params["sort"] == "random:2:5"
    assert len(component(app, "task_list")["rows"]) == 2
    assert "2 tasks, drawn at random" in text(app)


def test_a_task_and_a_test_case_are_judged_and_judged_again(path: Path) -> None:
    app = visit("tasks", task="math/add", test="2")
    app.button(key="bad_task").click().run()
    app.button(key="unsure_test").click().run()
    no_exception(app)
    said = read_notes(path)
    assert [(note.task_id, note.test, note.judgement) for note in said.tasks] == [
        ("math/add", None, "bad"),
        ("math/add", 2, "unsure"),
    ]
    assert app.button(key="bad_task").label == "✓ bad"
    assert ["", "math/add", "2/4", "bad, test 2 unsure"] in [
        row["cells"] for row in component(app, "task_list")["rows"]
    ]
    assert "4 of 13 rollouts" in text(visit("rollouts", tag="bad"))
    app.button(key="bad_task").click().run()
    app.button(key="unsure_test").click().run()
    assert read_notes(path).tasks == []


@pytest.mark.usefixtures("path")
def test_judgements_are_counted_and_lead_to_the_rollouts() -> None:
    app = visit("tasks", task="math/add", test="2")
    app.button(key="bad_test").click().run()
    assert [link.label for link in app.get("page_link") if "bad" in link.label] == [r"bad\: 1 test case"]
    assert "4 of 13 rollouts" in text(visit("rollouts", tag="bad"))
    app.button(key="bad_task").click().run()
    again = visit("tasks", task="math/add", test="1")
    again.button(key="bad_test").click().run()
    no_exception(again)
    assert [link.label for link in again.get("page_link") if "bad" in link.label] == [r"bad\: 1 task, 2 test cases"]


def test_a_note_is_kept_with_the_judgement(path: Path) -> None:
    app = visit("tasks", task="math/add", test="0")
    app.text_input(key="note_task_math/add_None").set_value("off by one").run()
    app.button(key="bad_task").click().run()
    app.text_input(key="note_test_math/add_0").set_value("twice").run()
    no_exception(app)
    said = read_notes(path)
    assert [(n.judgement, n.note) for n in said.tasks] == [("bad", "off by one"), (None, "twice")]
    again = visit("tasks", task="math/add", test="0")
    assert again.text_input(key="note_task_math/add_None").value == "off by one"


def test_notes_that_cannot_be_written_are_one_line(path: Path) -> None:
    app = visit("tasks", task="math/add")
    (path / ".notes-lock").mkdir()
    app.button(key="bad_task").click().run()
    no_exception(app)
    assert "notes.json: can&#x27;t be written: Is a directory" in text(app)


@pytest.mark.parametrize(
    ("mode", "given", "expected", "fault"),
    [
        (Mode.CALL, "1\n{", "2", "Argument 2 is not JSON; a text needs double quotes."),
        (Mode.CALL, "1", "'a'", "The expected value is not JSON; a text needs double quotes."),
        (Mode.ASSERT, "assert add(1 == 2", "", "The statement is not Python"),
        (Mode.ASSERT, "add(1, 2)", "", "Write a statement with assert"),
    ],
)
def test_what_is_no_test_case_is_refused_with_the_fix(mode: Mode, given: str, expected: str, fault: str) -> None:
    with pytest.raises(CaseError, match=fault):
        new_case.parsed_case(mode, given, expected)


CODE = "def add(a, b):\n    return a + b\n"


@pytest.mark.parametrize(
    ("task", "given", "expected", "row"),
    [
        (Task(task_id="t", mode=Mode.CALL, entry_point="add"), "1\n2", "3", '{"inputs": [[1, 2]], "outputs": [3]}'),
        (
            Task(task_id="t", mode=Mode.ASSERT, entry_point="add", test="def check(candidate): ..."),
            "assert candidate(1, 2) == 3", "",
            '{"test": "def check(candidate):\\n    assert candidate(1, 2) == 3\\n"}',
        ),
        (
            Task(task_id="t", mode=Mode.UNITTEST, entry_point="add", test="import unittest\n"),
            "assert add(1, 2) == 3", "",
            '{"test": "def check(candidate):\\n    assert add(1, 2) == 3\\n"}',
        ),
    ],
)  # fmt: skip
def test_a_new_test_case_decides_alone(task: Task, given: str, expected: str, row: str) -> None:
    case = new_case.parsed_case(task.mode, given, expected)
    assert new_case.as_json(task, case) == row
    alone = new_case.task_with(task, case)
    right = grade(alone, CODE, kind=Kind.FULL)
    assert (right.verdict, len(right.cases)) == (Verdict.PASSED, 1)
    assert grade(alone, CODE.replace("+", "-"), kind=Kind.FULL).verdict is Verdict.WRONG_ANSWER


def test_a_new_test_case_for_stdin_keeps_every_character() -> None:
    task = Task(task_id="t", mode=Mode.STDIN, cases=(TestCase(0, "9", "9"),))
    case = new_case.parsed_case(Mode.STDIN, "1 2\n", "3\n")
    assert new_case.as_json(task, case) == '{"inputs": ["1 2\\n"], "outputs": ["3\\n"]}'
    code = "print(sum(map(int, input().split())))\n"
    assert grade(new_case.task_with(task, case), code, kind=Kind.FULL).verdict is Verdict.PASSED


@pytest.mark.usefixtures("path")
def test_the_form_starts_from_the_selected_test_case() -> None:
    app = visit("tasks", task="math/add", test="1", tab="new")
    no_exception(app)
    assert [area.value for area in app.text_area] == ["1\n2", "3"]
    assert app.button(key="run_new_case").label == "Run on 4 samples"
    app.text_area[0].set_value("1\n'b'").run()
    assert "Argument 2 is not JSON" in text(app)
    app.button(key="run_new_case").click().run()
    no_exception(app)
    assert "new_case" not in app.session_state


@pytest.mark.usefixtures("path")
def test_an_answer_that_most_give_stands_beside_the_expected_one() -> None:
    found = rows("case_list", task=f"text/{sample_run.HOSTILE}")
    assert found[0][3] == "one⏎two·⏎three⏎fo… × 1 (expected one⏎two⏎three)"
