"""The frame reader: any input results in a frame or one of three errors, in time."""

import contextlib
import os
import socket
import threading
import time
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.sandbox.host.wire import BrokenFrameError, Connection, SilenceError

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


def read_by_hand(data: bytes) -> list[object]:
    """The frames in the bytes, then the error of the rest; `EOFError` if they end after a frame."""
    found: list[object] = []
    while data:
        size = int.from_bytes(data[:4], "big")
        if len(data) < 4 or not 0 < size <= MOST + 1 or len(data) < 4 + size:
            return [*found, BrokenFrameError]
        found.append((data[4:5], data[5 : 4 + size]))
        data = data[4 + size :]
    return [*found, EOFError]


frames = st.tuples(st.binary(min_size=1, max_size=1), st.binary(max_size=MOST + 5)).map(
    lambda frame: (len(frame[1]) + 1).to_bytes(4, "big") + frame[0] + frame[1]
)


@given(st.lists(st.one_of(frames, frames, frames, st.binary(max_size=9)), max_size=6), st.data())
def test_however_the_bytes_are_cut_they_are_read_the_same(parts: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    with pair() as (connection, theirs):

        def send() -> None:
            for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
                theirs.sendall(stream[start:end])
                os.sched_yield()
            theirs.shutdown(socket.SHUT_WR)

        sender_thread = threading.Thread(target=send)
        sender_thread.start()
        found: list[object] = []
        while not found or isinstance(found[-1], tuple):
            try:
                found.append(connection.receive(soon(30), MOST))
            except (BrokenFrameError, EOFError) as error:
                found.append(type(error))
        sender_thread.join()
    assert found == read_by_hand(stream)


ROOM = 1 << 22


@pytest.mark.parametrize(("claimed", "sent", "peak"), [
    (ROOM + 1, ROOM + 1, 3 * ROOM),
    (ROOM + 1, 10, 100_000),
    (ROOM + 2, ROOM, 100_000),
    ((1 << 32) - 1, ROOM, 100_000),
])  # fmt: skip
def test_a_frame_takes_no_more_memory_than_has_come(claimed: int, sent: int, peak: int) -> None:
    with pair() as (connection, theirs):

        def send() -> None:
            with contextlib.suppress(OSError):
                theirs.sendall(claimed.to_bytes(4, "big"))
                theirs.sendall(message)
            theirs.close()

        message = bytes(sent)
        sender_thread = threading.Thread(target=send)
        tracemalloc.start()
        sender_thread.start()
        try:
            with contextlib.suppress(BrokenFrameError):
                connection.receive(soon(30), ROOM)
            assert tracemalloc.get_traced_memory()[1] < peak
        finally:
            tracemalloc.stop()
            connection.close()
            sender_thread.join()


@pytest.mark.parametrize(("sent", "more"), [(b"", False), (b"x", True), (b"\0\0\0\1G", True)])
def test_bytes_before_the_end_are_received(sent: bytes, more: bool) -> None:
    with pair() as (connection, theirs):
        theirs.sendall(sent)
        theirs.shutdown(socket.SHUT_WR)
        assert connection.receives_more(soon(30)) is more
    with pair() as (connection, theirs):
        assert connection.receives_more(soon(0.01)) is False, "the other side neither sends nor ends"


@pytest.mark.parametrize("size", [0, MOST + 2, 1 << 31, (1 << 32) - 1])
def test_an_impossible_length(size: int) -> None:
    with pair() as (connection, theirs):
        theirs.sendall(size.to_bytes(4, "big") + b"V")
        with pytest.raises(BrokenFrameError, match=f"a frame of {size} bytes"):
            connection.receive(soon(10), MOST)


def test_silence() -> None:
    with pair() as (connection, _theirs), pytest.raises(SilenceError):
        connection.receive(soon(), MOST)


def flood(theirs: socket.socket) -> None:
    """Sends, byte by byte and as fast as possible, a frame that never ends."""
    theirs.sendall((1 << 30).to_bytes(4, "big"))
    with contextlib.suppress(OSError):
        while True:
            theirs.send(b"x")


class _TooMuch(Exception):  # noqa: N818 - a limit's, as LimitExceeded
    pass


class _Looks:
    """Raises after so many looks."""

    def __init__(self, most: int) -> None:
        self._left = most

    def patience_ms(self) -> float:
        self.look()
        return 10

    def look(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise _TooMuch


def test_limits_are_checked_while_bytes_arrive() -> None:
    with pair() as (connection, theirs):
        threading.Thread(target=flood, args=(theirs.dup(),), daemon=True).start()
        with pytest.raises(_TooMuch):
            connection.receive(_Looks(3), 1 << 30)


def test_sending_to_a_side_that_does_not_read() -> None:
    with pair() as (connection, _theirs), pytest.raises(_TooMuch):
        connection.send(b"R", bytes(10_000_000), _Looks(3))


def test_sending_to_a_closed_side() -> None:
    with pair() as (connection, theirs):
        theirs.sendall(b"\0\0\0\2Vx")
        theirs.close()
        connection.send(b"R", bytes(10_000_000))
        assert connection.receive(soon(10), MOST) == (b"V", b"x"), "sent before its end"
        with pytest.raises(EOFError):
            connection.receive(soon(10), MOST)


@given(st.binary(max_size=20))
def test_a_malformed_hello(data: bytes) -> None:
    with pair() as (connection, theirs):
        theirs.sendall(data)
        theirs.shutdown(socket.SHUT_WR)
        if data[:5] != b"\0\0\0\1H":
            with pytest.raises(EOFError):
                connection.receive_hello(soon(10))


def test_a_hello_has_its_senders_number() -> None:
    ours, theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    connection = Connection(ours)
    with theirs:
        Connection(theirs.dup()).send(b"H")
        assert connection.receive_hello(soon(10)) == os.getpid()
    connection.close()


def test_unread_input_is_seen_and_kept() -> None:
    with pair() as (connection, theirs):
        assert not connection.has_input()
        theirs.sendall(b"\0\0\0\2Vx")
        assert connection.has_input()
        assert connection.receive(soon(10), MOST) == (b"V", b"x")
        theirs.close()
        assert not connection.has_input()
