"""pandas' values between two processes: each comes out as it went in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.sandbox.array_values import (
    FRAMES,
    INDEXES,
    STAMPS,
    VALUES,
    assert_same_index,
    assert_same_pandas,
    assert_same_values,
    crossed,
)


@pytest.mark.parametrize("make", FRAMES)
def test_a_frame_comes_out_the_same(make: Callable[[], Any]) -> None:
    value = make()
    assert_same_pandas(crossed(value), value)
    assert_same_pandas(value, make())


labels = st.one_of(
    st.integers(-5, 5), st.text(max_size=3), st.floats(), st.none(), st.tuples(st.integers(), st.text(max_size=1))
)
kinds = hnp.scalar_dtypes().filter(lambda dtype: dtype.kind in "biufc" or dtype.str[-4:] in ("[ns]", "[us]"))


@st.composite
def frames(draw: Any) -> Any:
    rows, width = draw(st.integers(0, 5)), draw(st.integers(0, 5))
    frame = pd.DataFrame({place: draw(hnp.arrays(kinds, rows)) for place in range(width)}, index=range(rows))
    frame.columns = pd.Index(draw(st.lists(labels, min_size=width, max_size=width)), dtype=object)
    frame.index = pd.Index(draw(st.lists(labels, min_size=rows, max_size=rows)), tupleize_cols=draw(st.booleans()))
    return frame


@settings(max_examples=100, deadline=None)
@given(frames())
def test_any_frame_comes_out_the_same(value: Any) -> None:
    assert_same_pandas(crossed(value), value)
    if value.shape[1]:
        assert_same_pandas(crossed(value.iloc[:, 0]), value.iloc[:, 0])


@pytest.mark.parametrize("make", INDEXES)
def test_an_index_comes_out_the_same(make: Callable[[], Any]) -> None:
    assert_same_index(crossed(make()), make())


@pytest.mark.parametrize("make", VALUES)
def test_an_array_of_pandas_comes_out_the_same(make: Callable[[], Any]) -> None:
    assert_same_values(crossed(make()), make())
    dtype = make().dtype
    if type(dtype).__name__ not in ("NumpyEADtype", "PandasDtype"):
        assert repr(crossed(dtype)) == repr(dtype)


@pytest.mark.parametrize("value", STAMPS, ids=repr)
def test_a_scalar_of_pandas(value: Any) -> None:
    made = crossed(value)
    assert (type(made), made, repr(made)) == (type(value), value, repr(value))
    for name in ("unit", "fold", "tz", "freq", "ordinal", "nanosecond"):
        assert getattr(made, name, None) == getattr(value, name, None)


def test_what_is_missing_is_the_one_that_there_is() -> None:
    assert crossed(pd.NA) is pd.NA
    assert crossed(pd.NaT) is pd.NaT
