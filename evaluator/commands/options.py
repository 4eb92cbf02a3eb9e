"""Options that several commands have, with their help."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

PythonOption = Annotated[
    str | None,
    typer.Option(
        "--python",
        metavar="PATH",
        help="The Python whose packages completions see. [default: this one, with numpy]",
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option(min=1, help="Completions graded at once; with ray, per machine. [default: one per CPU]"),
]
EngineOption = Annotated[Literal["local", "ray"], typer.Option(help="Grade on this machine, or on a Ray cluster.")]
AddressOption = Annotated[
    str | None,
    typer.Option(metavar="HOST:PORT", help="ray: the cluster's head. [default: auto, the cluster of this machine]"),
]
UnverifiedOption = Annotated[
    Literal["keep", "unknown"],
    typer.Option(help="Unverified grades keep their reward, or become unknown without one."),
]
DisagreementOption = Annotated[
    Literal["unknown", "keep", "fail"],
    typer.Option(help="A suite that fails in two processes and passes in one: unknown, passed or failed."),
]
UnfinishedThinkingOption = Annotated[
    Literal["no_code", "grade"],
    typer.Option(help="A completion that ends while thinking has no code, or its thoughts are searched for code."),
]
CacheOption = Annotated[
    str | None,
    typer.Option(
        "--cache",
        metavar="DIR|none",
        help="Where to keep grades for later runs. [default: the user's cache directory]",
    ),
]
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
MemoryOption = Annotated[float | None, typer.Option("--memory", help="Resident MiB per test case. [default: 1024]")]
PreambleOption = Annotated[
    str | None,
    typer.Option(
        "--preamble",
        metavar="none|lcb|FILE",
        help="Code before every completion: none, LiveCodeBench's imports, or a Python file. [default: the task's]",
    ),
]
