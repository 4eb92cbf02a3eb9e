"""Reads given inputs and outputs, in every shape that datasets and trainers have, as test cases.

| mode | input | output | the call or program gets | and must give |
|---|---|---|---|---|
| call | text | text | the JSON values on its lines, one an argument | the JSON value |
| call | text | any other value | the same | that value |
| call | list | any value | its items as arguments | that value: the text `"12"` is not a number |
| call | any other value | any value | that one argument | that value |
| stdin | text | text | the text, with line feeds where all its lines end in CRLF, as judges have it | the text |
| stdin | list | list | its items as lines | its items as lines |

Many rows of APPS' kind wrap each output in a list of one: `[[3], [7]]` for a function that returns 3 and 7. Where every
output of a call task is such a list, what the row says about its function decides: the annotation of what it returns
(in the reference or the prompt), else an example in the prompt. Where nothing decides, both readings are right.
"""

from __future__ import annotations

import ast
import builtins
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from evaluator import syntax
from evaluator.tasks import long_numbers
from evaluator.tasks.parts import JsonValue, Mode, RecordError, TestCase

_LONGEST = 100_000
"""Characters of a reference or a prompt that are looked at."""
CARRIAGE_RETURNS = "its input has carriage returns, which input() keeps"
"""What `stdin_input` leaves: where not every line ends in CRLF, they may be meant."""
_LISTS = re.compile(r"(?:typing\.)?(?:list|List|tuple|Tuple|Sequence|Iterable|set|Set|deque)\b")
_OTHERS = re.compile(r"(?:typing\.)?(?:int|str|float|bool|complex|None|dict|Dict)\b")


_LIKE_TESTS = re.compile(r"test|assert|cases|in_?outs?", re.IGNORECASE)


def unread_tests(fields: Mapping[str, JsonValue]) -> str | None:
    """The field that looks like tests, of those of a row that nothing was made of; None if none does."""
    return next((name for name, value in fields.items() if _looks_like_tests(name, value)), None)


def _looks_like_tests(name: str, value: JsonValue) -> bool:
    first = value[0] if isinstance(value, list) and value else value
    if isinstance(first, str):
        text = first.lstrip()
        return text.startswith("assert ") or (
            _LIKE_TESTS.search(name) is not None and (text[:1] in ("{", "[") or "assert" in text)
        )
    return isinstance(first, Mapping) and len(first) > 0 and _LIKE_TESTS.search(name) is not None


class About(NamedTuple):
    """What a row says about the function that is tested: its name, and texts that may show what it returns."""

    name: str | None = None
    reference: str = ""
    prompt: str = ""


def cases_from(in_outs: Mapping[str, JsonValue], mode: Mode, about: About | None = None) -> tuple[TestCase, ...]:
    """Test cases from `inputs` and `outputs`, by the table above. Raises `RecordError`."""
    inputs, outputs = in_outs.get("inputs", []), in_outs.get("outputs", [])
    if not isinstance(inputs, list) or not isinstance(outputs, list):
        raise RecordError("in_outs.inputs and in_outs.outputs must be lists")
    if len(inputs) != len(outputs):
        counts = f"{len(inputs)} inputs but {len(outputs)} outputs"
        raise RecordError(f"in_outs has {counts}: give one output per input")
    if mode is not Mode.CALL:
        pairs = zip(map(stdin_input, map(_stdin_text, inputs)), map(_stdin_text, outputs), strict=True)
        return tuple(TestCase(index, *pair) for index, pair in enumerate(pairs))
    wrapped = _wrapped(outputs, about or About())
    return tuple(
        _call_case(index, given, wanted, wrapped)
        for index, (given, wanted) in enumerate(zip(inputs, outputs, strict=True))
    )


def _call_case(index: int, given: JsonValue, wanted: JsonValue, wrapped: bool | None) -> TestCase:
    """`wrapped`: whether each output is in a list; None: both may be right."""
    if isinstance(given, str) and isinstance(wanted, str):
        return TestCase(index, given, wanted)
    arguments = (
        given if isinstance(given, str) else "\n".join(map(_json, given if isinstance(given, list) else [given]))
    )
    if wrapped is False:
        return TestCase(index, arguments, _json(wanted))
    if wrapped:
        return TestCase(index, arguments, _json(wanted[0]))
    return TestCase(index, arguments, _json(wanted), also=_json(wanted[0]))


def stdin_input(text: str) -> str:
    """A program's input; `input()` would give a program the carriage return of every line."""
    return text.replace("\r\n", "\n") if 0 < text.count("\r\n") == text.count("\n") else text


