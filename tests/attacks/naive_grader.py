"""Grades one program with a naive habit, in this process. Run as a script, in a folder to throw away.

`python -m tests.attacks.naive_grader JOB VERDICT`: JOB is a JSON file with the habit, the code and the test cases; the
script writes `passed` or the reasons to VERDICT.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.attacks.careful_grader import CarefulGrader
from tests.attacks.naive_habits import HABITS, SharedInterpreter

Case = tuple[str, str]
_open, _write, _leave = os.open, os.write, os._exit  # as they are before a habit or a program replaces them


def _verdict(grader: CarefulGrader, given: str, expected: str) -> str:
    try:
        grader.grade(given, expected)
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return "passed"


def _verdicts(grader: CarefulGrader, cases: list[Case], verdict: Path) -> Iterator[str]:
    """One for each test case, each from a process of its own but where the habit is to share one."""
    for given, expected in cases:
        if isinstance(grader, SharedInterpreter):
            yield _verdict(grader, given, expected)
            continue
        child = os.fork()
        if not child:
            said = _verdict(grader, given, expected).encode("utf-8", "backslashreplace")
            _write(_open(verdict, os.O_WRONLY | os.O_CREAT, 0o600), said)
            _leave(0)
        os.waitpid(child, 0)
        yield verdict.read_text("utf-8") if verdict.exists() else "died"
        verdict.unlink(missing_ok=True)


def main() -> None:
    job, verdict = map(Path, sys.argv[1:])
    read = json.loads(job.read_text("utf-8"))
    sys.argv = ["main.py"]
    grader = HABITS[read["habit"]](read["code"], read["entry_point"])
    verdicts = dict.fromkeys(_verdicts(grader, read["cases"], verdict))
    verdict.write_text("\n".join(verdicts), "utf-8", "backslashreplace")
    os._exit(0)


if __name__ == "__main__":
    main()
