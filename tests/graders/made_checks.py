"""Checks and honest completions made at random, and what a plain run of both in one process finds.

Both are made of operations that do something sensible with whatever they are given, so that lists, dicts, objects,
functions, iterators and exceptions come to stand in each other, and either side changes what the other has kept. What
an assert asks for is what has been found while the check was made; sometimes it asks for something else.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from textwrap import indent
from types import FunctionType, GeneratorType
from typing import Any, NamedTuple

from evaluator.graders._plans import plan_for
from evaluator.graders.check_plan import CheckPlan
from evaluator.model import Mode, Task

Below = Callable[[int], int]
"""Chooses: gives an int from 0 up to, and without, the one that it is given."""

PREAMBLE = """
import collections, copy, enum, functools, itertools
from dataclasses import dataclass, field

MAPPINGS = (dict, collections.OrderedDict, collections.defaultdict)
SEQUENCES = (list, collections.deque)

class Node:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next

class Stop(Exception): pass

Pair = collections.namedtuple('Pair', 'one two')

@dataclass
class Point:
    x: object
    y: list = field(default_factory=list)

class Light(enum.Enum):
    RED = 1
    GREEN = 2

def is_box(target): return type(target).__name__ == 'Box'

def put(target, item):
    kind = type(target)
    if kind in SEQUENCES: target.append(item)
    elif kind in MAPPINGS: target[len(target)] = item
    elif kind is set: target.add(item if type(item) in (int, str) else len(target))
    elif kind is bytearray: target.append(len(target))
    elif kind is Node: target.next = item
    elif kind is Point: target.x = item
    elif is_box(target): put(target.items, item)

def drop(target):
    kind = type(target)
    if kind in SEQUENCES or kind is bytearray: target and target.pop()
    elif kind in MAPPINGS: target and target.popitem()
    elif kind is set: target.discard(min(target, key=repr, default=0))
    elif kind is Node: target.value = None
    elif kind is Point: target.y = []
    elif is_box(target): target.item = None

def turn(target):
    kind = type(target)
    if kind in SEQUENCES or kind is bytearray: target.reverse()
    elif kind in MAPPINGS and target:
        first = next(iter(target))
        target[first] = target.pop(first)
    elif kind is Node: target.value, target.next = target.next, target.value
    elif kind is Point: target.x, target.y = target.y, target.x
    elif is_box(target): target.item, target.items = target.items, target.item

def inner(target):
    kind = type(target)
    if kind in SEQUENCES or isinstance(target, tuple): return target[0] if target else target
    if kind in MAPPINGS: return next(iter(target.values())) if target else target
    if kind is Node: return target.value
    if kind is Point: return target.y
    if is_box(target): return target.items
    if isinstance(target, Exception): return target.args
    return target

def copied(target): return target.copy() if type(target) in (*SEQUENCES, *MAPPINGS, set) else [target]

def walked(source): return iter(source) if type(source) in (*SEQUENCES, *MAPPINGS, tuple) else source

def pulled(source, most): return list(itertools.islice(source, most)) if hasattr(source, '__next__') else source

def seen(*values):
    'All that can be told of the values, and which of them are the same object.'
    numbers, outer = {}, []
    def new(value, text=None):
        numbers[id(value)] = len(numbers), value
        return f'{text or type(value).__name__}#{len(numbers) - 1}'
    def all_of(values): return ' '.join(map(of, values))
    def of(value):
        kind = type(value)
        if value is None or kind in (bool, int, float, str, bytes): return repr(value)
        if isinstance(value, tuple): return f'{kind.__name__}({all_of(value)})'
        if kind is Light or kind is complex: return str(value)
        if kind is frozenset: return f'frozenset{sorted(map(of, value))}'
        if kind is type({}.keys()): return f'keys({all_of(value)})'
        if isinstance(value, type): return f'class {value.__name__}'
        if id(value) in numbers: return f'^{numbers[id(value)][0]}'
        if isinstance(value, Exception): return of_exception(value)
        if kind is bytearray: return new(value, repr(value))
        if kind in SEQUENCES: return f'{new(value)}[{all_of(value)}]'
        if kind is set: return f'{new(value)}{sorted(map(of, value))}'
        if kind in MAPPINGS: return f'{new(value)}[{all_of(value.items())}]'
        if kind is Node: return f'{new(value)}<{all_of((value.value, value.next))}>'
        if kind is Point: return f'{new(value)}<{all_of((value.x, value.y))}>'
        if is_box(value): return f'{new(value)}<{all_of((value.item, value.items))}>'
        if hasattr(value, '__next__'): return new(value, 'iterator')
        return new(value, 'function')
    def of_exception(error):
        name = type(error).__name__
        if outer or name in ('TypeError', 'AttributeError'): return name
        outer.append(error)
        text = f'{name}({all_of((*error.args, getattr(error, "extra", None)))})'
        outer.clear()
        return text
    return all_of(values)

