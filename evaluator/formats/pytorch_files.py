"""PyTorch files, in which slime, miles and rllm save rollouts: recognised, and never loaded, for they are pickles."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from evaluator.formats.problems import FormatError, Problem, one_line
from evaluator.formats.registry import ContainerKind, Row

_ENDINGS = (".pt", ".pth")
_CONVERT = (
    "import json,sys,torch;d=torch.load(sys.argv[1],weights_only=False);"
    "[print(json.dumps(s,default=str)) for s in (d['samples'] if isinstance(d,dict) else d)]"
)


def claims(head: bytes, name: str) -> bool:
    """By the first member of the archive, or by the file's ending where it is a bare pickle."""
    archive = head.startswith(b"PK\x03\x04")
    first = head[30 : 30 + int.from_bytes(head[26:28], "little")] if archive else b""
    return first.endswith((b"/data.pkl", b"/.format_version")) or (
        name.endswith(_ENDINGS) and (archive or head.startswith(b"\x80"))
    )


def refuse(path: Path) -> Iterator[Row | Problem]:
    """Raises `FormatError` with a command that converts the file."""
    _refuse(path)


def _refuse(path: Path) -> NoReturn:
    raise FormatError(
        f"{one_line(str(path))}: is a PyTorch file, a pickle, which can run code: it is never loaded. If you trust it, "
        f'convert it where its trainer is installed: python -c "{_CONVERT}" FILE > samples.jsonl'
    )


CONTAINER = ContainerKind(name="PyTorch file", claims=claims, open=refuse)
