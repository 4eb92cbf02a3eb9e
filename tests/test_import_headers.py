"""Completions count on the imports that contest graders put before them; and what decides a task's preamble."""

import json
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from evaluator import Limits, grade
from evaluator.commands.given_files import preamble_text
from evaluator.formats import colossalai, contests, nemo_gym
from evaluator.formats.nemo_gym_files import task_row
from evaluator.interop.verl import compute_score
from evaluator.model import Grade, JsonValue, Task, Verdict
from evaluator.runs.reading import Run
from evaluator.tasks.import_headers import COLOSSALAI, CONTEST, LIVECODEBENCH, names
from tests.commands import command_line
from tests.commands.command_line import Done

PATIENT = Limits(wall_s=300, cpu_s=60, total_s=300)
Row = dict[str, JsonValue]


def lcb(question: str, function: str | None, *cases: tuple[str, str], **more: JsonValue) -> Row:
    """A row as LiveCodeBench's release has it."""
    kind = "functional" if function else "stdin"
    tests = [{"input": given, "output": wanted, "testtype": kind} for given, wanted in cases]
    return {
        "question_id": question,
        "question_content": f"Solve {question}.",
        "starter_code": "",
        "metadata": json.dumps({"func_name": function} if function else {}),
        "public_test_cases": json.dumps(tests[:1]),
        "private_test_cases": json.dumps(tests[1:]),
        **more,
    }


TASKS = [
    lcb("groups", "groupAnagrams", ('["ab","ba","c"]', '[["ab","ba"],["c"]]'), ('["a"]', '[["a"]]')),
    lcb("steps", "climbStairs", ("3", "3"), ("300", "359579325206583560961765665172189099052367214309267232255589801")),
    lcb("near", None, ("3\n3 4\n1 1\n6 8\n", "1.41 5.0 10.0 1000000\n"), ("1\n0 2\n", "2.0 1000000\n")),
]
ANSWERS = {
    "groups": """
class Solution:
    def groupAnagrams(self, words: List[str]) -> List[List[str]]:
        groups: DefaultDict[str, List[str]] = defaultdict(list)
        for word in words:
            groups["".join(sorted(word))].append(word)
        return list(groups.values())
""",
    "steps": """
class Solution:
    @lru_cache(maxsize=None)
    def climbStairs(self, n: int) -> Optional[int]:
        return n if n < 3 else self.climbStairs(n - 1) + self.climbStairs(n - 2)
""",
    "near": """
heap: List[float] = []
for _ in range(int(input())):
    x, y = map(int, sys.stdin.readline().split())
    heappush(heap, round(sqrt(x * x + y * y), 2))
print(*(heappop(heap) for _ in range(len(heap))), pow(10, 6, 10**9 + 7))
""",
}


Rollscope = Callable[..., Done]


