"""Values of numpy and pandas for the tests of how they cross, and what it is for two of them to be the same."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from evaluator.sandbox.inside import arrays


def crossed(value: Any) -> Any:
    """The value on the other side; objects in it stand for themselves, if they are asked for in their order."""
    items: list[Any] = []
    asked = iter(range(1 << 30))

    def lower_item(item: Any) -> Any:
        items.append(item)
        return {"item": len(items) - 1}

    def build_item(node: Any) -> Any:
        assert node == {"item": next(asked)}
        return items[node["item"]]

    lowered = arrays.lower(value, type(value), lower_item)
    assert lowered is not None
    ((tag, payload),) = json.loads(json.dumps(lowered)).items()
    assert tag in arrays.TAGS
    made = arrays.build(tag, payload, build_item)
    assert next(asked) == len(items)
    assert arrays.is_mutable(made, type(made)) == arrays.is_mutable(value, type(value))
    return made


def lowered(value: Any) -> Any:
    return arrays.lower(value, type(value), lambda item: item)


def assert_same_array(made: Any, value: Any) -> None:
    assert type(made) is type(value)
    assert (made.dtype, made.dtype.char, made.dtype.str) == (value.dtype, value.dtype.char, value.dtype.str)
    assert made.dtype.isalignedstruct == value.dtype.isalignedstruct
    assert made.shape == value.shape
    assert made.flags.writeable
    if value.dtype.char == "O":
        assert all(one is other for one, other in zip(made.ravel(), value.ravel(), strict=True))
    else:
        assert bits(made) == bits(value)


def bits(value: Any) -> bytes:
    """The bytes of its values, without those that lie within and between them."""
    if value.dtype.names is not None:
        return b"".join(bits(value[name]) for name in value.dtype.names)
    if value.dtype.char not in "gG":
        return bytes(value.tobytes())
    return repr(value.tolist()).encode()


def assert_same_pandas(made: Any, value: Any) -> None:
    assert type(made) is type(value)
    exactly: dict[str, Any] = {"check_exact": True, "check_freq": True, "check_flags": True}
    if isinstance(value, pd.DataFrame):
        pd.testing.assert_frame_equal(made, value, check_column_type="exact", check_index_type="exact", **exactly)
        assert_same_index(made.columns, value.columns)
        for place in range(value.shape[1]):
            assert_same_values(made.iloc[:, place].array, value.iloc[:, place].array)
    else:
        pd.testing.assert_series_equal(made, value, check_index_type="exact", check_category_order=True, **exactly)
        assert type(made.name) is type(value.name)
        assert_same_values(made.array, value.array)
    assert_same_index(made.index, value.index)
    assert made.attrs == value.attrs
    assert list(made.attrs) == list(value.attrs)


def assert_same_index(made: Any, value: Any) -> None:
    assert type(made) is type(value)
    pd.testing.assert_index_equal(made, value, exact=True, check_exact=True)
    assert [(type(name), name) for name in made.names] == [(type(name), name) for name in value.names]
    assert made.identical(value)
    if isinstance(value, pd.MultiIndex):
        for one, other in zip(made.levels, value.levels, strict=True):
            assert_same_index(one, other)
    elif not isinstance(value, pd.RangeIndex):
        assert_same_values(made.array, value.array)
        assert getattr(made, "freq", None) == getattr(value, "freq", None)


def assert_same_values(made: Any, value: Any) -> None:
    assert type(made) is type(value)
    assert made.dtype == value.dtype
    assert repr(made.dtype) == repr(value.dtype)
    if isinstance(value, pd.Categorical):
        assert_same_index(made.categories, value.categories)
        assert made.codes.tobytes() == value.codes.tobytes()
        return
    plain = np.asarray(value)
    assert np.asarray(made).dtype.str == plain.dtype.str
    if plain.dtype != object:
        assert bits(np.asarray(made)) == bits(plain)
    else:
        for one, other in zip(np.asarray(made), plain, strict=True):
            assert type(one) is type(other)
            assert one is other or one == other or (one != one and other != other)


ARRAYS = [
    np.zeros((2, 3)), np.array(7), np.zeros((0, 5), "f4"), np.array([[]]), np.arange(12).reshape(3, 4)[:, ::2],
    np.array([-0.0, np.inf, np.nan]), np.array([0x7FF4DEADBEEF0001, 0xFFF8000000000007], "u8").view("f8"),
    np.array([1, 2], "f2"), np.array([1, 2], "g") / 3, np.array([1j, 2], "G") / 3, np.array([1, 2], ">g") / 3,
    np.array([1, 2], "q"), np.array([1, 2], "Q"), np.array([1, 2], ">q"), np.array([1, 2], ">i2"),
    np.array([True, False]), np.array([1j, -0j], "F"), np.array(["a", "bcd\0", "\U0001f600"]), np.array(["\ud800"]),
    np.array(["é"], ">U3"), np.array([b"a\0b", b""]), np.zeros(2, "V3"), np.zeros((2, 2), "V0"),
    np.array(["2020-01-02", "NaT"], "M8[D]"), np.array([1, 2], "M8[25s]"), np.array([1], "m8[ns]"), np.array([5], "m8"),
    np.array([5], ">M8[ms]"), np.array([(1, 2.5, b"x")], [("a", "i1"), ("b", "f8"), ("ü c", "S3")]),
    np.zeros(3, np.dtype([("a", "i1"), ("b", "f8")], align=True)), np.zeros(2, [("a", "3i4"), ("b", [("c", "U2")])]),
    np.zeros(2, np.dtype({"names": ["a", "b"], "formats": ["u2", "u1"], "offsets": [0, 1], "itemsize": 9})),
    np.zeros(2, [("a", "g")]), np.zeros(2, [(("title", "a"), "f8"), ("b", "?")]), np.zeros(2, []),
]  # fmt: skip


SCALARS = [
    np.float64(-0.0), np.float32(0.1), np.float16(1), np.longdouble(1) / 3, np.clongdouble(1j) / 3, np.int8(-3),
    np.longlong(3), np.int64(3), np.ulonglong(3), np.bool_(True), np.complex64(1j), np.str_("a\0b\0"),
    np.str_("\ud800"), np.bytes_(b"\0x\0"), np.void(b"ab\0"), np.datetime64("2020-01-02"), np.datetime64("NaT"),
    np.timedelta64(5, "25s"), np.datetime64(5, "ns"), np.zeros(1, [("a", "i4"), ("b", "U2")])[0],
]  # fmt: skip


FRAMES: list[Callable[[], Any]] = [
    lambda: pd.DataFrame(),
    lambda: pd.DataFrame({"a": [1, 2], "b": ["x", None], "c": [-0.0, np.nan], "d": [True, False]}),
    lambda: pd.DataFrame({"a": []}, dtype="f4"),
    lambda: pd.DataFrame(index=[3, 1, 3]),
    lambda: pd.DataFrame(columns=["a", "b"], index=pd.Index([], name="i")),
    lambda: pd.DataFrame(np.arange(6, dtype=">i4").reshape(2, 3), columns=pd.Index([1, "a", (2, None)], dtype=object)),
    lambda: pd.DataFrame([[1, 2.5, "a"]], columns=["a", "a", "b"], index=["r"]),
    lambda: pd.DataFrame([[1, 2], [3, 4]], index=["a", "a"], columns=[0.5, np.nan]),
    lambda: pd.DataFrame({("a", 1): [1], ("b", 2): [2]}),
    lambda: pd.DataFrame({"v": "b"}, index=pd.MultiIndex.from_tuples([("a", 1), (None, 2), ("a", 3)], names=[5, ""])),
    lambda: pd.DataFrame({"v": [1, 2, 3, 4]}, index=pd.MultiIndex.from_product([[1, 2], ["x", "y"]])).iloc[:2],
    lambda: pd.DataFrame({"v": range(5)}, index=pd.date_range("2020-01-01", periods=5, freq="2D", tz="Europe/Paris")),
    lambda: pd.DataFrame({"v": range(3)}, index=pd.timedelta_range("1h", periods=3, freq="h")),
    lambda: pd.DataFrame({"v": range(3)}, index=pd.period_range("2020-01", periods=3, freq="M")),
    lambda: pd.DataFrame({"v": range(2)}, index=pd.IntervalIndex.from_breaks([0.0, 1, 2], closed="left")),
    lambda: pd.DataFrame({"v": [1, 2]}, index=pd.CategoricalIndex(["a", "b"], categories=list("bac"), ordered=True)),
    lambda: pd.DataFrame({"c": pd.Categorical(["a", None]), "e": pd.Categorical([2, 1], categories=[3, 2, 1])}),
    lambda: pd.DataFrame({"c": pd.Categorical(pd.date_range("2020", periods=2)), "r": pd.Categorical(range(2))}),
    lambda: pd.DataFrame({"i": pd.array([1, None], "Int8"), "f": pd.array([0.1, None], "Float64")}),
    lambda: pd.DataFrame({"u": pd.array([1, None], "UInt64"), "b": pd.array([True, None], "boolean")}),
    lambda: pd.DataFrame({"s": pd.array(["é", None], "string[python]")}),
    lambda: pd.DataFrame({"t": pd.to_datetime(["2020", None]), "z": pd.to_datetime(["2020", None]).tz_localize("UTC")}),
    lambda: pd.DataFrame({"t": pd.to_datetime(["2020-01-01"]).astype("M8[s]"), "d": pd.to_timedelta([1], "ns")}),
    lambda: pd.DataFrame({"o": np.array([[1], {"a": (1,)}, None, 2.5], dtype=object)}),
    lambda: pd.DataFrame({"o": np.array(["a", "b"], dtype=object), "h": np.array([1, 2], "f2"), "c": [1j, 2]}),
    lambda: pd.DataFrame({"p": pd.PeriodIndex(["2020Q1", None], freq="Q-NOV"), "g": np.array([1, 2], "g")}),
    lambda: pd.DataFrame({"p": pd.interval_range(pd.Timestamp("2020"), periods=2)}),
    lambda: pd.DataFrame({"a": [3, 1, 2]}, index=pd.RangeIndex(10, 4, -2, name="r")).sort_values("a"),
    lambda: pd.DataFrame({"a": [1]}, index=pd.Index([b"x"], dtype=object)).rename_axis(columns="named"),
    lambda: pd.DataFrame(np.array([0x7FF4DEADBEEF0001], "u8").view("f8")),
    lambda: with_notes(pd.DataFrame({"a": [1]})),
    lambda: pd.Series([1, 2], name=("a", 1)),
    lambda: pd.Series([1.5], index=["a"], name=3, dtype="f4"),
    lambda: pd.Series(pd.date_range("2020", periods=3)),
    lambda: pd.Series([pd.NaT, pd.NA, None, np.nan], dtype=object),
    lambda: pd.Series([], dtype=object),
    lambda: pd.Series({"a": 1, 2: "b"}),
    lambda: pd.to_datetime(pd.Series(["2020-01-01T00:00:00+05:30"])),
    lambda: with_notes(pd.Series([1, 2])),
]  # fmt: skip


def with_notes(value: Any) -> Any:
    value.attrs = {"unit": "m", 2: (1,)}
    return value.set_flags(allows_duplicate_labels=False)


INDEXES: list[Callable[[], Any]] = [
    lambda: pd.RangeIndex(5), lambda: pd.Index([1, 2], name="n"), lambda: pd.Index(["a", None]), lambda: pd.Index([]),
    lambda: pd.Index([(1, 2), (3,)], tupleize_cols=False), lambda: pd.bdate_range("2020", periods=4),
    lambda: pd.date_range("2020", periods=3, freq="QS-FEB"), lambda: pd.timedelta_range("1min", periods=2),
    lambda: pd.MultiIndex.from_arrays([[1, 1, None], pd.date_range("2020", periods=3)], names=[("a",), "b"]),
    lambda: pd.date_range("2020", periods=1, freq="h", tz=datetime.timezone(datetime.timedelta(hours=-3))),
    lambda: pd.Index([True, False]), lambda: pd.Index(np.array([1], "i1")), lambda: pd.Index([1j]),
]  # fmt: skip


VALUES: list[Callable[[], Any]] = [
    lambda: pd.Categorical(["a", "b", None], ordered=True), lambda: pd.array([1, None]), lambda: pd.array([True]),
    lambda: pd.array(["a", None], "string[python]"), lambda: pd.date_range("2020", periods=2).array,
    lambda: pd.date_range("2020", periods=2, tz="Asia/Tokyo").array, lambda: pd.Series([1, 2]).array,
    lambda: pd.period_range("2020", periods=2, freq="2W").array, lambda: pd.interval_range(0, 2).array,
    lambda: pd.to_timedelta(["1s"]).array, lambda: pd.Series([None, 1], dtype=object).array,
]  # fmt: skip


STAMPS = [
    pd.Timestamp("2020-01-02T03:04:05.678901234"), pd.Timestamp("2020-10-25 12:30", tz="Europe/Paris"),
    pd.Timestamp("2020-10-25T00:30Z").tz_convert("Europe/Paris"),
    pd.Timestamp("2020-10-25T01:30Z").tz_convert("Europe/Paris"),
    pd.Timestamp("2020").as_unit("s"), pd.Timestamp("2020-01-01T00:00+05:30"), pd.Timestamp("2020", tz="UTC"),
    pd.Timedelta("1 days 00:00:00.000000001"), pd.Timedelta(-5, "s"), pd.Timedelta(1, "s").as_unit("ms"),
    pd.Period("2020-03", "M"), pd.Period("2020", "Q-OCT"), pd.Interval(0, 1.5, "both"),
    pd.Interval(pd.Timestamp("2020"), pd.Timestamp("2021")), pd.offsets.BDay(3), pd.offsets.MonthEnd(),
    pd.offsets.Hour(5),
]  # fmt: skip
