"""Finds hard-coded answers: at least three test cases whose input and output are both in the code, as a pair.

Only code that the graded function (or the program) reaches counts, so a completion's own tests do not. A task may
really need a table of months, a colour for each name or the words for digits. So a pair of plain words or of small
values counts only in a table, or among branches, of nothing but test cases of which at least one is more than a base
case, and a word only if the prompt does not mention it outside its examples.
"""

from __future__ import annotations

import ast
import calendar
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from evaluator.flags.reaching import is_main_guard, shortened
from evaluator.model import Mode, Task
from evaluator.syntax import MAX_PARSED, completion_tree, lines_of, tree_of

_FEWEST = 3
LONGEST = 4_000
"""Characters of a test case that is searched for: nobody hard-codes longer ones."""

_MOST_LOOKED_FOR = 100
_MOST_LISTS = 6
_LINE = 40
"""Characters, when the length of a literal is estimated."""
_TEXTS_AND_COMMENTS = re.compile(r'"""[\s\S]*?"""|' + r"'''[\s\S]*?'''|#[^\n]*")
_RUN = re.compile(r"[^\[\](){}'\"\\]+")
_NUMBER = re.compile(r"[-+]?\d{1,300}(?:\.\d{1,300})?")
_EXAMPLE = re.compile(r">>>|\bassert\b|\binput\b|\boutput\b|^\s*['\"\[(\d-]", re.IGNORECASE)
_NUMBER_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million"
)
_COMMON_WORDS = frozenset(
    word.lower()
    for words in (calendar.month_name, calendar.month_abbr, calendar.day_name, calendar.day_abbr, _NUMBER_WORDS.split())
    for word in words
)

Given = tuple[object, ...] | str
"""A call's arguments, or the text of stdin."""


class Example(NamedTuple):
    """A test case: its index, its input and its expected output, values or texts."""

    test: int
    given: Given
    expected: object


class _Wanted(NamedTuple):
    """A test case as code would contain it: what is needed to see that it does not."""

    example: Example
    certain: bool
    """Whether the only reason to write it down is to know the answer."""
    signs: tuple[str, ...]
    """Pieces without white space that code with the pair has."""

    @property
    def given(self) -> list[str]:
        """The input in each form in which a literal can be compared with it."""
        given = self.example.given
        return [_folded(given)] if isinstance(given, str) else _forms_of_arguments(given)

    @property
    def answer(self) -> str:
        expected = self.example.expected
        return _folded(expected) if isinstance(expected, str) else _canonical(expected)

    @property
    def words(self) -> tuple[str, ...]:
        """The words of an input that consists of plain words only."""
        leaves = _leaves_of(self.example.given)
        words = tuple(leaf for leaf in leaves if isinstance(leaf, str) and leaf.isalpha() and len(leaf) >= 3)
        return words if len(words) == len(leaves) else ()

    @property
    def tiny(self) -> bool:
        """Whether it could be a base case: a small number, a letter."""
        leaves = _leaves_of(self.example.given)
        long_text = any(isinstance(leaf, str) and len(leaf) > 2 for leaf in leaves)
        return not (len(leaves) > 1 or long_text or any(abs(number) >= 10 for number in _numbers(leaves)))


class _Pair(NamedTuple):
    """An input and its answer in the code. `place` is equal for those of one table, or of one function's branches."""

    given: object
    answer: object
    line: int
    place: int


class Answers:
    """The test cases of a task, prepared for the search."""

    def __init__(self, examples: Iterable[Example]) -> None:
        self._wanted: list[_Wanted] = []
        for example in examples:
            with suppress(RecursionError, ValueError):  # an int that is too long for a decimal text
                wanted = _wanted(example)
                if wanted is not None:
                    self._wanted.append(wanted)
            if len(self._wanted) == _MOST_LOOKED_FOR:
                break

    def may_be_in(self, code: str) -> bool:
        """Whether enough of them could be in the code, outside comments and docstrings. Mostly takes microseconds."""
        if len(self._wanted) < _FEWEST or not self._seen("".join(code.split())):
            return False
        return self._seen("".join(_TEXTS_AND_COMMENTS.sub("", code).split()))

    def lines_in(self, tree: ast.Module, task: Task) -> dict[int, int]:
        """The lines of the code that have the answers, by the indexes of the test cases."""
        pairs = list(_pairs(_reached(tree, None if task.mode is Mode.STDIN else task.entry_point)))
        sought = {(given, wanted.answer): wanted for wanted in self._wanted for given in wanted.given}
        hits = [
            (pair, sought[forms])
            for pair in pairs
            for forms in ((given, answer) for given in _forms(pair.given) for answer in _forms(pair.answer))
            if forms in sought
        ]
        sizes = Counter(pair.place for pair in pairs)
        known = Counter({id(pair): pair.place for pair, _ in hits}.values())
        more_than_base_cases = {pair.place for pair, wanted in hits if not wanted.tiny}
        copied = {place for place in more_than_base_cases if _FEWEST <= known[place] == sizes[place]}
        return {
            wanted.example.test: pair.line
            for pair, wanted in hits
            if wanted.certain or (pair.place in copied and not _are_mentioned(wanted.words, task))
        }

    def _seen(self, squeezed: str) -> bool:
        squeezed = squeezed.replace('"', "'")
        seen = 0
        for wanted in self._wanted:
            seen += all(map(squeezed.__contains__, wanted.signs))
            if seen == _FEWEST:
                return True
        return False


