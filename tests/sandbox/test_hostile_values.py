"""Texts that no honest encoder writes, read as values."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.sandbox.host.values import BadValueError, decoded
from tests.sandbox.test_values import quickly

HOSTILE = {
    "nothing": "",
    "not UTF-8": b"\xff",
    "deep and closed": "[" * 100_000 + "]" * 100_000,
    "deep tags": '{"t":[' * 5000 + "]}" * 5000,
    "unknown tag": '{"q":1}',
    "two tags": '{"t":[],"d":[]}',
    "no tag": "{}",
    "unknown name": '{"x":["Popen",[]]}',
    "name of a strange type": '{"x":[{"t":[]},[]]}',
    "one part": '{"x":["Counter"]}',
    "no list": '{"t":"abc"}',
    "an object for a list": '{"t":{"a":1}}',
    "odd pairs": '{"d":[1]}',
    "bad hex": '{"b":"zz"}',
    "bad int": '{"i":"zz"}',
    "int of a list": '{"i":[]}',
    "bad float": '{"f":"1e999"}',
    "bad complex": '{"c":[1,2]}',
    "bad surrogates": '{"s":"ff"}',
    "lone surrogate in JSON": '"\\ud800"',
    "bad decimal": '{"x":["Decimal","1.2.3"]}',
    "Fraction by zero": '{"x":["Fraction",[1,0]]}',
    "Fraction of text": '{"x":["Fraction",["1","2"]]}',
    "Fraction of long ints": '{"x":["Fraction",[{"i":"' + "7" * 900_000 + '"},{"i":"' + "3" * 900_000 + '"}]]}',
    "range of long ints": '{"x":["range",[0,{"i":"' + "7" * 900_000 + '"},{"i":"' + "3" * 400_000 + '"}]]}',
    "range of step zero": '{"x":["range",[0,1,0]]}',
    "bad date": '{"x":["date","2020-13-40"]}',
    "date of a number": '{"x":["date",5]}',
    "huge timedelta": '{"x":["timedelta",[999999999999,0,0]]}',
    "timedelta of long ints": '{"x":["timedelta",[{"i":"' + "7" * 900_000 + '"},0,0]]}',
    "opaque of nothing": '{"o":[]}',
    "Counter of a list": '{"x":["Counter",{"t":[]}]}',
    "keys with one hash": '{"S":[' + ",".join(f'{{"i":"{i * (2**61 - 1):x}"}}' for i in range(20_000)) + "]}",
    "dict keys with one hash": '{"d":[' + ",".join(f'{{"i":"{i * (2**61 - 1):x}"}},1' for i in range(20_000)) + "]}",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_text_is_refused_quickly(what: str) -> None:
    text = HOSTILE[what]
    with quickly(), pytest.raises(BadValueError) as refused:
        decoded(text if isinstance(text, bytes) else text.encode())
    assert len(str(refused.value)) <= 300


json_nodes = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=5)
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from([*"ifsbBctdSZox", "q"]), inner, max_size=2),
        st.tuples(
            st.sampled_from(
                ["Counter", "OrderedDict", "defaultdict", "deque", "Decimal", "Fraction", "range", "date", "time"]
            ),
            inner,
        ).map(lambda pair: {"x": list(pair)}),
    ),
    max_leaves=12,
)


@given(st.one_of(st.binary(max_size=200), json_nodes.map(lambda node: json.dumps(node).encode())))
def test_any_text_is_read_or_refused(text: bytes) -> None:
    with contextlib.suppress(BadValueError):
        decoded(text)
