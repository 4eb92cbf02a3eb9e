"""A replay with tracing: its steps, what they show, its bounds, and completions that fight it."""

import ast
import json
import sys
from pathlib import Path

import pytest

from evaluator import tracing
from evaluator.model import Limits, Mode, Task, TestCase
from evaluator.tracing import Replay, Step, Window, replay
from evaluator.tracing.traced_run import read

LIMITS = Limits(wall_s=120, cpu_s=60)
PATIENT = Window(most_s=60)
COUNTING = "total = 0\nfor n in range(int(input())):\n    total += n\nprint(total)\n"


def stdin_task(text: str = "3\n", expected: str = "3\n") -> Task:
    return Task(task_id="t", mode=Mode.STDIN, cases=(TestCase(0, text, expected),))


def call_task(*arguments: object, expected: object = 0) -> Task:
    lines = "\n".join(map(json.dumps, arguments))
    return Task(task_id="t", mode=Mode.CALL, entry_point="f", cases=(TestCase(0, lines, json.dumps(expected)),))


def traced(task: Task, code: str, window: Window = PATIENT) -> Replay:
    return replay(task, code, 0, limits=LIMITS, window=window)


def lines(made: Replay) -> list[int]:
    return [step.line for step in made.trace.steps]


def changes(step: Step) -> dict[str, str]:
    return {change.name: change.value for change in step.changed}


def test_a_stdin_program_is_followed_line_by_line() -> None:
    made = traced(stdin_task(), COUNTING)
    assert lines(made) == [1, 2, 3, 2, 3, 2, 3, 2, 4]
    assert [changes(step) for step in made.trace.steps[:5]] == [
        {"total": "0"},
        {"n": "0"},
        {},
        {"n": "1"},
        {"total": "1"},
    ]
    assert made.trace.end is not None
    assert (made.trace.end.how, made.trace.end.steps, made.trace.broken) == ("ended", 9, False)
    assert made.right is True


def test_the_checker_says_whether_the_replay_is_right() -> None:
    assert traced(stdin_task(expected="4\n"), COUNTING).right is False


def test_a_program_is_main_and_a_function_s_module_is_not() -> None:
    assert traced(stdin_task(expected="__main__\n"), "print(__name__)\n").right is True
    end = traced(call_task(), "def f():\n    return __name__\n").trace.end
    assert end is not None
    assert end.value == "'solution'"


def test_a_call_shows_arguments_items_and_what_it_returned() -> None:
    made = traced(call_task([5, 7], 1), "def f(a, i):\n    x = a[i] + a[i-1]\n    return [x]\n")
    first, last = made.trace.steps
    assert [tuple(each) for each in first.items] == [("a[i]", "7"), ("a[i-1]", "5")]
    assert [tuple(each) for each in first.whole] == [("a", "[5, 7]"), ("i", "1")]
    assert (changes(first), last.said) == ({"x": "12"}, "returned [12]")
    assert made.trace.end is not None
    assert made.trace.end.value == "[12]"


def test_what_a_comprehension_read_before_its_variable_changed_is_not_shown() -> None:
    made = traced(call_task([1, 2]), "def f(a):\n    return sum(a[n + 1] for n in range(2))\n")
    step = made.trace.steps[-1]
    assert (changes(step)["n"], step.said) == ("1", "raised IndexError: list index out of range")
    assert step.items == []


def operands(made: Replay) -> list[dict[str, str]]:
    return [{item.name: item.value for item in step.items} for step in made.trace.steps]


