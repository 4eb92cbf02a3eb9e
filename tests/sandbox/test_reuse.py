"""How many processes the test cases of one completion get, by the start times that the kernel reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluator.runs.reading import Run
from tests.commands.command_line import rollscope
from tests.sandbox.headers import HEADER

INPUTS = ["a\n", "b\n", "c\n", "d\n"]
PLAIN = """
import time
began = time.monotonic()
while time.monotonic() - began < 0.02:  # two of the kernel's ticks: the next process starts in a later one
    pass
print(input(), open("/proc/self/stat").read().rpartition(")")[2].split()[19])
"""
REAL = f"""
import io, os, re, sys
from decimal import *
from functools import cmp_to_key, lru_cache
getcontext().prec = 30
sys.setrecursionlimit(10**6)
class Node:
    count = 0
    def __init__(self):
        self.word = re.sub("x", "y", "xyz")
        type(self).count += 1
def words():
    try:
        yield Node().word
    finally:
        Decimal(1) / 7
assert next(words()) == "yyz" and Node.count == 1
sys.stdin = io.StringIO(os.read(0, os.fstat(0).st_size).decode())
{PLAIN}"""
"""What contest programs do besides."""
NOT_PLAIN = f"import os\nos.environ.get('HOME')\n{PLAIN}"
"""It names state that could outlast its run."""
DOES_MORE = f"{HEADER}seen = []\n"
"""A list may be changed."""


def processes(code: str, preamble: str, options: list[str], folder: Path) -> int:
    """Grades the program on each input by the command; the number of processes that answered."""
    dataset, rollouts = folder / "tasks.jsonl", folder / "rollouts.jsonl"
    in_outs = {"inputs": INPUTS, "outputs": INPUTS}
    task = {"task_id": "t", "mode": "stdin", "in_outs": in_outs, "preamble": preamble}
    dataset.write_text(json.dumps(task) + "\n")
    rollouts.write_text(json.dumps({"task_id": "t", "completion": code, "kind": "full"}) + "\n")
    done = rollscope("grade", rollouts, "--dataset", dataset, "--out", "run", "--timeout", "60", *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    connection = Run.open(folder / "run").connect()
    try:
        rows = connection.sql("SELECT stdout FROM cases ORDER BY test_index").fetchall()
    finally:
        connection.close()
    words = [stdout.split() for (stdout,) in rows]
    assert [first + "\n" for first, _ in words] == INPUTS
    return len({started for _, started in words})


@pytest.mark.parametrize(
    ("code", "preamble", "options", "expected"),
    [
        (PLAIN, "", [], 1),
        (PLAIN, HEADER, [], 1),
        (REAL, "", [], 1),
        (REAL, HEADER, [], 1),
        (PLAIN, HEADER, ["--isolation", "test"], len(INPUTS)),
        (PLAIN, DOES_MORE, [], len(INPUTS)),
        (NOT_PLAIN, "", [], len(INPUTS)),
        (NOT_PLAIN, HEADER, [], len(INPUTS)),
    ],
    ids=[
        "plain",
        "plain, with a header",
        "as real programs are",
        "as real programs are, with a header",
        "plain, with --isolation test",
        "plain, with a preamble that does more",
        "not plain",
        "not plain, with a header",
    ],
)
def test_test_cases_share_a_process_if_they_may(
    tmp_path: Path, code: str, preamble: str, options: list[str], expected: int
) -> None:
    assert processes(code, preamble, options, tmp_path) == expected