def same(one, other): return one is other and not isinstance(one, (tuple, frozenset))

def twin(value):
    only_data = not any(word in seen(value) for word in ('iterator', 'function', 'Box'))
    return copy.deepcopy(value) if only_data else value
"""
"""Before both sides: the dataset's class, and what they work with."""

# The completion

_STATE = """
kept, table, log, last, count, asked = [], {}, [], None, 0, 0

def ask(function, *arguments):
    global asked
    asked += 1
    return function(*arguments) if callable(function) and asked < 30 else function

class Oops(Exception): pass

class Wrong(ValueError):
    def __init__(self, item, extra=None):
        super().__init__(item)
        self.extra = extra

class Box:
    shared = []
    def __init__(self, item=None, items=None):
        self.item = item
        self.items = [item] if items is None else items
    def give(self): return self.items
    def share(self): return Box.shared
    def walk(self):
        for item in self.items: yield item
    def __iter__(self): return iter(list(itertools.islice(self.items, 5)))
    def __getitem__(self, place): return self.items[place]
    def __contains__(self, item): return any(item is each for each in self.items)
    def __call__(self, item=None, other=None): return item
    def __enter__(self): return self.items
    def __exit__(self, kind, error, _):
        self.item = error
        return isinstance(error, LookupError)
    def __len__(self): return len(self.items) if hasattr(self.items, '__len__') else 0
"""
_ERRORS = ("ValueError", "KeyError", "Oops", "Wrong", "IndexError", "LookupError", "ZeroDivisionError")
_STEPS = (
    "put({x}, {y})",
    "put({x}, {n})",
    "drop({x})",
    "turn({x})",
    "kept.append({x})",
    "table[{n}] = {x}",
    "Box.shared.append({x})",
    "log.append(seen({x}, {y}))",
    "log.append(same({x}, {y}))",
    "count += {n}",
    "last = {x}",
    "last, {t} = {x}, last",
    "with Box({x}, {y}): put({y}, ask({x}, {n}))",
    "{t} = twin({x})",
    "{t} = functools.partial(ask, {x}, {y})",
    "{t} = sorted([3, {n}, 2], key=lambda item: ask({x}, item) and item)",
    "{t} = list(filter({x}, [{y}, {n}]))",
    "{t} = functools.reduce({x}, [{y}, {n}, {n}]) if callable({x}) else [*{y}] if type({y}) is list else {y}",
    "{t} = Pair({x}, {y})",
    "{t} = Point({x})",
    "{t} = Point({x}, [{y}])",
    "{t} = frozenset([{n}, ({n}, 'x')])",
    "{t} = (Light.RED, {x})",
    "{t} = {x}(other={y}) if is_box({x}) else {y}",
    "{t} = zip(walked({x}), [{y}, {n}])",
    "{t} = inner({x})",
    "{t} = inner(inner({x}))",
    "{t} = [{x}, {y}]",
    "{t} = ({x}, {y})",
    "{t} = {{'a': {x}, 'b': {y}}}",
    "{t} = Node({x}, {y})",
    "{t} = Box({x})",
    "{t} = Box({x}, {y})",
    "{t} = collections.deque([{x}, {n}])",
    "{t} = collections.defaultdict(list, {{{n}: {x}}})",
    "{t} = collections.OrderedDict([({n}, {x}), (9, {y})])",
    "{t} = copied({x})",
    "{t} = ask({x}, {y})",
    "{t} = ask({x}, {y})",
    "{t} = pulled({x}, {n})",
    "{t} = pulled({x}, {n})",
    "{t} = walked({x})",
    "{t} = map(copied, [{x}, {y}])",
    "{t} = (ask({x}, item) for item in [{y}, {n}])",
    "{t} = {x}.give if type({x}) is Box else {y}",
    "{t} = {x}.keys() if type({x}) is dict else {y}",
    "{t} = {error}({x})",
    "if len(log) > {n}: raise {error}({x})",
    "if isinstance({x}, Exception): raise {x}",
    "for item in itertools.islice(walked({x}), 3): put({y}, item)\n",
)
_GENERATORS_STEPS = ("yield {x}", "yield {y}", "yield {n}", "put({x}, (yield {y}))", "yield from walked({x})")
_NAMES = ("a", "a", "a", "b", "b", "held", "kept", "table", "last", "s", "s", "t", "u")