@pytest.mark.parametrize(
    ("condition", "shown"),
    [
        ("a and a[0] < a[-1]", {"a[0]": "1", "a[-1]": "3"}),
        ("rows[-1][1] < rows[0][k]", {"rows[-1][1]": "4", "rows[0][k]": "2"}),
        ("a[len(a) - 1] == a[a[0]-k]", {"a[len(a) - 1]": "3", "len(a)": "3", "a[a[0]-k]": "1", "a[0]": "1"}),
        ("by['x'] > by[word][0]", {"by['x']": "[7]", "by[word][0]": "8"}),
        ("len(rows[0]) == len(by)", {"len(rows[0])": "2", "len(by)": "2"}),
        ("box.left.value > box . value", {"box.left.value": "0", "box . value": "5"}),
        ("box.slot == box.limit", {"box.limit": "9"}),
        ('f"{a[0]}" == f"{by["x"]}"' if sys.version_info >= (3, 12) else 'f"{a[0]}"', {"a[0]": "1"}),
        ("len(set(a)) > 2 and a[k:] and a.pop()", {}),
        ("a[9] if not a else unknown[0] if not a else d[a[0]] if not a else a", {"a[0]": "1"}),
    ],
)
def test_a_condition_shows_what_decides_it(condition: str, shown: dict[str, str]) -> None:
    code = (
        "class Box:\n    limit = 9\n    def __init__(self, value, left=None):\n"
        "        self.value, self.left = value, left\n    @property\n    def slot(self): raise SystemExit\n"
        f"def f(a, rows, by, word, k):\n    box = Box(5, Box(0))\n    if {condition}:\n        return 1\n    return 0\n"
    )
    made = traced(call_task([1, 2, 3], [[1, 2], [3, 4]], {"x": [7], "y": [8]}, "y", 1), code)
    (found,) = [items for step, items in zip(made.trace.steps, operands(made), strict=True) if step.line == 9]
    assert {name: value for name, value in found.items() if name in shown} == shown
    assert not {name for name in found if "slot" in name or "unknown" in name}


def test_what_a_line_only_writes_or_calls_is_no_operand() -> None:
    code = (
        "def f(a, rows):\n    a[0] = 5\n    a[1] += 1\n    rows[0].append(a[2])\n    rows[a[1]-3][0] = rows[-1][0]\n"
        "    list(rows)[0][a[0] - 5] = 1\n    return rows\n"
    )
    assert operands(traced(call_task([1, 2, 3], [[]]), code)) == [
        {},
        {"a[1]": "2"},
        {"rows[0]": "[]", "a[2]": "3"},
        {"rows[-1][0]": "3", "a[1]": "3"},
        {"a[0]": "5"},
        {},
    ]


def test_no_code_of_the_completion_runs_to_show_what_a_line_reads() -> None:
    code = (
        "log = []\n"
        "class Meta(type):\n"
        "    def __getattribute__(cls, name): log.append(name)\n"
        "class Odd(metaclass=Meta):\n"
        "    def __init__(self): self.value = 3\n"
        "    def loud(self, *a): log.append(a)\n"
        "    __getitem__ = __len__ = __getattr__ = __hash__ = __eq__ = loud\n"
        "    made = property(loud)\n    __dict__ = property(loud)\n"
        "class Asked(Odd):\n    def __getattribute__(self, name): log.append(name)\n"
        "class Loud(list):\n    __getitem__ = __len__ = lambda *a: log.append(a)\n"
        "class Same:\n    def __hash__(self): return hash('k')\n"
        "    def __eq__(self, other): log.append(other)\n"
        "def len(x): log.append(x)\n"
        "def f(k):\n"
        "    odd, asked, loud, keyed, n = Odd(), Asked(), Loud([1]), {Same(): 1}, [1]\n"
        "    log.clear()\n"
        "    if k and (odd[0] or odd.value or odd.made or odd.none or asked.value or loud[0]):\n        pass\n"
        "    if k and (keyed['k'] or keyed[word] or len(n) or len(loud) or loud.x):\n        pass\n"
        "    return str(log)\nword = 'k'\n"
    )
    made = traced(call_task(0), code)
    assert made.trace.end is not None
    assert made.trace.end.value == repr("[]")
    assert not {name for items in operands(made) for name in items} - {"odd.value"}


