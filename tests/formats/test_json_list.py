"""A JSON list that is cut while it is read gives the elements that `json` gives, with their lines."""

import json

from hypothesis import given
from hypothesis import strategies as st

from evaluator.formats.reading.json_text import RawRow, split_json
from evaluator.formats.reading.problems import Problem

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('ab"\\{}[],\n\u00e9', max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('a"]\\', max_size=3), inner, max_size=3),
    max_leaves=8,
)


def chunks(data, size):
    return [data[at : at + size] for at in range(0, len(data), size)]


@given(st.lists(JSON, max_size=6), st.integers(1, 9), st.sampled_from([None, 0, 2]), st.booleans())
def test_elements_are_those_of_json_whatever_the_chunks(values, size, indent, escaped):
    data = json.dumps(values, indent=indent, ensure_ascii=escaped).encode()
    parts = list(split_json(chunks(data, size), "", 1, 1000))
    assert all(isinstance(part, RawRow) for part in parts)
    assert [json.loads(part.data) for part in parts] == values
    lines = data.split(b"\n")
    assert all(part.data.split(b"\n")[0].strip() in lines[part.line - 1] for part in parts)
    assert all(data[part.offset :].startswith(part.data) for part in parts)


@given(st.lists(st.dictionaries(st.text(max_size=3), JSON, max_size=3), max_size=5), st.integers(1, 9))
def test_objects_one_after_another_are_rows_however_many_lines_they_take(values, size):
    data = "".join(json.dumps(value, indent=1) + "\n\n"[: n % 3] for n, value in enumerate(values)).encode()
    parts = list(split_json(chunks(data, size), "", 1, 1000))
    assert [json.loads(part.data) for part in parts] == values
    assert all(data[part.offset :].startswith(part.data) for part in parts)
    assert all(part.line == data[: part.offset].count(b"\n") + 1 for part in parts)


@given(st.binary(max_size=60), st.integers(1, 7))
def test_any_bytes_are_cut_without_losing_the_end(data, size):
    parts = list(split_json(chunks(b"[" + data, size), "", 1, 20))
    assert all(len(part.data) <= 20 for part in parts if isinstance(part, RawRow))
    closed = not any(isinstance(part, Problem) and "list is cut off" in part.message for part in parts)
    assert closed <= (b"]" in data or b"}" in data)


def test_an_element_over_the_limit_comes_with_its_first_bytes_and_its_size():
    data = b'[1,\n"' + b"x" * 5000 + b'",\n2]'
    one, long, two = split_json(chunks(data, 64), "f", 1, 100)
    assert (one, two) == (RawRow(1, b"1", True, 1), RawRow(3, b"2", True, len(data) - 2))
    assert (long.path, long.line, long.offset) == ("f", 2, data.index(b'"'))
    assert "more than the limit" in long.message
    assert long.snippet.startswith("'\"xxx")
