"""Values of numpy and pandas cross unchanged or not at all, change in place, and are never made from hostile text."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evaluator.suites.guest import arrays
from evaluator.suites.guest.errors import NotDataError, TooLargeError


def crossed(value: Any) -> Any:
    """The value on the other side; the objects in it are the same ones."""
    items: list[Any] = []

    def lower_item(item: Any) -> int:
        items.append(item)
        return len(items) - 1

    lowered = arrays.lower(value, type(value), lower_item)
    assert lowered is not None
    ((tag, payload),) = json.loads(json.dumps(lowered)).items()
    return arrays.build(tag, payload, items.__getitem__)


ARRAYS = {
    "numbers": np.arange(6, dtype="<i4").reshape(2, 3),
    "big end first": np.array([1.5, -0.0, float("nan")], dtype=">f8"),
    "bools": np.array([True, False]),
    "texts": np.array(["a", "", "é\0b"]),
    "bytes": np.array([b"a", b"bc"]),
    "times": np.array(["2024-02-29", "NaT"], dtype="datetime64[D]"),
    "complex": np.array([1 + 2j]),
    "nothing": np.zeros((0, 3)),
    "no dimension": np.array(3.5),
    "a view": np.arange(9).reshape(3, 3)[::2, ::-1],
    "objects": np.array([1, "a", None, [2]], dtype=object),
}
SCALARS = [
    np.float64(1.5),
    np.float32("nan"),
    np.int8(-3),
    np.bool_(True),
    np.str_("ab\0"),
    np.bytes_(b"x\0"),
    np.datetime64("2024-02-29"),
    np.timedelta64(3, "h"),
    np.complex128(1j),
]
FRAMES = {
    "plain": pd.DataFrame({"n": [1, 2], "t": ["x", None], "f": [1.5, None], "b": [True, False]}),
    "labelled": pd.DataFrame({1: [1], "a": [2]}, index=pd.Index(["r"], name="rows")),
    "lists": pd.DataFrame({"a": [[1], [2]]}),
    "categories": pd.DataFrame({"c": pd.Categorical(["a", "b", "a"], ordered=True)}),
    "days": pd.DataFrame({"d": [1, 2]}, index=pd.date_range("2024-01-31", periods=2, freq="ME")),
    "levels": pd.DataFrame({"a": [1, 1, 2], "b": [1, 2, 1], "n": [3, 4, 5]}).groupby(["a", "b"]).sum(),
    "equal names": pd.DataFrame([[1, 2]], columns=["a", "a"]),
    "empty": pd.DataFrame(),
}
SERIES = [
    pd.Series([1, 2], name="n"),
    pd.Series(["a", None]),
    pd.Series([1.5]).value_counts(),
    pd.Series([], dtype=float),
]


@pytest.mark.parametrize("value", ARRAYS.values(), ids=ARRAYS)
def test_an_array_crosses_bit_for_bit(value: Any) -> None:
    made = crossed(value)
    assert (made.dtype, made.shape) == (value.dtype, value.shape)
    assert made.tolist() == value.tolist() if value.dtype == object else made.tobytes() == value.tobytes()
    assert made.flags.writeable


@pytest.mark.parametrize("value", SCALARS, ids=repr)
def test_a_scalar_keeps_its_type(value: Any) -> None:
    made = crossed(value)
    assert (type(made), repr(made)) == (type(value), repr(value))


@pytest.mark.parametrize("value", FRAMES.values(), ids=FRAMES)
def test_a_frame_crosses(value: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(crossed(value), value)


@pytest.mark.parametrize("value", SERIES, ids=repr)
def test_a_series_crosses(value: pd.Series[Any]) -> None:
    pd.testing.assert_series_equal(crossed(value), value)


@pytest.mark.parametrize("value", [pd.NaT, pd.NA, pd.Timestamp("2024-02-29 12:00"), pd.Timedelta("1D")], ids=repr)
def test_a_scalar_of_pandas_crosses(value: Any) -> None:
    made = crossed(value)
    assert made is value or (type(made), made) == (type(value), value)


class OwnArray(np.ndarray):
    pass


class OwnFrame(pd.DataFrame):
    pass


@pytest.mark.parametrize(
    "value",
    [
        np.ma.masked_array([1, 2], [True, False]),
        np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]),
        np.array([1], dtype=np.longdouble),
        np.arange(3).view(OwnArray),
        OwnFrame({"a": [1]}),
        pd.Series([1, None], dtype="Int64"),
        pd.Series(pd.to_datetime(["2024-01-01"]).tz_localize("UTC")),
        pd.period_range("2024-01", periods=2),
    ],
    ids=lambda value: type(value).__name__,
)
def test_rare_kinds_do_not_cross(value: Any) -> None:
    with pytest.raises(NotDataError):
        crossed(value)


def test_attributes_of_a_frame_are_not_silently_lost() -> None:
    frame = pd.DataFrame({"a": [1]})
    frame.attrs["from"] = "test"
    with pytest.raises(NotDataError, match="attrs"):
        crossed(frame)


def test_a_value_over_the_limit_is_not_sent() -> None:
    with pytest.raises(TooLargeError):
        arrays.lower(np.zeros(1000), np.ndarray, list, 1000)


def doubled(value: Any) -> None:
    value *= 2


def column_added(value: Any) -> None:
    value["new"] = 1


def row_added(value: Any) -> None:
    value.loc[9] = 0


@pytest.mark.parametrize(
    ("value", "change"),
    [
        (np.arange(4.0), doubled),
        (np.array([[1], ["a"]], dtype=object), doubled),
        (pd.DataFrame({"a": [1, 2]}), column_added),
        (pd.DataFrame({"a": [1, 2]}), row_added),
        (pd.Series([1, 2]), row_added),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_a_change_in_place_is_made_in_place(value: Any, change: Callable[[Any], None]) -> None:
    here = crossed(value)
    view = here[:] if type(here) is np.ndarray else here
    before = arrays.snapshot(value)
    assert arrays.snapshot(value) == before
    change(value)
    assert arrays.snapshot(value) != before
    arrays.replace(here, crossed(value))
    assert repr(view) == repr(value)


def test_a_changed_shape_in_place_is_refused() -> None:
    with pytest.raises(NotDataError):
        arrays.replace(np.zeros(2), np.zeros(3))


_ONE_ROW = ["RangeIndex", [0, 1, 1], None, None]
HOSTILE: list[tuple[str, Any]] = [
    ("np", ["|O", [1], "AAAAAAAAAAA="]),
    ("np", ["<f8", [10**12], ""]),
    ("np", ["<f8", [10**12, 0], ""]),
    ("np", ["<f8", [-1], ""]),
    ("np", ["<f8", [1], "AAAA"]),
    ("np", ["<f8", "x", ""]),
    ("np", ["<f8", [1], "!!!"]),
    ("np", ["|b1", [1], "Ag=="]),
    ("np", ["<U1", [1], "//////8="]),
    ("np", ["<U99999999", [0], ""]),
    ("np", ["V8", [1], "AAAAAAAAAAA="]),
    ("np", ["f8,f8", [1], ""]),
    ("np", [["a", "b"], [1], ""]),
    ("np", None),
    ("no", [[2], [1]]),
    ("no", [[10**9], []]),
    ("ns", ["|O", "AAAAAAAAAAA="]),
    ("ns", ["<f8", ""]),
    ("nd", "datetime64[evil]"),
    ("pd", ["DataFrame", 1, 2, 3]),
    ("pd", ["DataFrame", ["RangeIndex", [0, 1, 1], None, None], ["RangeIndex", [0, 1, 1], None, None], []]),
    ("pd", ["Series", ["RangeIndex", [0, 3, 1], None, None], {"np": ["<i8", [1], "AAAAAAAAAAA="]}, None]),
    ("pd", ["Series", ["RangeIndex", [0, 10**18, 0], None, None], ["str", ["a"]], None]),
    ("pd", ["Series", ["RangeIndex", [0, 1, 1], None, None], ["str", [5]], None]),
    ("pd", ["Series", ["RangeIndex", [0, 1, 1], None, None], ["object", ["a"]], None]),
    ("pd", ["Index", "MultiIndex", [[_ONE_ROW], [{"np": ["|i1", [1], "fw=="]}]], [None], None]),
    ("pd", ["Timestamp", 5, "evil"]),
    ("pd", ["Timestamp", 10**40, "ns"]),
    ("pd", ["read_pickle", "x"]),
    ("pd", []),
    ("pd", "DataFrame"),
]  # fmt: skip


@pytest.mark.parametrize(("tag", "payload"), HOSTILE, ids=lambda part: json.dumps(part)[:60])
def test_hostile_text_makes_no_value(tag: str, payload: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - callers only know this kind
        arrays.build(tag, payload, lambda node: node)
