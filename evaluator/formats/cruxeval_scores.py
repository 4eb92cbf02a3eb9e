"""CRUXEval's scored generations: one object with `raw_generations` and `raw_scored_generations`, lists by task.

A generation is the expression that the model gave as the output (or as the input) of the task's function, not a
program.
"""

from __future__ import annotations

from collections.abc import Iterator

from evaluator.formats._recorded import Recorded, by_task, record, verdict_of_truth
from evaluator.formats.registry import Claim, Fields, Format
from evaluator.model import RecordError, Rollout

_GENERATIONS, _SCORES = "raw_generations", "raw_scored_generations"


def claim_rollout(fields: Fields) -> Claim | None:
    both = isinstance(fields.get(_GENERATIONS), dict) and isinstance(fields.get(_SCORES), dict)
    return Claim(3, f"{_GENERATIONS}, {_SCORES}") if both else None


def read_rollouts(fields: Fields) -> Iterator[Rollout]:
    """The generations of each task, in the file's order. Raises `RecordError` at the end if some are not text."""
    wrong: list[str] = []
    scored = by_task(fields, _SCORES)
    for task_id, generations in by_task(fields, _GENERATIONS).items():
        scores = scored.get(task_id)
        for number, generation in enumerate(generations if isinstance(generations, list) else [generations]):
            if not isinstance(generation, str):
                wrong.append(f"{_GENERATIONS}[{task_id!r}][{number}]")
                continue
            score = scores[number] if isinstance(scores, list) and number < len(scores) else None
            rollout = Rollout(task_id=task_id, completion=generation, sample_index=number)
            if isinstance(score, bool):
                rollout.expected_pass = score
                record(rollout, Recorded(verdict_of_truth(score), str(score).lower(), "CRUXEval"))
            yield rollout
    if wrong:
        raise RecordError(f"{wrong[0]} must be text, like {len(wrong)} in all: these samples are skipped")


FORMAT = Format(
    name="cruxeval_scores",
    title="CRUXEval's scored generations: raw_generations, raw_scored_generations",
    claim_rollout=claim_rollout,
    read_rollouts=read_rollouts,
)
