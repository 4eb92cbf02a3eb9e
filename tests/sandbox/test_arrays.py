"""numpy's arrays and scalars between two processes: each comes out as it went in, or is said not to."""

from __future__ import annotations

import datetime
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evaluator.sandbox.inside import arrays
from tests.sandbox.array_values import ARRAYS, SCALARS, assert_same_array, bits, crossed, lowered


@pytest.mark.parametrize("value", ARRAYS, ids=repr)
def test_an_array_comes_out_to_the_bit(value: Any) -> None:
    assert_same_array(crossed(value), value)


dtypes = st.one_of(
    hnp.scalar_dtypes(),
    hnp.array_dtypes(hnp.scalar_dtypes(), allow_subarrays=True),
    hnp.nested_dtypes(hnp.scalar_dtypes()),
).filter(lambda dtype: dtype.subdtype is None)


@settings(max_examples=200, deadline=None)
@given(hnp.arrays(dtypes, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)))
def test_any_array_comes_out_to_the_bit(value: Any) -> None:
    assert_same_array(crossed(value), value)


def test_the_order_in_memory_is_kept() -> None:
    value = np.asfortranarray(np.random.default_rng(1).random((70, 30)))
    made = crossed(value)
    assert_same_array(made, value)
    assert made.flags.fnc
    assert made.sum(axis=1).tobytes() == value.sum(axis=1).tobytes()
    assert crossed(value.T).flags.c_contiguous


def test_objects_in_an_array_are_themselves() -> None:
    held = [[1, 2], np.array(5), (), None, "a", {1: 2}]
    value = np.empty((2, 3), object)
    for place, item in enumerate(held):
        value.flat[place] = item
    assert_same_array(crossed(value), value)
    for shape in ((), (0, 2), (1,)):
        assert_same_array(crossed(np.empty(shape, object)), np.empty(shape, object))


@pytest.mark.parametrize("value", SCALARS, ids=repr)
def test_a_scalar_keeps_its_class_and_bits(value: Any) -> None:
    made = crossed(value)
    assert type(made) is type(value)
    assert (made.dtype.char, made.dtype, repr(made)) == (value.dtype.char, value.dtype, repr(value))
    assert bits(np.asarray(made)) == bits(np.asarray(value))


def test_a_true_of_numpy_is_the_one_that_there_is() -> None:
    assert crossed(np.True_) is np.True_


@pytest.mark.parametrize(
    "value", [*(value.dtype for value in ARRAYS), np.dtype("O"), np.dtype(("i4", (2, 3)))], ids=repr
)
def test_a_dtype(value: Any) -> None:
    made = crossed(value)
    assert (made, made.char, made.isalignedstruct, made.fields) == (
        value,
        value.char,
        value.isalignedstruct,
        value.fields,
    )


def test_a_matrix_and_masked_arrays() -> None:
    matrix = np.array([[1, 2], [3, 4]]).view(np.matrix)
    assert_same_array(crossed(matrix), matrix)
    assert crossed(np.ma.masked) is np.ma.masked
    for value in (
        np.ma.array([1, 2, 3]),
        np.ma.array([1.5, 2, 3], mask=[0, 1, 0], fill_value=-1, hard_mask=True),
        np.ma.array([[1, 2]], mask=False),
        np.ma.array([(1, 2.0)], mask=[(True, False)], dtype=[("a", int), ("b", float)]),
        np.ma.array([None, [1]], mask=[True, False], dtype=object),
    ):
        made = crossed(value)
        assert_same_array(made.data, value.data)
        assert type(made) is type(value)
        assert (made.mask is np.ma.nomask) == (value.mask is np.ma.nomask)
        assert np.array_equal(np.ma.getmaskarray(made), np.ma.getmaskarray(value))
        assert (made.fill_value == value.fill_value, made.hardmask) == (True, value.hardmask)


class OwnArray(np.ndarray):
    pass


class OwnFloat(np.float64):
    pass


class OwnFrame(pd.DataFrame):
    pass


