"""The Python features that datasets' test suites use: a Markdown table, one row per feature, one column per file.

Files are read as `rollscope` reads datasets. Python tasks with asserts or a suite are counted, each feature once per
task; nothing is run. docs/concepts/suites.md says how features are detected, and how accurately.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import _report
from _suite_scan import Scan
from _suite_terms import Feature

from evaluator import Mode, Task, load_tasks


class Counted(NamedTuple):
    """A dataset: its counted tasks, and how many of them use each feature."""

    name: str
    tasks: int
    uses: Counter[Feature]

    def cell(self, feature: Feature) -> str:
        uses = self.uses[feature]
        return f"{uses} ({100 * uses / self.tasks:.1f})" if self.tasks else ""


def countable(task: Task) -> bool:
    return task.mode in (Mode.ASSERT, Mode.UNITTEST) and task.metadata.get("language", "python") == "python"


def count(path: Path) -> Counted:
    tasks, left_out = 0, 0
    uses: Counter[Feature] = Counter()
    for task in load_tasks(path):
        try:
            found = Scan(task).found if countable(task) else None
        except (SyntaxError, ValueError):
            found = None
        if found is None:
            left_out += 1
            continue
        tasks += 1
        uses.update(found)
    print(f"{path.name}: {tasks} tasks counted, {left_out} left out", file=sys.stderr)
    return Counted(path.name.split(".")[0], tasks, uses)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="datasets; the columns have their names")
    files = parser.parse_args().files
    if not files:  # as in `make bench`: the repository holds no dataset with suites
        print("skipped: no dataset given")
        return
    counted = [count(path) for path in files]
    columns = ["tasks using it (per cent)", *(each.name for each in counted)]
    rows = [["tasks", *(str(each.tasks) for each in counted)]]
    rows += [[str(feature), *(each.cell(feature) for each in counted)] for feature in Feature]
    _report.table(columns, rows)
    rare = [str(f) for f in Feature if all(100 * each.uses[f] < each.tasks for each in counted)]
    print("Used by less than 1 % in each:", "; ".join(rare) or "none")


if __name__ == "__main__":
    main()
