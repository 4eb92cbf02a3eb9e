"""Runs tests and completions as they come, in one process and without any guard: for programs of our own.

Reads from stdin `[[mode, entry point, preamble + completion, test], ...]` and writes a line of JSON to stdout: for each
either null, where the test held, or what failed. It imports nothing of the project and is run by `python -I`.
"""

import contextlib
import io
import json
import signal
import sys
import traceback
import types
import unittest
from typing import Any

_PATIENCE_S = 10
"""A wrong program may never end."""


def failure(mode: str, entry_point: str, program: str, test: str) -> str | None:
    """What failed, or None. The program and then the test are executed in a module of their own, `__main__`."""
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    namespace = vars(module)
    try:
        exec(compile(program, "<completion>", "exec"), namespace)
        exec(compile(test, "<test>", "exec"), namespace)
        if mode == "assert":
            namespace["check"](namespace[entry_point])
            return None
        return _failure_of_classes(namespace)
    except Exception:
        return traceback.format_exc()


def _failure_of_classes(namespace: dict[str, Any]) -> str | None:
    classes = [each for each in namespace.values() if isinstance(each, type) and issubclass(each, unittest.TestCase)]
    tests = unittest.TestSuite(map(unittest.defaultTestLoader.loadTestsFromTestCase, classes))
    result = unittest.TextTestRunner(io.StringIO()).run(tests)
    if not result.testsRun:
        return "no tests"
    return None if result.wasSuccessful() else "".join(text for _, text in result.failures + result.errors)


def _give_up(*_: object) -> None:
    raise TimeoutError(f"more than {_PATIENCE_S} s")


def main() -> None:
    results = []
    signal.signal(signal.SIGALRM, _give_up)
    for row in json.load(sys.stdin):
        with contextlib.redirect_stdout(io.StringIO()):
            signal.alarm(_PATIENCE_S)
            results.append(failure(*row))
            signal.alarm(0)
    print(json.dumps(results))


if __name__ == "__main__":
    main()
