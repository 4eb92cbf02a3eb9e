"""What the process that asks for grades and its workers say to each other.

Each message is one frame: its length in 4 bytes, a letter, and the body. The letter says how the body is encoded:
MessagePack, which is quick; or, for texts with lone surrogates and whole numbers beyond 64 bits, which that can't
hold, pickle. Both ends are ours: nothing here was written by a completion.

    to a worker                                      from a worker
    Setup: how to grade (first, once)                Ready: its sandbox stands, or why not
    Work: rollouts, and the tasks they need first    Done: the grades of some of them
    Call: a function to call with its sandbox        Returned: what it returned or raised
    Stay: on one core from here on
    Drop: a rollout that nobody wants any more
"""

from __future__ import annotations

import pickle
import struct
import sys
from collections.abc import Callable, Iterator
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
    """How a worker is to grade. It answers `Ready`."""

    sandbox: Settings
    proof: Proof | None = None
    """None: it must prove its sandbox itself."""
    columns: bool = False
    """Whether grades come back with the columns of a run."""
    linger_s: float = 0.0
    """How long a grade may wait for others that go back with it, while there is more to do."""
    machine_wide: bool = False
    """Whether a completion waits for a slot of those that all processes of this user share: see `slots`."""


class Shipped(msgspec.Struct, array_like=True):
    """A task with the options for its rollouts. A worker keeps it under a number until `Work.forget` has that."""

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


class Call(msgspec.Struct, tag=True, array_like=True):
    """A function to call with the worker's sandbox, when what was sent before is done."""

    number: int
    pickled: bytes
    """A pickled `(function, arguments, Options)`; the function is a module's own."""


class Stay(msgspec.Struct, tag=True, array_like=True):
    """Has it stay on one core of its machine, on which no other worker stays."""

    core: int


class Drop(msgspec.Struct, tag=True, array_like=True):
    """Has a machine of a cluster stop grading a rollout; what it answers for it says nothing."""

    number: int


class Ready(msgspec.Struct, tag=True, array_like=True):
    """A worker's sandbox stands. Or it does not: `reason` says why, and `mend` what would help."""

    proof: Proof | None = None
    reason: str = ""
    mend: str = ""
    bad_interpreter: bool = False
    """Whether `reason` is an `InterpreterError`."""
    unfit: bool = False
    """Whether `reason` is not about the sandbox: its grades would be others."""
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
    """Their geometric mean of seconds: one slow completion hardly moves it. 0: it is not known."""
    columns: bytes = b""
    """With `Setup.columns`: see `evaluator.runs.schema`."""
    spent: dict[Stage, float] = {}
    no_sandbox: bool = False
    """Whether no sandbox could be started for it. Others may be able to; it has one number then."""


class Returned(msgspec.Struct, tag=True, array_like=True):
    """What a call returned or raised."""

    number: int
    pickled: bytes
    """The result, or the exception."""
    raised: bool = False


ToWorker = Setup | Work | Call | Stay | Drop
FromWorker = Ready | Done | Returned

_DEEPEST: Final = 5_000
_encode: Final = msgspec.msgpack.Encoder().encode
_to_worker: Final = msgspec.msgpack.Decoder[ToWorker](ToWorker)
_from_worker: Final = msgspec.msgpack.Decoder[FromWorker](FromWorker)
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


def to_worker(body: bytes) -> ToWorker:
    """The message in a frame."""
    message: ToWorker = _unpacked(body, _to_worker)
    return message


def from_worker(body: bytes) -> FromWorker:
    """The message in a frame."""
    message: FromWorker = _unpacked(body, _from_worker)
    return message


def _unpacked(body: bytes, decoder: msgspec.msgpack.Decoder[_Message]) -> _Message:
    view = memoryview(body)
    if view[:1] == _PICKLED:
        message: _Message = pickle.loads(view[1:])  # noqa: S301 - from a process of our own
        return message
    return decoder.decode(view[1:])


def grades_in(encoded: bytes) -> list[Grade]:
    """The grades of a `Done`."""
    return _unpacked(encoded, _grades)


def shipped(number: int, task: Task, options: Options) -> Shipped:
    """A task for workers."""
    return Shipped(number, pickle.dumps((task, options), 5))


def task_in(shipped: Shipped) -> tuple[Task, Options]:
    """The task and the options."""
    task, options = pickle.loads(shipped.pickled)  # noqa: S301 - from a process of our own
    return task, options


def pickled_call(function: Callable[..., object], arguments: tuple[object, ...], options: Options) -> bytes:
    """For a `Call`. Raises what pickling the arguments raises."""
    return _pickled((function, arguments, options))


def call_in(call: Call) -> tuple[Callable[..., object], tuple[object, ...], Options]:
    """The function, its arguments and the options."""
    function, arguments, options = pickle.loads(call.pickled)  # noqa: S301 - from a process of our own
    return function, arguments, options


def returned(number: int, result: object, *, raised: bool = False) -> Returned:
    """What a call returned or raised."""
    return Returned(number, _pickled(result), raised)


def result_in(returned: Returned) -> object:
    """The result, or the exception."""
    result: object = pickle.loads(returned.pickled)  # noqa: S301 - from a process of our own
    return result


def framed(message: object) -> bytes:
    """A message as it travels over a socket."""
    body = packed(message)
    return _HEAD.pack(len(body)) + body


class Frames:
    """Cuts what arrives over a socket into messages."""

    def __init__(self) -> None:
        self._arrived = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The bodies that are complete now; `to_worker` or `from_worker` reads them."""
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
