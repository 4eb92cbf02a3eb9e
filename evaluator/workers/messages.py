"""What the process that asks for grades and its workers say to each other.

Each message is one frame: its length in 4 bytes, a letter, and the body. The letter says how the body is encoded:
MessagePack, which is quick; or, for texts with lone surrogates and whole numbers beyond 64 bits, which that can't
hold, pickle. Both ends are ours: nothing here was written by a completion.

    to a worker                                      from a worker
    Setup: how to grade (first, once)                Ready: its sandbox stands, or why not
    Work: rollouts, and the tasks they need first    Done: the grades of some of them
    Call: a function to call with its sandbox        Returned: what it returned or raised
"""

from __future__ import annotations

import pickle
import struct
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, Generic, TypeVar

import msgspec

from evaluator.model import Grade, Rollout
from evaluator.sandbox import Settings

_HEAD: Final = struct.Struct("<I")
_PACKED, _PICKLED = b"m", b"p"


Proof = tuple[Settings, tuple[str, ...]]
"""What one sandbox of this machine proved, so that the next ones need not: see `Sandbox.proof`."""


class Setup(msgspec.Struct, tag=True, array_like=True):
    """How a worker is to grade. It answers `Ready`."""

    sandbox: Settings
    proof: Proof | None = None
    """None: it must prove its sandbox itself."""
    runs_code: bool = True
    """Whether it needs a sandbox before it is ready."""
    columns: bool = False
    """Whether grades come back with the columns of a run."""
    linger_s: float = 0.0
    """How long a grade may wait for others that go back with it, while there is more to do."""
    machine_wide: bool = False
    """Whether a completion waits for a slot of those that all processes of this user share: see `locks.Slot`."""


class Job(msgspec.Struct, array_like=True):
    """One rollout to grade."""

    number: int
    """Given by the sender; it names the rollout in all answers."""
    task: int
    """The number of its task, which was sent before or is sent with it."""
    rollout: Rollout


class Work(msgspec.Struct, tag=True, array_like=True):
    """Rollouts to grade, one after the other, after those sent before."""

    jobs: list[Job]
    tasks: dict[int, bytes] = {}
    """Pickled `(Task, Options)`, by number. A worker keeps them."""
    forget: list[int] = []
    """Numbers of tasks that no rollout from here on needs."""


class Call(msgspec.Struct, tag=True, array_like=True):
    """A function to call with the worker's sandbox, when what was sent before is done."""

    number: int
    pickled: bytes
    """`(function, arguments, Options)`; the function is a module's own."""


class Ready(msgspec.Struct, tag=True, array_like=True):
    """A worker's sandbox stands, or does not, which may also turn out later: then it has ended."""

    proof: Proof | None = None
    refusal: bytes = b""
    """Why it does not: a pickled exception."""
    workers: int = 1
    """How many rollouts it grades at once."""


class Done(msgspec.Struct, tag=True, array_like=True):
    """Grades, in the order of `numbers`."""

    numbers: list[int]
    grades: bytes
    """A packed `list[Grade]`: see `grades_in`. Most callers never look."""
    verdicts: dict[str, int]
    """How many of each."""
    cached: int
    """How many are from the cache of grades."""
    typical_s: float
    """Their geometric mean of seconds: one slow completion hardly moves it."""
    columns: bytes = b""
    """With `Setup.columns`: see `evaluator.runs.schema`."""


class Returned(msgspec.Struct, tag=True, array_like=True):
    """What a call returned or raised."""

    number: int
    pickled: bytes
    """The result, or the exception."""
    raised: bool = False


ToWorker = Setup | Work | Call
FromWorker = Ready | Done | Returned

_DEEPEST: Final = 5_000
_ENCODER: Final = msgspec.msgpack.Encoder()
_NOT_PACKED: Final = (UnicodeEncodeError, OverflowError, TypeError, RecursionError)
_grades: Final = msgspec.msgpack.Decoder(list[Grade])
_Message = TypeVar("_Message")


def packed(message: object) -> bytes:
    """A message, or a list of grades, with its letter."""
    try:
        return _PACKED + _ENCODER.encode(message)
    except _NOT_PACKED:  # rare, so only handled after it happens
        return _PICKLED + pickled(message)


def pickled(value: object) -> bytes:
    """Raises what pickling it raises."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEEPEST))  # what could be read as JSON is nested less deeply than that
    try:
        return pickle.dumps(value, 5)
    finally:
        sys.setrecursionlimit(before)


def unpickled(data: bytes | memoryview) -> Any:
    """What a process of our own has pickled."""
    return pickle.loads(data)  # noqa: S301


def _unpacked(body: bytes, decoder: msgspec.msgpack.Decoder[_Message]) -> _Message:
    view = memoryview(body)
    if view[:1] == _PICKLED:
        message: _Message = unpickled(view[1:])
        return message
    return decoder.decode(view[1:])


def grades_in(encoded: bytes) -> list[Grade]:
    """The grades of a `Done`."""
    return _unpacked(encoded, _grades)


def done_of(numbers: list[int], grades: list[Grade], typical_s: float) -> Done:
    """The message with these grades, without columns."""
    verdicts = Counter(grade.verdict.value for grade in grades)
    return Done(numbers, packed(grades), verdicts, sum(grade.cached for grade in grades), typical_s)


def framed(message: object) -> bytearray:
    """A message as it travels over a socket."""
    frame = bytearray(_HEAD.size) + _PACKED
    try:
        _ENCODER.encode_into(message, frame, len(frame))  # without another copy: a task may be large
    except _NOT_PACKED:
        frame[_HEAD.size :] = packed(message)
    _HEAD.pack_into(frame, 0, len(frame) - _HEAD.size)
    return frame


class Frames(Generic[_Message]):
    """Cuts what arrives over a socket into messages."""

    def __init__(self, of: Any) -> None:
        """`of`: `ToWorker` or `FromWorker`."""
        self._decoder: msgspec.msgpack.Decoder[_Message] = msgspec.msgpack.Decoder(of)
        self._arrived = bytearray()

    def feed(self, data: bytes) -> Iterator[_Message]:
        """The messages that are complete now."""
        arrived = self._arrived
        arrived += data
        start = 0
        while len(arrived) - start >= _HEAD.size:
            end = start + _HEAD.size + _HEAD.unpack_from(arrived, start)[0]
            if len(arrived) < end:
                break
            yield _unpacked(bytes(memoryview(arrived)[start + _HEAD.size : end]), self._decoder)
            start = end
        del arrived[:start]
