"""Several inputs sent together: the process's answers, as read from the file that it writes them to."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from evaluator.sandbox.guest.ahead import RECORD
from evaluator.sandbox.host.outcomes import Stream
from evaluator.sandbox.host.wire import BrokenFrameError

FREE_S = 0.1
"""What a test case may take more than its limit, for the ones answered before it in the same time."""
_MOST_BYTES = 256 * 1024
_MOST_KIB = 2**53


class Answer(NamedTuple):
    """The answer to one input, as the process wrote it: hostile, except for the sizes."""

    kind: bytes
    payload: bytes
    stdout: Stream
    stderr: Stream
    memory_mb: float
    wall_s: float
    cpu_s: float


def first_few(payloads: Sequence[bytes]) -> list[bytes]:
    """As many inputs as may be sent together."""
    sizes = accumulate(map(len, payloads))
    return list(payloads[: sum(size <= _MOST_BYTES for size in sizes)])


def read_answers(data: bytes, most: int, *, partial: bool) -> list[Answer]:
    """The answers in the file, at most `most`. Raises `BrokenFrameError`.

    `partial`: whether the last one may be unfinished.
    """
    answers: list[Answer] = []
    place = 0
    while place < len(data) and len(answers) < most:
        if len(data) - place < RECORD.size:
            break
        kind, size, out, err, memory_kib, wall_s, cpu_s = RECORD.unpack_from(data, place)
        place += RECORD.size
        if len(data) - place < size + out + err:
            break
        if not (memory_kib <= _MOST_KIB and 0 <= wall_s < 1e6 and 0 <= cpu_s < 1e6):
            raise BrokenFrameError("an answer with impossible numbers")
        payload, place = data[place : place + size], place + size
        stdout, place = Stream(data[place : place + out], out), place + out
        stderr, place = Stream(data[place : place + err], err), place + err
        answers.append(Answer(kind, payload, stdout, stderr, memory_kib / 1024, wall_s, cpu_s))
    if not partial and (len(answers) != most or place != len(data)):
        raise BrokenFrameError("not as many answers as announced")
    return answers
