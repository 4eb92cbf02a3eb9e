"""`value` and `python`: what they accept, where they say values differ, and that no value upsets them."""

import math
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evaluator.checkers import get_checker
from evaluator.model import Difference, Opaque

Point = namedtuple("Point", "x y")
NAN = float("nan")
GENERATOR = Opaque("generator", "<generator object f>")

# expected, actual, equal by `value`, equal by `python`
TABLE: list[tuple[Any, Any, bool, bool]] = [
    (1, 1, True, True),
    (1, 2, False, False),
    (True, 1, True, True),
    (1, 1.0, True, True),
    (1, "1", False, False),
    (None, None, True, True),
    (None, False, False, False),
    ("a", b"a", False, False),
    (b"a", bytearray(b"a"), True, True),
    # sequences
    ([1, 2], (1, 2), True, False),
    ((1, 2), Point(1, 2), True, True),
    ([1, 2], Point(1, 2), True, False),
    ([1, 2], deque([1, 2]), True, False),
    (deque([1, 2], maxlen=2), deque([1, 2]), True, True),
    ([(1, [2])], ([1, (2,)],), True, False),
    ([1, 2], [2, 1], False, False),
    ([0, 1, 2], range(3), False, False),
    (range(3), range(0, 3, 1), True, True),
    (range(0), range(5, 5), True, True),
    ("ab", ["a", "b"], False, False),
    # numbers
    (0.1 + 0.2, 0.3, True, False),
    (0.3, 0.3 + 1e-8, False, False),
    (0.0, 1e-12, True, False),
    (0.0, 2e-9, False, False),
    (1e300, 1e300 * (1 + 1e-12), True, False),
    (10**400, 1e300, False, False),
    (10**400, 10**400 + 1, False, False),
    (NAN, NAN, True, False),
    ([NAN], [float("nan")], True, False),
    (math.inf, math.inf, True, True),
    (math.inf, -math.inf, False, False),
    (-0.0, 0.0, True, True),
    (0.5, Fraction(1, 2), True, True),
    (0.5, Decimal("0.5"), True, True),
    (10**18, 1e18, True, True),
    ([[5], {"a": 7}], [(5.0,), {"a": 7.0}], True, False),
    (5, Decimal("5.0"), True, True),
    (5, Fraction(5000000001, 1000000000), False, False),
    (Decimal("NaN"), Decimal("NaN"), True, False),
    (1, Decimal("sNaN"), False, False),
    (1.0, Decimal("sNaN"), False, False),
    (1, Decimal("1e999999999"), False, False),
    (1.0, Decimal("1e999999999"), False, False),
    (1, Fraction(10**5000, 10**5000), True, True),
    (1.0, Fraction(10**5000, 3), False, False),
    (1 + 2j, 1 + 2j, True, True),
    (1.0, 1 + 1e-12j, True, False),
    (5 + 0j, 5, True, True),
    # mappings
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True, True),
    ({"1": "x"}, {1: "x"}, True, False),
    ({"1": "x"}, {"01": "x"}, False, False),
    ({"1": "x", 1: "y"}, {1: "y", "1": "x"}, True, True),
    ({"1": "x"}, {"1": "x", 1: "x"}, False, False),
    ({"-3": [1]}, {-3: (1,)}, True, False),
    ({"a": 2}, Counter("aa"), True, True),
    ({"a": 0}, Counter(), False, False),
    (Counter(a=0), Counter(), False, True),
    (Counter(a=1), Counter(a=1, b=0), False, True),
    (Counter(a=1), Counter(b=1), False, False),
    ({"a": []}, defaultdict(list, a=[]), True, True),
    (OrderedDict(a=1, b=2), {"b": 2, "a": 1}, True, True),
    (OrderedDict(a=1, b=2), OrderedDict(b=2, a=1), True, False),
    ({}, [], False, False),
    ({NAN: 1}, {float("nan"): 1}, True, False),
    # sets
    ([1, 2], {1, 2}, False, False),
    ({1, 2}, frozenset({1, 2}), True, True),
    ((1, 2), frozenset({1, 2}), False, False),
    ({0.1 + 0.2, 1}, {0.3, 1}, True, False),
    ({(0.1 + 0.2, 1)}, {(0.3, 1)}, True, False),
    ({(1, 2)}, {frozenset({1, 2})}, False, False),
    (set(), [], False, False),
    ({(1, 2), "a"}, {("a"), (1, 2)}, True, True),
    # other data
    (date(2024, 1, 2), date(2024, 1, 2), True, True),
    (date(2024, 1, 2), datetime(2024, 1, 2), False, False),
    (datetime(2024, 1, 2), datetime(2024, 1, 2, tzinfo=UTC), False, False),
    (timedelta(1), timedelta(hours=24), True, True),
    (..., ..., True, True),
    # what is not data
    ([1, 2], GENERATOR, False, False),
    (GENERATOR, GENERATOR, False, False),
    ([GENERATOR], [GENERATOR], False, False),
    ({GENERATOR}, {GENERATOR}, False, False),
    ({(1, GENERATOR)}, {(1, GENERATOR)}, False, False),
    ({GENERATOR: 1}, {GENERATOR: 1}, False, False),
    ({(1, GENERATOR): 1}, {(1, GENERATOR): 1}, False, False),
    (Counter({GENERATOR: 1}), Counter({GENERATOR: 1}), False, False),
    (object(), object(), False, False),
]


