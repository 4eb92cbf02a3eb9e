"""Options with their help: those that several commands have, and a long one."""

from __future__ import annotations

from typing import Annotated

import typer

JsonFlag = Annotated[bool, typer.Option("--json", help="Machine-readable output on stdout.")]
FormatOption = Annotated[
    str | None,
    typer.Option("--format", help="Format of the rollouts (see `rollscope formats`). [default: detected]"),
]
MapOption = Annotated[
    str | None,
    typer.Option("--map", metavar="OURS=THEIRS,...", help="The rollouts' field names: task_id=uid,completion=text."),
]
DatasetFormatOption = Annotated[
    str | None, typer.Option("--dataset-format", metavar="NAME", help="Format of the dataset. [default: detected]")
]
DatasetMapOption = Annotated[
    str | None, typer.Option("--dataset-map", metavar="OURS=THEIRS,...", help="The dataset's field names.")
]
GraderOption = Annotated[
    str | None,
    typer.Option(
        "--grader",
        metavar="GRADER",
        help="NAME, NAME:key=value,..., FILE.json, FILE.toml or FILE.py:FUNCTION. [default: tests]",
    ),
]
PreambleOption = Annotated[
    str | None,
    typer.Option(
        "--preamble",
        metavar="none|lcb|FILE",
        help="Code before every completion: none, LiveCodeBench's imports, or a Python file. [default: the task's]",
    ),
]
