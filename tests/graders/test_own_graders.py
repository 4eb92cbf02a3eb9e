"""Graders in a user's own file: what they may give, and that a bad one costs its rollouts' grades and nothing else."""

from pathlib import Path
from tempfile import mkdtemp

import pytest

from evaluator.graders import GraderError, get_grader
from evaluator.model import Grade, Verdict
from tests.graders.answers import graded, task

HEAD = "from evaluator.model import Component, Grade, Verdict\nRUNS_CODE = False\n"


def own(folder: Path, body: str, *, head: str = HEAD, name: str = "mine.py") -> str:
    """The name of a function `f` in a file with this body."""
    path = folder / name
    path.write_text(head + body)
    return f"{path}:f"


def given(folder: Path, expression: str, head: str = HEAD) -> Grade:
    """What becomes of a grade when the function gives this, in a file of its own."""
    body = f"import math\ndef f(task, rollout, bench):\n    return {expression}\n"
    return graded(task("x"), "the completion", own(Path(mkdtemp(dir=folder)), body, head=head))


@pytest.mark.parametrize(
    ("expression", "reward", "verdict"),
    [
        ("1", 1.0, Verdict.PASSED),
        ("0.5", 0.5, Verdict.WRONG_ANSWER),
        ("True", 1.0, Verdict.PASSED),
        ("len(rollout.completion) / 28", 0.5, Verdict.WRONG_ANSWER),
        ("float(task.answer == 'x')", 1.0, Verdict.PASSED),
        ("__import__('fractions').Fraction(1, 4)", 0.25, Verdict.WRONG_ANSWER),
        ("__import__('numpy').float32(0.5)", 0.5, Verdict.WRONG_ANSWER),
        ("__import__('numpy').int64(1)", 1.0, Verdict.PASSED),
        ("{'reward': 0.5}", 0.5, Verdict.WRONG_ANSWER),
    ],
)
def test_a_number_is_the_reward(tmp_path: Path, expression: str, reward: float, verdict: Verdict) -> None:
    grade = given(tmp_path, expression)
    assert (grade.reward, grade.verdict, grade.flags) == (reward, verdict, ())
    assert grade.grader == "mine.py:f"


def test_a_dict_may_say_why_and_of_what(tmp_path: Path) -> None:
    grade = given(tmp_path, "{'reward': 0.5, 'message': 'too long', 'components': {'short': 0, 'right': 1.0}}")
    assert (grade.reward, grade.error_message) == (0.5, "too long")
    assert [(each.name, each.reward, each.verdict) for each in grade.components] == [
        ("short", 0.0, Verdict.WRONG_ANSWER),
        ("right", 1.0, Verdict.PASSED),
    ]


def test_a_whole_grade_or_nothing(tmp_path: Path) -> None:
    made = "Grade(task_id='other', sample_id='other', verdict=Verdict.NO_CODE, reward=0, error_message='nothing')"
    grade = given(tmp_path, made)
    assert (grade.verdict, grade.reward, grade.error_message) == (Verdict.NO_CODE, 0.0, "nothing")
    assert (grade.task_id, grade.sample_id, grade.grader) == ("t", "t#0", "mine.py:f")
    for nothing, message in (("None", "could not decide"), ("{'reward': None, 'message': 'no'}", "no")):
        grade = given(tmp_path, nothing)
        assert (grade.verdict, grade.reward, grade.flags) == (Verdict.UNKNOWN, None, ())
        assert message in str(grade.error_message)


@pytest.mark.parametrize(
    "expression",
    [
        "math.nan", "10 ** 400", "{'reward': math.nan}", "'1.0'", "[1.0]", "(1, 'why')", "1j",
        "object()", "{}", "{'rewards': 1}", "{'reward': '1'}", "{'reward': 1, 'components': [1]}",
        "{'reward': 1, 'components': {'a': 'b'}}", "__import__('numpy').float64('nan')", "__import__('numpy').zeros(2)",
        "Grade(task_id='', sample_id='', verdict=Verdict.PASSED, reward='1')",
        "Grade(task_id='', sample_id='', verdict=Verdict.PASSED, reward=None)",
        "Grade(task_id='', sample_id='', verdict='great', reward=1)",
        "Grade(task_id='', sample_id='', verdict=Verdict.PASSED, reward=math.nan)",
        "Grade(task_id='', sample_id='', verdict=Verdict.PASSED, reward=1, cases=5)",
        "Grade(task_id='', sample_id='', verdict=Verdict.PASSED, reward=1, cases=(object(),))",
    ],
)  # fmt: skip
def test_a_value_that_is_no_reward_is_refused_and_flagged(tmp_path: Path, expression: str) -> None:
    grade = given(tmp_path, expression)
    assert (grade.verdict, grade.reward) == (Verdict.UNKNOWN, None)
    assert [flag.word for flag in grade.flags] == ["bad_reward"]
    assert str(grade.error_message).startswith("mine.py:f gave ")


