"""The Typer application, in words that Typer 0.9 knows: no `X | None`, no `Literal`, no postponed annotation."""

from __future__ import annotations

from collections.abc import Callable
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import typer
from typer.models import OptionInfo

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
