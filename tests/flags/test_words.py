"""Every flag that there is has its row in the documentation, and no other has."""

import re
from pathlib import Path

from evaluator import flags
from evaluator.model import Flag, Mode, Task

PAGE = Path(__file__).resolve().parents[2] / "docs/concepts/verdicts.md"


def test_the_documentation_has_a_row_for_each_flag() -> None:
    section = PAGE.read_text().partition("\n## Flags\n")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == list(flags.WORDS)


def test_each_word_stands_once_in_a_fixed_order_with_all_that_was_seen() -> None:
    task = Task(task_id="t", mode=Mode.CALL, entry_point="f")
    notes = [Flag("zeal", "new"), Flag("subclass", "B"), Flag("refused_call", "fork"), Flag("subclass", "A")]
    found = flags.flags_of(task, "import gc\ngc.get_objects()", (), [*notes, *notes])
    assert found == (
        Flag("gc_walking", "line 2: gc.get_objects()"),
        Flag("refused_call", "fork"),
        Flag("subclass", "B; A"),
        Flag("zeal", "new"),
    )
