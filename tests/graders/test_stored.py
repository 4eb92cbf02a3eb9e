"""Grades that rollouts came with: nothing is run, and what they say is what is shown."""

import json

import pytest

from evaluator import Task, grade_all
from evaluator.graders import get_grader, shown_cases
from evaluator.model import Grade, JsonValue, Rollout, Verdict
from evaluator.options import Options
from evaluator.workers.worker import Worker

QUESTION = Task.from_row({"task_id": "t", "mode": "answer", "prompt": "Which?", "answer": "x"})
ECHO = Task.from_row(
    {"task_id": "t", "mode": "stdin", "in_outs": {"inputs": ["a\n", "b\n", "c\n"], "outputs": ["a\n", "b\n", "c\n"]}}
)
CODE = "```python\nprint(input())\n```"


def graded(reward: float | None, completion: str = "Words.", /, *, of: Task = QUESTION, **fields: JsonValue) -> Grade:
    rollout = Rollout(task_id="t", sample_id="t#0", completion=completion, given_reward=reward, metadata=fields)
    return Worker(Options(grader="stored")).grade(of, rollout)


def verdicts(grade: Grade) -> str:
    return "".join(case.verdict.letter for case in grade.cases)


@pytest.mark.parametrize("reward", [0.0, 0.25, 1.0, 1.4, 19.4, -2.5, -100.0])
def test_the_reward_is_what_it_was_whatever_its_scale(reward: float) -> None:
    grade = graded(reward)
    assert (grade.reward, grade.flags, grade.grader) == (reward, (), "stored")
    assert grade.verdict is (Verdict.PASSED if reward >= 1 else Verdict.WRONG_ANSWER)


def test_no_such_grade_is_verified_and_it_says_why() -> None:
    grade = graded(1.0)
    assert not grade.verified
    assert grade.unverified_reason == "the grade is the one that it came with: nothing was run"
    rollout = Rollout(task_id="t", completion="x", given_reward=1.0)
    grade = Worker(Options(grader="stored", unverified="unknown")).grade(QUESTION, rollout)
    assert (grade.verdict, grade.reward) == (Verdict.UNKNOWN, None)


def test_without_a_reward_it_is_unknown_and_says_why() -> None:
    grade = graded(None)
    assert (grade.verdict, grade.reward) == (Verdict.UNKNOWN, None)
    assert grade.error_message == "the rollout came without a reward"
    assert graded(None, failure_reason="the judge did not answer").error_message == "the judge did not answer"


@pytest.mark.parametrize("reward", [float("nan"), float("inf")])
def test_a_reward_that_is_no_finite_number_is_none(reward: float) -> None:
    grade = graded(reward)
    assert (grade.verdict, grade.reward) == (Verdict.UNKNOWN, None)
    assert [flag.word for flag in grade.flags] == ["bad_reward"]


def test_a_verdict_of_ours_counts_and_another_ones_does_not() -> None:
    assert graded(0.0, verdict="time_limit").verdict is Verdict.TIME_LIMIT
    assert graded(0.5, verdict="passed").verdict is Verdict.PASSED
    assert graded(None, verdict="sandbox_error").verdict is Verdict.SANDBOX_ERROR
    for word in ("not_attempted", "YES", 7, None, ["passed"]):
        assert graded(1.0, verdict=word).verdict is Verdict.PASSED
    assert graded(1.0, verdict="unknown").reward == 1.0
    assert graded(None, verdict="passed").verdict is Verdict.UNKNOWN


def test_our_own_letters_are_the_test_cases() -> None:
    grade = graded(0.0, CODE, of=ECHO, verdict="runtime_error", test_verdicts="PE.", error_message="ValueError: no")
    assert (verdicts(grade), grade.verdict) == ("PE.", Verdict.RUNTIME_ERROR)
    assert grade.pass_rate == pytest.approx(1 / 3)
    assert [case.expected for case in grade.cases] == ["a\n", "b\n", "c\n"]
    assert grade.error_message == "ValueError: no"
    assert grade.code == "print(input())\n"


def test_a_verdict_is_that_of_the_first_code_that_is_not_true() -> None:
    for result, verdict in (
        ([True, -2], Verdict.WRONG_ANSWER),
        ([False], Verdict.WRONG_ANSWER),
        ([-3], Verdict.TIME_LIMIT),
        ([-4], Verdict.RUNTIME_ERROR),
        ([-1], Verdict.TIME_LIMIT),
    ):
        assert graded(0.0, result=result).verdict is verdict
    grade = graded(0.0, CODE, result=[True, True])
    assert (grade.verdict, grade.reward) == (Verdict.PASSED, 0.0), "a penalty leaves the verdict"