def check(name: str, expected: object, actual: object) -> Difference | None:
    return get_checker(name).rules["value"](expected, actual)


@pytest.mark.parametrize(("expected", "actual", "by_value", "by_python"), TABLE)
def test_table(expected: object, actual: object, by_value: bool, by_python: bool) -> None:
    for one, other in ((expected, actual), (actual, expected)):
        assert (check("value", one, other) is None) is by_value
        assert (check("python", one, other) is None) is by_python


@pytest.mark.parametrize(
    ("name", "expected", "actual", "path", "message"),
    [
        ("value", 3, "3", "", "expected 3, got '3'"),
        ("value", [1, {"a": 3}], [1, {"a": "3"}], "[1]['a']", "[1]['a']: expected 3, got '3'"),
        ("python", [1, 2], (1, 2), "", "expected [1, 2], got (1, 2)"),
        ("value", [1, 2, 3, 4], [1, 2, 3], "[3]", "item 3 is missing: expected 4"),
        ("value", [[1], [1]], [[1], [1, 5]], "[1][1]", "[1]: item 1 is extra: got 5"),
        ("value", [1, 9, 3], [1, 3], "[1]", "item 1 is missing: expected 9"),
        ("value", [[1, 2, 3, 4]], [[1, 4]], "[0][1]", "[0]: items 1 to 2 are missing: expected [2, 3]"),
        ("value", [1, 2], [0, 1, 2.0], "[0]", "item 0 is extra: got 0"),
        ("value", [1, 9, 3], [1, 4], "[1]", "[1]: expected 9, got 4"),
        ("value", {"a": 1}, {"b": 1}, "['a']", "key 'a' is missing: expected 1"),
        ("value", {"a": 1}, {"a": 1, "b": 2}, "['b']", "key 'b' is extra: got 2"),
        ("value", {"1": [5]}, {1: [6]}, "[1][0]", "[1][0]: expected 5, got 6"),
        ("python", [{1, 2}], [{2, 3, 4}], "[0]", "[0]: missing 1; 3 and 1 more not expected"),
        ("value", [1, 2], {1, 2}, "", "expected [1, 2], got {1, 2}"),
        ("value", 10**18 + 7, 1e18, "", "expected 1000000000000000007, got 1e+18"),
        ("unordered", {1, 2}, [1, 2, 2], "", "2 not expected"),
        ("unordered", [3, 1, 2], [3, 2, 9], "", "missing 1; 9 not expected"),
        ("unordered", {"a": [2, 1]}, {"a": {1, 3}}, "['a']", "['a']: missing 2; 3 not expected"),
        ("unordered", 5, 6, "", "expected 5, got 6"),
        ("python", Counter(a=1), Counter(a=1, b=3), "['b']", "['b']: expected 0, got 3"),
        ("python", OrderedDict(a=1, b=2), OrderedDict(b=2, a=1), "",
         "keys in another order: expected ['a', 'b'], got ['b', 'a']"),
        ("value", [[1]], [GENERATOR], "[0]",
         "[0]: expected [1], got <generator: <generator object f>>: a generator is not data"),
        ("python", 1, Opaque("Element", ""), "", "expected 1, got <Element>: an Element is not data"),
    ],
)  # fmt: skip
def test_names_the_first_difference(name: str, expected: object, actual: object, path: str, message: str) -> None:
    found = check(name, expected, actual)
    assert found is not None
    assert (found.path, found.message) == (path, message)


def test_long_texts_are_quoted_around_the_difference() -> None:
    found = check("python", ["a" * 900 + "b" + "c" * 900], ["a" * 900 + "x" + "c" * 900])
    assert found is not None
    assert found.message.startswith("[0]: character 901: expected ...'aaa")
    assert "ab" in found.message
    assert "ax" in found.message


