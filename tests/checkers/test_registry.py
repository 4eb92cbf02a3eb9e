"""The list of checkers, and values as source text."""

import ast
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.checkers import CheckerError, get_checker, known_checkers, render
from evaluator.model import Opaque

Point = namedtuple("Point", "x y")


def test_the_checkers_of_the_design_exist() -> None:
    text, value = ["exact", "lines", "tokens", "floats", "sandbox_fusion", "verl_sandbox_fusion"], ["value", "python"]
    both = ["unordered", "colossalai", "livecodebench", "nemo_gym"]
    kinds = dict.fromkeys(text, "text") | dict.fromkeys(value, "value") | dict.fromkeys(both, "text or value")
    assert {name: checker.compares for name, checker in known_checkers().items()}.items() >= kinds.items()
    assert all(get_checker(name).name == name for name in kinds)


def test_an_unknown_name_gets_the_known_ones() -> None:
    known = ", ".join(sorted(known_checkers()))
    with pytest.raises(CheckerError, match=f"checker 'fuzzy' is unknown: use one of {known}"):
        get_checker("fuzzy")


@pytest.mark.parametrize(
    ("name", "expected", "same", "other"),
    [
        ("tokens:case=ignore", "YES", "yes", "no"),
        ("floats:tolerance=1e-4", "1.0", "1.00005", "1.0002"),
        ("floats:case=ignore:tolerance=1e-4", "A 1.0", "a 1.00005", "b 1.0"),
        ("unordered:repeats=ignore", "a\nb", "b\na\na", "a\na"),
        ("unordered:repeats=ignore", "a", "a\na", "a\n" * 5000),
    ],
)
def test_a_name_may_have_options(name: str, expected: str, same: str, other: str) -> None:
    check = get_checker(name).rules["text"]
    assert check(expected, same) is None
    assert check(expected, other) is not None
    assert get_checker(name.partition(":")[0]).rules["text"](expected, same) is not None


@pytest.mark.parametrize("option", ["tolerance=1e-3", "tolerance=", "repeats=ignore", "case=no", ""])
def test_an_option_that_a_checker_does_not_take_is_refused(option: str) -> None:
    with pytest.raises(CheckerError, match=f"tokens does not take '{option}'; floats and value take"):
        get_checker(f"tokens:{option}")


@pytest.mark.parametrize(
    ("value", "source"),
    [
        ({"b": 1, "a": [True, None]}, "{'b': 1, 'a': [True, None]}"),
        ((), "()"),
        ((1,), "(1,)"),
        (Point(1, [2]), "Point(x=1, y=[2])"),
        ({3, 1, 20}, "{1, 3, 20}"),
        ({"b", "a", 1}, "{'a', 'b', 1}"),
        ({(2, "a"), (1, "b")}, "{(1, 'b'), (2, 'a')}"),
        (set(), "set()"),
        (frozenset({2, 1}), "frozenset({1, 2})"),
        (Counter("aab"), "Counter({'a': 2, 'b': 1})"),
        (OrderedDict(b=1, a=2), "OrderedDict({'b': 1, 'a': 2})"),
        (defaultdict(list, a=[1]), "defaultdict(list, {'a': [1]})"),
        (defaultdict(None, a=[1]), "defaultdict(None, {'a': [1]})"),
        (deque([1], maxlen=3), "deque([1], maxlen=3)"),
        (float("nan"), "float('nan')"),
        ([-float("inf"), 0.1], "[float('-inf'), 0.1]"),
        (Decimal("1.50"), "Decimal('1.50')"),
        (Fraction(1, 3), "Fraction(1, 3)"),
        (date(2024, 1, 2), "datetime.date(2024, 1, 2)"),
        ("\ud800\n", "'\\ud800\\n'"),
        ([Opaque("generator", "f")], "[<generator: f>]"),
    ],
)
def test_values_are_shown_as_source(value: object, source: str) -> None:
    assert render(value, limit=10_000) == source


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_shown_data_reads_back_as_itself(value: object) -> None:
    assert ast.literal_eval(render(value, limit=1_000_000)) == value


def test_ints_too_long_for_decimal_are_shown_in_hexadecimal() -> None:
    assert render([-(1 << 20_000)]) == f"[-{hex(1 << 20_000)}]"


def test_long_values_keep_head_and_tail() -> None:
    text = render(list(range(100_000)), limit=300)
    assert text.startswith("[0, 1, 2")
    assert text.endswith("99999]")
    assert "characters left out" in text
    assert len(text) < 400


def test_values_shared_many_times_over_are_cut() -> None:
    value: Any = "a" * 1000
    for _ in range(40):
        value = [value, value]
    assert "more than" in render(value)


def test_deep_values_are_shown() -> None:
    value: Any = 1
    for _ in range(20_000):
        value = [value]
    assert render(value, limit=100).endswith("]]]]]]]]")
