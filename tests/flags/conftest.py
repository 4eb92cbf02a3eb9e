"""Short ways to ask which flags a program has. Run alone: .venv/bin/python -m pytest tests/flags"""

import re
from collections.abc import Callable, Sequence

import pytest

from evaluator import flags
from evaluator.model import CaseResult, Mode, Task

Flags = Callable[..., dict[str, str]]
Examples = Sequence[tuple[flags.Given, object]]


def sections(text: str) -> dict[str, str]:
    """Programs by name; each stands under a line `== name`."""
    _, *parts = re.split(r"^== (.*)\n", text, flags=re.MULTILINE)
    return {name: code.rstrip() for name, code in zip(parts[::2], parts[1::2], strict=True)}


@pytest.fixture
def call_flags() -> Flags:
    """`call_flags(code, examples, prompt=..., cases=...)`: evidence by word, of a task that calls `f`."""
    return lambda code, examples=(), prompt="", cases=(): _flags(
        Task(task_id="t", mode=Mode.CALL, entry_point="f", prompt=prompt), code, examples, cases
    )


@pytest.fixture
def stdin_flags() -> Flags:
    """`stdin_flags(program, examples, cases=...)`: evidence by word, of a task that reads stdin."""
    return lambda code, examples=(), cases=(): _flags(Task(task_id="t", mode=Mode.STDIN), code, examples, cases)


def _flags(task: Task, code: str, examples: Examples, cases: Sequence[CaseResult]) -> dict[str, str]:
    answers = flags.Answers(flags.Example(test, *example) for test, example in enumerate(examples))
    return {flag.word: flag.evidence for flag in flags.flags_of(task, code, cases, (), answers)}