def hard_coded_evidence(task: Task, code: str, answers: Answers) -> str | None:
    """The evidence that the code contains answers of the task; None if it contains too few."""
    tree = completion_tree(code) if len(code) <= MAX_PARSED and answers.may_be_in(code) else None
    if tree is None:
        return None
    try:
        found = answers.lines_in(tree, task)
    except (RecursionError, ValueError):
        return None
    if len(found) < _FEWEST:
        return None
    shown = [f"test {index} on line {line}" for index, line in sorted(found.items())[:_FEWEST]]
    text = shortened(lines_of(code)[found[min(found)] - 1])
    return f"the code contains input and output of {len(found)} tests: {', '.join(shown)}: {text}"


# What a test case looks like in code


def _wanted(example: Example) -> _Wanted | None:
    given, expected = example.given, example.expected
    leaves = _leaves_of(given)
    answer = _leaves(expected.split() if isinstance(given, str) and isinstance(expected, str) else (expected,))
    if not leaves or any(isinstance(leaf, str) and leaf.lower() in _COMMON_WORDS for leaf in (*leaves, *answer)):
        return None
    certain = _is_particular(leaves)
    return _Wanted(example, certain, tuple(map(_longest_run, (given, expected) if certain else (*leaves, *answer))))


def _forms_of_arguments(given: tuple[object, ...]) -> list[str]:
    if len(given) > 1:
        return [_canonical(given)]
    only = given[0]
    return [_folded(only)] if isinstance(only, str) else [_canonical(only), _folded(repr(only))]


def _forms(literal: object) -> Iterator[str]:
    """The values and texts that a literal in the code can represent."""
    if isinstance(literal, str):
        yield _folded(literal)
        return
    yield _canonical(literal)
    items = literal if isinstance(literal, list | tuple) else [literal]
    yield _folded(" ".join(str(item) for item in items))


def _folded(text: str) -> str:
    return "text " + " ".join(text.split())


def _canonical(value: object) -> str:
    """The same text for values that graders treat as equal: tuples and lists, 2 and 2.0."""
    if type(value) in _WRITTEN_ALIKE:
        return repr(value)
    match value:
        case list() | tuple():
            return f"[{','.join(map(_canonical, value))}]"
        case set() | frozenset():
            return f"[{','.join(sorted(map(_canonical, value)))}]"
        case dict():
            return "{" + ",".join(sorted(f"{_canonical(key)}:{_canonical(value[key])}" for key in value)) + "}"
        case float() if value.is_integer():
            return repr(int(value))
    return repr(value)


_WRITTEN_ALIKE = (int, str, bool, type(None))


def _leaves_of(given: Given) -> list[object]:
    return _leaves(given.split() if isinstance(given, str) else given)


def _leaves(value: object) -> list[object]:
    """The scalars of a value, in any order; words of stdin that are numbers become numbers."""
    found: list[object] = []
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, list | tuple | set | frozenset):
            pending.extend(item)
        elif isinstance(item, dict):
            pending.extend((*item.keys(), *item.values()))
        else:
            found.append(float(item) if isinstance(item, str) and _NUMBER.fullmatch(item) else item)
    return found


def _numbers(leaves: list[object]) -> list[float]:
    return [leaf for leaf in leaves if isinstance(leaf, int | float) and not isinstance(leaf, bool)]


def _is_particular(leaves: list[object]) -> bool:
    """Whether it is too particular for a table of common knowledge."""
    if len(leaves) >= 3:
        return True
    numbers = _numbers(leaves)
    texts = [leaf for leaf in leaves if isinstance(leaf, str)]
    return (
        sum(abs(number) >= 10 for number in numbers) >= 2
        or any(abs(number) >= 1000 or (isinstance(number, float) and not number.is_integer()) for number in numbers)
        or any(len(text) >= 16 or (len(text) >= 6 and not text.isalpha()) for text in texts)
    )


def _are_mentioned(words: tuple[str, ...], task: Task) -> bool:
    """Whether the prompt mentions one of the words outside its examples, so that a table may need it."""
    call = f"{task.entry_point}("
    prose = [line for line in task.prompt.split("\n") if not _EXAMPLE.search(line) and call not in line]
    return any(re.search(rf"\b{re.escape(word)}\b", line, re.IGNORECASE) for word in words for line in prose)


def _longest_run(value: object) -> str:
    """The longest piece of the value that code without white space must contain, however the value is written."""
    texts = value.split("\n") if isinstance(value, str) else [_canonical(value)]
    runs = ["".join(run.split()).strip(",:") for text in texts for run in _RUN.findall(text)]
    return max(runs, key=len, default="") or "".join(texts[0].split()).strip("'\"")


# Pairs of literals in code


