"""Options that several commands have, with their help, and the Typer application, in words that Typer 0.9 knows: no
`X | None`, no `Literal`, no postponed annotation.
"""

from __future__ import annotations

from collections.abc import Callable
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import typer
from typer.models import OptionInfo

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


Function = TypeVar("Function", bound=Callable[..., Any])


class App(typer.Typer):
    """Commands whose parameters are `Annotated[type, typer.Option(...)]`, or `typer.Argument`; and `--version`."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.callback()(_for_old_typer(_options))

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Function], Function]:
        register = super().command(name, **settings)
        return lambda function: register(_for_old_typer(function))


def _print_version(wanted: bool) -> None:
    if wanted:
        import evaluator

        print(f"rollscope {evaluator.__version__}")
        raise typer.Exit


_VersionFlag = Annotated[
    bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
]


def _options(version: _VersionFlag = False) -> None:
    """Those of the command itself."""


def _for_old_typer(function: Function) -> Function:
    hints = get_type_hints(function, include_extras=True)
    function.__annotations__ = {parameter: _old_hint(hint) for parameter, hint in hints.items()}
    return function


def _old_hint(hint: Any) -> Any:
    if get_origin(hint) is not Annotated:
        return hint
    kind, info = get_args(hint)
    if isinstance(kind, UnionType):
        kind = Union[get_args(kind)]  # noqa: UP007
    elif get_origin(kind) is Literal:
        info.parser, kind = _one_of(get_args(kind)), str
        if isinstance(info, OptionInfo):
            info.metavar = info.parser.__name__
    return Annotated[kind, info]


def _one_of(values: tuple[str, ...]) -> Callable[[str], str]:
    def chosen(value: str) -> str:
        if value not in values:
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(map(repr, values))}")
        return value

    chosen.__name__ = "|".join(values)
    return chosen
