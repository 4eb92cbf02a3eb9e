"""Tasks made of a few lines of a test, and what is planned from them."""

from textwrap import dedent, indent

from evaluator.model import Mode, Task
from evaluator.suites.reading.plan import SuitePlan, plan_suite

IMPORTS = """
    import asyncio, builtins, dataclasses, decimal, importlib, inspect, io, json, os, random, signal, sys, threading
    import time, unittest, warnings
    import unittest.mock
    import matplotlib.pyplot as plt
    from contextlib import redirect_stderr, redirect_stdout
    from unittest import mock
    from unittest.mock import MagicMock, Mock, patch
    case = unittest.TestCase()
    buffer = io.StringIO()
    """


def source(text: str) -> str:
    return dedent(text).strip("\n") + "\n"


def task(
    test: str, *, mode: Mode = Mode.ASSERT, entry_point: str | None = "f", prompt: str = "", preamble: str = ""
) -> Task:
    return Task(
        task_id="t",
        mode=mode,
        test=source(test),
        entry_point=entry_point,
        prompt=source(prompt) if prompt else "",
        preamble=source(preamble) if preamble else "",
    )


def check_task(body: str, *, before: str = "", **fields: str) -> Task:
    """A task whose `check(candidate)` has this body; `before` stands above it."""
    return task(source(before) + "def check(candidate):\n" + indent(source(body), "    "), **fields)  # type: ignore[arg-type]


def planned(body: str, *, before: str = "", **fields: str) -> SuitePlan:
    return plan_suite(check_task(body, before=before, **fields))


def suite(body: str, *, before: str = "import unittest", **fields: str) -> SuitePlan:
    """The plan for a class of test methods."""
    test = source(before) + "class Tests(unittest.TestCase):\n" + indent(source(body), "    ")
    return plan_suite(task(test, mode=Mode.UNITTEST, **fields))  # type: ignore[arg-type]


def shown(plan: SuitePlan) -> list[tuple[str, str]]:
    """What is shown of each test case: its input, and what it asks for."""
    return [(case.input, case.expected) for case in plan.cases]
