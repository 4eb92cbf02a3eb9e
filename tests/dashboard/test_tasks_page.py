"""The Tasks page: the list, the answers, judgements, and a new test case."""

import threading
from pathlib import Path

import pytest

from dashboard import background
from dashboard.queries import answers, records
from dashboard.queries.answers import Code
from dashboard.tasks import corrected, new_case
from dashboard.tasks.new_case import CaseError
from dashboard.workspace import OpenRun
from evaluator import grade, load_tasks
from evaluator.model import Grade, Kind, Mode, Task, TestCase, Verdict
from evaluator.runs.notes import read_notes
from tests.dashboard import sample_run
from tests.dashboard.rows import Written, row
from tests.dashboard.test_pages import click, component, no_exception, text, visit

pytestmark = pytest.mark.usefixtures("opened")


def test_the_list_has_a_mark_the_rollouts_that_passed_and_why() -> None:
    app = visit("tasks", task="text/all-kinds")
    listed = [row["cells"] for row in component(app, "task_list")["rows"]]
    found = {task: (mark, passed, why) for mark, task, passed, why in listed}
    assert found["math/add"] == ("", "2/4", "")
    assert found["text/all-kinds"] == ("!", "0/6", "test 0: nobody passes (0 of 5 that ran it)")
    assert component(app, "case_list")["selected"] == 0, "the most suspect one"
    assert "Answers to test 0 · nobody passes (0 of 5 that ran it)" in text(app)
    assert component(visit("tasks", task="text/all-kinds", test="1"), "case_list")["selected"] == 1


def test_a_tasks_texts_have_a_tab_each() -> None:
    assert [tab.label for tab in visit("tasks", task="text/all-kinds").tabs] == ["Prompt", "Checker"]


def test_each_test_case_says_what_was_answered_with_a_link_to_each_sample() -> None:
    app = visit("tasks", task="math/add", test="1", verdict="passed")
    assert [row["cells"][1:5] for row in component(app, "case_list")["rows"]] == [
        ["0", "4/4", "1", "1 × 4"],
        ["1", "3/4", "3", "3 × 3 · error × 1"],
        ["2", "3/4", "5", "5 × 3 · error × 1"],
    ]
    assert "1\n2" in text(app), "the input as it is"
    assert 'class="rs-code"' in text(app), "and the call"
    first, second = component(app, "answers")["rows"]
    assert (first["letter"], first["text"], first["count"]) == ("P", "3", "3 of 4")
    assert [each["label"] for each in first["samples"]] == ["#0", "#2", "#3"]
    assert (second["letter"], second["text"], second["count"]) == ("E", "runtime_error: AttributeError", "1 of 4")
    address = second["samples"][0]["href"]
    assert address.startswith("completion?run=sample&task=math%2Fadd&sample=add%231&test=1&up=")
    assert address.endswith("&verdict=passed")


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


def test_a_task_and_a_test_case_are_judged_and_judged_again(sample: Path) -> None:
    app = visit("tasks", task="math/add", test="2")
    click(app, "bad_task")
    click(app, "unsure_test")
    said = read_notes(sample)
    assert [(note.task_id, note.test, note.judgement) for note in said.tasks] == [
        ("math/add", None, "bad"),
        ("math/add", 2, "unsure"),
    ]
    assert app.button(key="bad_task").label == "✓ bad"
    assert [link.label for link in app.get("page_link") if "bad" in link.label] == [r"bad\: 1 task"]
    listed = [row["cells"] for row in component(app, "task_list")["rows"]]
    assert ["", "math/add", "2/4", "bad, test 2 unsure"] in listed
    assert "4 of 13 rollouts" in text(visit("rollouts", tag="bad"))
    click(app, "bad_test")
    assert [link.label for link in app.get("page_link") if "bad" in link.label] == [r"bad\: 1 task, 1 test case"]
    click(app, "bad_task")
    click(app, "bad_test")
    assert read_notes(sample).tasks == []


def test_a_note_is_kept_with_the_judgement_and_one_that_cannot_be_written_is_a_line(sample: Path) -> None:
    app = visit("tasks", task="math/add", test="0")
    app.text_input(key="note_task_math/add_None").set_value("off by one").run()
    click(app, "bad_task")
    app.text_input(key="note_test_math/add_0").set_value("twice").run()
    no_exception(app)
    assert [(n.judgement, n.note) for n in read_notes(sample).tasks] == [("bad", "off by one"), (None, "twice")]
    again = visit("tasks", task="math/add", test="0")
    assert again.text_input(key="note_task_math/add_None").value == "off by one"
    (sample / ".notes-lock").unlink()
    (sample / ".notes-lock").mkdir()
    click(again, "unsure_task")
    assert "notes.json: can&#x27;t be written: Is a directory" in text(again)


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


ADD = "def add(a, b):\n    return a + b\n"


@pytest.mark.parametrize(
    ("task", "given", "expected", "code"),
    [
        (Task(task_id="t", mode=Mode.CALL, entry_point="add"), "1\n2", "3", ADD),
        (
            Task(task_id="t", mode=Mode.ASSERT, entry_point="add", test="def check(candidate): ..."),
            "assert candidate(1, 2) == 3", "", ADD,
        ),
        (
            Task(task_id="t", mode=Mode.UNITTEST, entry_point="add", test="import unittest\n"),
            "assert add(1, 2) == 3", "", ADD,
        ),
        (
            Task(task_id="t", mode=Mode.STDIN, cases=(TestCase(0, "9", "9"),)), "1 2\n", "3\n",
            "a, b = map(int, input().split())\nprint(a + b)\n",
        ),
    ],
)  # fmt: skip
def test_a_new_test_case_decides_alone(task: Task, given: str, expected: str, code: str) -> None:
    case = new_case.parsed_case(task.mode, given, expected)
    alone = new_case.task_with(task, case)
    right = grade(alone, code, kind=Kind.FULL)
    assert (right.verdict, len(right.cases)) == (Verdict.PASSED, 1)
    assert grade(alone, code.replace("+", "-"), kind=Kind.FULL).verdict is Verdict.WRONG_ANSWER


