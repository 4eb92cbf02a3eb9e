"""Published datasets: LeetCodeDataset, DeepSeek's LeetCode, CRUXEval, CodeContests, TACO, AceCode, QuixBugs."""

import json
import re
from pathlib import Path

import pytest

from evaluator import grade
from evaluator.formats import FormatError, load_rollouts, load_tasks, sniff
from evaluator.formats.reading.file_layout import tasks_by_id
from evaluator.model import Mode, RecordError, Verdict
from tests.formats.conftest import loaded

FILES = Path(__file__).parent / "files"
WITH_REFERENCES = (
    "HumanEval.jsonl.gz", "acecode.jsonl", "apps.jsonl", "bigcodebench.jsonl", "classeval.jsonl",
    "code_contests.parquet", "cruxeval.jsonl", "humaneval_x.jsonl", "leetcode_dataset.jsonl",
    "leetcode_dataset_v0.1.jsonl", "mbpp.jsonl", "mbpp_test.jsonl", "quixbugs.jsonl", "taco.jsonl",
)  # fmt: skip
WRONG = {"return ": "return None and ", "print(": "print(7, ", "self.n = 0": "self.n = 7"}
PUSHES = "class Solution:\n    def minimumPushes(self, word: str) -> int:\n        return {}\n"
DOUBLE = """class Solution:
    def doubleIt(self, head: Optional[ListNode]) -> Optional[ListNode]:
        number, first = 0, None
        while head: number, head = 10 * number + head.val, head.next
        for digit in reversed(str(2 * number)): first = ListNode(int(digit), first)
        return first
"""


def tasks_of(name):
    tasks, problems = loaded(FILES / name, load_tasks)
    assert problems == []
    return tasks


@pytest.mark.parametrize("name", WITH_REFERENCES)
def test_the_reference_passes_and_a_wrong_one_fails(name):
    graded = 0
    for task in tasks_of(name):
        if task.reference is None:
            continue
        right = grade(task, task.reference)
        assert right.passed, right.error_message
        assert right.verified
        wrong = re.sub(r"return |print\(|self\.n = 0", lambda m: WRONG[m[0]], task.reference)
        assert grade(task, wrong).reward == 0
        graded += 1
    assert graded


def test_leetcode_dataset_rows_without_a_query_show_the_description(read):
    row = json.loads((FILES / "leetcode_dataset.jsonl").read_text().splitlines()[0])
    del row["query"]
    _, (task,), _ = read(load_tasks, row)
    assert task.prompt.startswith("The statement is left out.\n\nclass Solution:")


def test_humaneval_rows_with_a_completion_stay_samples(read):
    row = {"task_id": "HumanEval/0", "prompt": "def f():\n", "entry_point": "f", "test": "def check(f): 1"}
    assert read(load_rollouts, row | {"completion": "    return 1\n"})[0] == "humaneval"


def test_deepseek_leetcode_runs_under_its_header():
    pushes, double = tasks_of("deepseek_leetcode.jsonl")
    assert (pushes.entry_point, double.entry_point) == ("minimumPushes", "doubleIt")
    assert grade(pushes, PUSHES.format("sum(math.floor(i / 8) + 1 for i in range(len(word)))")).passed
    assert grade(pushes, "return sum(i // 8 + 1 for i in range(len(word)))\n", kind="continuation").passed
    assert not grade(pushes, PUSHES.format("5")).passed
    assert grade(double, DOUBLE).passed  # ListNode is the prompt's
    assert not grade(double, DOUBLE.replace("2 *", "3 *")).passed


def test_deepseek_leetcode_generations_are_rollouts(read):
    task = json.loads((FILES / "deepseek_leetcode.jsonl").read_text().splitlines()[0])
    graded = {"output": "Hm", "generation": "y", "passed": False, "result": "timed out"}
    format_, rollouts, problems = read(load_rollouts, task | {"output": "return 5\n"}, task | graded)
    assert (format_, problems) == ("deepseek_leetcode", [])
    assert [(r.task_id, r.completion) for r in rollouts] == [(task["task_id"], "return 5\n"), (task["task_id"], "Hm")]
    assert [r.recorded_verdict for r in rollouts] == [None, Verdict.TIME_LIMIT]
    _, tasks, problems = read(load_tasks, task | {"output": "return 5\n"}, task | graded)
    assert (len(tasks), problems) == (1, [])


@pytest.mark.parametrize(
    ("completion", "verdict"),
    [
        ("[(4, 1), (4, 1), (4, 1), (4, 1), (2, 3), (2, 3)]", Verdict.PASSED),
        ("def answer():\n    return [(4, 1)] * 4 + [(2, 3)] * 2\n", Verdict.PASSED),
        ("```python\ndef answer():\n    return [(4, 1)] * 4 + [(2, 3)] * 2\n```", Verdict.PASSED),
        ("[(4, 1)]", Verdict.WRONG_ANSWER),
        ("f([1, 1, 3, 1, 3, 1])", Verdict.RUNTIME_ERROR),
    ],
    ids=["value", "program", "chat", "another value", "a call of f, which is not there"],
)
def test_cruxeval_asks_for_the_output(completion, verdict):
    task, *_ = tasks_of("cruxeval.jsonl")
    assert task.task_id == "sample_0"
    assert "# What does f([1, 1, 3, 1, 3, 1]) return?\n" in task.prompt
    assert "    for n in nums:" in task.prompt
    assert grade(task, completion).verdict is verdict


