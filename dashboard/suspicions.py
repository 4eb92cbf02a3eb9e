"""What is suspect about a task's test cases before anything runs: read from its prompt, its tests and its checker."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from dashboard.facts import counted
from evaluator.model import Mode, Task, TestCase
from evaluator.suites.reading.plan import notes_on
from evaluator.tasks import long_numbers
from evaluator.tasks.given_tests import CARRIAGE_RETURNS

_PARSED_MOST: Final = 4_000
"""Characters of a statement or example that are parsed."""
_AS_TEXT: Final = ("exact", "lines", "tokens")
"""Checkers that compare decimals as they are written."""
_DECIMAL: Final = re.compile(r"(?<![\w.])-?\d+\.\d+(?![\w.])")
_ANY_ORDER: Final = re.compile(
    r"\b(?:return|print|output|answer)\w*\b[^.]{0,160}\bin any order\b|\bany (?:valid|correct) (?:answer|solution)\b"
    r"|\bif there (?:are|is) (?:multiple|several|more than one)\b[^.]{0,60}\b(?:any|one) of (?:them|these)\b",
    re.IGNORECASE,
)
_DOCTEST: Final = re.compile(r"^[ \t]*>>>[ \t]*(.+)$", re.MULTILINE)
_NAMED: Final = re.compile(r"\bInput:?\**[ \t]*\n?[ \t]*([a-zA-Z_]\w*[ \t]*=[^\n]+)")
_SAMPLES: Final = re.compile(r"^[^\w\n]*(?:Sample|Example)s?\b", re.MULTILINE | re.IGNORECASE)
"""Where the description of the input ends and the examples begin."""
_SAMPLE: Final = re.compile(
    r"^[^\w\n]*(?:Sample|Example)?[ \t]*Input[ \t]*\d*[^\w\n]*\n+(?:```\w*\n)?(.+?)\n(?:```\n)?\s*[^\w\n]*"
    r"(?:Sample|Example)?[ \t]*Output\b",
    re.MULTILINE | re.DOTALL,
)


class Finding(NamedTuple):
    """A reason to look at a task's tests; the higher its weight, the more likely a test is wrong."""

    kind: str
    why: str
    weight: float
    test: int | None = None
    """The index of the test case; None: the whole task."""


def findings(task: Task, cases: Sequence[TestCase], checker: str | None) -> Iterator[Finding]:
    """All findings. `checker`: the one requested for the run. Raises nothing."""
    if not cases:
        yield Finding("untested", "no test case can run", 4)
        return
    yield from _repeats(task.mode, cases)
    if task.checker_code is None:
        yield from _comparison(task, cases, task.checker or checker)
    if task.mode in (Mode.CALL, Mode.STDIN, Mode.ASSERT):
        yield from _missing_examples(task, cases)
    if task.mode in (Mode.ASSERT, Mode.UNITTEST):
        yield from (Finding("itself", note, 3) for note in notes_on(task))


def _repeats(mode: Mode, cases: Sequence[TestCase]) -> Iterator[Finding]:
    """The same input twice, with the same expected output or with another."""
    seen: dict[str, TestCase] = {}
    for case in cases:
        given, expected = _sides(mode, case)
        first = seen.setdefault(given, case)
        if first is case:
            continue
        if _sides(mode, first)[1] == expected:
            yield Finding("repeat", f"the same as test {first.index}", 1, case.index)
        else:
            yield Finding("contradiction", f"the input of test {first.index}, another expected output", 6, case.index)


def _sides(mode: Mode, case: TestCase) -> tuple[str, str]:
    """Input and expected output, as far as they can be separated."""
    if mode is not Mode.ASSERT:
        return case.input, case.expected
    if "\n" not in case.input and len(case.input) <= _PARSED_MOST:
        match _parsed(case.input):
            case ast.Module(body=[ast.Assert(test=ast.Compare(left=ast.Call() as left, ops=[ast.Eq()]))]):
                return ast.unparse(left), case.expected
    return case.input, case.expected


def _comparison(task: Task, cases: Sequence[TestCase], checker: str | None) -> Iterator[Finding]:
    """Expected outputs that the task's checker can't compare well."""
    if task.mode not in (Mode.CALL, Mode.STDIN):
        return
    for case in cases:
        if not case.expected.strip():
            yield Finding("empty", "the expected output is empty", 2, case.index)
        if task.mode is Mode.STDIN and "\r" in case.input:
            yield Finding("carriage_returns", CARRIAGE_RETURNS, 3, case.index)
    if checker in _AS_TEXT and task.mode is Mode.STDIN:
        for case in cases:
            if _DECIMAL.search(case.expected[:_PARSED_MOST]):
                yield Finding("decimals", f"decimals, compared as text by {checker}", 3, case.index)
    if checker != "unordered" and _ANY_ORDER.search(task.prompt):
        yield Finding("order", "the prompt allows several answers, the checker one", 2)


def _missing_examples(task: Task, cases: Sequence[TestCase]) -> Iterator[Finding]:
    """Examples of the prompt that no test case has as its input."""
    examples = _samples(task) if task.mode is Mode.STDIN else _calls(task)
    known = (
        {text for case in cases if len(case.input) <= _PARSED_MOST for text in _inputs(task, case)} if examples else ()
    )
    missing = [text for text, given in examples.items() if given not in known]
    if missing:
        what = " ".join(missing[0].split())
        yield Finding("examples", f"{counted(len(missing), 'example')} of the prompt not tested: {what[:80]}", 1)


def _samples(task: Task) -> dict[str, str]:
    """The examples' inputs on stdin: as written, and in the form of `_inputs`."""
    start = _SAMPLES.search(task.prompt)
    return {text: " ".join(text.split()) for text in (_SAMPLE.findall(task.prompt, start.start()) if start else ())}


def _calls(task: Task) -> dict[str, str]:
    """The same for calls of the entry point with literals."""
    named = [f"{task.entry_point or 'f'}({text})" for text in _NAMED.findall(task.prompt)]
    texts = [text for text in (*_DOCTEST.findall(task.prompt), *named) if len(text) <= _PARSED_MOST]
    found = {text: _arguments(text, task.entry_point) for text in texts}
    return {text: given for text, given in found.items() if given is not None}


def _inputs(task: Task, case: TestCase) -> Iterator[str]:
    """A test case's input, or the arguments of its calls."""
    if task.mode is Mode.STDIN:
        yield " ".join(case.input.split())
    elif task.mode is Mode.CALL:
        yield repr([_decoded(line) for line in case.input.split("\n") if line.strip()])
    else:
        for node in ast.walk(_parsed(case.input) or ast.Pass()):
            if isinstance(node, ast.Call) and (given := _literals(node)) is not None:
                yield given


def _arguments(text: str, entry_point: str | None) -> str | None:
    """The arguments of a call of the entry point with literals; None for anything else."""
    match _parsed(text):
        case ast.Module(body=[ast.Expr(value=ast.Call(func=ast.Name(id=name)) as call)]) if entry_point in (name, None):
            return _literals(call)
        case _:
            return None


def _literals(call: ast.Call) -> str | None:
    try:
        values = [ast.literal_eval(value) for value in (*call.args, *(word.value for word in call.keywords))]
        return repr([_as_json(value) for value in values])
    except (ValueError, TypeError, RecursionError, MemoryError):
        return None


def _as_json(value: object) -> object:
    """As a test case's JSON would have it: lists for tuples."""
    return json.loads(json.dumps(value))


def _decoded(text: str) -> object:
    try:
        return long_numbers.loads(text)
    except ValueError:
        return text


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
