"""What a Python and its packages are, so that a change of either shows, from names and times of files alone."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import msgspec

from evaluator.sandbox.host.launch.interpreter import description_of, offered_folders

_OF_A_DISTRIBUTION = (".dist-info", ".egg-info")

Entry = tuple[str, int, int]
"""A name, its time of change in nanoseconds, and its size; both 0 for a folder whose time says nothing."""


@cache
def fingerprint(python: str | None) -> list[object]:
    """As JSON, of the Python at a path with all its packages, or of this process's own with numpy; once a process.

    A distribution is known by its name and version, and by when it was installed. Raises `InterpreterError`, `OSError`.
    """
    description = description_of(python)
    files = [_entry(path, Path(path).stat()) for path in (description.executable, *description.libraries)]
    if python is None:
        beside = {folder.parent for folder in offered_folders()}
        packages = [entry for folder in sorted(beside) for entry in _entries(folder) if entry[0].startswith("numpy")]
    else:
        packages = [entry for folder in description.package_folders for entry in _entries(Path(folder))]
    return [platform.machine(), msgspec.to_builtins(description), files, packages]


def _entries(folder: Path) -> Iterator[Entry]:
    """What is in a folder of packages, by name."""
    with os.scandir(folder) as found:
        for entry in sorted(found, key=lambda each: each.name):
            if entry.name == "__pycache__":
                continue
            if entry.is_dir() and not entry.name.endswith(_OF_A_DISTRIBUTION):
                yield entry.name, 0, 0  # importing a package changes the time of its folder
            else:
                yield _entry(entry.name, entry.stat())


def _entry(name: str, found: os.stat_result) -> Entry:
    return name, found.st_mtime_ns, found.st_size
