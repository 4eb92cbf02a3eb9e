"""What the extras of the distribution bring, `rollscope[runs]` and so on: a missing one ends in one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Literal

__all__ = ["MissingExtraError", "needs", "require"]

Extra = Literal["runs", "schema", "judge", "serve", "dashboard", "s3", "ray"]


class MissingExtraError(ImportError):
    """A package of an extra is not installed. The message is one line that says what to type."""

    def __init__(self, extra: Extra, why: str) -> None:
        super().__init__(f"{why}: pip install 'rollscope[{extra}]'")


@contextmanager
def needs(extra: Extra, why: str) -> Iterator[None]:
    """For a block that imports packages of an extra. `why`: "a run needs pyarrow and duckdb".

    Raises `MissingExtraError` where a package is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "evaluator").partition(".")[0] == "evaluator":
            raise  # a mistake of ours
        raise MissingExtraError(extra, why) from None


def require(package: str, extra: Extra, why: str) -> None:
    """As `needs`, where the package is wanted later, or by another process."""
    if find_spec(package) is None:
        raise MissingExtraError(extra, why)
