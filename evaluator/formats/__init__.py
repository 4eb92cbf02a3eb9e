"""Reads tasks and rollouts from the field's files as a stream, with true line numbers for broken rows.

    for task in load_tasks("tasks.jsonl"): ...
    for rollout in load_rollouts("samples.jsonl.zst", on_problem=print): ...

Files are JSON lines, a JSON list, JSON objects, CSV or Parquet, plain or compressed, detected from their bytes. The
format is detected from the first row that one knows, or named. A new format is a new module of this package with a
`FORMAT`, a new kind of file one with a `CONTAINER`; `reading` holds what all of them share.
"""

from evaluator.formats.reading.loader import (
    Files,
    FormatMatch,
    OnProblem,
    dataset_hash,
    load_rollouts,
    load_task,
    load_tasks,
    require_rows,
    sniff,
)
from evaluator.formats.reading.mapping import parse_field_map
from evaluator.formats.reading.problems import FormatError, FormatWarning, Problem
from evaluator.formats.reading.registry import Format, Role, known_formats
from evaluator.formats.reading.sources import FileLike, Source
from evaluator.formats.reading.spec import Claim, Recorded, Rollouts, Tasks, claims, truth

__all__ = [
    "Claim",
    "FileLike",
    "Files",
    "Format",
    "FormatError",
    "FormatMatch",
    "FormatWarning",
    "OnProblem",
    "Problem",
    "Recorded",
    "Role",
    "Rollouts",
    "Source",
    "Tasks",
    "claims",
    "dataset_hash",
    "known_formats",
    "load_rollouts",
    "load_task",
    "load_tasks",
    "parse_field_map",
    "require_rows",
    "sniff",
    "truth",
]
