"""Runs the command in this process or another, on small files."""

import contextlib
import io
import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from evaluator.cli import main

ROOT = Path(__file__).resolve().parent.parent.parent
COMMAND = [sys.executable, "-m", "evaluator.cli"]

ADD = {
    "task_id": "add", "mode": "call", "prompt": "Add.", "entry_point": "add",
    "in_outs": {"inputs": ["1\n2", "2\n2"], "outputs": ["3", "4"], "fn_name": "add"},
}  # fmt: skip
ECHO = {"task_id": "echo", "mode": "stdin", "in_outs": {"inputs": ["hi\n"], "outputs": ["hi\n"]}}
ANSWER = {"task_id": "answer", "answer": "42"}
"""Graded without running code."""
UNTESTED = {"task_id": "untested", "mode": "stdin", "in_outs": {"inputs": [], "outputs": []}}
RIGHT = "def add(a, b):\n    return a + b\n"
WRONG = "def add(a, b):\n    return a - b\n"
SLOW = "import time\ndef add(a, b):\n    time.sleep(99)\n# "


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "DISPLAY"}
    return kept | {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error", "ROLLSCOPE_NO_BROWSER": "1"} | more


class Done(NamedTuple):
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


def words_of(arguments: Iterable[object]) -> list[str]:
    """`grade` starts one worker unless another number is given."""
    words = [str(argument) for argument in arguments]
    return [*words, "--workers", "1"] if words[0] == "grade" and "--workers" not in words else words


def rollscope(*arguments: object, cwd: Path) -> Done:
    """The command in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    redirected = contextlib.chdir(cwd), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err)
    with redirected[0], redirected[1], redirected[2], pytest.raises(SystemExit) as ended:
        main(words_of(arguments))
    assert isinstance(ended.value.code, int)
    return Done(ended.value.code, *(stream.buffer.getvalue().decode() for stream in (out, err)))  # type: ignore[attr-defined]


class Ask:
    """The command in a folder, for tests of its status and, now and then, of what it said."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.out = self.err = ""

    def __call__(self, *arguments: object, cwd: Path | None = None) -> int:
        status, self.out, self.err = rollscope(*arguments, cwd=cwd or self.folder)
        return status


def write_rows(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def sample(name: str, completion: str, task: str = "add", **fields: object) -> dict[str, object]:
    return {"task_id": task, "sample_id": name, "completion": completion, "kind": "full"} | fields


def one_line(told: str) -> str:
    assert "Traceback" not in told
    [line] = told.strip().splitlines()
    return line


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
