"""A test with rewritten asserts behaves as before: the same results, messages and effects, in the same order."""

import ast
import asyncio
import gc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.suites.guest import asserts

Log = list[object]


def executed(source: str, *, rewritten: bool, **names: Any) -> tuple[dict[str, Any], asserts.AssertLog]:
    tree, log = ast.parse(source), asserts.AssertLog()
    if rewritten:
        asserts.Rewriter(source, frozenset()).rewrite(tree.body)
    namespace: dict[str, Any] = {**log.names(), **names}
    exec(compile(tree, "<test>", "exec"), namespace)
    return namespace, log


def run(source: str, *, rewritten: bool) -> tuple[object, Log]:
    """What `run()` returns or raises, and the order in which it evaluated its values."""
    log: Log = []

    def t(name: object, value: object = None) -> Any:
        log.append(name)
        return name if value is None else value

    try:
        namespace, _ = executed(source, rewritten=rewritten, t=t)
        result: object = namespace["run"]()
        if asyncio.iscoroutine(result):
            result = asyncio.run(result)
    except BaseException as error:
        return (type(error), str(error), error.args), log
    return result, log


SAME = {
    "holds": "def run():\n assert t(1) == t(1)\n return 'end'",
    "fails": "def run():\n assert t(1) == t(2)",
    "message": "def run():\n x, y = 1, 2\n assert x == y, f'{t(x)} is not {y}'",
    "message of no text": "def run():\n assert t(1) == t(2), (1, [2])",
    "message is evaluated only on failure": "def run():\n assert t(1), t('message')\n return 'end'",
    "message raises": "def run():\n assert t(1) == t(2), 1 // 0",
    "side raises": "def run():\n assert t(1) == 1 // 0",
    "walrus": "def run():\n assert (y := t(3)) == 3\n assert (z := t(4)) > y\n return y, z",
    "walrus in a message": "def run():\n try:\n  assert t(0, 0), (m := t('m'))\n except AssertionError:\n  return m",
    "abs of something else": "def run():\n assert abs(t(-3)) < t(1)\n",
    "isinstance": "def run():\n assert isinstance(t(3), (int, t(str)))\n assert isinstance(t(3), str)",
    "starred": "def run():\n p = [t(3), int]\n assert isinstance(*p)\n assert isinstance(*[t(3), str])",
    "comprehension closes over a local": "def run():\n n = 3\n assert [t(n) for _ in range(2)] == [n] * 3",
    "loop": "def run():\n for x in range(4):\n  assert t(x) != 2, x\n",
    "else, finally": (
        "def run():\n try:\n  assert t(1)\n except AssertionError:\n  t('no')\n else:\n  assert t(2) == 3\n"
        " finally:\n  t('finally')"
    ),
    "caught": "def run():\n try:\n  assert t(1) == t(2), 'm'\n except AssertionError as e:\n  return str(e), e.args",
    "match": "def run():\n match t((1, 2)):\n  case (a, b):\n   assert a == b, (a, b)",
    "with": "import contextlib\ndef run():\n with contextlib.suppress(AssertionError):\n  assert t(1) == 2\n return 9",
    "generator": "def run():\n def g():\n  x = yield 1\n  assert (yield x) == t(2)\n  yield 3\n"
    " i = g()\n return next(i), i.send(5), i.send(2)",
    "yield in an assert": "def run():\n def g():\n  assert (yield) == t(2)\n i = g()\n next(i)\n i.send(3)",
    "async": "async def run():\n async def f():\n  return t(3)\n assert await f() == 3\n assert (await f()) == 4, 'm'",
    "class": "def run():\n class A:\n  x = 1\n  assert t(x) == 1\n return sorted(k for k in vars(A) if k[0] != '_')",
    "locals": "def run():\n x = 1\n assert t(x) == 1\n return sorted(locals())",
    "always true": "def run():\n assert (t(0, 0), 'm')\n return 'end'",
    "comparison that is not a bool": (
        "def run():\n class E:\n  def __bool__(self):\n   raise ValueError('ambiguous')\n"
        " class A:\n  def __eq__(self, o):\n   return E()\n assert A() == t(1)"
    ),
    "a swapped order": "def run():\n d = {}\n assert d.setdefault(1, t(2)) == d.pop(1) == t(3)",
    "tests of unittest": (
        "import unittest\nclass T(unittest.TestCase):\n def test(self):\n  with self.assertRaises(ValueError):\n"
        "   int(t('x'))\n  self.assertEqual(t(1), 2, 'm')\ndef run():\n T('test').test()"
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:assertion is always true")
@pytest.mark.parametrize("source", SAME.values(), ids=SAME)
def test_a_rewritten_assert_behaves_as_before(source: str) -> None:
    assert run(source, rewritten=True) == run(source, rewritten=False)


VALUES = st.sampled_from(["0", "1", "2", "''", "'a'", "[]", "[1]", "(1,)", "None", "1.5"])
NAMED = st.builds("t({0}, {1})".format, st.integers(0, 99), VALUES)


def _compounds(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operators = st.sampled_from(["==", "!=", "is", "is not", "<", ">=", "in", "not in"])
    chained = st.builds("({} {} {} {} {})".format, inner, operators, inner, operators, inner)
    compared = st.builds("({} {} {})".format, inner, operators, inner)
    joined = st.builds("({} {} {})".format, inner, st.sampled_from(["and", "or"]), inner)
    called = st.builds("isinstance({}, (int, type({})))".format, inner, inner)
    negated = st.builds("(not {})".format, inner)
    close = st.builds("(abs({} - {}) < {})".format, inner, inner, inner)
    walrus = st.builds("(w := {})".format, inner)
    return st.one_of(chained, compared, joined, negated, called, close, walrus)


@given(st.lists(st.recursive(NAMED, _compounds, max_leaves=6), min_size=1, max_size=3))
def test_any_assert_evaluates_each_part_once_and_in_order(tests: list[str]) -> None:
    """For any parts, the evaluated values, their order and the result are as before."""
    body = "".join(f" assert {test}, t('message')\n" for test in tests)
    source = f"def run():\n{body} return sorted(set(locals()) - {{'t'}})"
    assert run(source, rewritten=True) == run(source, rewritten=False)


def test_a_value_lives_no_longer_than_its_assert() -> None:
    """`del` and weak references in a test work as before."""
    source = (
        "import weakref\nclass A: pass\ndef run():\n a = A()\n r = weakref.ref(a)\n assert r() is a\n"
        " assert isinstance(a, A) and a == a\n del a\n return r()"
    )
    gc.disable()
    try:
        assert executed(source, rewritten=True)[0]["run"]() is None
    finally:
        gc.enable()


SUITE = """
import unittest
class Suite(unittest.TestCase):
    def test(self):
        {}
Suite("test").test()
"""


@pytest.mark.parametrize(
    ("source", "counted"),
    [
        ("assert 1\nassert 1 == 1\n", 2),
        ("for x in range(5):\n assert x == x", 5),
        ("def f():\n assert 1\nf(); f()", 2),
        ("try:\n assert 1 == 0\nexcept AssertionError:\n pass", 0),
        (SUITE.format("self.assertEqual(1, 1); self.assertTrue(1)"), 2),
        (SUITE.format("with self.assertRaises(KeyError): {}[1]"), 1),
        (SUITE.format("[self.assertEqual(x, x) for x in range(3)]"), 3),
        ("if 1 != 1:\n raise ValueError", 1),
        ("try:\n int('x')\n assert False\nexcept ValueError:\n pass", 1),
        ("try:\n int('x')\nexcept ValueError:\n pass\nelse:\n raise AssertionError", 1),
        ("try:\n int('3')\nexcept ValueError:\n pass", 0),
    ],
)
def test_asserts_that_held_are_counted(source: str, counted: int) -> None:
    _, log = executed(source, rewritten=True)
    assert log.count == counted


def test_a_thousand_branches_can_be_rewritten() -> None:
    branches = "".join(f" elif x == {n}:\n  assert x == {n}\n" for n in range(1, 300))
    run: Callable[[int], None] = executed(f"def run(x):\n if x == 0:\n  assert 0\n{branches}", rewritten=True)[0]["run"]
    run(299)
    with pytest.raises(AssertionError):
        run(0)
