"""A stdin program behaves as with `python main.py < in > out`, in each run and in both isolations."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

from evaluator.model import Limits
from evaluator.sandbox import Outcome, Program, Sandbox
from tests.sandbox.programs_that_leave_something import PROGRAMS, SHARED_FILE

INPUTS = [b"first\n", b"second\n", b"third\n"]


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox() as sandbox:
        yield sandbox


def run(sandbox: Sandbox, source: str, *, reuse: bool) -> list[Outcome]:
    with sandbox.execute(Program(source), Limits(wall_s=5), reuse=reuse) as execution:
        return [execution.run(given, wall_s=5) for given in INPUTS]


@cache
def plain_python(source: str, given: bytes) -> tuple[str, int]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "main.py").write_text(source)
        ended = subprocess.run(
            [sys.executable, "-S", "main.py"], input=given, capture_output=True, cwd=folder, check=False, timeout=60
        )
    SHARED_FILE.unlink(missing_ok=True)  # here it is on the machine itself
    return ended.stdout.decode(), ended.returncode


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("reuse", [True, False], ids=["a process per completion", "a process per test case"])
def test_every_run_is_like_the_first(sandbox: Sandbox, name: str, reuse: bool) -> None:
    outcomes = run(sandbox, PROGRAMS[name], reuse=reuse)
    for given, outcome in zip(INPUTS, outcomes, strict=True):
        assert (outcome.stdout.text(), outcome.exit_status) == plain_python(PROGRAMS[name], given), outcome