UNFAITHFUL: list[Callable[[], Any]] = [
    lambda: np.zeros(2).view(OwnArray),
    lambda: OwnFloat(1),
    lambda: OwnFrame({"a": [1]}),
    lambda: np.rec.array([(1, 2)], names="a,b"),
    lambda: np.zeros(2, [("a", "O")]),
    lambda: np.zeros(2, {"names": ["a", "b"], "formats": ["f8", "i8"], "offsets": [0, 0]}),
    lambda: np.zeros(2, np.dtype("f8", metadata={"a": 1})),
    lambda: np.zeros(2, [((7, "a"), "f8")]),
    lambda: np.array(["a"], np.dtypes.StringDType()),
    lambda: np.zeros((10**9, 0)),
    lambda: np.array([2], "u1").view(bool),
    lambda: np.array([0x110000], "u4").view("U1"),
    lambda: np.ma.array(np.array([[1]]).view(np.matrix)),
    lambda: pd.Series(pd.arrays.SparseArray([0, 1])),
    lambda: pd.Series([1, 2], dtype="int64[pyarrow]"),
    lambda: pd.Series(["\ud800"], dtype="string[python]"),
    lambda: pd.DataFrame({"a": np.array([2], "u1").view(bool)}),
    lambda: pd.date_range("2020", periods=3, freq=pd.offsets.CustomBusinessDay(holidays=["2020-01-02"])),
    lambda: pd.DateOffset(months=1),
    lambda: pd.CategoricalDtype(),
    lambda: pd.Series(pd.to_datetime(["2020"]).tz_localize(datetime.timezone(datetime.timedelta(hours=1), "mine"))),
]


@pytest.mark.parametrize("make", UNFAITHFUL)
def test_what_would_not_be_the_same_is_said(make: Callable[[], Any]) -> None:
    value = make()
    with pytest.raises(arrays.UnfaithfulError, match=r"^[^\n]{10,200}$"):
        lowered(value)


def test_what_is_neither_numpy_s_nor_pandas() -> None:
    frame = pd.DataFrame({"a": [1]})
    for value in (np.random.default_rng(), np.add, np, np.float64, frame.groupby("a"), len, 3, "a", object()):
        assert lowered(value) is None
        assert not arrays.is_mutable(value, type(value))


def test_a_value_that_takes_more_than_there_is_room() -> None:
    for value in (
        np.broadcast_to(np.int8(0), (10**6, 10**6)),
        np.zeros(200, object),
        pd.Series(np.zeros(200)),
        pd.Series(["a" * 200], dtype="string[python]"),
    ):
        with pytest.raises(arrays.TooLargeError):
            arrays.lower(value, type(value), lambda item: item, 100)


def test_nothing_is_imported_to_send_a_value() -> None:
    lines = (
        "import sys; from evaluator.sandbox.inside import arrays; before = 'numpy' in sys.modules;"
        "arrays.lower(object(), object, id); arrays.is_mutable([], list);"
        "print(before or not {'numpy', 'pandas'} & set(sys.modules))"
    )
    told = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, check=True)
    assert told.stdout == "True\n"


def test_what_lies_between_the_values_does_not_cross() -> None:
    """It is whatever memory was there: on the check's side, maybe an answer."""
    for dtype in (np.dtype([("a", "i1"), ("b", "f8")], align=True), np.dtype("g"), np.dtype([("a", "G"), ("b", ">g")])):
        value = np.frombuffer(bytearray(b"\xab" * 4 * dtype.itemsize), dtype).copy()
        for name in value.dtype.names or ():
            value[name] = 1
        if not value.dtype.names:
            value[...] = 1
        again = np.frombuffer(bytearray(b"\xcd" * 4 * dtype.itemsize), dtype).copy()
        for name in again.dtype.names or ():
            again[name] = 1
        if not again.dtype.names:
            again[...] = 1
        assert lowered(value) == lowered(again)
        assert crossed(value).tolist() == value.tolist()
