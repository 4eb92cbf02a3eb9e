"""docs/nemo-gym-document.md tells of every block of NeMo Gym's tutorial, and of every command in it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from evaluator.cli import app
from tests.documents import nemo_gym_custom_resource_server as document
from tests.documents.test_nemo_gym_blocks import RUN

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "nemo-gym-document.md").read_text()
STATUSES = (
    "runs as printed", "runs with its import line changed", "runs with a named stub", "cannot run as printed, ",
    "holds",
)  # fmt: skip
COUNT = 21
SHELL = (
    document.SETUP, document.EXAMPLES, document.TEST, document.END_TO_END, document.INSPECT, document.WONT_START,
)  # fmt: skip


class Told(NamedTuple):
    """One row of the table."""

    block: int
    begins_with: str
    as_printed: str
    today: str


def table() -> list[Told]:
    rows = re.findall(r"^\| (\d+) \| [^|]* ?\| `(.*?)` \| (.*?) \| ?(.*?) ?\|$", PAGE, re.M)
    return [Told(int(block), *others) for block, *others in rows]


def commands(text: str) -> list[str]:
    """The first lines of the commands of a shell block."""
    without_here_documents = re.sub(r"(<< EOF)\n.*?\nEOF\n", r"\1\n", text, flags=re.S)
    joined = re.sub(r"\\\n", "\\\\\x00", without_here_documents)
    lines = [line.split("\x00")[0] for line in joined.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def test_each_block_has_rows_of_which_one_begins_with_its_first_line() -> None:
    assert sorted({row.block for row in table()}) == list(range(1, COUNT + 1))
    assert len(document.BLOCKS) == COUNT
    for number, text in enumerate(document.BLOCKS, 1):
        assert first(number).begins_with == text.splitlines()[0]


@pytest.mark.parametrize("text", SHELL, ids=lambda text: text.splitlines()[0])
def test_a_command_has_a_row(text: str) -> None:
    told = [row.begins_with for row in table() if row.block == document.BLOCKS.index(text) + 1]
    assert commands(text)
    assert [line for line in commands(text) if line not in told] == []


@pytest.mark.parametrize("row", table(), ids=lambda row: f"{row.block}-{row.begins_with[:20]}")
def test_a_row_says_whether_it_runs(row: Told) -> None:
    stands_for_steps = row.as_printed in ("see its steps", "see its step")
    assert stands_for_steps == (
        len([other for other in table() if other.block == row.block]) > 1 and row == first(row.block)
    )
    assert stands_for_steps or row.as_printed.startswith(STATUSES)


def first(block: int) -> Told:
    return next(row for row in table() if row.block == block)


def test_what_runs_is_run_by_a_test() -> None:
    told = {(row.block, row.begins_with) for row in table() if row.as_printed.startswith(("runs", "holds"))}
    assert told == {(document.BLOCKS.index(text) + 1, line) for text, line in RUN}


def test_commands_of_today_exist() -> None:
    named = {name for row in table() for name in re.findall(r"rollscope ([a-z-]+)", row.today)}
    registered = {info.name or info.callback.__name__ for info in app.registered_commands if info.callback}
    assert named <= registered
    assert {"init-server", "test-server", "collect", "view", "serve"} <= named
