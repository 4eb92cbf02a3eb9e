"""What the grading process and those who grade for it say to each other.

Each message is one frame: its length in 4 bytes, a letter, and the body. The letter says how the body is encoded:
MessagePack, which is quick; or, for texts with lone surrogates and whole numbers beyond 64 bits, which that can't
hold, pickle. Both ends are ours: nothing here was written by a completion.

    to a hand                                       from a hand
    Setup: how to grade (first, once)               Ready: its sandbox stands, or why not
    Work: rollouts, and the tasks they need first   Done: the grades of some of them
    Withdraw: leave these to others                 Withdrawn: those of them that were not begun
    Stay: on one core from here on
"""

from __future__ import annotations

import pickle
import struct
import sys
from collections.abc import Iterator
from typing import Final, TypeVar

import msgspec

from evaluator.model import Grade, Rollout, Task
from evaluator.options import Options
from evaluator.sandbox import Settings
from evaluator.stages import Stage

_HEAD: Final = struct.Struct("<I")
_PACKED, _PICKLED = b"m", b"p"


class Proof(msgspec.Struct, frozen=True):
    """What one sandbox of this machine proved, so that the next ones need not: see `Sandbox.proof`."""

    settings: Settings
    unproved: tuple[str, ...] = ()


class Setup(msgspec.Struct, tag=True, array_like=True):
    """How a hand is to grade. It answers `Ready`."""

    sandbox: Settings
    proof: Proof | None = None
    """None: it must prove its sandbox itself."""
    columns: bool = False
    """Whether grades come back with the columns of a run."""
    remembers: bool = True
    """Whether equal completions of a task are graded once."""
    linger_s: float = 0.0
    """How long a grade may wait for others that go back with it, while there is more to do."""
    machine_wide: bool = False
    """Whether a completion waits for a place that no other process's has: see `room`."""


class Shipped(msgspec.Struct, array_like=True):
    """A task with the options for its rollouts, which a hand keeps under a number (`Job.task`) until told otherwise."""

    number: int
    pickled: bytes
    """A pickled `(Task, Options)`."""


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
    tasks: list[Shipped] = []
    forget: list[int] = []
    """Numbers of tasks that no rollout from here on needs."""
    measure: bool = False
    """Whether `Done.spent` is wanted."""


class Withdraw(msgspec.Struct, tag=True, array_like=True):
    """Takes back rollouts that are not begun."""

    numbers: list[int]


class Stay(msgspec.Struct, tag=True, array_like=True):
    """Tells it to stay on one core of its machine, of which it is the only hand's there."""

    core: int


class Ready(msgspec.Struct, tag=True, array_like=True):
    """A hand's sandbox stands. Or it does not, and `reason` says why, and `mend` what would help."""

    proof: Proof | None = None
    reason: str = ""
    mend: str = ""
    bad_interpreter: bool = False
    """Whether `reason` is an `InterpreterError`."""
    unfit: bool = False
    """Whether `reason` is no matter of the sandbox: its grades would be others."""
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
    seconds: float
    """Spent on them."""
    typical_s: float
    """Their geometric mean of seconds: one slow completion hardly moves it."""
    rollout_columns: bytes = b""
    case_columns: bytes = b""
    """With `Setup.columns`: see `evaluator.runs.columns`."""
    spent: dict[Stage, float] = {}
    stranded: bool = False
    """Whether no sandbox could be started for it. Others may be able to; it has one number then."""


class Withdrawn(msgspec.Struct, tag=True, array_like=True):
    """What was taken back, and will get no grade."""

    numbers: list[int]


ToHand = Setup | Work | Withdraw | Stay
FromHand = Ready | Done | Withdrawn

_DEEPEST: Final = 5_000
_encode: Final = msgspec.msgpack.Encoder().encode
_to_hand: Final = msgspec.msgpack.Decoder[ToHand](ToHand)
_from_hand: Final = msgspec.msgpack.Decoder[FromHand](FromHand)
_grades: Final = msgspec.msgpack.Decoder(list[Grade])
_Message = TypeVar("_Message")


def packed(message: object) -> bytes:
    """A message, or a list of grades, with its letter."""
    try:
        return _PACKED + _encode(message)
    except (UnicodeEncodeError, OverflowError, TypeError, RecursionError):  # rare, so only handled after it happens
        return _PICKLED + _pickled(message)


def _pickled(message: object) -> bytes:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEEPEST))  # what could be read as JSON is nested less deeply than that
    try:
        return pickle.dumps(message, 5)
    finally:
        sys.setrecursionlimit(before)


def to_hand(body: bytes) -> ToHand:
    """The message in a frame."""
    message: ToHand = _unpacked(body, _to_hand)
    return message


def from_hand(body: bytes) -> FromHand:
    """The message in a frame."""
    message: FromHand = _unpacked(body, _from_hand)
    return message


def _unpacked(body: bytes, decoder: msgspec.msgpack.Decoder[_Message]) -> _Message:
    view = memoryview(body)
    if view[:1] == _PICKLED:
        message: _Message = pickle.loads(view[1:])  # noqa: S301 - from a process of our own
        return message
    return decoder.decode(view[1:])


def grades_in(done: Done) -> list[Grade]:
    """The grades."""
    return _unpacked(done.grades, _grades)


def shipped(number: int, task: Task, options: Options) -> Shipped:
    """A task for hands."""
    return Shipped(number, pickle.dumps((task, options), 5))


def task_in(shipped: Shipped) -> tuple[Task, Options]:
    """The task and the options."""
    task, options = pickle.loads(shipped.pickled)  # noqa: S301 - from a process of our own
    return task, options


def framed(message: object) -> bytes:
    """A message as it travels over a socket."""
    body = packed(message)
    return _HEAD.pack(len(body)) + body


class Frames:
    """Cuts what arrives over a socket into messages."""

    def __init__(self) -> None:
        self._arrived = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The bodies that are complete now; `to_hand` or `from_hand` reads them."""
        arrived = self._arrived
        arrived += data
        start = 0
        while len(arrived) - start >= _HEAD.size:
            end = start + _HEAD.size + _HEAD.unpack_from(arrived, start)[0]
            if len(arrived) < end:
                break
            yield bytes(memoryview(arrived)[start + _HEAD.size : end])
            start = end
        del arrived[:start]