@pytest.mark.parametrize(
    ("completion", "verdict"),
    [
        ("f([1, 1, 3, 1, 3, 1])", Verdict.PASSED),
        ("f([3, 3, 1, 1, 1, 1])", Verdict.PASSED),
        ("f(nums=[3, 3, 1, 1, 1, 1])", Verdict.PASSED),
        ("def answer():\n    return f([1])\n", Verdict.WRONG_ANSWER),
    ],
    ids=["the row's input", "another one", "by name", "a program with a wrong one"],
)
def test_cruxeval_input_asks_for_a_call(completion, verdict):
    assert "cruxeval_input" in {other.format for other in sniff(FILES / "cruxeval.jsonl").others}
    task = next(load_tasks(FILES / "cruxeval.jsonl", "cruxeval_input"))
    graded = grade(task, completion)
    assert (graded.verdict, graded.verified) == (verdict, True)


def test_cruxeval_rows_that_are_not_python_are_reported(read):
    row = {"code": "def f(x):\n    return x", "input": "1, (", "output": "1", "id": "sample_0"}
    _, tasks, (problem,) = read(load_tasks, row)
    assert tasks == []
    assert "input is not valid Python" in problem


def test_code_contests_rows_with_an_output_too_few_are_reported(read):
    row = json.loads((FILES / "code_contests.jsonl").read_text())
    row["private_tests"]["output"] = []
    _, _, (problem,) = read(load_tasks, row)
    assert "private_tests has 1 inputs but 0 outputs" in problem


def test_acecode_asserts_over_several_lines_and_several_functions(read):
    cases = ["x = '''\n1'''\nassert f(g(x)) == '1'", "for n in (1,):\n    assert f(n) == n"]
    _, (task,), problems = read(load_tasks, {"id": 1, "question": "?", "test_cases": cases})
    assert (task.entry_point, problems) == ("f", [])
    assert grade(task, "def f(x): return x.strip() if isinstance(x, str) else x\ndef g(x): return x").passed


def test_quixbugs_asks_for_a_repair():
    bitcount, _ = tasks_of("quixbugs.jsonl")
    assert (bitcount.task_id, bitcount.mode, bitcount.entry_point) == ("bitcount", Mode.ASSERT, "bitcount")
    assert "n ^= n - 1" in bitcount.prompt
    assert "The number of 1-bits" in bitcount.prompt


def test_tasks_by_id_are_rows_with_that_id():
    fields = json.loads((FILES / "tasks_by_id.json").read_text())
    assert [row["task_id"] for row in tasks_by_id(fields)] == ["add", "sub"]
    assert next(tasks_by_id({"key": {**fields["add"], "task_id": "own"}}))["task_id"] == "own"


TEST_CASE = {"input": "1", "output": "1", "testtype": "stdin"}


@pytest.mark.parametrize(
    "task",
    [
        {"question_content": "Q", "public_test_cases": [TEST_CASE]},
        {"code": "def f(x):\n    return x", "input": "1", "output": "1"},
        {"question": "Q", "input_output": {"inputs": ["1"], "outputs": ["1"]}},
        {"description": "Q", "public_tests": {"input": ["1"], "output": ["1"]}},
    ],
    ids=["livecodebench", "cruxeval", "apps", "code_contests"],
)
def test_a_file_of_tasks_by_id_is_read_whatever_their_format_calls_the_id(task, tmp_path):
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps({"a/1": task, "a/2": task}, indent=1))
    assert [task.task_id for task in load_tasks(path)] == ["a/1", "a/2"]


@pytest.mark.parametrize(
    "fields",
    [{}, {"add": 1}, {"add": {}}, {"add": {"passed": 3}}, {"task_id": "a", "in_outs": {"inputs": []}}],
    ids=str,
)
def test_other_objects_hold_no_tasks_by_id(fields):
    assert tasks_by_id(fields) is None


def test_tasks_by_id_names_the_value_that_is_no_task():
    fields = json.loads((FILES / "tasks_by_id.json").read_text())
    with pytest.raises(RecordError, match="'total' is not a task"):
        list(tasks_by_id(fields | {"total": 2}))


def test_rows_of_multipl_e_are_humanevals_tasks_without_an_entry_point():
    strlen, *_ = tasks_of("multipl_e_prompts.jsonl")
    assert (strlen.task_id, strlen.entry_point) == ("HumanEval/23", "strlen")
    assert grade(strlen, "    return len(string)\n", kind="continuation").passed
    assert not grade(strlen, "    return 1\n", kind="continuation").passed


def test_answers_beside_a_task_of_humaneval_x_are_its_rollouts():
    path = FILES / "humaneval_x_generations.jsonl"
    (task,) = load_tasks(path)
    right, wrong = load_rollouts(path)
    assert (right.task_id, right.model, right.metadata["left_out"]) == ("Python/53", "org/model", ["input_ids"])
    assert [grade(task, rollout.completion).passed for rollout in (right, wrong)] == [True, False]


def test_a_list_named_output_holds_samples_but_beside_inputs_it_holds_test_cases(read):
    row = {"task_id": "a", "prompt": "p", "output": ["x = 1", "x = 2"]}
    format_, rollouts, _ = read(load_rollouts, row)
    assert (format_, [r.completion for r in rollouts]) == ("many_samples", ["x = 1", "x = 2"])
    assert read(load_tasks, row | {"input": ["1", "2"]})[0] == "native"


def test_an_object_of_texts_holds_samples_if_its_keys_are_ids(tmp_path):
    path = tmp_path / "generations.json"
    path.write_text(json.dumps({"sample_0": ["1", "2"], "sample_1": [], "sample_2": ["3"]}))
    rollouts, (problem,) = loaded(path)
    assert [(r.task_id, r.completion) for r in rollouts] == [("sample_0", "1"), ("sample_0", "2"), ("sample_2", "3")]
    assert problem.message == "'sample_1': completions is empty: the row has no sample"
    path.write_text(json.dumps({"results": ["a", "b"]}))
    with pytest.raises(FormatError, match="no known format"):
        sniff(path)
