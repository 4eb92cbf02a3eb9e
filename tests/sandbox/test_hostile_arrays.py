"""What a completion's process may send as numpy's or pandas' values: whatever is wrong with it is a `ValueError`."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evaluator.sandbox.inside import arrays
from tests.sandbox.array_values import ARRAYS, FRAMES, INDEXES, SCALARS, STAMPS, VALUES

MUCH = 64 << 20
"""Bytes that no short text may cost."""


def built(tag: str, payload: Any) -> Any:
    return arrays.build(tag, payload, lambda node: node)


ONE = "AAAAAAAAAAA="
HOSTILE: list[tuple[str, Any]] = [
    ("np", ["|O", [1], ONE]),
    ("np", ["O", [1], ONE]),
    ("np", ["object", [1], ONE]),
    ("np", ["<f8,<f8", [0], ""]),
    ("np", ["float64", [1], ONE]),
    ("np", ["=f8", [1], ONE]),
    ("np", ["<f8", [10**12], ONE]),
    ("np", ["<f8", [-1], ONE]),
    ("np", ["<f8", [True], ONE]),
    ("np", ["<f8", [1.0], ONE]),
    ("np", ["<f8", "1", ONE]),
    ("np", ["<f8", 1, ONE]),
    ("np", ["<f8", [1] * 65, ONE]),
    ("np", ["<f8", [2**31, 2**33], ONE]),
    ("np", ["<f8", [0, 2**62, 2**62], ""]),
    ("np", ["<f8", [10**15, 0], ""]),
    ("np", ["|V0", [10**15], ""]),
    ("np", ["|S99999999", [0], ""]),
    ("np", ["<U9999999", [0], ""]),
    ("np", ["<M8[0s]", [1], ONE]),
    ("np", ["<M8[999999999999s]", [1], ONE]),
    ("np", ["<M8[7s/3]", [1], ONE]),
    ("np", ["|T16", [0], ""]),
    ("np", ["<f8", [1], "AAAAAAAAAAA"]),
    ("np", ["<f8", [1], "AAAAAA\nAAAAA="]),
    ("np", ["<f8", [1], "\u00e9"]),
    ("np", ["<f8", [1], None]),
    ("np", ["<f8", [1], ONE, "K"]),
    ("np", ["|b1", [8], "AAAAAAAAAgA="]),
    ("np", ["<U2", [1], "AAARAAAAEQA="]),
    ("np", [[[["a", "|O", 0]], 8, False], [1], ONE]),
    ("np", [[[["a", "<f8", 4]], 8, False], [1], ONE]),
    ("np", [[[["a", "<f8", -8]], 8, False], [1], ONE]),
    ("np", [[[["a", "|u1", 0]], 2**40, False], [0], ""]),
    ("np", [[[["a", ["|u1", [2**40]], 0]], 2**40, False], [0], ""]),
    ("np", [[[["a", ["<f8", [2**40, 0]], 0]], 8, False], [1], ONE]),
    ("np", [["<f8", [1]], [1], ONE]),
    ("np", [[[["a", "<f8", 0], ["b", "<f8", 0]], 8, False], [1], ONE]),
    ("np", None),
    ("np", {}),
    ("no", [[10**9], []]),
    ("no", [[2], [1]]),
    ("no", [[10**15, 0], []]),
    ("no", [[1], "a"]),
    ("no", [[3], "abc"]),
    ("ns", ["|O", ONE]),
    ("ns", ["<f8", ""]),
    ("ns", ["<U", "AAARAA=="]),
    ("nd", "os.system"),
    ("nd", [["|O", [1]]]),
    ("nd", [["|O", [1]], [1]]),
    ("nm", ["matrix", {"no": [[10**9], []]}]),
    ("nm", ["masked", {"np": ["<f8", [1], ONE]}, {"np": ["|b1", [2], "AAA="]}, None, False]),
    ("nm", ["masked", {"np": ["<f8", [1], ONE]}, None, {"np": ["<f8", [1], ONE]}, False]),
    ("nm", ["memmap", "/etc/passwd"]),
    ("pd", ["Series", ["range", 0, 10**12, 1, None], {"np": ["<f8", [1], ONE]}, None, [], True]),
    ("pd", ["Series", ["range", 0, 10**12, 1, None], {"np": ["<f8", [], ONE]}, None, [], True]),
    ("pd", ["DataFrame", ["range", 0, 10**12, 1, None], ["range", 0, 1, 1, None], [], [], True]),
    (
        "pd",
        ["DataFrame", ["range", 0, 1, 1, None], ["range", 0, 10**9, 1, None], [{"np": ["<f8", [1], ONE]}], [], True],
    ),
    ("pd", ["Series", ["range", 0, 1, 1, None], {"np": ["<U2", [1], ONE]}, None, [], True]),
    ("pd", ["Series", ["range", 0, 1, 1, []], {"np": ["<f8", [1], ONE]}, [], [], True]),
    ("pd", ["Series", ["range", 0, 1, 1, None], {"np": ["<f8", [1], ONE]}, None, [[], 1], True]),
    ("pd", ["range", 0, 2**70, 1, None]),
    ("pd", ["range", 0, 1, 0, None]),
    ("pd", ["multi", [["range", 0, 1, 1, None]], [{"np": ["<i8", [1], "/////////38="]}], [None]]),
    ("pd", ["array", ["categories", ["range", 0, 1, 1, None], {"np": ["<i8", [1], "/////////38="]}, False]]),
    ("pd", ["array", ["categories", ["range", 0, 1, 1, None], {"no": [[1], [{}]]}, False]]),
    ("pd", ["flat", {"np": ["<M8[D]", [1], ONE]}, None, None]),
    ("pd", ["flat", {"np": ["<M8[ns]", [1], ONE]}, "__import__('os')", None]),
    ("pd", ["flat", {"np": ["<M8[ns]", [3], ONE * 3]}, "D", None]),
    ("pd", ["array", ["period", {"np": ["<i8", [1], ONE]}, "D" * 50]]),
    ("pd", ["array", ["zoned", {"np": ["<M8[ns]", [1], ONE]}, ["zoneinfo", "../../../etc/passwd"]]]),
    ("pd", ["array", ["zoned", {"np": ["<M8[ns]", [1], ONE]}, ["os", "system"]]]),
    ("pd", ["array", ["zoned", {"np": ["<M8[ns]", [1], ONE]}, 10**30]]),
    ("pd", ["array", ["text", "python", "NA", [1]]]),
    ("pd", ["array", ["text", "os", "NA", ["a"]]]),
    ("pd", ["array", ["nullable", {"np": ["<f8", [1], ONE]}, {"np": ["|b1", [0], ""]}]]),
    ("pd", ["Timestamp", 2**64, "s", None]),
    ("pd", ["Timestamp", 1, "D", None]),
    ("pd", ["Interval", 2, 1, "left"]),
    ("pd", ["Period", 10**30, "D"]),
    ("pd", ["frequency", "9" * 30 + "D"]),
    ("pd", ["frequency", "-999999999YE-XXX"]),
    ("pd", ["__class__"]),
    ("pd", []),
    ("pd", 5),
    ("other", []),
]


@pytest.mark.parametrize(("tag", "payload"), HOSTILE, ids=lambda part: str(part)[:60])
def test_a_hostile_payload_is_refused_for_little_memory(tag: str, payload: Any) -> None:
    built("pd", ["NaT"])  # imports
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"."):
            built(tag, payload)
        assert tracemalloc.get_traced_memory()[1] < MUCH
    finally:
        tracemalloc.stop()


def test_a_deep_payload_is_refused() -> None:
    form: Any = "<f8"
    for _ in range(5000):
        form = [[["a", form, 0]], 8, False]
    with pytest.raises(ValueError, match=r"."):
        built("np", [form, [1], ONE])


def jsonable(value: Any) -> Any:
    lowered = arrays.lower(value, type(value), lambda item: item if isinstance(item, str | int | float | None) else "x")
    return json.loads(json.dumps(lowered))


SENT = [jsonable(value) for value in [*ARRAYS, *SCALARS, *STAMPS, *(make() for make in (*FRAMES, *INDEXES, *VALUES))]]
junk: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4), st.sampled_from(
        ["<f8", "|O", "|b1", "<M8[ns]", "range", "flat", "multi", "np", "no", 2**63, 10**9, -1, 0, ONE, "UTC", "D"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["np", "no", "x"]), inner, max_size=1)),
    max_leaves=5,
)  # fmt: skip


@st.composite
def spoilt(draw: Any) -> Any:
    """What was sent of one value, with up to three places in it put wrong."""
    whole = json.loads(json.dumps(draw(st.sampled_from(SENT))))
    for _ in range(draw(st.integers(1, 3))):
        node = whole
        while True:
            places = list(node) if isinstance(node, dict) else list(range(len(node)))
            if not places:
                break
            place = draw(st.sampled_from(places))
            if isinstance(node[place], dict | list) and draw(st.integers(0, 5)):
                node = node[place]
                continue
            if isinstance(node, list) and draw(st.integers(0, 3)) == 0:
                node.insert(place, draw(junk)) if draw(st.booleans()) else node.pop(place)
            else:
                node[place] = draw(junk)
            break
    return whole


@settings(max_examples=400, deadline=None)
@given(spoilt())
def test_whatever_is_wrong_with_a_payload_is_a_value_error(whole: Any) -> None:
    assume(len(whole) == 1)
    ((tag, payload),) = whole.items()
    tracemalloc.start()
    try:
        built(tag, payload)
    except ValueError:
        pass
    finally:
        assert tracemalloc.get_traced_memory()[1] < MUCH
        tracemalloc.stop()
