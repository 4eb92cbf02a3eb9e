"""Files that a grader names, which each machine that grades must have: what they hold, as digests."""

from __future__ import annotations

import hashlib
from pathlib import Path

from evaluator.graders.spec import files_named

Digests = dict[str, str]
"""By full path."""


def digests_of(grader: str | None) -> Digests:
    """Those of the files of a grader with full paths. Raises `OSError` and `GraderError`."""
    return {path: _digest(path) for path in files_named(grader)} if grader is not None else {}


def missing_files(wanted: Digests) -> str:
    """Which file is not here, or is another one, in a few words; "" if all are here."""
    for path, digest in wanted.items():
        try:
            found = _digest(path)
        except OSError:
            return f"it has no {path}"
        if found != digest:
            return f"its {path} is not that of the driver"
    return ""


def _digest(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
