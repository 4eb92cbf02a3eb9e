"""Asks an interpreter that somebody named what it is and where its parts stand."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from functools import cache
from importlib import resources
from pathlib import Path

import msgspec

from evaluator.sandbox.launch.self_description import describe

_OLDEST = (3, 11)
_PATIENCE_S = 20.0
_ANSWER_CAP = 256 * 1024
_SHOWN = 80
_EXAMPLE = "such as /usr/bin/python3"

# Old ones can't compile the rest, so they are asked for their number first.
_BOOT = f"""
import sys
if sys.version_info < {_OLDEST}:
    sys.stdout.write("\\n[%d, %d, %d]" % sys.version_info[:3])
else:
    exec(compile(sys.argv[1], "<rollscope>", "exec"))
"""


class InterpreterError(ValueError):
    """The path that was given names no Python that completions could run on. One line, with what mends it."""

    def __init__(self, path: str, what: str) -> None:
        super().__init__(f"Python {path}: {what}")


class Description(msgspec.Struct, frozen=True):
    """What an interpreter says of itself; every path is its real one."""

    version: str
    implementation: str
    executable: str
    """The one that a virtual environment was made from."""
    prefix: str
    stdlib: str
    archive: str
    extensions: str
    package_folders: tuple[str, ...]
    libraries: tuple[str, ...]
    triplet: str


@cache
def own_description() -> Description:
    """This process's Python."""
    return msgspec.convert(describe(), Description)


def describe_interpreter(path: str, *, patience_s: float = _PATIENCE_S) -> Description:
    """What the interpreter at `path` says. Raises `InterpreterError`."""
    _require_program(path)
    source = (resources.files("evaluator.sandbox.launch") / "self_description.py").read_text("utf-8")
    said, status = _output(path, ["-I", "-c", _BOOT, source], patience_s)
    last = said.rstrip().rpartition(b"\n")[2]
    with contextlib.suppress(msgspec.MsgspecError):
        number = msgspec.json.decode(last, type=tuple[int, int, int])
        wanted = ".".join(map(str, _OLDEST))
        raise InterpreterError(path, f"it is {'.'.join(map(str, number))}; name one that is {wanted} or newer")
    try:
        told = msgspec.json.decode(last, type=Description)
    except msgspec.MsgspecError:
        shown = last.decode("utf-8", "replace")[:_SHOWN].strip()
        ended = f"it ended with status {status} and said {repr(shown) if shown else 'nothing'}"
        raise InterpreterError(path, f"it does not answer as Python does ({ended}); name one, {_EXAMPLE}") from None
    if told.implementation != "cpython":
        raise InterpreterError(path, f"it is {told.implementation}; name a CPython, {_EXAMPLE}")
    return told


def _require_program(path: str) -> None:
    place = Path(path)
    try:
        told = place.stat()
    except FileNotFoundError:
        lost = (
            f"it is a link to {place.readlink()}, which is not there" if place.is_symlink() else "there is no such file"
        )
        raise InterpreterError(path, f"{lost}; name an interpreter, {_EXAMPLE}") from None
    except OSError as error:
        raise InterpreterError(path, f"{error.strerror}; name an interpreter, {_EXAMPLE}") from None
    if place.is_dir():
        inner = place / "bin" / "python"
        raise InterpreterError(
            path, f"it is a folder; name the interpreter, {f'{inner}' if inner.exists() else _EXAMPLE}"
        )
    if not told.st_mode & 0o111 or not os.access(place, os.X_OK):
        raise InterpreterError(path, f"it can't be executed; make it executable, or name an interpreter, {_EXAMPLE}")


def _output(path: str, arguments: list[str], patience_s: float) -> tuple[bytes, int]:
    """What it writes on stdout, up to a cap, and its exit status. Nothing that it starts is left behind."""
    try:
        process = subprocess.Popen(
            [path, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
        )
    except OSError as error:
        raise InterpreterError(path, f"it does not start ({error.strerror}); name an interpreter, {_EXAMPLE}") from None
    assert process.stdout is not None
    with process.stdout as pipe:
        try:
            said = _said(process.pid, pipe.fileno(), time.monotonic() + patience_s)
        except TimeoutError:
            told = f"it did not answer within {patience_s:g} s; name an interpreter that does, {_EXAMPLE}"
            raise InterpreterError(path, told) from None
        finally:
            os.killpg(process.pid, signal.SIGKILL)  # it has not been waited for: the number is still its own
            process.wait()
    return said, process.returncode


def _said(process: int, stdout: int, deadline: float) -> bytes:
    """What it writes until it ends, or until it has written more than it may. Raises `TimeoutError`."""
    said = b""
    os.set_blocking(stdout, False)
    with os.fdopen(os.pidfd_open(process), "rb", buffering=0) as handle:
        while len(said) < _ANSWER_CAP:
            ready = select.select([stdout, handle.fileno()], [], [], max(0.0, deadline - time.monotonic()))[0]
            if not ready:
                raise TimeoutError
            chunk = os.read(stdout, 65536) if stdout in ready else b""
            said += chunk
            if not chunk and handle.fileno() in ready:
                return said
            if not chunk:  # it has closed its output, but goes on
                select.select([handle.fileno()], [], [], max(0.0, deadline - time.monotonic()))
    return said
