"""Weighted sums: what the parts come to, what becomes of the whole where a part fails, and which sums can't be."""

import json
from pathlib import Path

import pytest

from evaluator.graders import Grader, GraderError, get_grader, shown_cases
from evaluator.model import Grade, JsonValue, Kind, Mode, Rollout, Task, TestCase, Verdict
from evaluator.options import Options
from evaluator.sandbox import Sandbox
from evaluator.workers.worker import Worker
from tests.graders.answers import graded, options, task
from tests.graders.conftest import PATIENT

PARTS = """
from evaluator.model import CaseResult, Flag, Grade, Verdict

RUNS_CODE = False
RANGE = (-1, 2)


def half(task, rollout, bench): return {"reward": 0.5, "message": "half of it"}
def best(task, rollout, bench): return 2
def beyond(task, rollout, bench): return 7
def silent(task, rollout, bench): return None


def unsure(task, rollout, bench):
    return Grade(
        task_id="", sample_id="", verdict=Verdict.PASSED, reward=2, verified=False, unverified_reason="seen by itself",
        flags=(Flag("seen", "here"),), cases=(CaseResult(index=9, verdict=Verdict.PASSED),), error_type=None,
    )
"""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("graders") / "parts.py"
    path.write_text(PARTS)
    return str(path)


def part(grader: JsonValue, weight: float = 1.0, name: str | None = None) -> JsonValue:
    given = {"grader": grader, "weight": weight}
    return given if name is None else given | {"name": name}


def summed(completion: str, *parts: JsonValue, answer: JsonValue = "x") -> Grade:
    return graded(task(answer), completion, options("weighted", graders=list(parts)))


def made(*parts: JsonValue) -> Grader:
    return get_grader(json.dumps(options("weighted", graders=list(parts))))


def test_a_sum_and_its_components(own: str) -> None:
    grade = summed("x", part("exact_match", 2), part(f"{own}:half", 3, "style"), part("exact_match:case=ignore"))
    assert (grade.reward, grade.verdict, grade.grader) == (2 + 1.5 + 1, Verdict.WRONG_ANSWER, "weighted")
    assert grade.error_message == "style: half of it"
    assert [(each.name, each.reward, each.weight, each.verdict, each.message) for each in grade.components] == [
        ("exact_match", 1.0, 2.0, Verdict.PASSED, None),
        ("style", 0.5, 3.0, Verdict.WRONG_ANSWER, "half of it"),
        ("exact_match 2", 1.0, 1.0, Verdict.PASSED, None),
    ]
    grade = summed("x", part("exact_match", 0.5), part({"name": f"{own}:best"}, 0.25))
    assert (grade.reward, grade.verdict, grade.error_message) == (1.0, Verdict.PASSED, None)


def test_test_cases_stand_one_part_after_another() -> None:
    answer = {"required": ["a", "b"]}
    given = options("weighted", graders=[part("structured"), part("structured:extract=whole")])
    of = task(answer, given)
    assert [(case.index, case.input) for case in shown_cases(of, None)] == [
        (0, "valid JSON"), (1, "required: a"), (2, "required: b"),
        (3, "valid JSON"), (4, "required: a"), (5, "required: b"),
    ]  # fmt: skip
    grade = graded(of, 'It is {"a": 1}')
    assert [(case.index, case.verdict.letter) for case in grade.cases] == [
        (0, "P"), (1, "P"), (2, "W"), (3, "W"), (4, "."), (5, ".")
    ]  # fmt: skip
    assert (grade.reward, grade.pass_rate, grade.first_failing_test) == (pytest.approx(2 / 3), 2 / 6, 2)


def test_a_part_without_a_reward_leaves_the_whole_unknown_unless_it_has_no_weight(own: str) -> None:
    grade = summed("x", part("exact_match"), part(f"{own}:silent", 0.1))
    assert (grade.verdict, grade.reward, grade.pass_rate) == (Verdict.UNKNOWN, None, None)
    assert grade.error_message == "parts.py:silent could not decide"
    assert [each.reward for each in grade.components] == [1.0, None]
    for idle in (f"{own}:silent", f"{own}:half"):
        grade = summed("x", part("exact_match"), part(idle, 0))
        assert (grade.verdict, grade.reward, len(grade.components)) == (Verdict.PASSED, 1.0, 2)


def test_flags_and_reasons_of_a_part_are_those_of_the_whole(own: str) -> None:
    grade = summed("x", part("exact_match"), part(f"{own}:unsure"), part(f"{own}:beyond"))
    assert (grade.verified, grade.unverified_reason) == (False, "seen by itself")
    assert [flag.word for flag in grade.flags] == ["seen", "clamped_reward"]
    assert grade.reward == 1 + 2 + 2
    assert [case.index for case in grade.cases] == [0, 1], "a case that nobody announced stands behind the others"


