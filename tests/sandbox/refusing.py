"""Runs a command as on a machine that refuses something.

`python -m tests.sandbox.refusing namespaces,landlock -- COMMAND`: by a system call filter that the command inherits,
as a container's own would be.
"""

import errno
import os
import platform
import struct
import sys
from collections.abc import Iterable, Sequence

from evaluator.sandbox.guest import linux

_COLUMN = {"x86_64": 0, "aarch64": 1}[platform.machine()]
_ARCHITECTURE = (0xC000003E, 0xC00000B7)[_COLUMN]
# Numbers on x86_64 and aarch64.
_REFUSED = {
    "namespaces": [((272, 97), errno.EPERM), ((308, 268), errno.EPERM), ((165, 40), errno.EPERM),
                   ((435, 435), errno.ENOSYS)],  # unshare, setns, mount, clone3
    "landlock": [((number, number), errno.ENOSYS) for number in (444, 445, 446)],
}  # fmt: skip
_CLONE = (56, 220)[_COLUMN]
_NEW_NAMESPACES = 0x7E020000 | 0x00000080
_LOAD, _EQUAL, _BITS, _RETURN, _ALLOW, _ERROR = 0x20, 0x15, 0x45, 0x06, 0x7FFF0000, 0x00050000


def _program(what: Iterable[str]) -> bytes:
    steps = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, _ARCHITECTURE), (_RETURN, 0, 0, _ALLOW), (_LOAD, 0, 0, 0)]
    for name in what:
        for numbers, error in _REFUSED[name]:
            steps += [(_EQUAL, 0, 1, numbers[_COLUMN]), (_RETURN, 0, 0, _ERROR | error)]
    if "namespaces" in what:
        steps += [(_EQUAL, 0, 4, _CLONE), (_LOAD, 0, 0, 16), (_BITS, 0, 1, _NEW_NAMESPACES)]
        steps += [(_RETURN, 0, 0, _ERROR | errno.EPERM), (_RETURN, 0, 0, _ALLOW)]
    steps.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("HBBI", *step) for step in steps)


def command(what: Sequence[str], *words: str) -> list[str]:
    """A command line that runs a command with these refused."""
    return [sys.executable, "-m", "tests.sandbox.refusing", ",".join(what), "--", *words]


def main() -> None:
    what, _, *words = sys.argv[1:]
    refused = [name for name in what.split(",") if name]
    if refused:
        linux.set_no_new_privileges()
        linux.SeccompFilter(_program(refused)).install()
    os.execvp(words[0], words)


if __name__ == "__main__":
    main()