@pytest.mark.parametrize("expression", ["1 / 0", "[][0]", "missing", "__import__('sys').exit(3)", "rollout.nothing"])
def test_an_exception_costs_the_grade_and_is_flagged(tmp_path: Path, expression: str) -> None:
    grade = given(tmp_path, expression)
    assert (grade.verdict, grade.reward) == (Verdict.UNKNOWN, None)
    assert [flag.word for flag in grade.flags] == ["grader_failed"]
    assert str(grade.error_message).startswith("mine.py:f raised ")


def test_a_reward_out_of_range_is_clamped_and_the_end_of_the_range_is_what_passes(tmp_path: Path) -> None:
    for ends, gives, reward, passed in (
        ("(-2, 3)", "7", 3, True),
        ("(-2, 3)", "-9", -2, False),
        ("[0, 3]", "1", 1, False),
        ("[-3, 1]", "1", 1, True),
    ):
        grade = given(tmp_path, gives, HEAD + f"RANGE = {ends}\n")
        assert (grade.reward, grade.verdict is Verdict.PASSED) == (reward, passed)
        clamped = [("clamped_reward", f"mine.py:f gave {gives}, its range is -2 to 3")] if ends == "(-2, 3)" else []
        assert [(flag.word, flag.evidence) for flag in grade.flags] == clamped


def test_a_file_says_whether_it_takes_a_sandbox(tmp_path: Path) -> None:
    function = "def f(t, r, b): return 1\n"
    assert get_grader(own(tmp_path, function, head="", name="a.py")).runs_code
    assert not get_grader(own(tmp_path, function, name="b.py")).runs_code
    assert get_grader(own(tmp_path, "WAITS = 9\n" + function, name="c.py")).waits == 9


def test_a_file_may_hold_what_any_program_may(tmp_path: Path) -> None:
    (tmp_path / "neighbour_of_mine.py").write_text("BEST = 0.75\n")
    body = """
from dataclasses import dataclass
import neighbour_of_mine
@dataclass
class Scored:
    reward: float
    def __call__(self, task, rollout, bench): return self.reward
f = Scored(neighbour_of_mine.BEST)
"""
    named = own(tmp_path, body, head="from __future__ import annotations\nRUNS_CODE = False\n")
    assert graded(task("x"), "", named).reward == 0.75


def test_two_files_of_the_same_name_are_two(tmp_path: Path) -> None:
    for folder, value in (("one", 0.25), ("two", 0.5)):
        (tmp_path / folder).mkdir()
        assert graded(task("x"), "", own(tmp_path / folder, f"def f(t, r, b): return {value}\n")).reward == value


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("def g(t, r, b): return 1\n", "defines no function 'f'"),
        ("f = 3\n", "defines no function 'f'"),
        ("def f(:\n", "SyntaxError"),
        ("import no_such_module_at_all\n", "no_such_module_at_all"),
        ("raise SystemExit('no')\n", "SystemExit: no"),
        ("RANGE = (1, 0)\nf = print\n", "RANGE"),
        ("RANGE = (0, float('inf'))\nf = print\n", "RANGE"),
        ("RANGE = 'ab'\nf = print\n", "RANGE"),
        ("RANGE = (0, 10 ** 400)\nf = print\n", "RANGE"),
        ("WAITS = -1\nf = print\n", "WAITS"),
    ],
)
def test_a_file_that_can_not_be_used_is_refused_in_one_line(tmp_path: Path, body: str, reason: str) -> None:
    with pytest.raises(GraderError) as raised:
        get_grader(own(tmp_path, body))
    assert reason in str(raised.value)
    assert "\n" not in str(raised.value)
    with pytest.raises(GraderError, match="no such file"):
        get_grader(f"{tmp_path}/none.py:f")


def test_a_row_may_not_name_a_file(tmp_path: Path) -> None:
    left = tmp_path / "loaded"
    named = own(tmp_path, f"open({str(left)!r}, 'w')\ndef f(t, r, b): return 1\n")
    for row in (named, {"name": named}, {"name": "weighted", "graders": [{"grader": {"name": named}}]}):
        grade = graded(task("x", row), "x")
        assert (grade.verdict, grade.reward) == (Verdict.UNKNOWN, None)
        assert "--grader" in str(grade.error_message)
    assert not left.exists()
    assert graded(task("x"), "x", named).reward == 1.0
    assert left.exists()
