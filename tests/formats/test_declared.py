"""What a declaration of a format says is what is read: claims, paths, nested samples, grades, metadata."""

import pytest

from evaluator.formats import Claim, Recorded, Rollouts, Tasks, claims, truth
from evaluator.model import Mode, RecordError, Verdict

CLAIM = claims("3: a, b|c, !mode; 2: a, d+e, (by its fields); 1: a:text, f=HumanEval/")


@pytest.mark.parametrize(
    ("row", "claim"),
    [
        ({"a": 1, "c": 2, "b": 3}, Claim(3, "a, b")),
        ({"a": 1, "c": 2}, Claim(3, "a, c")),
        ({"a": 1, "c": 2, "mode": 0, "e": 5, "d": 4}, Claim(2, "a, d, e by its fields")),
        ({"a": "x", "f": "HumanEval/3"}, Claim(1, "a, f 'HumanEval/3'")),
        ({"a": 1, "f": "HumanEval/3"}, None),
        ({"b": 1}, None),
    ],
)
def test_a_row_is_claimed_by_the_first_that_fits(row, claim):
    assert CLAIM(row) == claim


def test_what_a_claim_asks_last_decides():
    assert claims("3: a", lambda row: row["a"] > 1)({"a": 1}) is None


ROLLOUTS = Rollouts(
    each="samples",
    completion="text|code.text",
    task_id="uid|",
    prompt="asked",
    model="by.name",
    reward="score",
    grade=lambda sample: Recorded(Verdict.TIME_LIMIT, "slow") if sample.get("slow") else truth(sample.get("right")),
    by="somebody",
    left_out="right, slow",
)


def test_samples_are_read_with_what_their_row_has():
    row = {
        "asked": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}],
        "by": {"name": "m"},
        "seed": 7,
        "samples": [{"text": "x", "score": 1, "right": True}, {"code": {"text": "y"}, "slow": True, "seed": 8}, "z"],
    }
    one, two = list(ROLLOUTS.read(row | {"samples": row["samples"][:2]}))
    assert (one.task_id, one.completion, one.model, one.sample_index) == (two.task_id, "x", "m", 0)
    assert (one.given_reward, one.recorded_verdict, one.recorded_word, one.expected_pass) == (
        1.0, Verdict.PASSED, "true", True,
    )  # fmt: skip
    assert (two.completion, two.recorded_verdict, two.expected_pass, two.sample_index) == (
        "y", Verdict.TIME_LIMIT, False, 1,
    )  # fmt: skip
    assert {one.recorded_by, two.recorded_by} == {"somebody"}
    assert (one.metadata["seed"], two.metadata["seed"]) == (7, 8)
    assert "right" not in one.metadata
    assert ROLLOUTS.prompt_of(row) == "a\n\nb"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"uid": 1, "samples": [{}]}, "text is missing"),
        ({"uid": 1, "samples": 3}, "samples must be a list"),
        ({"uid": 1, "samples": [3]}, r"samples\[0\] must be an object or a text"),
        ({"samples": [{"text": "x"}]}, "neither an id nor text in asked"),
        ({"uid": [1], "samples": [{"text": "x"}]}, "must be text or a whole number"),
    ],
)
def test_what_is_wrong_is_named(row, message):
    with pytest.raises(RecordError, match=message):
        list(ROLLOUTS.read(row))


def test_a_task_is_decided_by_what_is_declared():
    tasks = Tasks(task_id="id", in_outs="cases", preamble="import sys\n", source="here", left_out="x")
    task = tasks.read({"id": 1, "prompt": "p", "cases": {"inputs": ["1"], "outputs": ["2"]}, "x": 1, "y": 2})
    assert (task.task_id, task.mode, task.preamble, task.source, task.metadata) == (
        "1", Mode.STDIN, "import sys\n", "here", {"y": 2},
    )  # fmt: skip
    own = tasks.read({"id": 1, "preamble": "", "cases": {"inputs": [[1]], "outputs": [2], "fn_name": "f"}})
    assert (own.mode, own.entry_point, own.preamble) == (Mode.CALL, "f", "")
