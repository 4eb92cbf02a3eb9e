"""The Tasks page's pane of weak tests, on a task whose only test a wrong sample passes."""

import pytest

from dashboard import background
from dashboard.tasks import weak_tests
from evaluator.model import Mode, Task, TestCase
from tests.dashboard.rows import Written, row
from tests.dashboard.test_pages import click, component, text, visit

RIGHT, WRONG = "def f(n):\n    return n * n\n", "def f(n):\n    return n * 2\n"


@pytest.mark.slow
def test_a_sample_that_passes_and_is_wrong_is_found_and_its_test_added(written: Written) -> None:
    cases = (TestCase(0, "2", "4"), TestCase(1, "0", "0"))
    task = Task(task_id="t", mode=Mode.CALL, prompt="Square.", entry_point="f", cases=cases, reference=RIGHT)
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
    assert len(stronger.cases) > len(cases)
