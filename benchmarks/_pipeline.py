"""One worker of the limit that a process per completion sets. It isolates nothing.

Reads modules to import and a list of `Work` from stdin, as marshal writes them; prints how many are right. While a
completion runs, the next one's process is forked; it gets the program and all inputs in one message and gives all
answers in one.
"""

from __future__ import annotations

import gc
import marshal
import os
import socket
import sys
from typing import Any, BinaryIO, NamedTuple

from _plain_grading import Work, answers, is_right


class _Child(NamedTuple):
    number: int
    reader: BinaryIO
    writer: BinaryIO

    @classmethod
    def forked(cls) -> _Child:
        """A process that waits for its completion."""
        ours, theirs = socket.socketpair()
        number = os.fork()
        if number == 0:
            ours.close()
            _answer(theirs)
        theirs.close()
        return cls(number, ours.makefile("rb"), ours.makefile("wb"))

    def send(self, work: Work) -> None:
        marshal.dump(work[:4], self.writer)
        self.writer.flush()

    def receive(self) -> list[Any]:
        given = marshal.load(self.reader)
        self.reader.close()
        self.writer.close()
        os.waitpid(self.number, 0)
        return list(given)


def _answer(connection: socket.socket) -> None:
    with connection.makefile("rb") as reader:
        header, source, entry_point, inputs = marshal.load(reader)
    connection.sendall(marshal.dumps(answers(header, source, entry_point, inputs)))
    os._exit(0)


def pipeline(works: list[Work]) -> int:
    right = 0
    ahead = _Child.forked()
    for place, work in enumerate(works, 1):
        child = ahead
        child.send(work)
        if place < len(works):
            ahead = _Child.forked()
        right += is_right(work, child.receive())
    return right


def main() -> None:
    modules, works = marshal.load(sys.stdin.buffer)
    for name in modules:
        __import__(name)
    gc.collect()
    gc.freeze()
    print(pipeline([Work(*each) for each in works]))


if __name__ == "__main__":
    main()