def _stdin_text(value: JsonValue) -> str:
    if isinstance(value, str):
        return value
    lines = value if isinstance(value, list) else [value]
    return "\n".join(line if isinstance(line, str) else _json(line) for line in lines)


def _json(value: JsonValue) -> str:
    """JSON on one line, as Python reads it: NaN stays NaN, and a lone surrogate is escaped."""
    text = long_numbers.dumps(value)
    return text if text.isascii() or text.isprintable() else json.dumps(value)


# whether each output is in a list of one


def _wrapped(outputs: list[JsonValue], about: About) -> bool | None:
    """False where not every output is a list of one; None where nothing decides."""
    if not outputs or not all(isinstance(output, list) and len(output) == 1 for output in outputs):
        return False
    if about.name is None:
        return None
    texts = [text for text in (about.reference, about.prompt) if about.name in text and len(text) <= _LONGEST]
    shown = (shown for text in texts for shown in (_returns(text, about.name), _gives(text, about.name)))
    is_list = next((each for each in shown if each is not None), None)
    if is_list is None:
        return None
    # a list of lists that is returned may be wrapped all the same
    return None if is_list and any(isinstance(output[0], list) for output in outputs) else not is_list


def _returns(text: str, name: str) -> bool | None:
    """Whether the annotation of what the function returns is a list's; None without one that says."""
    found = re.search(
        rf"\bdef[ \t]+{re.escape(name)}[ \t]*\([^\n]{{0,1000}}\)[ \t]*->[ \t]*([^\n]+?):?[ \t]*(?:\n|$)", text
    )
    annotation = found[1].strip("\"' ") if found else ""
    if _LISTS.match(annotation):
        return True
    return False if _OTHERS.match(annotation) else None


def _gives(text: str, name: str) -> bool | None:
    """Whether the examples of calls show lists; None without one, or if they differ."""
    shown = {isinstance(value, list | tuple) for value in _examples(text, name)}
    return shown.pop() if len(shown) == 1 else None


def _examples(text: str, name: str) -> Iterator[object]:
    """The values in `f(1) == 2`, `f(1) => 2`, `f(1) # 2`, and on the line after `>>> f(1)`."""
    call = rf"\b{re.escape(name)}\([^\n]{{0,200}}?\)[ \t]*"
    for found in re.finditer(
        rf"{call}(?:===?|=>|->|→|\#|//|returns?\b)[ \t]*([^\n]+)|>>>[^\n]{{0,200}}?{call}\n[ \t]*([^\n]+)", text
    ):
        value = _literal((found[1] or found[2]).strip().rstrip(".,;`"))
        if value is not _NO_VALUE:
            yield value


_NO_VALUE = object()


def _literal(text: str) -> object:
    tree = syntax.tree_of(text)
    body = tree.body if tree else []
    if len(body) != 1 or not isinstance(body[0], ast.Expr):
        return _NO_VALUE
    try:
        return ast.literal_eval(body[0].value)
    except (ValueError, TypeError, RecursionError, MemoryError):
        return _NO_VALUE


_OF_TESTS = frozenset(("candidate", "check"))


def names_called(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Every name that is called in these nodes or below, once per call."""
    for node in nodes:
        for part in ast.walk(node):
            if isinstance(part, ast.Call) and isinstance(part.func, ast.Name):
                yield part.func.id


def entry_point_of(test: str, preamble: str) -> str | None:
    """The only name that the test's asserts call and neither Python nor the dataset defines; None if there is none.

    Raises `RecordError` if there are several.
    """
    try:
        trees = [syntax.parse(test), syntax.parse(preamble)]
        parts = [part for tree in trees for part in ast.walk(tree)]
        asserts = [part for part in ast.walk(trees[0]) if isinstance(part, ast.Assert)]
        called = dict.fromkeys(names_called(asserts))
    except syntax.NOT_PYTHON:
        return None
    known = _OF_TESTS.union(dir(builtins), *map(names_bound, parts))
    names = [name for name in called if name not in known]
    if len(names) > 1:
        raise RecordError(f"entry_point is missing, and the asserts call {', '.join(names)}: name the function to test")
    return names[0] if names else None


def names_bound(node: ast.AST) -> Iterator[str]:
    """The names that a node itself binds; `*` for an import that does not say which."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
            yield name
        case ast.Name(id=name, ctx=ast.Store()):
            yield name
        case ast.alias(name=name, asname=renamed):
            yield renamed or name.partition(".")[0]