class _Completion:
    """Makes a completion's source."""

    def __init__(self, below: Below) -> None:
        self._below = below

    def source(self) -> str:
        functions = [self._function(name) for name in ("f", "g", "h")]
        method = self._function("work", first="self")
        return _STATE + indent(method, "    ") + "".join(functions)

    def _one_of(self, options: tuple[str, ...]) -> str:
        return options[self._below(len(options))]

    def _function(self, name: str, first: str = "") -> str:
        generator = self._below(4) == 0
        body = self._block(1 + self._below(5), generator, 0)
        body += f"return {self._result()}\n" if not generator or self._below(2) else "yield a\n"
        start = "global count, last\ns, t, u = [a], inner(b), Node(b)\n" + ("s = self\n" if first else "")
        arguments = ", ".join(filter(None, (first, "a=None", "b=None", "held=[]")))
        return f"def {name}({arguments}):\n" + indent(start + body, "    ")

    def _result(self) -> str:
        return self._one_of(("a", "b", "s", "t", "u", "held", "kept", "table", "(a, t)", "[s, t]", "seen(a, b)"))

    def _block(self, length: int, generator: bool, depth: int) -> str:
        return "".join(self._statement(generator, depth) for _ in range(length))

    def _statement(self, generator: bool, depth: int) -> str:
        choice = self._below(14) if depth < 2 else 13
        if choice == 0:
            return self._caught(generator, depth)
        if choice == 1:
            inside = self._below(4) == 0
            name = self._one_of(("s", "t", "u"))
            inner = "\n".join(
                ("global count, last", self._block(1 + self._below(2), inside, 2) + f"return {self._result()}")
            )
            return f"def inside(x=None, y=None):\n    nonlocal s, t, u\n{indent(inner, '    ')}\n{name} = inside\n"
        if generator and self._below(3) == 0:
            return self._filled(self._one_of(_GENERATORS_STEPS))
        return self._filled(self._one_of(_STEPS))

    def _caught(self, generator: bool, depth: int) -> str:
        body = self._block(1 + self._below(2), generator, depth + 1)
        handler = self._one_of(
            (
                "{t} = error",
                "kept.append(error)",
                "log.append(seen(error))",
                "raise",
                "raise Oops({x}) from error",
                "raise Wrong(error, {x})",
                "log.append(type(error).__name__)",
            )
        )
        kind = self._one_of(("Exception", "Exception", "ValueError", "LookupError", "(Oops, TypeError)"))
        source = f"try:\n{indent(body, '    ')}except {kind} as error:\n    {self._filled(handler)}"
        if not generator and self._below(3) == 0:
            source += f"finally:\n    {self._filled(self._one_of(_STEPS[:9]))}"
        return source

    def _filled(self, step: str) -> str:
        return (
            step.format(
                x=self._one_of(_NAMES),
                y=self._one_of(_NAMES),
                t=self._one_of(("s", "t", "u")),
                n=self._below(4),
                error=self._one_of(_ERRORS),
            ).rstrip("\n")
            + "\n"
        )


# The check

_TEST = """
told, asked_here = [], []

def ask_here(function, *arguments):
    asked_here.append(None)
    return function(*arguments) if callable(function) and len(asked_here) < 30 else function

class Own(Exception): pass

def counted(source=None):
    '''A generator of the test's.'''
    for number in range(3):
        told.append(number)
        yield walked(source) if number == 1 else [number]

def refuses(item=None, *_):
    told.append(seen(item))
    raise ValueError(item)

def misses(item=None, *_): raise Stop(item)

def owns(item=None, *_): raise Own(item)

def tells(item=None, other=None):
    told.append(item)
    return other

def changes(item=None, other=None):
    put(item, other)
    turn(other)
    return item

def asks(item=None, other=None): return ask_here(g, item, other)
"""
_FUNCTIONS = (
    "refuses",
    "misses",
    "tells",
    "tells",
    "changes",
    "changes",
    "asks",
    "asks",
    "len",
    "bool",
    "callable",
    "lambda x=None, y=None: [x, y]",
    "lambda x=None, y=None: turn(x)",
    "owns",
)
_CALLED = ("candidate", "candidate", "candidate", "g", "h", "Box", "{box}.work", "{function}")
_MADE = (
    "[]",
    "[{x}, {n}]",
    "[{x}, {y}]",
    "{{'k': {x}}}",
    "{{{n}: {x}, 'm': {y}}}",
    "({x}, {y})",
    "{{1, {n}}}",
    "bytearray(b'ab')",
    "Node({x}, {y})",
    "Node({n})",
    "collections.deque([{x}])",
    "collections.OrderedDict(p={x}, q={y})",
    "collections.defaultdict(list, {{{n}: {x}}})",
    "iter([{x}, {y}, {n}])",
    "counted({x})",
    "map(tells, [{x}, {y}])",
    "(item for item in [{x}, {y}])",
    "kept",
    "table",
    "Box.shared",
    "inner({x})",
    "copied({x})",
    "ValueError({x})",
    "Stop({x})",
    "Pair({x}, {y})",
    "Point({x})",
    "Point({x}, {y})",
    "Light.GREEN",
    "frozenset([{n}, ({n}, 7)])",
    "[1.5, -0.0, 'é', 10**30, True, b'x', 2j]",
    "last",
    "functools.partial({function}, {x})",
    "twin({x})",
    "zip(walked({x}), [{y}, {n}])",
    "{function}",
    "{function}",
)
_CHANGES = (
    "put({x}, {y})",
    "put({x}, {n})",
    "put({x}, {x})",
    "drop({x})",
    "turn({x})",
    "kept.append({x})",
    "table[{n}] = {x}",
    "Box.shared.append({x})",
    "told.append({x})",
    "told.append(pulled({x}, {n}))",
    "ask_here({x}, {y})",
    "ask_here({x}, {y})",
    "told.append({x} == {y})",
    "told.append(list(itertools.islice(Box({x}, {y}), 3)))",
    "told.append({box}[{n}])",
    "with {box} as c0: put(c0, {x})",
    "with {box} as c1: raise KeyError({n})",
)
_VARIABLES = 5