def test_cases_that_code_gen_did_not_reach_are_not_run() -> None:
    account = {"output": "z\n", "expected": "b\n", "error_code": -2, "error_message": "Wrong answer: a != b"}
    grade = graded(0.0, CODE, of=ECHO, result=[True, -2], metadata=account)
    assert verdicts(grade) == "PW."
    assert grade.cases[1].actual == "z\n"
    assert grade.error_message == grade.cases[1].error_message == "Wrong answer: a != b"
    assert grade.pass_rate == pytest.approx(1 / 3)


def test_without_the_task_s_tests_the_number_not_run_is_unknown() -> None:
    account = {"output": "z", "expected": "b", "error_code": -2, "error_message": "Wrong answer"}
    grade = graded(0.0, CODE, result=[True, -2], metadata=account)
    assert (verdicts(grade), grade.pass_rate) == ("PW", None)
    assert grade.cases[1].expected == "b"
    assert graded(1.0, CODE, result=[True, True]).pass_rate == 1.0
    others = graded(1.0, CODE, of=ECHO, result=[True] * 4)
    assert [case.expected for case in others.cases] == [None] * 4, "tests of another number are others"


@pytest.mark.parametrize("result", ["-2", [], [-2, "x"], [7], {"a": 1}, "left out: 253,060 characters", None])
def test_a_field_of_that_name_with_another_meaning_is_no_test_case(result: JsonValue) -> None:
    grade = graded(0.5, result=result, test_verdicts="left out: 30,000 characters")
    assert (grade.cases, grade.verdict) == ((), Verdict.WRONG_ANSWER)


def test_the_reward_s_parts_are_its_components() -> None:
    parts = graded(2.0, reward_components={"right": 1.0, "form": 0.25, "odd": None}).components
    assert [(part.name, part.reward, part.verdict.letter) for part in parts] == [("right", 1, "P"), ("form", 0.25, "W")]


def test_only_what_did_not_pass_has_a_reason() -> None:
    assert graded(0.0, failure_reason="tool_name_mismatch").error_message == "tool_name_mismatch"
    assert graded(1.0, failure_reason="none").error_message is None
    assert graded(0.0, failure_reason="none").error_message is None


def test_prose_is_no_code_and_a_fenced_program_is() -> None:
    assert graded(1.0, "The capital is Paris.").code is None
    assert graded(1.0, f"Here:\n{CODE}").code == "print(input())\n"
    assert graded(1.0, "").code is None


def test_a_task_s_own_grader_does_not_win() -> None:
    assert [case.input for case in shown_cases(ECHO, "stored")] == ["a\n", "b\n", "c\n"]
    row = {"task_id": "t", "mode": "answer", "answer": "x"}
    grade = graded(0.75, "x", of=Task.from_row(row | {"grader": "exact_match"}))
    assert (grade.grader, grade.reward) == ("stored", 0.75)
    assert shown_cases(Task.from_row(row | {"grader": "stored"}), None) == ()


STORED_ALONE = json.dumps({"name": "weighted", "graders": [{"grader": "stored"}]})


@pytest.mark.parametrize("grader", ["stored", pytest.param(STORED_ALONE, marks=pytest.mark.slow)])
def test_rollouts_with_the_same_completion_keep_their_own_rewards(grader: str) -> None:
    rewards = {f"t#{n}": reward for n, reward in enumerate([1.0, 0.0, None, 0.5] * 5)}
    rollouts = [
        Rollout(task_id="t", completion="", sample_id=name, given_reward=reward) for name, reward in rewards.items()
    ]
    assert {grade.sample_id: grade.reward for grade in grade_all([QUESTION], rollouts, grader=grader)} == rewards


def test_as_a_part_it_has_no_range_and_counts_for_nothing_with_weight_0() -> None:
    parts = [{"grader": "stored", "weight": 0}, {"grader": "exact_match"}]
    whole = get_grader(json.dumps({"name": "weighted", "graders": parts}))
    assert (whole.lowest, whole.highest) == (0.0, 1.0)
    rollout = Rollout(task_id="t", completion="x", given_reward=-7.0)
    grade = Worker(Options(grader=json.dumps({"name": "weighted", "graders": parts}))).grade(QUESTION, rollout)
    assert (grade.reward, [part.reward for part in grade.components]) == (1.0, [-7.0, 1.0])
