"""Values that leave the sandbox: what crosses, as what, and how hostile texts are handled."""

import collections
import contextlib
import datetime
import decimal
import fractions
import marshal
import math
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.model import Opaque
from evaluator.sandbox.guest import encode
from evaluator.sandbox.host.values import decoded, encoded_call

CAP = 1 << 20


def crossed(value: object) -> Any:
    return decoded(encode.encode(value, CAP))


@contextlib.contextmanager
def quickly() -> Iterator[None]:
    """In little CPU time, which is the kernel's count."""
    started_s = time.process_time()
    yield
    assert time.process_time() - started_s < 2


def alike(one: object, other: object) -> bool:
    """Equal with equal types all the way down; NaN is NaN, and 0.0 is not -0.0."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return (math.isnan(one) and math.isnan(other)) or (one, math.copysign(1, one)) == (
            other,
            math.copysign(1, other),
        )  # type: ignore[arg-type,operator]
    if isinstance(one, complex):
        return alike(one.real, other.real) and alike(one.imag, other.imag)  # type: ignore[attr-defined]
    if isinstance(one, decimal.Decimal):
        return one.as_tuple() == other.as_tuple()  # type: ignore[attr-defined]
    if isinstance(one, list | tuple | collections.deque):
        return len(one) == len(other) and all(map(alike, one, other))  # type: ignore[arg-type]
    if isinstance(one, dict):
        return alike(list(one.items()), list(other.items()))  # type: ignore[attr-defined]
    return one == other


floats = st.floats(allow_nan=True)
hashable_scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.integers(-(2**80), 2**80), st.floats(allow_nan=False), st.text(),
    st.binary(), st.dates(), st.timedeltas(), st.fractions(), st.decimals(allow_nan=False),
    st.complex_numbers(allow_nan=False), st.datetimes(), st.times(),
    st.datetimes(timezones=st.just(datetime.timezone(datetime.timedelta(hours=5, minutes=30)))),
    st.builds(range, st.integers(-50, 50), st.integers(-50, 50), st.integers(1, 9)),
)  # fmt: skip
keys = st.recursive(hashable_scalars, lambda inner: st.lists(inner, max_size=4).map(tuple), max_leaves=5)
scalars = st.one_of(hashable_scalars, floats, st.decimals(), st.binary().map(bytearray), st.complex_numbers())
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner),
        st.lists(inner).map(tuple),
        st.lists(inner).map(collections.deque),
        st.dictionaries(keys, inner),
        st.dictionaries(keys, inner).map(collections.OrderedDict),
        st.dictionaries(keys, inner).map(lambda made: collections.defaultdict(None, made)),
        st.dictionaries(keys, st.integers()).map(collections.Counter),
        st.sets(keys),
        st.frozensets(keys),
    ),
    max_leaves=30,
)


@given(values)
def test_data_comes_out_as_it_is(value: object) -> None:
    assert alike(crossed(value), value)


class Fewer(int):
    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 7

    def __int__(self) -> int:
        return 42

    def __repr__(self) -> str:
        return "42"


class Louder(str):
    def __str__(self) -> str:
        return "other"

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


class Longer(list):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        return iter([1, 2, 3])

    def __len__(self) -> int:
        return 3


class Mapped(dict):  # type: ignore[type-arg]
    def items(self) -> Any:
        return [("k", "other")]


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (Fewer(5), 5),
        (Louder("mine"), "mine"),
        (Longer([9]), [9]),
        (Mapped(k="v"), {"k": "v"}),
        (type("F", (float,), {})(1.5), 1.5),
        (type("B", (bytes,), {})(b"x"), b"x"),
        (type("A", (bytearray,), {})(b"x"), bytearray(b"x")),
        (type("C", (complex,), {})(1j), 1j),
        (type("S", (set,), {})([1]), {1}),
        (type("Z", (frozenset,), {})([1]), frozenset({1})),
        ({type("Z", (frozenset,), {})([1])}, {frozenset({1})}),
        (type("O", (collections.OrderedDict,), {})(a=1), collections.OrderedDict(a=1)),
        (type("M", (collections.Counter,), {})("aab"), collections.Counter("aab")),
        (type("M", (collections.defaultdict,), {})(list, a=1), collections.defaultdict(None, a=1)),
        (type("N", (decimal.Decimal,), {"__str__": lambda _: "7"})("1.50"), decimal.Decimal("1.50")),
        (type("N", (fractions.Fraction,), {"numerator": 7})(1, 2), fractions.Fraction(1, 2)),
        (type("N", (datetime.datetime,), {})(2020, 1, 2, 3, 4, 5, 6), datetime.datetime(2020, 1, 2, 3, 4, 5, 6)),
        (type("N", (datetime.date,), {"isoformat": lambda _: "x"})(2020, 1, 2), datetime.date(2020, 1, 2)),
        (type("N", (datetime.time,), {})(1, 2, 3, 4), datetime.time(1, 2, 3, 4)),
        (type("N", (datetime.timedelta,), {"days": 7})(1, 2, 3), datetime.timedelta(1, 2, 3)),
        (type("D", (collections.deque,), {})([1]), collections.deque([1])),
        ([Fewer(1), Fewer(2)], [1, 2]),
        ({Louder("k"): Longer([1])}, {"k": [1]}),
    ],
)
def test_a_subclass_crosses_as_its_base_by_the_bases_own_methods(value: object, wanted: object) -> None:
    assert alike(crossed(value), wanted)


class Rude:
    def __repr__(self) -> str:
        raise ValueError


class Wordy:
    def __repr__(self) -> str:
        return "é\n" * 10_000 + "\ud800"


@pytest.mark.parametrize(("value", "kind"), [(Rude(), f"{__name__}.Rude"), (Wordy(), f"{__name__}.Wordy")])
def test_objects_that_are_not_data(value: object, kind: str) -> None:
    seen = crossed([value])[0]
    assert type(seen) is Opaque
    assert seen.type == kind
    assert len(seen.text) <= 1000


class Hashed(list):  # type: ignore[type-arg]
    __hash__ = object.__hash__


class Apart(str):
    """Equal only to itself."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__