class Made(NamedTuple):
    """A completion and the statements of a check for it."""

    completion: str
    statements: tuple[str, ...]

    @property
    def task(self) -> Task:
        body = indent("\n".join(self.statements), "    ")
        test = f"{_TEST}\ndef check(candidate):\n    c0 = c1 = c2 = c3 = c4 = None\n{body}\n"
        return Task(task_id="t", mode=Mode.ASSERT, test=test, entry_point="f", preamble=PREAMBLE)


class _Check:
    """Makes a check's statements, each executed as soon as it is made."""

    def __init__(self, below: Below, completion: str) -> None:
        self._below = below
        self._names = started(completion)
        self._names.update(dict.fromkeys([f"c{number}" for number in range(_VARIABLES)]))
        self.statements: list[str] = []

    def make(self, length: int) -> tuple[str, ...]:
        for name in ("c0", "c1", "c2", "c3", "c4"):
            self._do(f"{name} = {self._filled(self._one_of(_MADE))}")
        self._do(self._call())
        for _ in range(length):
            self._makers[self._below(len(self._makers))](self)
        self._assert_seen()
        return tuple(self.statements)

    def _one_of(self, options: tuple[str, ...]) -> str:
        return options[self._below(len(options))]

    def _variable(self) -> str:
        return f"c{self._below(_VARIABLES)}"

    def _filled(self, text: str) -> str:
        boxes = [name for name in self._names if name[0] == "c" and type(self._names[name]).__name__ == "Box"]
        functions = [name for name in self._names if name[:1] == "c" and type(self._names[name]) is FunctionType]
        own = self._one_of(_FUNCTIONS)
        return text.format(
            x=self._variable(),
            y=self._variable(),
            n=self._below(4),
            box=boxes[self._below(len(boxes))] if boxes else "Box()",
            function=functions[self._below(len(functions))] if functions and self._below(2) else f"({own})",
        )

    def _do(self, statement: str) -> None:
        """One that is not to raise: where it does, the exception is told."""
        try:
            exec(compile(statement, "<made>", "exec"), self._names)
        except Exception as error:
            caught = self._one_of(("Exception", type(error).__name__, "(LookupError, ValueError, TypeError)"))
            handler = self._one_of(
                (
                    "told.append(error)",
                    "told.append(type(error).__name__)",
                    "c1 = error",
                    "told.append((type(error) is {kind}, isinstance(error, (Oops, ValueError))))",
                )
            )
            handler = handler.replace("{kind}", type(error).__name__)
            if not isinstance(error, eval(caught, self._names)):
                caught = "Exception"
            exec(handler, self._names | {"error": error})
            statement = f"try:\n    {statement}\nexcept {caught} as error:\n    {handler}"
            if handler.startswith("c1"):
                self._names["c1"] = error
            error.__traceback__ = None
        self.statements.append(statement)

    def _call(self) -> str:
        arguments = (self._variable() for _ in range(self._below(3)))
        return f"{self._filled(self._one_of(_CALLED))}({', '.join(arguments)})"

    def _assign(self) -> None:
        self._do(f"{self._variable()} = {self._filled(self._one_of(_MADE))}")

    def _assign_call(self) -> None:
        self._do(f"{self._variable()} = {self._call()}")

    def _just_call(self) -> None:
        self._do(self._call())

    def _change(self) -> None:
        self._do(self._filled(self._one_of(_CHANGES)))

    def _pull(self) -> None:
        sources = [name for name in self._names if name[:1] == "c" and type(self._names[name]) is GeneratorType]
        if not sources:
            return self._assign_call()
        source, target = sources[self._below(len(sources))], self._variable()
        pulling = self._one_of(("next({s}, None)", "list(itertools.islice({s}, {n}))", "{s}.send(None)"))
        return self._do(f"{target} = {pulling.format(s=source, n=self._below(3), x=self._variable())}")

    def _loop(self) -> None:
        body = self._one_of(("told.append(item)", "put({x}, item)", "g(item)", "turn(item)"))
        source = self._one_of(("walked({x})", "{call}", "Box({x}).walk()"))
        source = self._filled(source.replace("{call}", self._call().replace("{", "{{").replace("}", "}}")))
        call = f"for item in itertools.islice(walked({source}), 3):\n        {self._filled(body)}"
        self._do_judging(f"try:\n    {call}\nexcept (TypeError, ValueError):\n    told.append('stopped')")

    def _do_judging(self, statement: str) -> None:
        try:
            exec(compile(statement, "<made>", "exec"), self._names)
        except Exception as error:
            error.__traceback__ = None
        self.statements.append(statement)

    def _assert_seen(self) -> None:
        first = self._one_of(
            ("c0, c1, c2, c3, c4", "c0, c1, c2, c3, c4", "kept, table, last", "log, count", "told", "{call}")
        )
        rest = self._one_of(
            ("", "", ", c0, c1, c2, c3, c4", ", kept, last, c0, c1, c2, c3, c4", ", Box.shared", ", told")
        )
        self._assert(f"seen({first.replace('{call}', self._call())}{rest})")

    def _assert_same(self) -> None:
        other = self._one_of(("same({x}, {y})", "same(inner({x}), {y})", "len({x})", "bool({x})"))
        self._assert(self._filled(other))

    def _assert(self, expression: str) -> None:
        try:
            wanted = repr(eval(expression, self._names))
        except Exception as error:
            error.__traceback__ = None
            wanted = "None"
        if self._below(12) == 0:
            wanted = repr("something else")
        self.statements.append(f"assert {expression} == {wanted}")

    def _forget(self) -> None:
        self._do(f"{self._variable()} = None")

    _makers = (
        _assign, _assign, _assign, _assign_call, _assign_call, _assign_call, _just_call, _change, _change, _change,
        _pull, _loop, _assert_seen, _assert_seen, _assert_seen, _assert_same, _forget,
    )  # fmt: skip


