"""A grader as many are: it runs a completion by `exec` in its own process, next to the expected values.

The attacks are first shown to work on it. It is started as `plain_exec.py TASK.json CODE.py SECONDS` in a scratch
folder (see `proofs`), and says on its standard output whether the completion has passed, and by its exit status too.
"""

import contextlib
import copy
import io
import json
import operator
import os
import signal
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any


def main() -> None:
    text = Path(sys.argv[1]).read_text("utf-8")
    task = json.loads(text)
    code = Path(sys.argv[2]).read_bytes().replace(b"\0", b"")
    report = os.dup(1)
    signal.signal(signal.SIGALRM, _out_of_time)
    signal.setitimer(signal.ITIMER_REAL, float(sys.argv[3]))
    try:
        for _ in range(task["grades"]):
            passed = called(code, task) if task["entry_point"] else printed(code, task)
            if passed:  # what an earlier run left has been found and taken away
                break
    except Exception as error:
        passed = False
        os.write(report, f"{error}\n".encode())
    signal.setitimer(signal.ITIMER_REAL, 0)
    os.write(report, json.dumps({"passed": bool(passed)}).encode())
    sys.exit(0 if passed else 1)


def called(code: bytes, task: dict[str, Any]) -> bool:
    """Calls the function with the arguments of each test case, loaded once."""
    solution = types.ModuleType("solution")
    sys.modules["solution"] = solution
    exec(code, solution.__dict__)
    results = []
    for case in task["cases"]:
        expected = json.loads(case["expected"])
        arguments = [json.loads(line) for line in case["input"].splitlines()]
        judge = judge_of(expected)
        results.append(judge(getattr(solution, task["entry_point"])(*arguments)))
    return all(results)


def judge_of(expected: object) -> Callable[[object], bool]:
    return lambda actual: same(copy.deepcopy(actual), expected)


def same(actual: object, expected: object) -> bool:
    import math

    if isinstance(actual, tuple) and type(actual) is tuple:
        actual = list(actual)
    if isinstance(expected, float) and type(actual) is float:
        return math.isclose(actual, expected)
    return bool(operator.eq(actual, expected))


def printed(code: bytes, task: dict[str, Any]) -> bool:
    """Runs the program on each input. What it prints beside the expected text is forgiven."""
    results = []
    for case in task["cases"]:
        expected = case["expected"].strip()
        sys.stdin, sys.stdout = io.StringIO(case["input"]), io.StringIO()
        with contextlib.suppress(SystemExit):
            exec(code, {"__name__": "__main__"})
        results.append(str(expected) in sys.stdout.getvalue())
    return all(results)


def _out_of_time(_number: int, _frame: types.FrameType | None) -> None:
    raise TimeoutError


if __name__ == "__main__":
    main()