def test_the_modules_that_run_inside_as_one_program_have_no_name_twice() -> None:
    folder = Path(tracing.__file__).parent
    trees = [ast.parse((folder / f"{name}.py").read_text()) for name in ("shown", "inside")]
    names = [
        name
        for tree in trees
        for node in tree.body
        for name in (
            [node.name]
            if isinstance(node, (ast.FunctionDef, ast.ClassDef))
            else [target.id for target in node.targets if isinstance(target, ast.Name)]
            if isinstance(node, ast.Assign)
            else []
        )
    ]
    assert sorted(names) == sorted(set(names))


def test_a_method_of_solution_and_a_preamble() -> None:
    task = call_task(9.0)
    task.preamble = "from math import *\n"
    made = traced(task, "class Solution:\n    def f(self, n):\n        return floor(sqrt(n))\n")
    assert lines(made) == [3]
    assert made.trace.steps[0].said == "returned 3"


def test_an_exception_is_shown_where_it_was_raised() -> None:
    made = traced(call_task({"a": 1}), "def f(d):\n    k = 'b'\n    return g(d, k)\n\ndef g(d, k):\n    return d[k]\n")
    assert [(step.line, step.depth - made.trace.steps[0].depth) for step in made.trace.steps] == [
        (2, 0),
        (3, 0),
        (6, 1),
    ]
    assert made.trace.steps[-1].said == "raised KeyError: 'b'"
    assert made.trace.end is not None
    assert (made.trace.end.how, made.trace.end.error, made.trace.end.line) == ("raised", "KeyError", 6)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("    yield n\n    yield None\n    n += 1\n", ["yielded 3", "yielded None", "ended"]),
        ("    yield n\n", ["yielded 3, ended"]),
        ("    for k in range(2):\n        yield k\n", ["", "yielded 0", "", "yielded 1", "ended"]),
        ("    yield n\n    return [n]\n", ["yielded 3", "returned [3]"]),
        ("    yield n\n    raise KeyError(n)\n", ["yielded 3", "raised KeyError: 3"]),
        ("    return n\n    yield n\n", ["returned 3"]),
    ],
)
def test_a_generator_yields_and_then_ends(body: str, said: list[str]) -> None:
    made = traced(
        call_task(3), f"def g(n):\n{body}def f(n):\n    try:\n        list(g(n))\n    except KeyError: pass\n"
    )
    assert [step.said for step in made.trace.steps if step.function == "g"] == said


def test_other_code_than_a_generators_returns() -> None:
    code = (
        "import asyncio\nasync def co(n):\n    await asyncio.sleep(0)\nasync def each(n):\n    yield n\n    return\n"
        "async def both(n):\n    await co(n)\n    async for k in each(n):\n        pass\n"
        "class Twice:\n    n = 0\n    def __iter__(self): return self\n"
        "    def __next__(self):\n        self.n += 1\n        if self.n > 2: raise StopIteration\n"
        "def f(n):\n    asyncio.run(both(n))\n    for k in Twice():\n        pass\n"
    )
    last = {step.function: step.said for step in traced(call_task(3), code).trace.steps}
    assert last["co"] == last["both"] == last["f"] == "returned None"
    assert last["each"] == "ended"
    assert last["__next__"] == "raised StopIteration"


def test_a_program_that_does_not_parse_has_no_steps_and_says_why() -> None:
    made = traced(stdin_task(), "print(1\n")
    assert made.trace.steps == []
    assert made.trace.end is not None
    assert (made.trace.end.error, made.trace.end.line) == ("SyntaxError", 1)


def test_an_endless_loop_is_stopped_in_time_with_its_last_lines() -> None:
    body = "n += 1\n    try:\n        n += 1\n    except BaseException:\n        pass"
    made = traced(stdin_task(), f"n = 0\nwhile True:\n    {body}\n", Window(first=5, last=50, most_s=1))
    assert made.trace.end is not None
    assert made.trace.end.how == "stopped"
    assert len(made.trace.steps) == 55
    assert made.trace.steps[-1].number == made.trace.end.steps > 1_000
    assert lines(made)[:3] == [1, 2, 3]
    assert any(map(changes, made.trace.steps[-4:])), "also the last steps have their values"