def test_a_part_may_have_its_own_field_of_the_answer() -> None:
    parts = [part("exact_match:pattern=is ([a-z]+)") | {"answer": "word"}, part("structured") | {"answer": "shape"}]
    given = options("weighted", graders=parts)
    of = task({"word": "blue", "shape": {"required": ["a"]}}, given)
    assert [case.input for case in shown_cases(of, None)][1:] == ["valid JSON", "required: a"]
    assert graded(of, 'It is blue: {"a": 1}').reward == 2.0
    assert graded(task({"word": "blue"}, given), 'It is blue: {"b": 1}').reward == 2.0
    assert graded(task({"shape": {}}, given), "{}").verdict is Verdict.UNKNOWN
    assert graded(task("blue", given), "{}").verdict is Verdict.UNKNOWN


def test_the_range_is_that_of_the_parts(own: str) -> None:
    grader = made(part("exact_match", 2), part(f"{own}:half", 3), part("tests", -4))
    assert (grader.lowest, grader.highest) == (-3 - 4, 2 + 6)
    assert summed("y", part("exact_match", 2), part(f"{own}:best", -3)).reward == -6


def test_a_sum_needs_what_its_parts_need(own: str, tmp_path: Path) -> None:
    waiting = tmp_path / "waiting.py"
    waiting.write_text("RUNS_CODE = False\nWAITS = 12\ndef f(task, rollout, bench): return 1\n")
    assert not made(part("exact_match"), part(f"{own}:half")).runs_code
    assert made(part("exact_match"), part("tests")).runs_code
    assert made(part(f"{own}:half"), part(f"{waiting}:f")).waits == 12
    nested = options("weighted", graders=[part(f"{waiting}:f", 3)])
    assert (made(part(nested, 2)).waits, made(part(nested, 2)).highest) == (12, 6)


def run_and_sum(weights: tuple[float, ...], code: str, sandbox: Sandbox, *parts: JsonValue) -> Grade:
    """The grade of a program that has to print the number that it reads, in two test cases."""
    cases = tuple(TestCase(index, f"{index}\n", f"{index}\n") for index in range(2))
    of = Task(task_id="echo", mode=Mode.STDIN, cases=cases, weights=weights)
    text = json.dumps(options("weighted", graders=list(parts)))
    rollout = Rollout(task_id="echo", completion=code, sample_id="echo#0", kind=Kind.FULL)
    return Worker(Options(grader=text, limits=PATIENT), sandbox=sandbox).grade(of, rollout)


def test_code_is_a_part_like_any_other(own: str, sandbox: Sandbox) -> None:
    code = "x = int(input())\nprint(x if x else 'no')\n"
    grade = run_and_sum((1.0, 3.0), code, sandbox, part(f"{own}:best"), part("tests:reward=weighted", 10))
    assert (grade.reward, grade.verdict, grade.code) == (2 + 7.5, Verdict.WRONG_ANSWER, code)
    assert [case.verdict.letter for case in grade.cases] == ["W", "P"]
    assert (grade.checker, grade.limits.wall_s, "rlimits" in grade.layers) == ("floats", 30, True)


def test_a_part_that_the_task_does_not_fit_is_unknown_and_the_others_are_not(own: str, sandbox: Sandbox) -> None:
    grade = run_and_sum((1.0,), "print()", sandbox, part(f"{own}:best"), part("tests:reward=weighted"))
    assert [each.reward for each in grade.components] == [2.0, None]
    assert (grade.verdict, grade.reward) == (Verdict.UNKNOWN, None)
    assert "tests: weights: 1 for 2 test cases" in str(grade.error_message)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({}, '"graders"'),
        ({"graders": []}, '"graders"'),
        ({"graders": [part("exact_match", 0)]}, "other than 0"),
        ({"graders": [part("exact_match", float("nan"))]}, "nan"),
        ({"graders": [part("exact_match", float("inf"))]}, "inf"),
        ({"graders": [part("nobody")]}, "nobody"),
        ({"graders": [part({"case": "ignore"})]}, "name"),
        ({"graders": ["exact_match"]}, "object"),
        ({"graders": [{"grader": "exact_match", "wait": 1}]}, "wait"),
        ({"graders": [part("exact_match", 1, "a"), part("exact_match", 1, "a")]}, "'a'"),
        ({"grader": []}, "grader"),
    ],
)
def test_sums_that_can_not_be(given: dict[str, JsonValue], reason: str) -> None:
    with pytest.raises(GraderError) as raised:
        get_grader(json.dumps(options("weighted", **given)))
    assert reason in str(raised.value)
    assert "\n" not in str(raised.value)
