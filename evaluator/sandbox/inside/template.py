"""One completion's own process: confined, its code compiled, none of it run; what runs it is forked from here."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import socket
import sys
from json import dumps
from types import CodeType
from typing import Any

from evaluator.sandbox.inside import calls, channel, failures, leftovers, linux, programs

_CHANNEL = 3
"""Where a program's process has the parent's connection; 4 to 6 are its own copies of 0, 1 and 2."""
_MAIN_STACK = 256 * 2**20


def serve(
    control: socket.socket, seccomp: linux.SeccompFilter, landlock_abi: int, rules: list[tuple[str, int]]
) -> None:
    """Reads the order, confines this process, compiles, then forks a process for each `F` until `control` closes."""
    try:
        _, order = channel.receive(control.fileno())
        _confine(order, landlock_abi, rules)
        template = _Template(control, seccomp, order)
        if template.compile():
            template.wait_for_orders()
    except channel.ClosedError:
        pass
    except BaseException as error:
        channel.send(control.fileno(), b"!", repr(error).encode())
    os._exit(0)


def _confine(order: dict[str, Any], landlock_abi: int, rules: list[tuple[str, int]]) -> None:
    linux.unshare(linux.CLONE_NEWNS | linux.CLONE_NEWIPC)
    flags = linux.MS_NOSUID | linux.MS_NODEV
    for target, size in ((b"/tmp", order["files_mb"]), (b"/dev/shm", 16)):
        linux.mount(b"tmpfs", target, b"tmpfs", flags, b"size=%dm,nr_inodes=2048,mode=1777" % size)
    linux.mount(b"proc", b"/proc", b"proc", flags | linux.MS_NOEXEC, b"")
    os.chdir("/tmp")  # noqa: S108
    limits = {
        resource.RLIMIT_AS: order["virtual_bytes"],
        resource.RLIMIT_FSIZE: order["output_bytes"],
        resource.RLIMIT_CPU: order["cpu_s"],
        resource.RLIMIT_NOFILE: order["open_files"],
        resource.RLIMIT_NPROC: order["tasks"],
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
    }
    for limit, value in limits.items():
        resource.setrlimit(limit, (value, value))
    linux.set_no_new_privileges()
    linux.set_dumpable(False)
    if landlock_abi:
        linux.landlock(landlock_abi, rules)


class _Template:
    def __init__(self, control: socket.socket, seccomp: linux.SeccompFilter, order: dict[str, Any]) -> None:
        self._control = control
        self._seccomp = seccomp
        self._order = order
        self._code: CodeType | None = None
        self._preamble: CodeType | None = None
        self._reuse = False
        self._files: leftovers.FileState = []

    def compile(self) -> bool:
        """Compiles the completion; answers `L`, or `C` with what is wrong."""
        order = self._order
        source: str = order["source"]
        name = failures.SOURCE_NAMES[order["entry_point"] is not None]
        self._write_source(name)
        try:
            if order["preamble"]:
                self._preamble = compile(order["preamble"], "preamble.py", "exec", dont_inherit=True)
            self._code = compile(source, name, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
            self._send(b"C", dumps({"failure": failures.report(error)}).encode())
            return False
        if order["entry_point"] is None and order["reuse"] and not order["preamble"]:
            self._reuse = leftovers.is_plain(self._code)
        self._send(b"L", b"")
        return True

    def _write_source(self, name: str) -> None:
        """A program may read itself; one that is longer than a file may be has to do without."""
        with contextlib.suppress(OSError), open(name, "w", encoding="utf-8", errors="surrogatepass") as file:
            file.write(self._order["source"])
        self._files = leftovers.files_left()

    def _tidy(self) -> bool:
        """Removes the files that a process left; false where something stays."""
        if leftovers.files_left() == self._files:
            return True
        for path, _, _ in leftovers.files_left():
            with contextlib.suppress(OSError):
                os.unlink(path)
        if leftovers.files_left():
            return False
        self._write_source(failures.SOURCE_NAMES[self._order["entry_point"] is not None])
        return True

    def _send(self, kind: bytes, payload: bytes) -> None:
        channel.send(self._control.fileno(), kind, payload)

    def wait_for_orders(self) -> None:
        while True:
            message, descriptors = channel.receive_with_descriptors(self._control, 4)
            if message == b"F":
                child = os.fork()
                if child == 0:
                    self._become_program(descriptors)
                for descriptor in descriptors:
                    os.close(descriptor)
                self._watch(child)

    def _watch(self, child: int) -> None:
        """Waits for the process's end; `K` kills it. Answers `E` with how it ended."""
        handle = os.pidfd_open(child)
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        poll.register(self._control.fileno(), select.POLLIN)
        while True:
            ready = [descriptor for descriptor, _ in poll.poll()]
            if handle in ready:
                break
            message = self._control.recv(1)
            if not message:
                os._exit(0)  # takes everything below with it
            if message == b"K":
                os.kill(child, signal.SIGKILL)
        _, status, usage = os.wait4(child, 0)
        os.close(handle)
        ended = {
            "exit_status": os.waitstatus_to_exitcode(status),
            "cpu_s": usage.ru_utime + usage.ru_stime,
            "memory_kib": usage.ru_maxrss,
            "clean": self._tidy(),
        }
        self._send(b"E", dumps(ended).encode())

    def _become_program(self, descriptors: list[int]) -> None:
        """Never returns: what follows runs in the completion's process."""
        order = self._order
        try:
            connection = os.dup(descriptors[0])
            while connection <= _CHANNEL + len(descriptors):
                connection = os.dup(connection)
            os.dup2(descriptors[1], 0)
            os.dup2(descriptors[2], 1)
            os.dup2(descriptors[3], 2)
            os.dup2(connection, _CHANNEL)
            linux.close_from(_CHANNEL + 1)
            linux.set_dumpable(True)
            linux.drop_capabilities()
            self._seccomp.lay()
            channel.send(_CHANNEL, b"H")
            assert self._code is not None
            if order["entry_point"] is None:
                code = self._code
                programs.serve(_CHANNEL, code, order["source"], reuse=self._reuse)
            else:
                calls.serve(_CHANNEL, self._code, self._preamble, order["entry_point"], order["output_bytes"])
        except BaseException as error:
            sys.stderr.write(f"sandbox: {error!r}\n")
            sys.stderr.flush()
        os._exit(70)
