"""Weak tests on Tasks and Audit, on a task whose tests a wrong sample passes; and the smallest failing input."""

import pytest

from dashboard import background
from dashboard.tasks import weak_tests
from dashboard.why import smallest
from evaluator.model import CaseResult, Mode, Task, TestCase, Verdict
from tests.dashboard.rows import Written, row
from tests.dashboard.test_pages import click, component, text, visit

CASES = (TestCase(0, "2", "4"), TestCase(1, "0", "0"))
RIGHT, WRONG = "def f(n):\n    return n * n\n", "def f(n):\n    return n * 2\n"


@pytest.mark.slow
def test_a_sample_that_passes_and_is_wrong_is_found_and_its_test_added(written: Written) -> None:
    task = Task(task_id="t", mode=Mode.CALL, prompt="Square.", entry_point="f", cases=CASES, reference=RIGHT)
    run = written([row("t", "right", reward=1.0, code=RIGHT), row("t", "wrong", reward=1.0, code=WRONG)], task)
    app = click(visit("tasks", task="t", tab="weak"), "find_weak")
    job = background.find(*weak_tests.key_of(run, "t"))
    assert job is not None
    job.wait()
    app = visit("tasks", task="t", tab="weak")
    assert "1 of 2 passing samples wrong" in text(app)
    [found, *_] = component(app, "weak_inputs")["rows"]
    assert found["cells"][2] == "1 sample wrong"
    answers = component(app, "answers")["rows"]
    answered = {answer["letter"]: [sample["label"] for sample in answer["samples"]] for answer in answers}
    assert answered == {"W": ["wrong"], "P": ["right"]}
    click(app, "add_weak")
    [(changed, stronger)] = app.session_state[f"edited_{run.path}"].items()
    assert changed == "t"
    assert len(stronger.cases) > len(CASES)


@pytest.mark.slow
def test_all_tasks_are_searched_and_the_weak_ones_listed(written: Written) -> None:
    task = Task(task_id="t", mode=Mode.CALL, prompt="Square.", entry_point="f", cases=CASES, reference=RIGHT)
    run = written([row("t", "right", reward=1.0, code=RIGHT), row("t", "wrong", reward=1.0, code=WRONG)], task)
    click(visit("audit"), "weak_of_run")
    job = background.find(*weak_tests.key_of(run))
    assert job is not None
    job.wait()
    app = visit("audit")
    [found] = component(app, "weak_tasks")["rows"]
    assert found["cells"][:2] == ["t", "1 of 2"]
    click(app, "add_all_weak")
    assert len(app.session_state[f"edited_{run.path}"]["t"].cases) > len(CASES)
    assert "1 of 2 passing samples wrong" in text(visit("tasks", task="t", tab="weak"))


@pytest.mark.slow
def test_why_opens_on_the_smallest_failing_input(written: Written) -> None:
    task = Task(task_id="t", mode=Mode.CALL, entry_point="f", cases=(TestCase(0, "71", "5041"),), reference=RIGHT)
    wrong = CaseResult(index=0, verdict=Verdict.WRONG_ANSWER, expected="5041", actual="142")
    run = written([row("t", "wrong", reward=0.0, code=WRONG, cases=(wrong,))], task)
    click(visit("completion", task="t", sample="wrong", test="0"), "smallest")
    job = background.find(*smallest.key_of(run, "t", "wrong", 0))
    assert job is not None
    job.wait()
    assert "Smallest input that fails: f(1)" in text(visit("completion", task="t", sample="wrong", test="0"))
    assert "Smallest failing input: f(1)" in text(visit("completion", task="t", sample="wrong", test="0", tab="why"))
    assert "f(1)" not in text(visit("completion", task="t", sample="wrong", test="0", tab="why", at="own"))