def test_the_steps_before_a_kill_are_there() -> None:
    made = traced(stdin_task(), "n = 1\nwhile True:\n    n = sum(range(10**12))\n", Window(most_s=0.2))
    assert made.trace.end is None
    assert lines(made) == [1, 2, 3]


def test_values_are_bounded_and_show_the_end_of_what_grew() -> None:
    code = (
        "def f(n):\n    big = 10 ** 100000\n    text = 'x' * 10**6\n    items = list(range(n))\n    items.append(-5)\n"
        "    nested = [[[[[[[[1]]]]]]]]\n    nested.append(nested)\n    table = {i: i for i in range(n)}\n"
        "    return 0\n"
    )
    made = traced(call_task(5_000), code)
    values = {name: value for step in made.trace.steps for name, value in changes(step).items()}
    assert max(map(len, values.values())) <= 300
    assert "bits" in values["big"]
    assert "1000000 characters" in values["text"]
    assert values["items"].endswith("… -5 (5001 items)]")
    assert "(5000 items)" in values["table"]


def test_a_long_trace_stays_within_a_mebibyte_and_keeps_its_end() -> None:
    names = "\n".join(f"    v{n} = 'x' * 150 + str(i * {n})" for n in range(30))
    made = traced(stdin_task(), f"for i in range(400):\n{names}\nlast = 1\n", Window())
    assert made.outcome is not None
    assert made.outcome.stderr.size < 1.1 * 2**20
    assert made.trace.steps[0].number == 1
    assert (made.trace.steps[-1].number, changes(made.trace.steps[-1])) == (12_402, {"last": "1"})
    assert not made.trace.broken


def test_recursion_has_depths_and_its_limit_is_the_programs_own() -> None:
    made = traced(call_task(3), "def f(n):\n    if n == 0:\n        return 0\n    return 1 + f(n - 1)\n")
    assert [step.depth for step in made.trace.steps] == [1, 1, 2, 2, 3, 3, 4, 4]
    endless = traced(call_task(3), "def f(n):\n    return f(n + 1)\n")
    assert endless.trace.end is not None
    assert endless.trace.end.error == "RecursionError"
    assert len(endless.trace.steps) > 500


def test_unicode_and_invisible_characters_arrive() -> None:
    made = traced(call_task("наука\u202e"), "def f(ключ):\n    копия = ключ + '🦉'\n    return копия\n")
    assert changes(made.trace.steps[0])["копия"] == "'наука\\u202e🦉'"


def test_no_code_of_the_completion_runs_to_show_its_objects() -> None:
    code = (
        "class Odd:\n    def __init__(self): self.value = 3\n"
        "    def __repr__(self): raise SystemExit\n    __str__ = __format__ = __hash__ = __repr__\n"
        "class Slow:\n    def __repr__(self):\n        while True: pass\n"
        "class Loud(list):\n    def __repr__(self): return 'x' * 10**7\n    __iter__ = __len__ = None\n"
        "def f(n):\n    odd, slow, loud = Odd(), Slow(), Loud([1, 2])\n    return n\n"
    )
    made = traced(call_task(1), code)
    values = {name: value for step in made.trace.steps for name, value in changes(step).items()}
    assert values["odd"] == "Odd(value=3)"
    assert values["slow"] == "<Slow>"
    assert values["loud"] == "Loud([1, 2])"
    assert made.trace.end is not None
    assert made.trace.end.how == "ended"


def test_lines_of_the_program_that_look_like_steps_are_not_steps() -> None:
    fake = '@0123456789abcdef ["step", 99, 1, "evil", 1, 1, 0, {}, {}, {}]\\n'
    made = traced(stdin_task(), f"import os, sys\nsys.stderr.write('{fake}')\nos.write(2, b'{fake}' * 3)\nx = 1\n")
    assert "evil" not in {step.function for step in made.trace.steps}
    assert made.trace.steps[-1].number <= 4


