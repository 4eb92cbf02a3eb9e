"""Linux system calls that Python's `os` lacks (in some versions), by ctypes."""

from __future__ import annotations

import _socket
import contextlib
import ctypes
import fcntl
import functools
import os
import signal
import struct
from collections.abc import Callable, Iterable

CLONE_NEWNS = 0x00020000
CLONE_NEWPID = 0x20000000
_CLONE_NEWNET = 0x40000000
_SIOCSIFFLAGS, _UP_AND_RUNNING = 0x8914, 0x41
_CLONE_VM = 0x00000100
_SIGCHLD = 17

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_NOSYMFOLLOW = 1, 2, 4, 8, 256

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_SECCOMP = 22
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_SECCOMP_MODE_FILTER = 2
_SYS_SECCOMP = {"x86_64": 317, "aarch64": 277}
_SECCOMP_SET_MODE_FILTER, _SECCOMP_FILTER_FLAG_NEW_LISTENER = 1, 1 << 3

_SYS_CAPSET = {"x86_64": 126, "aarch64": 91}
_SYS_OPEN_TREE, _SYS_MOVE_MOUNT = 428, 429
_AT_FDCWD = -100
_OPEN_TREE_CLONE, _OPEN_TREE_CLOEXEC = 1, os.O_CLOEXEC
_MOVE_MOUNT_F_EMPTY_PATH = 4
_SYS_LANDLOCK_CREATE_RULESET = 444
_SYS_LANDLOCK_ADD_RULE = 445
_SYS_LANDLOCK_RESTRICT_SELF = 446

_LANDLOCK_RULE_PATH_BENEATH = 1
_LANDLOCK_CREATE_RULESET_VERSION = 1
# Access rights known to each Landlock ABI, as bits: ABI 1 has 13, then refer, truncate and ioctl on devices came.
_LANDLOCK_FS_BITS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
READ = 1 << 0 | 1 << 2 | 1 << 3  # execute, read file, read dir
WRITE = 1 << 1 | 1 << 14  # write file, truncate
DEVICE = 1 << 15  # ioctl on a device
EVERYTHING = (1 << 16) - 1

_libc = ctypes.CDLL(None, use_errno=True)
_prctl = _libc.prctl
_MACHINE = os.uname().machine


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


_INIT_STACK = ctypes.create_string_buffer(16 * 1024)


def start_init() -> int:
    """Starts the first process of a new pid namespace, which does nothing; returns its number.

    It shares this process's memory, so it costs next to nothing, and sleeps in `pause` forever. Signals don't end a
    namespace's first process by default, so it must not be the program itself.
    """
    top = ctypes.c_void_p(ctypes.addressof(_INIT_STACK) + len(_INIT_STACK) - 64)
    flags = _CLONE_VM | CLONE_NEWPID | _SIGCHLD
    pause = ctypes.cast(_libc.pause, ctypes.c_void_p)
    return _checked(_libc.clone(pause, top, flags, None), "clone")


def unshare(flags: int) -> None:
    _checked(_libc.unshare(flags), "unshare")


