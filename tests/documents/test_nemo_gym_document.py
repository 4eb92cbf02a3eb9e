"""docs/integrations/nemo-gym-document.md tells of every block of NeMo Gym's tutorial, and of every command in it."""

import re
from pathlib import Path
from typing import NamedTuple

from evaluator.cli import COMMANDS
from tests.documents import nemo_gym_custom_resource_server as document
from tests.documents.test_nemo_gym_blocks import RUN

PAGE = (Path(__file__).resolve().parents[2] / "docs/integrations/nemo-gym-document.md").read_text()
COUNT = 21


class Told(NamedTuple):
    """One row of the table."""

    block: int
    begins_with: str
    as_printed: str
    today: str


def table() -> list[Told]:
    rows = re.findall(r"^\| (\d+) \| [^|]* ?\| `(.*?)` \| (.*?) \| ?(.*?) ?\|$", PAGE, re.M)
    return [Told(int(block), *others) for block, *others in rows]


def test_each_block_has_rows_of_which_one_begins_with_its_first_line() -> None:
    assert sorted({row.block for row in table()}) == list(range(1, COUNT + 1))
    assert len(document.BLOCKS) == COUNT
    for number, text in enumerate(document.BLOCKS, 1):
        assert first(number).begins_with == text.splitlines()[0]


def first(block: int) -> Told:
    return next(row for row in table() if row.block == block)


def test_what_runs_is_run_by_a_test() -> None:
    told = {(row.block, row.begins_with) for row in table() if row.as_printed.startswith(("runs", "holds"))}
    assert told == {(document.BLOCKS.index(text) + 1, line) for text, line in RUN}


def test_commands_of_today_exist() -> None:
    named = {name for row in table() for name in re.findall(r"rollscope ([a-z-]+)", row.today)}
    assert named <= COMMANDS.keys()
    assert {"init-server", "test-server", "collect", "view", "serve"} <= named