@pytest.fixture
def rollscope(tmp_path: Path) -> Rollscope:
    """The command in a folder of its own."""
    return partial(command_line.rollscope, cwd=tmp_path)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A LiveCodeBench dataset and what its runner writes, in a folder."""
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in TASKS))
    outputs = [
        {"question_id": name, "output_list": [f"Here:\n```python\n{code}```\n"], "code_list": [code]}
        for name, code in ANSWERS.items()
    ]
    (tmp_path / "outputs.json").write_text(json.dumps(outputs))
    return tmp_path


GRADE = ("grade", "outputs.json", "--dataset", "tasks.jsonl", "--timeout", 60, "--json", "--output")


def verdicts(done: Done) -> dict[str, int]:
    assert done.returncode == 0, done.stderr
    found: dict[str, int] = json.loads(done.stdout)["verdicts"]
    return found


def one(task: Task, code: str) -> Grade:
    return grade(task, code, limits=PATIENT)


def test_a_livecodebench_dataset_passes_without_an_import_in_any_completion(files: Path, rollscope: Rollscope) -> None:
    assert verdicts(rollscope(*GRADE, "run")) == {"passed": 3}
    connection = Run.open(files / "run").connect()
    shown = connection.execute("SELECT DISTINCT preamble FROM tasks").fetchall()
    connection.close()
    assert shown == [(LIVECODEBENCH,)]


@pytest.mark.slow
def test_the_option_wins_over_the_row_and_the_row_over_its_format(files: Path, rollscope: Rollscope) -> None:
    rows = [
        TASKS[0],
        TASKS[1] | {"preamble": ""},
        TASKS[2] | {"preamble": "from math import sqrt\nfrom heapq import *"},
    ]
    (files / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (files / "mine.py").write_text("from functools import lru_cache\nfrom typing import Optional\n")
    found = {
        options: verdicts(rollscope(*GRADE, number, *options))
        for number, options in enumerate([(), ("--preamble", "lcb"), ("--preamble", "none"), ("--preamble", "mine.py")])
    }
    assert found == {
        (): {"passed": 1, "compile_error": 1, "runtime_error": 1},
        ("--preamble", "lcb"): {"passed": 3},
        ("--preamble", "none"): Counter(["compile_error", "runtime_error", WITHOUT_HEADER[1]]),
        ("--preamble", "mine.py"): Counter(["passed", "runtime_error", WITHOUT_HEADER[1]]),
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import math\nimport = 2\n", "mine.py:2: invalid syntax: fix this line, or give a Python file, none or lcb"),
        (None, "mine.py can't be read: No such file or directory: give a Python file, none or lcb"),
        (b"\xff\xfe", "mine.py is not Python: "),
    ],
)
@pytest.mark.parametrize("command", [("grade", "outputs.json", "--dataset"), ("check",)])
def test_a_file_that_can_not_stand_before_a_completion_is_one_line(
    files: Path, rollscope: Rollscope, text: str | bytes | None, said: str, command: tuple[str, ...]
) -> None:
    if text is not None:
        (files / "mine.py").write_bytes(text if isinstance(text, bytes) else text.encode())
    done = rollscope(*command, "tasks.jsonl", "--preamble", "mine.py")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert done.stderr.startswith(f"rollscope: --preamble: {said}")


@pytest.mark.slow
def test_check_grades_references_after_the_preamble_that_was_requested(tmp_path: Path, rollscope: Rollscope) -> None:
    task = {"task_id": "t", "in_outs": {"inputs": ["4"], "outputs": ["2.0"], "fn_name": "f"}}
    row = task | {"reference": "def f(x): return sqrt(x)"}
    (tmp_path / "tasks.jsonl").write_text(json.dumps(row) + "\n")
    assert rollscope("check", "tasks.jsonl").returncode == 1
    assert rollscope("check", "tasks.jsonl", "--preamble", "lcb").returncode == 0


IN_OUTS = {"inputs": ["[4]"], "outputs": ["2.0"], "fn_name": "f"}
NEMO: Row = {"responses_create_params": {"input": "Roots."}, "verifier_metadata": {"unit_tests": IN_OUTS}}
READ = {
    "livecodebench": contests.read_livecodebench({"question_id": "q", "question_content": "", "input_output": IN_OUTS}),
    "apps": contests.read_apps(
        {
            "question": "q",
            "input_output": json.dumps(IN_OUTS | {"inputs": [[[4]]], "outputs": [2.0]}),
            "solutions": "[]",
        }
    ),
    "colossalai": colossalai.read_task({"prompt": "q", "test_cases": IN_OUTS}),
    "nemo_gym": nemo_gym.read_task(NEMO),
}
SQUARE_ROOT = "class Solution:\n    def f(self, values: List[int]) -> float:\n        return sqrt(min(values))\n"
WITHOUT_HEADER = ("sqrt", "runtime_error") if sys.version_info >= (3, 14) else ("List", "compile_error")
"""The name that it misses first, and the verdict: since Python 3.14 an annotation is evaluated when it is read."""


@pytest.mark.parametrize("format_", READ)
def test_every_contest_form_supplies_a_header(format_: str) -> None:
    found = one(READ[format_], SQUARE_ROOT)
    assert found.passed, found.error_message


@pytest.mark.parametrize(
    "tests",
    [
        IN_OUTS,
        json.dumps(IN_OUTS),
        {"in_outs": IN_OUTS},
        [{"input": "[4]", "output": "2.0", "fn_name": "f"}],
        {"language": "python", "test_cases": json.dumps(IN_OUTS)},
    ],
)
def test_so_do_tests_as_trainers_hand_them_over_but_for_native_rows(tests: JsonValue) -> None:
    assert compute_score("taco", SQUARE_ROOT, tests)["score"] == 1.0
    native = compute_score("taco", SQUARE_ROOT, {"task_id": "t", "mode": "call", "in_outs": IN_OUTS})
    assert (native["score"], native["verdict"]) == (0.0, WITHOUT_HEADER[1])


@pytest.mark.parametrize(
    "tests",
    [
        IN_OUTS | {"preamble": "inf = 1"},
        {"in_outs": IN_OUTS, "preamble": ""},
        {"test_cases": json.dumps(IN_OUTS), "preamble": ""},
    ],
)
def test_a_preamble_beside_the_tests_is_used_in_place_of_the_header(tests: JsonValue) -> None:
    assert compute_score("taco", SQUARE_ROOT, tests)["verdict"] == WITHOUT_HEADER[1]


def test_a_native_row_stays_as_it_is_and_says_what_would_define_the_name() -> None:
    task = Task.from_row({"task_id": "t", "in_outs": IN_OUTS})
    assert task.preamble == ""
    for code, name in ((SQUARE_ROOT, WITHOUT_HEADER[0]), ("def f(values): return sqrt(4)", "sqrt")):
        found = one(task, code)
        said = f"name '{name}' is not defined. An import header defines it: --preamble lcb supplies one"
        assert (found.error_message, found.cases[0].error_message) == (said, said)
    for code, name in (("def f(values): return M", "M"), ("def f(values): return helper(4)", "helper")):
        assert one(task, code).error_message == f"name '{name}' is not defined"


def test_a_native_task_written_for_nemo_gym_gets_no_header_there() -> None:
    assert nemo_gym.read_task(task_row(Task.from_row({"task_id": "t", "in_outs": IN_OUTS}))).preamble == ""
    assert nemo_gym.read_task(task_row(READ["livecodebench"])).preamble == LIVECODEBENCH


MERGE = contests.read_livecodebench(lcb("m", "merge", ("[1,3]\n[2]", "[1,2,3]")))
GCD = contests.read_livecodebench(lcb("g", "gcd", ("4\n6", "2")))


@pytest.mark.parametrize(
    ("task", "code", "verdict"),
    [
        (MERGE, "class Solution:\n    def merge(self, a, b): return list(merge(a, b))", "passed"),
        (MERGE, "from heapq import *\nclass Solution:\n    def merge(self, a, b): return list(merge(a, b))", "passed"),
        (MERGE, "class Solution:\n    def merge(self, a, b): return []", "wrong_answer"),
        (MERGE, "def merge(a, b): return sorted(a + b)", "passed"),
        (
            MERGE,
            "def merge(a, b): return sorted(a + b)\nclass Solution:\n    def merge(self, a, b): return []",
            "passed",
        ),
        (GCD, "from math import gcd", "passed"),
        (GCD, "gcd = math.gcd", "passed"),
        (GCD, "class Solution:\n    def gcd(self, a, b): return gcd(a, b)", "passed"),
        (GCD, "def lcm(a, b): return a * b", "compile_error"),
        (GCD, "pass", "compile_error"),
    ],
)
def test_what_is_called_is_the_completions_never_the_headers(task: Task, code: str, verdict: str) -> None:
    found = one(task, code)
    assert found.verdict == verdict, found.error_message


DEEP = {
    "a plain function": "def f(n): return 0 if n == 0 else 1 + f(n - 1)",
    "through C": "@cache\ndef f(n): return 0 if n == 0 else 1 + max(map(f, [n - 1]))",
    "through sort": (
        "class A:\n    def __init__(self, n): self.n = n\n"
        "    def __lt__(self, other): return self.n == 0 or sorted([A(self.n - 1), A(self.n - 1)]) != []\n"
        "def f(n): return n if A(n) < A(n) else -1"
    ),
    "a repr": (
        "class A:\n    def __init__(self, n): self.n = n\n"
        "    def __repr__(self): return repr([A(self.n - 1)]) if self.n else ''\n"
        "def f(n): return n if repr(A(n)) else -1"
    ),
}


@pytest.mark.parametrize(
    "how", [pytest.param(how, marks=[] if how == "a plain function" else pytest.mark.slow) for how in DEEP]
)
def test_deep_recursion_ends_in_python_and_never_in_a_crash(how: str) -> None:
    """The limit of the header holds as it is: 49,000 calls deep is right, and nothing comes to the stack's end."""
    task = contests.read_livecodebench(lcb("d", "f", ("300", "300"), ("49000", "49000"), ("10000000", "10000000")))
    found = one(task, DEEP[how])
    assert found.cases[2].error_type == "RecursionError"
    assert found.cases[0].verdict is Verdict.PASSED
    if how == "a plain function":
        assert found.cases[1].verdict is Verdict.PASSED


def test_headers_are_imports_and_a_recursion_limit() -> None:
    for header in (LIVECODEBENCH, CONTEST, COLOSSALAI):
        *imports, last = header.splitlines()
        assert all(line.startswith(("import ", "from ")) for line in imports)
        assert last.startswith("sys.setrecursionlimit(")
    scope: Row = {}
    exec(LIVECODEBENCH.rpartition("sys.set")[0], scope)
    assert names() <= scope.keys()
    assert (scope["pow"], scope["open"], scope["Counter"].__module__) == (pow, open, "collections")
    assert preamble_text("lcb") == LIVECODEBENCH
    assert (preamble_text("none"), preamble_text(None)) == ("", None)
