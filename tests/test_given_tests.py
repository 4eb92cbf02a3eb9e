"""Given inputs and outputs mean the same at every door."""

from collections.abc import Iterator

import pytest

from evaluator.formats import contests, nemo_gym
from evaluator.formats.tests_alone import task_from
from evaluator.model import Mode, Rollout, Task, TestCase
from evaluator.options import Options
from evaluator.references import lint
from evaluator.sandbox import Sandbox
from evaluator.tasks import long_numbers
from evaluator.tasks.given_tests import About, cases_from
from evaluator.workers.worker import Worker

ANY = About("f")
CALLS = [  # inputs, outputs, what the row says, and each case's input, output and other reading
    (["1\n2"], ["3"], ANY, [("1\n2", "3", None)]),
    (["1"], [3], ANY, [("1", "3", None)]),
    ([[1, 2]], [3], ANY, [("1\n2", "3", None)]),
    ([5], [3], ANY, [("5", "3", None)]),
    ([{"a": 1}], [3], ANY, [('{"a": 1}', "3", None)]),
    ([[]], [3], ANY, [("", "3", None)]),
    ([["bob"]], ["hi bob"], ANY, [('"bob"', '"hi bob"', None)]),
    ([["a"]], ["12"], ANY, [('"a"', '"12"', None)]),
    (["1"], ["[3]"], ANY, [("1", "[3]", None)]),
    ([[[1, 2]]], [[2, 1]], ANY, [("[1, 2]", "[2, 1]", None)]),
    ([[1], [2]], [[3], [4, 5]], ANY, [("1", "[3]", None), ("2", "[4, 5]", None)]),
    ([[1], [2]], [[3], [4]], ANY, [("1", "[3]", "3"), ("2", "[4]", "4")]),
    ([[1]], [[None]], ANY, [("1", "[null]", "null")]),
    ([[1]], [[3]], About("f", "def f(x: int) -> int:\n    return 3\n"), [("1", "3", None)]),
    ([[1]], [["5"]], About("f", "class Solution:\n    def f(self, x) -> List[str]: ..."), [("1", '["5"]', None)]),
    ([[1]], [[[5]]], About("f", "def f(x) -> List[int]: ..."), [("1", "[[5]]", "[5]")]),
    (
        [[1], [2]],
        [[[5]], [None]],
        About("f", "def f(x) -> list[int] | None: ..."),
        [("1", "[[5]]", "[5]"), ("2", "[null]", "null")],
    ),
    ([[1]], [[3]], About("f", prompt="For example, f(2) == 7."), [("1", "3", None)]),
    ([[1]], [[3]], About("f", prompt=">>> f(2)\n[7]\n"), [("1", "[3]", None)]),
    ([[1]], [[3]], About("f", prompt="f(2) => 7\nf(3) => [8]"), [("1", "[3]", "3")]),
    ([[1]], [[10**5000]], ANY, [("1", "[1" + "0" * 5000 + "]", "1" + "0" * 5000)]),
]


@pytest.mark.parametrize(("inputs", "outputs", "about", "wanted"), CALLS, ids=range(len(CALLS)))
def test_what_a_call_gets_and_must_give(inputs: object, outputs: object, about: About, wanted: list[object]) -> None:
    found = cases_from({"inputs": inputs, "outputs": outputs}, Mode.CALL, about)
    assert [(case.input, case.expected, case.also) for case in found] == wanted


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("1 2\n", "1 2\n"),
        (["1", "2"], "1\n2"),
        ([1, "a"], "1\na"),
        (5, "5"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("a\r\nb\n", "a\r\nb\n"),
    ],
)
def test_what_a_program_reads(given: object, wanted: str) -> None:
    [case] = cases_from({"inputs": [given], "outputs": ["3"]}, Mode.STDIN)
    assert case.input == wanted


def door_of_apps(in_outs: dict[str, object]) -> Task:
    return contests.read_apps({"problem_id": 1, "question": "Q", "input_output": long_numbers.dumps(in_outs)})


def door_of_livecodebench(in_outs: dict[str, object]) -> Task:
    text = long_numbers.dumps(in_outs)
    return contests.read_livecodebench({"question_id": "1", "question_content": "Q", "input_output": text})