def made(below: Below) -> Made:
    """A completion and a check for it."""
    completion = _Completion(below).source()
    return Made(completion, _Check(below, completion).make(3 + below(40)))


# The plain run


def started(completion: str) -> dict[str, Any]:
    """The globals of one process after the completion and the test's module."""
    names: dict[str, Any] = {"__name__": __name__}
    for source in (PREAMBLE, completion, _TEST):
        exec(source, names)
    names["candidate"] = names["f"]
    return names


class Plain(NamedTuple):
    """How each test case of a plan ends: `passed`, `failed`, `not run`, or the name of an exception's class."""

    plan: CheckPlan
    ends: list[str]


def run_plainly(made_check: Made) -> Plain:
    """Runs a check by its plan in this process."""
    plan = plan_for(made_check.task, None)
    assert isinstance(plan, CheckPlan)
    names = started(made_check.completion)
    tree: Any = ast.parse(plan.check.test)
    body = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "check").body
    ends = list(_ends(plan, body, names))
    return Plain(plan, ends + ["not run"] * (len(plan.cases) - len(ends)))


def _ends(plan: CheckPlan, body: list[ast.stmt], names: dict[str, Any]) -> Iterator[str]:
    for first, last, judges in plan.spans:
        end = last if judges else last + 1
        setup_failed, told = _executed(body[first:end], names), None
        if setup_failed is None:
            told = _executed(body[end : last + 1], names)
        ended = setup_failed or told
        yield ended or "passed"
        if setup_failed or (ended and not plan.goes_on):
            return


def _executed(statements: list[ast.stmt], names: dict[str, Any]) -> str | None:
    module = ast.Module(body=statements, type_ignores=[])
    try:
        exec(compile(module, "<made>", "exec"), names)
    except AssertionError:
        return "failed"
    except Exception as error:
        return type(error).__name__
    return None
