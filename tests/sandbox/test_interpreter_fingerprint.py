"""A Python's fingerprint changes with what completions could import from it."""

from __future__ import annotations

import os
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

from evaluator.sandbox import InterpreterError, fingerprint


def anew(python: Path | None) -> object:
    fingerprint.cache_clear()
    return fingerprint(str(python) if python is not None else None)


@pytest.fixture
def environment(tmp_path: Path) -> tuple[Path, Path]:
    """A Python without packages, and the folder for them."""
    venv.create(tmp_path / "env", symlinks=True, with_pip=False)
    [packages] = (tmp_path / "env" / "lib").glob("python3.*/site-packages")
    return tmp_path / "env" / "bin" / "python", packages


CHANGES: dict[str, Callable[[Path], object]] = {
    "a package is installed": lambda packages: (packages / "other-1.0.dist-info").mkdir(),
    "a package is upgraded": lambda packages: (packages / "some-1.0.dist-info").rename(packages / "some-1.1.dist-info"),
    "a package is removed": lambda packages: (packages / "some-1.0.dist-info").rmdir(),
    "the same version is installed again": lambda packages: os.utime(packages / "some-1.0.dist-info", (1, 1)),
    "a module is added": lambda packages: (packages / "own.py").write_text(""),
    "a module is changed": lambda packages: (packages / "single.py").write_text("x = 2"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_it_changes_with_the_packages(environment: tuple[Path, Path], change: str) -> None:
    python, packages = environment
    (packages / "some-1.0.dist-info").mkdir()
    (packages / "single.py").write_text("x = 1 ")
    before = anew(python)
    assert anew(python) == before
    CHANGES[change](packages)
    assert anew(python) != before


def test_an_import_that_leaves_compiled_code_changes_nothing(environment: tuple[Path, Path]) -> None:
    python, packages = environment
    (packages / "some").mkdir()
    before = anew(python)
    for folder in (packages, packages / "some"):
        (folder / "__pycache__").mkdir()
    os.utime(packages / "some", (1, 1))
    assert anew(python) == before


def test_two_interpreters_differ(environment: tuple[Path, Path]) -> None:
    assert anew(environment[0]) != anew(None)
    assert anew(None) == anew(None)
    with pytest.raises(InterpreterError):
        anew(Path("/no/python"))