def door_of_nemo_gym(in_outs: dict[str, object]) -> Task:
    row = {"responses_create_params": {"input": "Q"}, "verifier_metadata": {"unit_tests": in_outs}, "task_id": "1"}
    return nemo_gym.read_task(row)


DOORS = {
    "apps": door_of_apps,
    "livecodebench": door_of_livecodebench,
    "nemo_gym": door_of_nemo_gym,
    "Task.from_row": lambda in_outs: Task.from_row({"task_id": "1", "in_outs": in_outs}),
    "a trainer's object": lambda in_outs: task_from(in_outs, "1"),
    "a trainer's text": lambda in_outs: task_from(long_numbers.dumps(in_outs), "1"),
    "a trainer's list": lambda in_outs: task_from(
        [
            {"input": given, "output": wanted, "fn_name": in_outs.get("fn_name")}
            for given, wanted in zip(in_outs["inputs"], in_outs["outputs"], strict=True)
        ],
        "1",
    ),
}
GIVEN = [
    *({"fn_name": "f", "inputs": inputs, "outputs": outputs} for inputs, outputs, about, _ in CALLS if about == ANY),
    {"inputs": ["1\r\n"], "outputs": ["2"]}, {"inputs": [["1", "2"]], "outputs": [["3"]]},
]  # fmt: skip


@pytest.mark.parametrize("door", DOORS)
def test_every_door_reads_the_same(door: str) -> None:
    for in_outs in GIVEN:
        wanted = cases_from(in_outs, Mode.CALL if "fn_name" in in_outs else Mode.STDIN, ANY)
        assert DOORS[door](in_outs).cases == wanted, in_outs


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Sandbox() as sandbox:
        yield Worker(Options(), sandbox=sandbox)


@pytest.mark.parametrize(
    ("inputs", "outputs", "answer", "verdict", "flags"),
    [
        ([[1]], [[3]], "3", "passed", ["wrapped_output"]),
        ([[1]], [[3]], "[3]", "passed", ["wrapped_output"]),
        ([[1]], [[3]], "4", "wrong_answer", []),
        ([[1]], [["5"]], "5", "wrong_answer", []),
        ([[1]], ["12"], "12", "wrong_answer", []),
        ([[1]], ["12"], "'12'", "passed", []),
        ([[1]], [0.0], "1e-17", "passed", []),
        (["1"], ["0.33333"], "1 / 3", "passed", []),
        (["1"], ["0.333333333"], "0.33333", "wrong_answer", []),
        ([[1]], [10**5000], "10 ** 5000", "passed", []),
    ],
)
def test_an_answer_earns_what_its_test_says(
    worker: Worker, inputs: object, outputs: object, answer: str, verdict: str, flags: list[str]
) -> None:
    task = Task.from_row({"task_id": "1", "in_outs": {"fn_name": "f", "inputs": inputs, "outputs": outputs}})
    grade = worker.grade(task, Rollout(task_id="1", completion=f"def f(x):\n    return {answer}\n"))
    assert (grade.verdict, [flag.word for flag in grade.flags]) == (verdict, flags), grade.error


def test_some_lines_with_carriage_returns_are_named_as_the_cause_and_before(worker: Worker) -> None:
    task = Task.from_row({"task_id": "1", "in_outs": {"inputs": ["yes\r\n3\n"], "outputs": ["6"]}})
    wrong = "s = input()\nn = int(input())\nprint(2 * n if s == 'yes' else 0)\n"
    for code, verdict in ((wrong, "wrong_answer"), ("print({'yes': 6}[input()])", "runtime_error")):
        grade = worker.grade(task, Rollout(task_id="1", completion=code))
        assert (grade.verdict, "carriage returns" in (grade.error or "")) == (verdict, True), grade.error
    assert [*lint(task)] == ["test 0: its input has carriage returns, which input() keeps"]


def test_both_readings_stay_when_a_task_is_written_as_a_native_row() -> None:
    from evaluator.formats.writers import task_row

    task = task_from({"fn_name": "f", "inputs": [[1]], "outputs": [[3]]}, "1")
    assert Task.from_row(task_row(task)).cases == task.cases == (TestCase(0, "1", "[3]", "3"),)
