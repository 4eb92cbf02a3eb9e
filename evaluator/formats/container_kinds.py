"""Files that are not text: what a kind of container is, and the list of all of them.

A kind is a module of this package with a `CONTAINER` (it may have a `FORMAT` too). To add one, add a file: the package
is scanned. JSON lines, JSON lists and their like, plain or compressed, are read by `evaluator.formats.containers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from evaluator.formats.problems import Problem
from evaluator.model import JsonValue
from evaluator.package_modules import public_modules


class Row(NamedTuple):
    """One object of a file. `line` is the line on which it begins, or the row's number where there are no lines.

    `offset` is that of its first byte in the decompressed text; None where there is no such text.
    """

    line: int
    fields: dict[str, JsonValue]
    offset: int | None = None


class ContainerKind(NamedTuple):
    """A kind of file whose rows are read by a reader of its own.

    `claims` gets the file's first bytes (up to 4096, as they are on the disk) and its name. `open` gets the path of a
    file that can be read more than once and from any place; it yields the rows, which it reads as they are asked for,
    and a `Problem` for each that can't be read. It raises `FormatError` for a file that can't be read as a whole, and
    may let `OSError`, `ValueError`, `EOFError` and the like pass where the rest of the file is damaged: that becomes a
    `Problem` after the last row. It closes the file when it is closed itself (a generator with a `with` does).
    """

    name: str
    claims: Callable[[bytes, str], bool]
    open: Callable[[Path], Iterator[Row | Problem]]


@cache
def known_containers() -> tuple[ContainerKind, ...]:
    """Every kind, by name."""
    modules = public_modules("evaluator.formats").values()
    found: list[ContainerKind] = [module.CONTAINER for module in modules if hasattr(module, "CONTAINER")]
    return tuple(sorted(found, key=lambda each: each.name))
