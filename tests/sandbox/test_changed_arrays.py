"""Arrays and frames that the other side has changed: seen there, and changed in place here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evaluator.sandbox.inside import arrays
from tests.sandbox.array_values import (
    FRAMES,
    assert_same_array,
    assert_same_pandas,
    assert_same_values,
    crossed,
    with_notes,
)


def replaced(value: Any, new: Any) -> None:
    """What a change on the other side comes to on this one."""
    arrays.replace(value, crossed(new))
    assert arrays.unchanged(value, arrays.snapshot(value))


def test_a_changed_array_changes_in_place_under_its_views() -> None:
    base = np.arange(24.0).reshape(4, 6)
    value, rows = base[::2, 1::2], base[0]
    new = np.arange(6.0).reshape(2, 3) * -0.0
    replaced(value, new)
    assert value.tobytes() == new.tobytes()
    assert rows.tolist() == [0, 0, 2, 0, 4, 0]
    assert np.signbit(rows).tolist() == [False, True] * 3
    turned = base.T
    replaced(turned, np.ones((6, 4)))
    assert base.tolist() == np.ones((4, 6)).tolist()


def test_an_array_of_objects_changes_in_place() -> None:
    base = np.array([[1, None], ["a", 2]], dtype=object)
    new = np.empty((2, 1), object)
    new[0, 0], new[1, 0] = [1, 2], np.array(3)
    replaced(base[:, :1], new)
    assert base[0, 0] is new[0, 0]
    assert base[1, 0] is new[1, 0]
    assert base[:, 1].tolist() == [None, 2]


def test_an_array_gets_another_shape_or_dtype_over_the_same_bytes() -> None:
    value = np.arange(6)
    view = value[:2]
    replaced(value, np.arange(6).reshape(2, 3) * 2)
    assert_same_array(value, np.arange(6).reshape(2, 3) * 2)
    assert view.tolist() == [0, 2]
    replaced(value, np.arange(6.0))
    assert_same_array(value, np.arange(6.0))
    replaced(value, np.arange(24, dtype=">i2"))
    assert_same_array(value, np.arange(24, dtype=">i2"))
    both = np.array([1, 2], object)
    replaced(both, np.array([[3], [4]], object))
    assert both.tolist() == [[3], [4]]


def read_only(value: Any) -> Any:
    value._data.flags.writeable = False
    return value


@pytest.mark.parametrize(
    ("value", "new"),
    [
        (np.zeros(2), np.zeros(3)),
        (np.zeros(2), np.zeros(2, object)),
        (np.zeros((4, 4))[::2], np.zeros(8)),
        (np.broadcast_to(np.zeros(1), 3), np.ones(3)),
        (np.zeros(2), np.ma.zeros(2)),
        (np.ma.zeros(2), np.ma.zeros(3)),
        (pd.Index([1, 2]), pd.Index([1, 3])),
        (pd.Categorical(["a"]), pd.Categorical(["b"])),
        (pd.array([1, 2]), pd.array([1])),
        (read_only(pd.array([1, 2])), pd.array([3, 4])),
    ],
)
def test_what_can_not_be_changed_in_place_is_said(value: Any, new: Any) -> None:
    with pytest.raises(arrays.UnfaithfulError, match=r"^[^\n]{10,200}$"):
        replaced(value, new)


def test_masked_arrays_and_matrices_change_in_place() -> None:
    matrix = np.array([[1, 2]]).view(np.matrix)
    flat = np.asarray(matrix)
    replaced(matrix, np.array([[3, 4]]).view(np.matrix))
    assert flat.tolist() == [[3, 4]]
    for mask in (np.ma.nomask, [False, True]):
        for hard in (False, True):
            value, new = np.ma.array([1, 2], mask=mask, hard_mask=hard), np.ma.array([3, 4], mask=[1, 0], fill_value=9)
            replaced(value, new)
            assert (value.tolist(), value.fill_value, value.hardmask) == ([None, 4], 9, False)


@pytest.mark.parametrize("make", FRAMES)
def test_a_frame_becomes_another_in_place(make: Callable[[], Any]) -> None:
    new = make()
    value = pd.DataFrame({"a": [1, 2]}) if isinstance(new, pd.DataFrame) else pd.Series([1, 2], name="x")
    value = with_notes(value)
    replaced(value, new)
    assert_same_pandas(value, new)


def test_a_frame_can_be_used_after_it_was_changed() -> None:
    value = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
    assert value["a"].tolist() == [1, 2]
    replaced(value, pd.DataFrame({"c": [5.5]}, index=["r"]))
    value["d"] = value["c"] * 2
    value.loc["s"] = [1, 2]
    assert value.to_dict("list") == {"c": [5.5, 1], "d": [11, 2]}
    assert value.index.tolist() == ["r", "s"]


def test_labels_and_arrays_of_pandas_change_in_place() -> None:
    index = pd.Index([1, 2])
    replaced(index, pd.Index([1, 2], name="n"))
    assert index.name == "n"
    for before, after in (
        (pd.Categorical(["a", "b"]), pd.Categorical(["b", None], categories=["a", "b"])),
        (pd.array([1, 2]), pd.array([None, 3])),
        (pd.array(["a"], "string[python]"), pd.array([None], "string[python]")),
        (pd.date_range("2020", periods=2).array.copy(), pd.date_range("2021", periods=2).array),
    ):
        replaced(before, after)
        assert_same_values(before, after)


CHANGES: list[tuple[Any, Callable[[Any], object]]] = [
    (np.zeros(2), lambda value: value.__setitem__(0, -0.0)),
    (np.array([np.nan]), lambda value: value.view("u8").__ixor__(1)),
    (np.zeros(2), lambda value: setattr(value, "shape", (2, 1))),
    (np.zeros(2, "q"), lambda value: setattr(value, "dtype", "l")),
    (np.array([[1], None], object), lambda value: value.__setitem__(0, [1])),
    (np.ma.zeros(2), lambda value: value.__setitem__(0, np.ma.masked)),
    (np.ma.zeros(2), lambda value: value.harden_mask()),
    (np.array([[1]]).view(np.matrix), lambda value: value.__setitem__((0, 0), 2)),
    (pd.DataFrame({"a": [1.5]}), lambda value: value.insert(0, "b", 1)),
    (pd.DataFrame({"a": [1.5]}), lambda value: value.__setitem__("a", [1])),
    (pd.DataFrame({"a": [0.0]}), lambda value: value.iloc.__setitem__((0, 0), -0.0)),
    (pd.DataFrame({"a": [1]}), lambda value: setattr(value.index, "name", "n")),
    (pd.DataFrame({"a": [1]}), lambda value: setattr(value, "columns", ["b"])),
    (pd.DataFrame({"a": [1]}), lambda value: value.attrs.update(a=1)),
    (pd.DataFrame({"a": [1], "b": 2}), lambda value: value.pop("a")),
    (pd.DataFrame({"a": [[1]]}), lambda value: value.at.__setitem__((0, "a"), [1])),
    (pd.Series([1]), lambda value: setattr(value, "name", "n")),
    (pd.Series(["a"]), lambda value: value.__setitem__(0, "b")),
    (pd.Series(["a"]), lambda value: value.__setitem__(0, 1.5 if value.dtype == object else None)),
    (pd.Index([1]), lambda value: setattr(value, "name", "n")),
    (pd.array([1]), lambda value: value.__setitem__(0, None)),
]


@pytest.mark.parametrize(("value", "change"), CHANGES)
def test_a_change_is_seen_and_nothing_else(value: Any, change: Callable[[Any], object]) -> None:
    value = value.copy()
    before = arrays.snapshot(value)
    repr(value)
    assert arrays.unchanged(value, before)
    change(value)
    assert not arrays.unchanged(value, before)


def test_a_value_that_has_become_one_that_does_not_cross_is_changed() -> None:
    value = pd.DataFrame({"a": [0, 1]})
    before = arrays.snapshot(value)
    value["a"] = pd.arrays.SparseArray([0, 1])
    assert not arrays.unchanged(value, before)
