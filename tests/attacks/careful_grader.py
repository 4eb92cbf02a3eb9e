"""A grader that runs a program in its own process by `exec`, with all the care that this allows.

Real descriptors for stdin and stdout; a module that is registered; exits, threads and callbacks at exit as Python has
them. `naive_habits.py` departs from it in one thing at a time.
"""

from __future__ import annotations

import atexit
import io
import json
import os
import sys
import tempfile
import threading
import types
from collections.abc import Callable
from pathlib import Path


class Failed(Exception):  # noqa: N818 - a verdict
    """What the grader holds against the program."""


class CarefulGrader:
    """What the habits depart from."""

    module_name = "__main__"
    ends_like_python = True

    def __init__(self, code: str, entry_point: str | None) -> None:
        self.code = code
        self.entry_point = entry_point

    def grade(self, given: str, expected: str) -> None:
        """Raises `Failed`, or whatever the program raises."""
        if self.entry_point is None:
            self.judge_text(expected, self.text_of_run(given))
        else:
            self.prepare()
            function = self.function_in(self.load())
            arguments = [json.loads(line) for line in given.split("\n")]
            self.judge_value(json.loads(expected), function(*arguments))

    def text_of_run(self, given: str) -> str:
        with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stdout:
            stdin.write(given.encode("utf-8", "surrogateescape"))
            stdin.seek(0)
            for file, descriptor in ((stdin, 0), (stdout, 1)):
                os.dup2(file.fileno(), descriptor)
            self.streams(given)
            self.prepare()
            self.run()
            for stream in (sys.stdout, sys.__stdout__):  # as Python does at its end
                stream.flush()  # type: ignore[union-attr]
            return self.written(stdout)

    def streams(self, given: str) -> None:
        stdin, stdout = io.FileIO(0, closefd=False), io.FileIO(1, "w", closefd=False)
        sys.stdin = io.TextIOWrapper(io.BufferedReader(stdin), "utf-8", "surrogateescape")
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(stdout), "utf-8", "surrogateescape")

    def written(self, stdout: io.BufferedRandom) -> str:
        stdout.seek(0)
        return stdout.read().decode("utf-8", "surrogateescape")

    def prepare(self) -> None:
        """Before the program is run."""

    def run(self) -> None:
        try:
            self.load()
        except SystemExit:
            self.exited()
        if self.ends_like_python:
            for thread in threading.enumerate():
                if thread is not threading.current_thread() and not thread.daemon:
                    thread.join()
            atexit._run_exitfuncs()

    def exited(self) -> None:
        """A program may end itself."""

    def namespace(self) -> dict[str, object]:
        module = sys.modules[self.module_name] = types.ModuleType(self.module_name)
        module.__file__ = "main.py"
        Path("main.py").write_text(self.code, "utf-8", "surrogatepass")
        return module.__dict__

    def source(self) -> str:
        return self.code

    def load(self) -> dict[str, object]:
        namespace = self.namespace()
        exec(compile(self.source(), "main.py", "exec", dont_inherit=True), namespace)
        return namespace

    def function_in(self, namespace: dict[str, object]) -> Callable[..., object]:
        if self.entry_point in namespace:
            return namespace[self.entry_point]  # type: ignore[return-value]
        return getattr(namespace["Solution"](), self.entry_point or "")  # type: ignore[operator, no-any-return]

    def judge_text(self, expected: str, actual: str) -> None:
        if actual.split() != expected.split():
            raise Failed(f"{actual[:80]!r} is not {expected[:80]!r}")

    def judge_value(self, expected: object, actual: object) -> None:
        if not _same(expected, actual):
            raise Failed(f"{actual!r:.80} is not {expected!r:.80}")


def _same(expected: object, actual: object) -> bool:
    if isinstance(expected, list) and isinstance(actual, set | frozenset):
        return sorted(expected) == sorted(actual)
    if isinstance(expected, list):
        return len(expected) == len(actual) and all(map(_same, expected, actual))  # type: ignore[arg-type, call-overload]
    return bool(expected == actual)