CHECK = """def check(candidate):
    with ok():
        assert candidate(1) == [
            2
        ]
    assert candidate(3) == 4
"""


@pytest.mark.parametrize(
    ("old", "new", "add", "test"),
    [
        ("assert candidate(3) == 4", "assert candidate(3) == 5", False, CHECK.replace("== 4", "== 5")),
        ("assert candidate(3) == 4", "a = 3\nassert candidate(a) == 4", False,
         CHECK.replace("assert candidate(3)", "a = 3\n    assert candidate(a)")),
        ("assert candidate(3) == 4", "assert candidate(5) == 6", True, CHECK + "    assert candidate(5) == 6\n"),
        ("with ok():\n        assert candidate(1) == [\n            2\n        ]",
         "with ok():\n        assert candidate(1) == [\n            7\n        ]", False, CHECK.replace("2", "7")),
    ],
)  # fmt: skip
def test_a_changed_statement_takes_its_place_in_the_test_code(old: str, new: str, test: str, *, add: bool) -> None:
    task = Task(task_id="t", mode=Mode.ASSERT, entry_point="f", test=CHECK)
    changed = corrected.corrected(task, TestCase(0, old, ""), TestCase(0, new, ""), add=add)
    assert changed.test == test
    with pytest.raises(corrected.PlaceError, match="not in the test code"):
        corrected.corrected(task, TestCase(0, "assert f()", ""), TestCase(0, "assert g()", ""), add=False)


@pytest.mark.parametrize(("add", "outputs"), [(False, ["1", "4", "5"]), (True, ["1", "3", "5", "4"])])
def test_the_corrected_dataset_has_all_tasks_and_the_changed_test_case(
    run: OpenRun, outputs: list[str], tmp_path: Path, *, add: bool
) -> None:
    record = records.task(run, "math/add")
    task = record and records.decoded(record.task, Task)
    assert task is not None
    changed = corrected.corrected(task, task.cases[1], TestCase(0, "1\n3", "4"), add=add)
    (tmp_path / "tasks.jsonl").write_bytes(corrected.dataset(run, {task.task_id: changed}))
    tasks = list(load_tasks(tmp_path / "tasks.jsonl"))
    assert [case.expected for case in tasks[0].cases] == outputs
    assert [each.task_id for each in tasks] == [name for (name,) in run.rows("SELECT task_id FROM tasks")]


def test_the_form_starts_from_the_selected_test_case() -> None:
    app = visit("tasks", task="math/add", test="1", tab="new")
    assert [area.value for area in app.text_area] == ["1\n2", "3"]
    assert app.button(key="run_new_case").label == "Run on 4 samples"
    app.text_area[0].set_value("1\n'b'").run()
    assert "Argument 2 is not JSON" in text(app)
    click(app, "run_new_case")
    assert "new_case" not in app.session_state


def test_what_a_sample_was_is_its_verdict_of_that_test_case(run: OpenRun) -> None:
    codes = answers.codes(run, "math/add", 9).rows
    assert [each.verdict for each in codes if each.sample_id == "add#1"] == ["runtime_error"]
    assert answers.verdicts_of_test(run, "math/add", 0)["add#1"] == "passed"


def test_a_test_case_is_not_changed_while_it_is_tried() -> None:
    app, case = visit("tasks", task="math/add", test="1", tab="new"), TestCase(0, "1\n2", "4")
    ended = threading.Event()
    job: background.Job[Grade] = background.Job("Samples run", 2, lambda add, stop: ended.wait())
    late = Code("add#3", "", Verdict.TIME_LIMIT, None)
    app.session_state["new_case"] = new_case.Trial("math/add", 0, case, job, [late])
    app.text_area[1].set_value("4").run()
    assert app.button(key="change_False").disabled
    assert "1 sample met the time limit of 10 s in the run" in text(app)
    ended.set()
    job.wait()
    assert not app.run().button(key="change_False").disabled


@pytest.mark.parametrize(
    ("expected", "checker", "is_said"),
    [('{"a": [{"4": 2}]}', None, True), ('{"04": 2}', None, False), ('{"4": 2}', "floats", False)],
)
def test_a_key_that_may_be_an_int_is_explained(
    written: Written, expected: str, checker: str | None, *, is_said: bool
) -> None:
    task = Task(task_id="t", mode=Mode.CALL, entry_point="f", cases=(TestCase(0, "1", expected),), checker=checker)
    written([row("t", "t#0", reward=0.0)], task)
    assert ("is also right as the int 4" in text(visit("tasks"))) is is_said


def test_a_change_is_marked_in_both_lists() -> None:
    app = visit("tasks", task="math/add", test="1", tab="new")
    app.text_area[1].set_value("4").run()
    click(app, "change_False")
    assert [row["cells"][-1] for row in component(app, "case_list")["rows"]] == ["", "changed", ""]
    [marked] = [row["cells"] for row in component(app, "task_list")["rows"] if "math/add" in row["cells"]]
    assert marked[-1].startswith("changed, not in the run")


def test_an_answer_that_most_give_stands_beside_the_expected_one() -> None:
    listed = component(visit("tasks", task=f"text/{sample_run.HOSTILE}"), "case_list")["rows"]
    assert listed[0]["cells"][3:5] == ["one⏎two⏎three", "one⏎two·⏎three⏎… × 1"]
