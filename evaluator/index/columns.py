"""The columns of an index: what is known of a rollout without its texts, and where its row is in the file."""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

from evaluator.extras import needs
from evaluator.model import Rollout, Verdict
from evaluator.recorded import recorded_grade

with needs("runs", "an index needs pyarrow and duckdb"):
    import pyarrow as pa

MAX_MESSAGE: Final = 500
"""Characters of a recorded message that are kept; the file has the rest."""


NOT_GRADED: Final = "not graded yet"
"""The message of rollouts that came without a grade."""


class Place(NamedTuple):
    """Where a rollout is: the file's ordinal, the row's first byte and its size, and which of the row's rollouts."""

    file: int
    at: int
    size: int
    nth: int


_WORD: Final = pa.dictionary(pa.int32(), pa.string())

COLUMNS: Final[dict[str, pa.DataType]] = {
    "task_id": pa.string(),
    "sample_id": pa.string(),
    "sample_index": pa.int64(),
    "group": pa.string(),
    "model": _WORD,
    "step": pa.int64(),
    "reward": pa.float64(),
    "verdict": _WORD,
    "error_message": _WORD,
    "expected_pass": pa.bool_(),
    "given_reward": pa.float64(),
    "recorded_reward": pa.float64(),
    "recorded_verdict": _WORD,
    "recorded_word": _WORD,
    "recorded_by": _WORD,
    "length": pa.int64(),
    "source_line": pa.int64(),
    "file": pa.int32(),
    "at": pa.int64(),
    "size": pa.int64(),
    "nth": pa.int32(),
    "id_hash": pa.uint64(),
}
"""Each column's name and Arrow type. `length` is in characters; `id_hash` is 0 until a sample has an id."""


def values_of(rollout: Rollout, place: Place, line: int, id_hash: int) -> tuple[Any, ...]:
    """One row, in the order of `COLUMNS`."""
    verdict, reward, message = recorded_grade(rollout)
    if reward is not None and not math.isfinite(reward):
        verdict, reward = Verdict.UNKNOWN, None
    if verdict is Verdict.UNKNOWN and rollout.recorded_verdict is None and rollout.given_reward is None:
        message = NOT_GRADED
    return (
        rollout.task_id, rollout.sample_id, rollout.sample_index, rollout.group, rollout.model, rollout.step,
        reward, verdict, message[:MAX_MESSAGE] if message else None, rollout.expected_pass,
        rollout.given_reward, rollout.given_reward, rollout.recorded_verdict, rollout.recorded_word,
        rollout.recorded_by, len(rollout.completion), line, *place, id_hash,
    )  # fmt: skip
