"""How graders are named: in texts, objects and files, and what a name that can't be is answered with."""

import json
from pathlib import Path

import pytest

from evaluator.graders import GraderError, get_grader, grader_of, grader_or_refusal, known_graders, shown_cases
from evaluator.graders.spec import anchored, names_file, parse_spec
from evaluator.model import Mode, Task, TestCase
from tests.graders.answers import options, task


@pytest.mark.parametrize(
    ("text", "name", "given"),
    [
        (" tests ", "tests", {}),
        ("tests:reward=fraction", "tests", {"reward": "fraction"}),
        ("a:n=1,b=true,c=x y,d=null", "a", {"n": 1, "b": True, "c": "x y", "d": None}),
        ("a:marker=Answer:", "a", {"marker": "Answer:"}),
        ('{"name": "a", "b": [1]}', "a", {"b": [1]}),
    ],
)
def test_a_name_and_its_options(text: str, name: str, given: dict[str, object]) -> None:
    spec = parse_spec(text)
    assert (spec.name, spec.options, spec.file) == (name, given, None)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("tests:reward", "must be key=value"),
        ("tests:=1", "must be key=value"),
        ("{", "not a JSON object"),
        ("{" * 100_000, "not a JSON object"),
        ('{"a": 1}', "name"),
        ('{"name": "x.py:f", "a": 1}', "takes no options"),
        ("tests:a=" + "[" * 100_000, "options: reward"),
    ],
)
def test_texts_that_name_no_grader(text: str, reason: str) -> None:
    with pytest.raises(GraderError) as raised:
        get_grader(text)
    assert reason in str(raised.value)
    assert "\n" not in str(raised.value)


def test_every_kind_is_known_by_the_name_of_its_file() -> None:
    assert {"exact_match", "similarity", "structured", "tests", "weighted"} <= set(known_graders())
    with pytest.raises(GraderError, match=r"exact_match, .*tests, .*FILE\.py:FUNCTION"):
        get_grader("nobody")


def test_a_row_wins_over_the_run_and_the_run_over_what_is_usual() -> None:
    code = Task(task_id="c", mode=Mode.STDIN, cases=(TestCase(0, "", ""),))
    assert grader_of(code, None).name == "tests"
    assert grader_of(code, "structured").name == "structured"
    assert grader_of(task("x"), None).name == "exact_match"
    assert grader_of(task("x"), "structured").name == "structured"
    assert grader_of(task("x", "exact_match"), "structured").name == "exact_match"
    assert grader_or_refusal(code, None).runs_code
    assert not grader_or_refusal(task("x"), None).runs_code
    odd = task("x", "nobody")
    refusing = grader_or_refusal(odd, None)
    assert (refusing.runs_code, refusing.waits, refusing.by_completion) == (False, 0, True)
    assert shown_cases(odd, None) == ()


def test_files_are_found_wherever_they_stand() -> None:
    inner = options("weighted", graders=[{"grader": "a.py:f"}])
    assert [names_file(text) for text in ("tests", "a.py:f", '{"name": "a.py:f"}', json.dumps(inner))] == [
        False, True, True, True,
    ]  # fmt: skip
    assert names_file(json.dumps(options("weighted", graders=[{"grader": inner}])))
    assert not names_file(json.dumps(options("weighted", graders=[3, {}, {"grader": 1}])))


def test_a_text_that_means_the_same_in_every_folder(tmp_path: Path) -> None:
    assert anchored("tests:reward=fraction", tmp_path) == "tests:reward=fraction"
    assert anchored("a.py:f", tmp_path) == f"{tmp_path}/a.py:f"
    assert anchored("/x/a.py:f", tmp_path) == "/x/a.py:f"
    inner = options("weighted", graders=[{"grader": "a.py:f", "weight": 2}, {"grader": "tests"}])
    outer = json.dumps(options("weighted", graders=[{"grader": inner}]))
    there = options("weighted", graders=[{"grader": f"{tmp_path}/a.py:f", "weight": 2}, {"grader": "tests"}])
    assert json.loads(anchored(outer, tmp_path))["graders"][0] == {"grader": json.dumps(there, sort_keys=True)}
