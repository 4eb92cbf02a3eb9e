"""JSON of others is read up to a depth of ours, the same on every Python, and never deeper."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.formats.reading.json_text import JsonError, decode_json
from evaluator.graders import GraderError
from evaluator.graders.spec import parse_spec
from evaluator.model import JsonValue
from evaluator.tasks import long_numbers, nesting


def nested(levels: int) -> str:
    return '{"a":[' * (levels // 2) + "]}" * (levels // 2)


READERS: dict[str, Callable[[str], object]] = {
    "text": decode_json,
    "bytes": lambda text: decode_json(text.encode()),
    "long numbers": long_numbers.loads,
    "a grader": lambda text: parse_spec('{"name": "tests", ' + text.removeprefix("{")),
}


@pytest.mark.parametrize("name", READERS)
def test_the_bound_is_exact(name: str) -> None:
    READERS[name](nested(nesting.MOST))
    for levels in (nesting.MOST + 2, 2_000, 200_000):
        with pytest.raises((JsonError, ValueError, GraderError), match="nested too deeply"):
            READERS[name](nested(levels))


def depth(value: JsonValue) -> int:
    match value:
        case list():
            return 1 + max(map(depth, value), default=0)
        case dict():
            return 1 + max(map(depth, value.values()), default=0)
    return 0


texts = st.text(st.sampled_from('[]{}"\\é\ud800\n'), max_size=6)
values = st.recursive(
    texts, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3))
)


@given(values, st.booleans(), st.booleans())
def test_brackets_in_strings_do_not_count(value: JsonValue, as_bytes: bool, ascii_alone: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_alone)
    given_ = text.encode("utf-8", "surrogatepass") if as_bytes else text
    levels = depth(value)
    nesting.require_shallow(given_, levels)
    if levels:
        with pytest.raises(nesting.NestedError):
            nesting.require_shallow(given_, levels - 1)
