"""JSON reports from inside: any text is a report within bounds, or a broken frame."""

import contextlib
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.model import Traceback
from evaluator.sandbox.host.outcomes import Ended, Report, report, stack_of, traceback_of
from evaluator.sandbox.host.wire import BrokenFrameError
from evaluator.suites.host.cases import CaseReport

SOURCE = "def f():\n    return 1 / 0\nf()\n"

BROKEN = {
    "nothing": b"",
    "no object": b"[]",
    "not UTF-8": b'{"failure":["\xff","",[],0]}',
    "deep and closed": b'{"other":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "a lone surrogate": b'{"failure":["\\ud800","",[],0]}',
    "an impossible status": b'{"exit_status":256}',
    "a negative status": b'{"exit_status":-1}',
    "a status that is not an int": b'{"exit_status":1.5}',
    "a status that is true": b'{"exit_status":true}',
    "impossible memory": b'{"memory_kib":' + b"9" * 400 + b"}",
    "negative memory": b'{"memory_kib":-1}',
    "an int of 5,000 digits": b'{"memory_kib":' + b"9" * 5000 + b"}",
    "a failure of three": b'{"failure":["a","b",[]]}',
    "frames of text": b'{"failure":["a","b",["1"],0]}',
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_text_that_is_not_a_report_is_a_broken_frame(what: str) -> None:
    with pytest.raises(BrokenFrameError):
        report(BROKEN[what])


def test_no_message_from_inside_has_room_for_a_value_that_is_nested() -> None:
    for kind, own in (
        (Report, b""),
        (Ended, b'"exit_status":0,"cpu_s":0,"memory_kib":0,'),
        (CaseReport, b'"status":"passed",'),
    ):
        for inner in (b"[]", b"[" * 1_000_000):
            with pytest.raises(msgspec.ValidationError, match="unknown field `more`"):
                msgspec.json.decode(b"{" + own + b'"more":' + inner + b"}", type=kind)


def within_bounds(made: Report) -> None:
    assert 0 <= made.exit_status <= 255
    assert 0 <= made.memory_kib / 1024 < 2**44
    shown(traceback_of(made, SOURCE))


def shown(traceback: Traceback | None) -> None:
    if traceback is not None:
        assert len(traceback.type) + len(traceback.message) < 3000
        assert len(traceback.frames) <= 30
        assert all(frame.line in (1, 2, 3, 4) and len(frame.function) <= 200 for frame in traceback.frames)
        json.dumps([traceback.omitted, traceback.type]).encode()


anything = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=10), st.just("x" * 5000)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=10,
)
frames = st.lists(st.tuples(st.integers(-5, 2**70), st.text(max_size=300)), max_size=40)
failures = st.tuples(st.text(), st.text(max_size=5000), frames, st.integers())


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "failure": st.one_of(failures, anything),
            "exit_status": st.one_of(st.integers(-2, 300), anything),
            "memory_kib": st.one_of(st.integers(), anything),
            "clean": st.one_of(st.booleans(), anything),
            "other": anything,
        },
    )
)
def test_any_record(record: dict[str, object]) -> None:
    with contextlib.suppress(BrokenFrameError):
        within_bounds(report(json.dumps(record).encode("utf-8", "surrogatepass")))


lines = st.tuples(st.integers(0, 10**12), st.binary(max_size=300)).map(
    lambda pair: b'  File "main.py", line %d in %s\n' % pair
)


@given(st.lists(st.one_of(lines, lines, st.binary(max_size=50)), max_size=60))
def test_any_stack(parts: list[bytes]) -> None:
    shown(stack_of(b"".join(parts), SOURCE))