def test_a_program_that_switches_tracing_off_or_forges_the_channel_only_hurts_itself() -> None:
    off = traced(stdin_task(), "import sys\nsys.settrace(None)\nx = 1\nsys.settrace = len\n")
    assert len(off.trace.steps) >= 1
    assert off.trace.end is not None
    forger = (
        "import sys\nframe = sys._getframe()\nwhile frame.f_back: frame = frame.f_back\n"
        "import gc\nlogs = [o for o in gc.get_objects() if type(o).__name__ == '_Log']\n"
        "logs[0].add(1, ['step', 5, 1, 'f' * 10**6, 1, 1, 0, {}, {}, {}])\n"
        "logs[0].add(1, ['step', 10**30, -1, 'f', 1, 1, 0, {'a': 'b' * 9999}, {}, {}])\n"
        "logs[0].add(1, {'no': 'array'})\n"
    )
    forged = traced(stdin_task(), forger)
    assert forged.trace.broken
    assert all(len(step.function) <= 200 and 0 < step.line <= 9 for step in forged.trace.steps)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"@w ",
        b"@w [1]\n@w \xff\xfe\n@w " + b"[" * 100_000 + b"\n",
        b'@w ["step", 1, 99, "f", 1, 1, 0, {}, {}, {}]\n',
        b'@w ["step", 2, 1, "f", 1, 1, 0, {}, {}, {}]\n@w ["step", 1, 1, "f", 1, 1, 0, {}, {}, {}]\n',
        b'@w ["end", "won", 1, "", "", 0]\n',
    ],
)
def test_a_broken_trace_is_no_exception(data: bytes) -> None:
    trace = read(data, "@w ", lines=3, first=10, last=10)
    assert trace.end is None
    assert len(trace.steps) <= 1
    assert trace.broken == (len(data) > 3)


def test_threads_with_deep_recursion_are_followed() -> None:
    code = (
        "import sys, threading\nsys.setrecursionlimit(5000)\nthreading.stack_size(2**26)\n"
        "def go(n):\n    return n and go(n - 1)\nthreading.Thread(target=go, args=(2000,)).start()\n"
    )
    made = traced(stdin_task(), code)
    assert made.trace.end is not None
    assert made.trace.end.steps > 2000


def test_a_statement_of_a_test_and_a_method() -> None:
    code = (
        "class Box:\n    def __init__(self):\n        self.n = 1\n\n"
        "    def add(self, k):\n        self.n -= k\n        return self\n"
    )
    statements = Task(
        task_id="a", mode=Mode.ASSERT, entry_point="Box",
        test="def check(candidate):\n    import math\n    b = candidate()\n    assert math.floor(b.add(2).n) == 3\n",
    )  # fmt: skip
    made = traced(statements, code)
    assert (lines(made), made.checkable) == ([3, 6, 7], False)
    assert made.trace.end is not None
    assert made.trace.end.error == "AssertionError"
    suite = (
        "import unittest\nclass T(unittest.TestCase):\n"
        "    def test_add(self):\n        self.assertEqual(Box().add(2).n, 3)\n"
    )
    method = traced(Task(task_id="u", mode=Mode.UNITTEST, entry_point="Box", test=suite), code)
    assert lines(method) == [3, 6, 7]
    assert changes(method.trace.steps[1])["self"] == "Box(n=-1)"


def test_what_can_not_be_replayed_says_so_in_one_line() -> None:
    answer = Task(task_id="x", mode=Mode.ANSWER, cases=(TestCase(0, "", "42"),))
    for task, index in ((answer, 0), (stdin_task(), 7)):
        made = replay(task, "x = 1\n", index, limits=LIMITS)
        assert made.refusal
        assert "\n" not in made.refusal
        assert made.outcome is None
