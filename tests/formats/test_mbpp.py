"""MBPP and MBPP+ rows."""

import pytest

from evaluator.formats import load_tasks

WHOLE = {
    "task_id": 2, "text": "Shared.", "code": "def similar(a, b):\r\n    return set(a) & set(b)\r\n",
    "test_setup_code": "A = (3,)",
    "test_list": ["assert set(similar(A, A)) == {3}", "assert similar(\n  A, (4,)) == set()"],
    "challenge_test_list": ["x = '''\n1'''\nassert similar(x, x) == {'\\n', '1'}"],
}  # fmt: skip
SANITIZED = {
    "source_file": "b.ipynb", "task_id": 3, "prompt": "Cone.",
    "code": "import math\ndef area(x):\n    return math.pi * x\ndef volume(x):\n    return area(x) / 3\n",
    "test_imports": ["import math"], "test_list": ["assert math.isclose(volume(3), math.pi)"],
}  # fmt: skip


def test_tasks_both_forms(read):
    format_, (first, second), problems = read(load_tasks, WHOLE, SANITIZED)
    assert (format_, problems) == ("mbpp", [])
    assert (first.task_id, first.entry_point, first.prompt) == ("2", "similar", "Shared.")
    assert (second.entry_point, second.prompt, second.reference) == ("volume", "Cone.", SANITIZED["code"])


@pytest.mark.parametrize(("row", "wrong"), [(WHOLE, "{4}"), (SANITIZED, "0.5")], ids=["whole", "sanitized"])
def test_the_reference_passes_and_a_wrong_answer_does_not(read, passes, row, wrong):
    _, (task,), _ = read(load_tasks, row)
    assert passes(task, task.reference)
    assert not passes(task, f"def {task.entry_point}(*args):\n    return {wrong}\n")


def test_the_test_of_mbpp_plus_takes_the_place_of_the_asserts(read, passes):
    test = "inputs = [[3], [30]]\nresults = [1, 10]\nfor x, y in zip(inputs, results):\n    assert third(*x) == y\n"
    row = {
        "task_id": 9, "prompt": "A third.", "code": "def third(x):\n    return x // 3\n", "source_file": "b.ipynb",
        "test_imports": [], "test_list": ["assert third(3) == 1"], "test": test,
    }  # fmt: skip
    format_, (task,), problems = read(load_tasks, row)
    assert (format_, problems) == ("mbpp", [])
    assert (task.entry_point, task.test) == ("third", test)
    assert passes(task, task.reference)
    assert not passes(task, "def third(x):\n    return 1\n"), "right for the asserts alone"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"test_list": ["assert f(("]}, "test_list[0] is not valid Python"),
        ({"test_list": ["assert len([1]) == 1"]}, "no assert calls a function of the task"),
        ({"test_list": "assert f()"}, "test_list must be a list of strings"),
        ({"test_imports": "import math"}, "test_imports must be a list of strings"),
        ({"test": 1}, "test must be text, not int"),
    ],
)
def test_rows_whose_tests_can_not_be_used_are_left_out(read, fields, message):
    row = {"task_id": 1, "text": "T", "code": "", "test_list": ["assert f()"]}
    _, tasks, (problem,) = read(load_tasks, row | fields, format="mbpp")
    assert tasks == []
    assert message in problem
