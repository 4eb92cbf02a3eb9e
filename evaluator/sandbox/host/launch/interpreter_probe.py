"""Asks an interpreter that the user named for its version and paths."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import tempfile
from functools import cache
from importlib import resources
from pathlib import Path

import msgspec

from evaluator.sandbox.host.launch.self_description import describe

_OLDEST = (3, 11)
_PATIENCE_S = 20.0
_MOST_BLOCKS = 512
"""Of 512 bytes (in some shells 1,024): more than any Python answers."""
_SHOWN = 80
_NOT_EXECUTABLE = 126
"""How a shell ends that could not execute a file."""
_EXAMPLE = "such as /usr/bin/python3"

# Old versions can't compile the rest, so the version comes first.
_BOOT = f"""
import sys
if sys.version_info < {_OLDEST}:
    sys.stdout.write("\\n[%d, %d, %d]" % sys.version_info[:3])
else:
    exec(compile(sys.argv[1], "<rollscope>", "exec"))
"""


class InterpreterError(ValueError):
    """The path is not a Python that completions could run on. One line, with the fix."""

    def __init__(self, path: str, what: str) -> None:
        super().__init__(f"Python {path}: {what}")
        self._parts = path, what

    def __reduce__(self) -> tuple[type[InterpreterError], tuple[str, str]]:
        return type(self), self._parts


class Description(msgspec.Struct, frozen=True):
    """What an interpreter reports about itself; links in paths are resolved."""

    version: str
    implementation: str
    executable: str
    """In a virtual environment, the one that it was made from."""
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
    """The description of the interpreter at `path`. Raises `InterpreterError`."""
    _require_program(path)
    source = (resources.files("evaluator.sandbox.host.launch") / "self_description.py").read_text("utf-8")
    output, status = _output(path, ["-I", "-c", _BOOT, source], patience_s)
    last = output.rstrip().rpartition(b"\n")[2]
    if status == _NOT_EXECUTABLE:
        raise InterpreterError(path, f"it does not start; name an interpreter, {_EXAMPLE}")
    with contextlib.suppress(msgspec.MsgspecError):
        number = msgspec.json.decode(last, type=tuple[int, int, int])
        oldest = ".".join(map(str, _OLDEST))
        raise InterpreterError(path, f"it is {'.'.join(map(str, number))}; name one that is {oldest} or newer")
    try:
        description = msgspec.json.decode(last, type=Description)
    except msgspec.MsgspecError:
        shown = last.decode("utf-8", "replace")[:_SHOWN].strip()
        ended = f"it ended with status {status} and printed {repr(shown) if shown else 'nothing'}"
        raise InterpreterError(path, f"it does not answer like Python ({ended}); name one, {_EXAMPLE}") from None
    if description.implementation != "cpython":
        raise InterpreterError(path, f"it is {description.implementation}; name a CPython, {_EXAMPLE}")
    return description


def _require_program(path: str) -> None:
    place = Path(path)
    try:
        mode = place.stat().st_mode
    except FileNotFoundError:
        reason = f"it is a link to {place.readlink()}, which does not exist" if place.is_symlink() else "no such file"
        raise InterpreterError(path, f"{reason}; name an interpreter, {_EXAMPLE}") from None
    except OSError as error:
        raise InterpreterError(path, f"{error.strerror}; name an interpreter, {_EXAMPLE}") from None
    if place.is_dir():
        inner = place / "bin" / "python"
        raise InterpreterError(
            path, f"it is a folder; name the interpreter, {f'{inner}' if inner.exists() else _EXAMPLE}"
        )
    if not mode & 0o111 or not os.access(place, os.X_OK):
        raise InterpreterError(path, f"it can't be executed; make it executable, or name an interpreter, {_EXAMPLE}")


def _output(path: str, arguments: list[str], patience_s: float) -> tuple[bytes, int]:
    """Its stdout, up to a cap, and its exit status. Leaves nothing behind that it started."""
    capped = ["/bin/sh", "-c", f'ulimit -f {_MOST_BLOCKS}; exec "$@"', "sh", path, *arguments]
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            capped,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
        )
        try:
            _await_end(process.pid, patience_s)
        except TimeoutError:
            reason = f"it did not answer within {patience_s:g} s; name an interpreter that does, {_EXAMPLE}"
            raise InterpreterError(path, reason) from None
        finally:
            os.killpg(process.pid, signal.SIGKILL)  # it has not been waited for: the number is still its own
            process.wait()
        output.seek(0)
        return output.read(), process.returncode


def _await_end(process: int, patience_s: float) -> None:
    """Raises `TimeoutError`."""
    with os.fdopen(os.pidfd_open(process), "rb", buffering=0) as handle:
        if not select.select([handle.fileno()], [], [], patience_s)[0]:
            raise TimeoutError