def test_a_key_that_is_not_hashable_as_data_is_not_data() -> None:
    """Its hash is the completion's own; the dict around it is still read, and equals nothing."""
    for value in ({Hashed([1]): 2}, {(0, Hashed([1])): 2}, {Hashed([1])}, frozenset({Hashed([1])})):
        assert "can't be a key" in repr(crossed([value, 5])[0])
    assert list(crossed({Hashed([1]): 2, 3: 4}).values()) == [2, 4]


@pytest.mark.parametrize("make", [dict.fromkeys, set, frozenset, collections.Counter, collections.OrderedDict.fromkeys])
def test_a_dict_with_keys_that_are_equal_as_data_is_not_data(make: Any) -> None:
    """Otherwise a dict of two would equal a dict of one."""
    seen = crossed([make([Apart("a"), Apart("a")])])[0]
    assert type(seen) is Opaque
    assert "equal once they are data" in seen.text


class Lying:
    __class__ = int  # type: ignore[assignment]


class Nameless(type):
    __module__ = property(lambda _: 1 / 0)  # type: ignore[assignment]
    __name__ = property(lambda _: 1 / 0)  # type: ignore[assignment]


class Unnamed(metaclass=Nameless):
    pass


@pytest.mark.parametrize("value", [Lying(), Unnamed()], ids=["lying", "unnamed"])
def test_claims_of_a_class_about_itself_are_ignored(value: object) -> None:
    assert type(crossed([value])[0]) is Opaque


def test_an_address_in_a_repr_is_hidden() -> None:
    assert crossed(object()).text == "<object object at 0x...>"


@pytest.mark.parametrize(
    "value",
    ["x" * 101, list(range(60)), [[]] * 40, [()] * 20, {i: i for i in range(30)}, b"x" * 50, 1 << 500, ["é"] * 17],
)
def test_no_text_is_longer_than_the_cap(value: object) -> None:
    with pytest.raises(encode.TooLargeError):
        encode.encode(value, 100)
    assert len(encode.encode(value, 100_000)) > 100


@given(values, st.integers(0, 2000))
def test_the_cap_holds_whatever_the_value(value: object, cap: int) -> None:
    try:
        assert len(encode.encode(value, cap)) <= cap
    except encode.TooLargeError:
        assert len(encode.encode(value, CAP)) > cap - 50


def test_ints_of_any_size() -> None:
    for value in (2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 10**5000, -(1 << 3_000_000)):
        assert crossed(value) == value


def test_numpy_values_that_are_not_plain_numbers() -> None:
    numpy = pytest.importorskip("numpy")
    cycle = numpy.empty(1, dtype=object)
    cycle[0] = cycle
    assert alike(crossed([numpy.clongdouble(1j), numpy.array([0.5], numpy.longdouble)]), [1j, [0.5]])
    assert crossed(numpy.rec.array([(1, 2)])) == [(1, 2)]
    assert crossed(type("A", (numpy.ndarray,), {"tolist": None})((1, 0))) == [[]]
    assert "nested deeper" in repr(crossed(cycle))


# ---- arguments on their way in


def test_arguments_are_written_unchanged() -> None:
    args = [None, True, 1 << 100, 1.5, math.inf, "é\ud800", b"x", [1, (2,)], {"k": {1, 2}}, frozenset({1})]
    assert marshal.loads(encoded_call(args, {"key": [1]})) == (tuple(args), {"key": [1]})


@pytest.mark.parametrize("value", [object(), fractions.Fraction(1), decimal.Decimal(1), [[lambda: 1]]])
def test_an_argument_that_is_not_plain_data_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="unmarshallable"):
        encoded_call([value], {})