def start_loopback() -> None:
    """Puts this process into a new network namespace that has only the loopback interface."""
    unshare(_CLONE_NEWNET)
    any_socket = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)
    fcntl.ioctl(any_socket.fileno(), _SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", _UP_AND_RUNNING))
    any_socket.close()


def setns(descriptor: int, kind: int) -> None:
    _checked(_libc.setns(descriptor, kind), "setns")


def mount(source: bytes, target: bytes, kind: bytes, flags: int, options: bytes) -> None:
    _checked(_libc.mount(source, target, kind, ctypes.c_ulong(flags), options), f"mount {target.decode()}")


def mount_memory(target: bytes, size_mb: int, flags: int = 0) -> None:
    """Mounts a new file system in memory."""
    options = b"size=%dm,nr_inodes=2048,mode=1777" % size_mb
    mount(b"tmpfs", target, b"tmpfs", MS_NOSUID | MS_NODEV | flags, options)


def mount_own_proc(options: bytes = b"") -> None:
    """Mounts /proc for reading. By writing to `clear_refs` a process could reset the kernel's record of its memory."""
    mount(b"proc", b"/proc", b"proc", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY, options)


def mount_again(target: bytes) -> int:
    """A descriptor of a second mount of the same file system, for another process to put in place."""
    flags = _OPEN_TREE_CLONE | _OPEN_TREE_CLOEXEC
    return _checked(_libc.syscall(_SYS_OPEN_TREE, _AT_FDCWD, target, flags), f"open_tree {target.decode()}")


def put_mount(descriptor: int, target: bytes) -> None:
    """Mounts the result of `mount_again`, and closes the descriptor."""
    flags = _MOVE_MOUNT_F_EMPTY_PATH
    _checked(_libc.syscall(_SYS_MOVE_MOUNT, descriptor, b"", _AT_FDCWD, target, flags), f"move_mount {target.decode()}")
    os.close(descriptor)


def set_dumpable(dumpable: bool) -> None:
    """A process that is not dumpable can't be traced, or read through /proc, by others of its user."""
    _checked(_prctl(_PR_SET_DUMPABLE, int(dumpable), 0, 0, 0), "prctl dumpable")


def adopt_orphans() -> None:
    """Processes that our children leave behind become our children."""
    _checked(_libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "prctl child_subreaper")


def die_with_parent(parent: int) -> None:
    """Has this process killed when the process with the number `parent` ends; at once if it has ended."""
    _checked(_libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "prctl pdeathsig")
    if os.getppid() != parent:
        os._exit(0)


def be_killed_first() -> None:
    """If memory runs out, the kernel kills this process rather than its parent."""
    with contextlib.suppress(OSError):  # /proc may be read-only
        file = os.open("/proc/self/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC)
        os.write(file, b"1000")
        os.close(file)


def set_no_new_privileges() -> None:
    _checked(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl no_new_privs")


def drop_capabilities() -> None:
    """Empties the permitted, effective, inheritable and ambient sets."""
    _libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    header = struct.pack("Ii", 0x20080522, 0)
    _checked(_libc.syscall(_SYS_CAPSET[_MACHINE], header, bytes(24)), "capset")


def set_default_thread_stack(size: int) -> None:
    """glibc uses the stack limit for threads too; ours is large only for the main thread."""
    try:
        setter = _libc.pthread_setattr_default_np
    except AttributeError:  # musl
        return
    attributes = ctypes.create_string_buffer(256)
    _libc.pthread_attr_init(attributes)
    _libc.pthread_attr_setstacksize(attributes, ctypes.c_size_t(size))
    setter(attributes)


def wait_for(child: int) -> dict[str, int | float]:
    """Waits until a child has ended, and returns how."""
    _, status, usage = os.wait4(child, 0)
    return {
        "exit_status": os.waitstatus_to_exitcode(status),
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "memory_kib": usage.ru_maxrss,
    }


OWN_NUMBER = 0x7FFFFFF1
"""Placeholder in a filter for the number of the process that installs it; no process has it."""


class SeccompFilter:
    """A prepared BPF program, installed with one call."""

    def __init__(self, program: bytes) -> None:
        self._code = ctypes.create_string_buffer(program, len(program))
        self._words = memoryview(self._code).cast("B").cast("I")
        self._places = [place for place, word in enumerate(self._words) if place % 2 and word == OWN_NUMBER]
        self._header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(self._code))

    def install(self, *, rehearses: bool = False) -> None:
        """`rehearses`: all but that, because there is no way back."""
        self._insert_own_number()
        if not rehearses:
            _checked(_prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, self._header, 0, 0), "prctl seccomp")

    def install_with_listener(self) -> int:
        """The same; returns the descriptor at which the kernel asks about reported calls."""
        self._insert_own_number()
        number = _SYS_SECCOMP[_MACHINE]
        result = _libc.syscall(number, _SECCOMP_SET_MODE_FILTER, _SECCOMP_FILTER_FLAG_NEW_LISTENER, self._header)
        return int(_checked(result, "seccomp"))

    def _insert_own_number(self) -> None:
        words, number = self._words, os.getpid()
        for place in self._places:
            words[place] = number


def landlock_abi() -> int:
    """The kernel's Landlock version, 0 if it has none."""
    abi = int(_libc.syscall(_SYS_LANDLOCK_CREATE_RULESET, None, 0, _LANDLOCK_CREATE_RULESET_VERSION))
    return max(abi, 0)


def landlock(abi: int, rules: Iterable[tuple[str, int]], *, tcp: bool = False) -> None:
    """Confines this process and its children to `rules`: (path, rights). No TCP unless `tcp`."""
    ruleset = landlock_ruleset(abi, rules, tcp=tcp)
    _checked(landlock_restriction(ruleset)(), "landlock_restrict_self")
    os.close(ruleset)


def landlock_restriction(ruleset: int) -> Callable[[], int]:
    """Confines a process and its children to a prepared set of rules, in a domain of its own; negative if it fails."""
    return functools.partial(_libc.syscall, _SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0)


def landlock_ruleset(abi: int, rules: Iterable[tuple[str, int]], *, tcp: bool = False) -> int:
    """A descriptor of these rules, for `landlock_restrict`."""
    known = (1 << _LANDLOCK_FS_BITS[min(abi, 5)]) - 1
    network = 0b11 if abi >= 4 and not tcp else 0
    scopes = 0b11 if abi >= 6 else 0
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    attributes = struct.pack("QQQ", known, network, scopes)[:size]
    ruleset = _checked(_libc.syscall(_SYS_LANDLOCK_CREATE_RULESET, attributes, size, 0), "landlock")
    for path, rights in rules:
        _landlock_rule(ruleset, path, rights & known)
    return ruleset


_ON_FILES = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15


def _landlock_rule(ruleset: int, path: str, rights: int) -> None:
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not os.path.isdir(path):
            rights &= _ON_FILES
        rule = struct.pack("=Qi", rights, parent)
        added = _libc.syscall(_SYS_LANDLOCK_ADD_RULE, ruleset, _LANDLOCK_RULE_PATH_BENEATH, rule, 0)
        _checked(added, f"landlock_add_rule {path}")
    finally:
        os.close(parent)