@pytest.mark.parametrize("name", ["value", "python"])
def test_a_completions_own_class_is_never_asked(name: str) -> None:
    class Liar:
        def __eq__(self, other: object) -> bool:
            raise AssertionError("asked")

        def __hash__(self) -> int:
            return 1

        __repr__ = __len__ = __bool__ = __eq__  # type: ignore[assignment]

    liar = Liar()
    for expected, actual in [(1, liar), ([1], [liar]), ({"a": 1}, {"a": liar}), ([liar], [liar])]:
        assert check(name, expected, actual) is not None


@pytest.mark.parametrize(
    ("a_float", "near"),
    [
        (1e18, 10**18 + 7),
        (5.000000001, 5),
        (0.1, Decimal("0.1")),
        (1.0, 1 + Fraction(1, 10**12)),
        (1e18 + 0j, 10**18 + 7),
    ],
)
def test_a_number_may_be_near_where_a_float_is_expected_and_nowhere_else(a_float: float, near: Any) -> None:
    assert check("value", a_float, near) is None
    assert check("value", near, a_float) is not None
    assert check("value", [{"a": (a_float,)}], [{"a": [near]}]) is None
    assert check("value", [{"a": [near]}], [{"a": (a_float,)}]) is not None


@pytest.mark.parametrize(
    ("expected", "actual", "equal"),
    [
        ([1, 2, 2], (2, 1, 2.0), True),
        ([1, 2], {2, 1}, True),
        ([1, 1, 2], {1, 2}, False),
        ({1, 2}, deque([2, 1]), True),
        ([], set(), True),
        ([[1, 2], [3]], [[3], [1, 2]], True),
        ([[1, 2], [3]], [[3], [2, 1]], False),
        ([[1, 2], [3]], {(3,), (1, 2)}, True),
        ([[1], [1, 2]], {frozenset({1, 2}), frozenset({1})}, True),
        ([0.1 + 0.2, 0.3], {0.3, 0.1 + 0.2}, True),
        ({"a": [1, 2]}, {"a": {2, 1}}, True),
        ({"a": [1, 2]}, {"a": [2, 1]}, False),
        ([10**18 + 7, 1], [1, 1e18], False),
        (5, 5.0, True),
        ("ab", "ba", False),
        ([1], {1: 1}, False),
        ([1], GENERATOR, False),
        ([GENERATOR], [GENERATOR], False),
    ],
)
def test_unordered_takes_items_in_any_order_and_sets(expected: Any, actual: Any, equal: bool) -> None:
    assert (check("unordered", expected, actual) is None) is equal


def test_left_over_floats_find_the_best_partners() -> None:
    wanted = [[value, number] for number in range(40) for value in (0.3, 0.1 + 0.2)]
    turned = {(0.3 if value != 0.3 else 0.1 + 0.2, number) for value, number in map(tuple, wanted)}
    assert check("unordered", wanted, turned) is None
    assert check("unordered", wanted, turned - {(0.3, 7)} | {(0.4, 7)}) is not None
    assert check("value", set(map(tuple, wanted)), turned) is None


scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.integers(-3, 3), st.floats(),
    st.sampled_from([0.0, 1.0, 0.3, 0.1 + 0.2]), st.text(max_size=3), st.binary(max_size=3),
    st.fractions(), st.decimals(allow_nan=False), st.complex_numbers(allow_nan=False),
)  # fmt: skip
hashable = st.recursive(scalars, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3), max_leaves=6)
values = st.recursive(
    hashable,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(hashable, inner, max_size=3)
        | st.sets(hashable, max_size=4)
        | st.lists(inner, max_size=3).map(deque)
        | st.dictionaries(hashable, inner, max_size=3).map(OrderedDict)
        | st.dictionaries(st.text(max_size=2), st.integers(-1, 2), max_size=3).map(Counter)
    ),
    max_leaves=12,
)
anything = values | st.recursive(
    scalars | st.builds(Opaque, st.just("generator"), st.text(max_size=3)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
)


@given(expected=anything, actual=anything)
def test_value_hangs_on_the_side_only_where_a_float_is_near_and_unordered_accepts_more(
    expected: object, actual: object
) -> None:
    if check("value", expected, actual) is None:
        assert check("unordered", expected, actual) is None
        assert check("value", actual, expected) is None or "." in repr(expected) or "e" in repr(expected)


@given(expected=st.integers(), actual=st.integers(), places=st.integers(0, 40))
def test_an_expected_int_equals_no_other_number(expected: int, actual: int, places: int) -> None:
    for given_number in (actual, float(actual), Decimal(actual), Fraction(actual, 10**places)):
        assert (check("value", expected, given_number) is None) is (expected == Fraction(given_number))


@given(expected=values, actual=values)
def test_python_is_pythons_own_equality(expected: Any, actual: Any) -> None:
    assert check("value", expected, expected) is None
    assert check("unordered", expected, expected) is None
    assume("nan" not in repr(expected))
    assert check("python", expected, expected) is None
    assert (check("python", expected, actual) is None) is bool(expected == actual)


@given(expected=values, actual=values)
def test_value_accepts_what_python_accepts(expected: Any, actual: Any) -> None:
    if type(expected) is not Counter and check("python", expected, actual) is None:
        assume("Counter" not in repr(expected))
        assert check("value", expected, actual) is None


@given(expected=anything, actual=anything, name=st.sampled_from(["value", "python"]))
def test_any_difference_is_located_and_bounded(expected: object, actual: object, name: str) -> None:
    found = check(name, expected, actual)
    if found is not None:
        assert found.path is not None
        assert 0 < len(found.message) <= 300


json_values = st.recursive(
    st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, min_size=1, max_size=4) | st.dictionaries(st.text(max_size=3), inner, min_size=1),
)


@given(value=json_values, data=st.data(), name=st.sampled_from(["value", "python"]))
def test_the_path_leads_to_what_was_changed(value: Any, data: st.DataObject, name: str) -> None:
    steps: list[Any] = []
    changed = _changed(value, data, steps)
    found = check(name, value, changed)
    assert found is not None
    assert found.path == "".join(f"[{step!r}]" for step in steps)


def _changed(value: Any, data: st.DataObject, steps: list[Any]) -> Any:
    """A copy in which one leaf has another value; `steps` becomes the way to it."""
    if not isinstance(value, list | dict):
        return [value]
    step = data.draw(st.sampled_from(sorted(value) if isinstance(value, dict) else range(len(value))))
    steps.append(step)
    copied = value.copy()
    copied[step] = _changed(value[step], data, steps)
    return copied


def nested(depth: int, make: Any = lambda inner: [inner], inner: Any = 1) -> Any:
    for _ in range(depth):
        inner = make(inner)
    return inner


@pytest.mark.parametrize("name", ["value", "python"])
class TestHostileSizes:
    def test_deep_lists_and_dicts(self, name: str) -> None:
        assert check(name, nested(2_000), nested(2_000)) is None
        assert check(name, nested(2_000), nested(2_000, inner=2)) is not None
        make = lambda inner: {"key": inner}  # noqa: E731
        found = check(name, nested(20_000, make), nested(20_000, make))
        assert found is not None
        assert "nested deeper" in found.message

    def test_deep_sets(self, name: str) -> None:
        make = lambda inner: frozenset({inner, 0.3})  # noqa: E731
        assert check(name, nested(150, make), nested(150, make, inner=2)) is not None
        assert check(name, [nested(150)], {nested(150, make)}) is not None

    def test_a_value_that_holds_itself(self, name: str) -> None:
        loop: list[Any] = []
        loop.append(loop)
        found = check(name, loop, loop)
        assert found is not None

    def test_many_items(self, name: str) -> None:
        many = list(range(1_000_000))
        found = check(name, many, [*many[:-1], -1])
        assert found is not None
        assert found.path == "[999999]"

    def test_ints_too_long_for_decimal(self, name: str) -> None:
        assert check(name, 7**200_000, 7**200_000) is None
        found = check(name, [7**200_000], [7**200_000 + 1])
        assert found is not None
        assert found.path == "[0]"
        assert check(name, {7**9_000: 1}, {"7": 1, 7**9_001: 2}) is not None
        assert check(name, range(10**5000), range(10**5001)) is not None
        assert check(name, Fraction(1, 7**9_000), Fraction(2, 7**9_000)) is not None

    def test_sets_with_nothing_in_common(self, name: str) -> None:
        left, right = ({(number, letter) for number in range(5_000)} for letter in "ab")
        found = check(name, left, right)
        assert found is not None
        assert "4,999 more" in found.message


def test_ints_that_share_one_hash() -> None:
    found = check("unordered", list(range(10_000)), [number * (2**61 - 1) for number in range(20_000)])
    assert found is not None
    assert found.message.startswith("missing 1 and 9,998 more; ")
