"""The frame reader: whatever comes, it answers with a frame or one of three errors, in time."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.model import Limits
from evaluator.sandbox.outcomes import Status
from evaluator.sandbox.watch import LimitPassed, LimitWatch
from evaluator.sandbox.wire import BrokenFrameError, Connection, SilenceError

MOST = 1000


@contextlib.contextmanager
def pair() -> Iterator[tuple[Connection, socket.socket]]:
    ours, theirs = socket.socketpair()
    connection = Connection(ours)
    with theirs:
        yield connection, theirs
    connection.close()


def soon(seconds: float = 0.05) -> float:
    return time.monotonic() + seconds


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=3000), st.booleans())
def test_any_bytes_end_in_a_frame_or_a_known_error(data: bytes, closed: bool) -> None:
    with pair() as (connection, theirs):
        theirs.sendall(data)
        if closed:
            theirs.shutdown(socket.SHUT_WR)
        while True:
            try:
                kind, payload = connection.receive(soon(0.001), MOST)
            except (BrokenFrameError, EOFError, SilenceError):
                return
            assert len(kind) == 1
            assert len(payload) <= MOST


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.binary(min_size=1, max_size=1), st.binary(max_size=MOST)), max_size=6))
def test_frames_come_as_they_were_sent(frames: list[tuple[bytes, bytes]]) -> None:
    with pair() as (connection, theirs):
        sender = Connection(theirs.dup())
        for kind, payload in frames:
            sender.send(kind, payload)
        sender.close()
        assert [connection.receive(soon(10), MOST) for _ in frames] == frames
        theirs.close()
        with pytest.raises(EOFError):
            connection.receive(soon(10), MOST)


@pytest.mark.parametrize("size", [0, MOST + 2, 1 << 31, (1 << 32) - 1])
def test_a_length_that_cannot_be(size: int) -> None:
    with pair() as (connection, theirs):
        theirs.sendall(size.to_bytes(4, "big") + b"V")
        with pytest.raises(BrokenFrameError, match=f"a frame of {size} bytes"):
            connection.receive(soon(10), MOST)


@pytest.mark.parametrize("data", [b"\0", b"\0\0\0", b"\0\0\0\5", b"\0\0\0\5V12"])
def test_an_end_in_the_middle_of_a_frame(data: bytes) -> None:
    with pair() as (connection, theirs):
        theirs.sendall(data)
        theirs.close()
        with pytest.raises(BrokenFrameError, match="too early"):
            connection.receive(soon(10), MOST)


def test_an_end_between_frames() -> None:
    with pair() as (connection, theirs):
        theirs.close()
        with pytest.raises(EOFError):
            connection.receive(soon(10), MOST)


def test_silence() -> None:
    with pair() as (connection, _theirs):
        started = time.monotonic()
        with pytest.raises(SilenceError):
            connection.receive(soon(0.1), MOST)
        assert 0.1 <= time.monotonic() - started < 3


def flood(theirs: socket.socket) -> None:
    """Byte after byte, as fast as may be, of a frame that never comes to its end."""
    theirs.sendall((1 << 30).to_bytes(4, "big"))
    with contextlib.suppress(OSError):
        while True:
            theirs.send(b"x")


def test_who_never_stops_sending_is_late_all_the_same() -> None:
    with pair() as (connection, theirs):
        threading.Thread(target=flood, args=(theirs.dup(),), daemon=True).start()
        started = time.monotonic()
        with pytest.raises(SilenceError):
            connection.receive(soon(0.2), 1 << 30)
        assert time.monotonic() - started < 3


def test_limits_are_looked_at_while_bytes_come() -> None:
    with pair() as (connection, theirs):
        threading.Thread(target=flood, args=(theirs.dup(),), daemon=True).start()
        tiny = Limits(memory_mb=1)
        with pytest.raises(LimitPassed) as passed:
            connection.receive(LimitWatch(os.getpid(), tiny, 30), 1 << 30)
        assert passed.value.status is Status.MEMORY


def test_sending_to_one_who_does_not_read() -> None:
    with pair() as (connection, _theirs), pytest.raises(LimitPassed) as passed:
        connection.send(b"R", bytes(10_000_000), LimitWatch(os.getpid(), Limits(), 0.1))
    assert passed.value.status is Status.TIME


def test_sending_to_one_who_has_gone() -> None:
    with pair() as (connection, theirs):
        theirs.sendall(b"\0\0\0\2Vx")
        theirs.close()
        connection.send(b"R", bytes(10_000_000))
        assert connection.receive(soon(10), MOST) == (b"V", b"x"), "what it said before"
        with pytest.raises(EOFError):
            connection.receive(soon(10), MOST)


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=20))
def test_a_hello_that_is_none(data: bytes) -> None:
    with pair() as (connection, theirs):
        theirs.sendall(data)
        theirs.shutdown(socket.SHUT_WR)
        if data[:5] != b"\0\0\0\1H":
            with pytest.raises(EOFError):
                connection.receive_hello(soon(10))


def test_a_hello_tells_its_senders_number() -> None:
    ours, theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    connection = Connection(ours)
    with theirs:
        theirs.sendall(b"\0\0\0\1H")
        assert connection.receive_hello(soon(10)) == os.getpid()
    connection.close()


def test_input_that_waits_is_seen_and_kept() -> None:
    with pair() as (connection, theirs):
        assert not connection.has_input()
        theirs.sendall(b"\0\0\0\2Vx")
        assert connection.has_input()
        assert connection.receive(soon(10), MOST) == (b"V", b"x")
        theirs.close()
        assert not connection.has_input()
