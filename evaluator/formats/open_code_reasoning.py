"""OpenCodeReasoning 1 and 2: answers of a model to learn from."""

from __future__ import annotations

from evaluator.formats.reading import fields as field
from evaluator.formats.reading.fields import Fields
from evaluator.formats.reading.registry import Format
from evaluator.formats.reading.spec import Recorded, Rollouts, claims, verdict_of_truth
from evaluator.model import Kind


def _share(fields: Fields) -> float | None:
    """Of the tests that its solution passed; -1 where it was not run."""
    share = field.number(field.number_in(fields.get("pass_rate")))
    return share if share is not None and 0 <= share <= 1 else None


def _judged(fields: Fields) -> Recorded | None:
    """By the tests, where they were run, else by a model."""
    share, word = _share(fields), fields.get("judgement")
    if share is not None:
        return Recorded(verdict_of_truth(share == 1), f"pass_rate {fields['pass_rate']}")
    if word not in ("right", "wrong"):
        return None
    return Recorded(verdict_of_truth(word == "right"), f"judgement {word}", "QwQ's judgement")


def _question(fields: Fields) -> str:
    """The second set has a `-`, because others own the questions."""
    question = field.text(fields, "question") or field.text(fields, "input")
    return "" if question == "-" else question


OPEN_CODE_REASONING = Format(
    name="open_code_reasoning",
    title="OpenCodeReasoning 1 and 2: input, output, solution; question_id, r1_generation, judgement",
    rollouts=Rollouts(
        claim=claims("3: r1_generation, question_id; 3: id, input, output, solution, split, !code"),
        completion="r1_generation|output",
        prompt=_question,
        task_id="question_id|id",
        sample_id="",
        kind=Kind.CHAT,
        reward=_share,
        grade=_judged,
        by="OpenCodeReasoning",
        left_out="question, input, r1_generation, output, pass_rate, judgement",
    ),
)