def _pairs(statements: list[ast.stmt]) -> Iterator[_Pair]:
    lists: list[tuple[list[ast.expr], int]] = []
    for statement in statements:
        for node in ast.walk(statement):
            match node:
                case ast.Dict(keys=keys, values=values):
                    for key, value in zip(keys, values, strict=True):
                        yield from _pair([key], value, id(node))
                case ast.If(test=test, body=body):
                    yield from _pair(_compared(test), _first_answer(body), id(statement))
                case ast.IfExp(test=test, body=answer):
                    yield from _pair(_compared(test), answer, id(statement))
                case ast.match_case(pattern=pattern, guard=None, body=body):
                    yield from _pair(_of_pattern(pattern), _first_answer(body), id(statement))
                case ast.Assign(targets=[ast.Subscript(slice=key)], value=value):
                    yield from _pair([key], value, id(statements))
                case ast.List(elts=elements) | ast.Tuple(elts=elements) if len(elements) >= _FEWEST:
                    rows = [row.elts for row in elements if isinstance(row, ast.Tuple | ast.List) and len(row.elts) > 1]
                    for *arguments, answer in rows if len(rows) == len(elements) else ():
                        yield from _pair(arguments, answer, id(node))
                    lists.append((elements, id(node)))
    for (first, _), (second, place) in itertools.permutations(lists, 2) if len(lists) <= _MOST_LISTS else ():
        for given, answer in zip(first, second, strict=True) if len(first) == len(second) else ():
            yield from _pair([given], answer, place)


def _pair(given: Sequence[ast.expr | None], answer: ast.expr | None, place: int) -> Iterator[_Pair]:
    """The pair, if all of it are literals. `given`: one input, or its arguments."""
    if not given or answer is None:
        return
    with suppress(ValueError, TypeError, RecursionError, MemoryError):
        values = [_value(node) for node in given]
        yield _Pair(values[0] if len(values) == 1 else values, _value(answer), answer.lineno, place)


def _value(node: ast.expr | None) -> Any:
    """Raises `ValueError` if it is no literal, or longer than any that is searched for."""
    match node:
        case ast.Call(func=ast.Name(id="set" | "list" | "tuple" | "frozenset"), args=[inner], keywords=[]):
            return _value(inner)
        case ast.expr(lineno=first, end_lineno=last, col_offset=begin, end_col_offset=end):
            if ((last or first) - first) * _LINE + (end or 0) - begin <= 4 * LONGEST:
                return ast.literal_eval(node)
    raise ValueError


def _compared(test: ast.expr) -> list[ast.expr | None]:
    """Of `x == 1`, or of `x == 1 and y == 2`, the sides that may be literals."""
    found: list[ast.expr | None] = []
    for part in test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]:
        match part:
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                found.append(right if any(isinstance(inner, ast.Name) for inner in ast.walk(left)) else left)
            case _:
                return []
    return found


def _of_pattern(pattern: ast.pattern) -> list[ast.expr]:
    """The value that it matches; empty if it is more than one."""
    tree = tree_of(ast.unparse(pattern))
    return [node.value for node in tree.body if isinstance(node, ast.Expr)] if tree else []


def _first_answer(body: list[ast.stmt]) -> ast.expr | None:
    """The first value that is returned, printed or assigned."""
    for statement in body:
        match statement:
            case ast.Return(value=value) | ast.Assign(value=value):
                return value
            case ast.Expr(value=ast.Call(func=ast.Name(id="print") | ast.Attribute(attr="write"), args=[value])):
                return value
            case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=[_, _, *_] as values)):
                return ast.copy_location(ast.List(values, ast.Load()), statement)
    return None


def _reached(tree: ast.Module, entry_point: str | None) -> list[ast.stmt]:
    """The top-level statements that run for an input, or define names that those use."""
    top = list(_top(tree.body, with_main=entry_point is None))
    defined: dict[str, list[ast.stmt]] = {}
    for statement in top:
        for name in _defines(statement):
            defined.setdefault(name, []).append(statement)
    if entry_point is None:
        waiting = [each for each in top if not isinstance(each, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef)]
    else:
        waiting = list(defined.get(entry_point) or defined.get("Solution", []))
    found: set[int] = set()
    while waiting:
        statement = waiting.pop()
        if id(statement) in found:
            continue
        found.add(id(statement))
        for node in ast.walk(statement):
            if isinstance(node, ast.Name | ast.Attribute):
                waiting += defined.get(node.id if isinstance(node, ast.Name) else node.attr, [])
    return [statement for statement in top if id(statement) in found]


def _top(body: list[ast.stmt], *, with_main: bool) -> Iterator[ast.stmt]:
    """Statements outside functions and classes; those inside `try` and `with` one by one."""
    for statement in body:
        match statement:
            case ast.If() if is_main_guard(statement):
                if with_main:
                    yield statement
            case ast.Try(body=inner) | ast.With(body=inner):
                yield from _top(inner, with_main=with_main)
            case _:
                yield statement


def _defines(statement: ast.stmt) -> set[str]:
    targets: list[ast.expr] = []
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Assign():
            targets = statement.targets
        case (
            ast.AnnAssign(target=target)
            | ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name() as target, attr="update")))
        ):
            targets = [target]
    return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}
