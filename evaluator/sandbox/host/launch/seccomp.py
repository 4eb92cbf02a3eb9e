"""The seccomp filter of a completion: a list of allowed calls, as BPF bytes.

All other calls fail with EPERM; `clone3` fails with ENOSYS, so that the C library falls back to `clone`, whose flags a
filter can see. New processes and programs are refused, threads are allowed. Sockets are refused except `socketpair`,
which asyncio needs and which reaches no other process. A process can set only its own limits; its signals, priorities
and CPU settings reach neither its process group nor the namespace's first process, which are ours. A template's fork
(see `guest/forking.py`) reaches only itself with them, so it can neither kill the template nor slow it down.

Where processes follow one another in the same namespaces, each reaches only itself, too (see `guest/sharing.py`).

Without a process namespace the processes of its user are visible, and Landlock does not cover all operations on files.
So there a process's signals, priorities and CPU settings reach only itself, it can't watch or truncate by path, and
calls that would change a file's rights or times do nothing.

Calls that only read a number of another process (`getpgid`, `getsid`, `getpriority`, `sched_get*`, the CPU clock of
`clock_gettime`) are allowed: the C library makes them for threads, whose numbers no filter can know. A call that takes
a process's number and is neither on the list nor checked below is refused for every number.

The filter is a search tree over runs of call numbers: the kernel walks it once for every known call when it is
installed, so a short path costs less at each fork than a long list would.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Iterable, Sequence
from functools import cache

from evaluator.sandbox.guest.linux import OWN_NUMBER

# Name, number on x86_64, number on aarch64 ("-": the call does not exist there).
_ALLOWED = """
    read 0 63; write 1 64; readv 19 65; writev 20 66; pread64 17 67; pwrite64 18 68; preadv 295 69;
    pwritev 296 70; preadv2 327 286; pwritev2 328 287; lseek 8 62; close 3 57; close_range 436 436;
    dup 32 23; dup2 33 -; dup3 292 24; pipe 22 -; pipe2 293 59; flock 73 32;
    fsync 74 82; fdatasync 75 83; sync_file_range 277 84; sendfile 40 71; splice 275 76; tee 276 77;
    copy_file_range 326 285; open 2 -; openat 257 56; openat2 437 437; creat 85 -; access 21 -;
    faccessat 269 48; faccessat2 439 439; stat 4 -; fstat 5 80; lstat 6 -; newfstatat 262 79;
    statx 332 291; statfs 137 43; fstatfs 138 44; readlink 89 -; readlinkat 267 78; getdents 78 -;
    getdents64 217 61; getcwd 79 17; chdir 80 49; fchdir 81 50; rename 82 -; renameat 264 38;
    renameat2 316 276; mkdir 83 -; mkdirat 258 34; rmdir 84 -; unlink 87 -; unlinkat 263 35; link 86 -;
    linkat 265 37; symlink 88 -; symlinkat 266 36; chmod 90 -; fchmod 91 52; fchmodat 268 53;
    fchmodat2 452 452; umask 95 166; truncate 76 45; ftruncate 77 46; fallocate 285 47; utime 132 -;
    utimes 235 -; utimensat 280 88; futimesat 261 -; mknod 133 -; mknodat 259 33; fadvise64 221 223;
    readahead 187 213; getxattr 191 8; lgetxattr 192 9; fgetxattr 193 10; listxattr 194 11;
    llistxattr 195 12; flistxattr 196 13; inotify_init 253 -; inotify_init1 294 26;
    inotify_add_watch 254 27; inotify_rm_watch 255 28; mmap 9 222; munmap 11 215; mremap 25 216;
    mprotect 10 226; madvise 28 233; msync 26 227; mincore 27 232; brk 12 214; mlock 149 228;
    munlock 150 229; mlockall 151 230; munlockall 152 231; mlock2 325 284; membarrier 324 283;
    memfd_create 319 279; pkey_mprotect 329 288; pkey_alloc 330 289; pkey_free 331 290;
    rt_sigaction 13 134; rt_sigprocmask 14 135; rt_sigreturn 15 139; rt_sigpending 127 136;
    rt_sigsuspend 130 133; rt_sigtimedwait 128 137;
    sigaltstack 131 132; pause 34 -; signalfd 282 -;
    signalfd4 289 74; restart_syscall 219 128; alarm 37 -; getitimer 36 102; setitimer 38 103;
    nanosleep 35 101; clock_nanosleep 230 115; clock_gettime 228 113; clock_getres 229 114;
    gettimeofday 96 169; time 201 -; times 100 153; timer_create 222 107; timer_settime 223 110;
    timer_gettime 224 108; timer_getoverrun 225 109; timer_delete 226 111; timerfd_create 283 85;
    timerfd_settime 286 86; timerfd_gettime 287 87; futex 202 98; futex_waitv 449 449;
    set_robust_list 273 99; set_tid_address 218 96; gettid 186 178;
    rseq 334 293; arch_prctl 158 -; poll 7 -; ppoll 271 73; select 23 -; pselect6 270 72;
    epoll_create 213 -; epoll_create1 291 20; epoll_ctl 233 21; epoll_wait 232 -; epoll_pwait 281 22;
    epoll_pwait2 441 441; eventfd 284 -; eventfd2 290 19; sched_yield 24 124; sched_getaffinity 204 123;
    sched_getparam 143 121; sched_getscheduler 145 120;
    sched_get_priority_max 146 125; sched_get_priority_min 147 126; sched_rr_get_interval 148 127;
    getpriority 140 141; getcpu 309 168; getpid 39 172; getppid 110 173;
    getuid 102 174; geteuid 107 175; getgid 104 176; getegid 108 177; getresuid 118 148;
    getresgid 120 150; getgroups 115 158; getpgid 121 155; getpgrp 111 -; getsid 124 156;
    setsid 112 157; setpgid 109 154; getrlimit 97 163; setrlimit 160 164;
    getrusage 98 165; sysinfo 99 179; uname 63 160; getrandom 318 278; capget 125 90;
    exit 60 93; exit_group 231 94; wait4 61 260; waitid 247 95; sendto 44 206; recvfrom 45 207;
    recvmsg 47 212; recvmmsg 299 243; shutdown 48 210;
    getsockname 51 204; getpeername 52 205; socketpair 53 199
"""
_LINKS = """
    link 86 -; linkat 265 37
"""
_PASSING = """
    sendmsg 46 211; sendmmsg 307 269
"""
"""They pass descriptors: a file in transit is in no process's table, so it could not be counted."""

_PROCESSES = """
    fork 57 -; vfork 58 -; execve 59 221; execveat 322 281
"""
_LOOPBACK = """
    connect 42 203; bind 49 200; listen 50 201; accept 43 202; accept4 288 242
"""
_PRETENDED = """
    chmod 90 -; fchmod 91 52; fchmodat 268 53; fchmodat2 452 452; utime 132 -; utimes 235 -; utimensat 280 88;
    futimesat 261 -
"""
"""They succeed without effect if there are no namespaces, because they reach every file of the user."""

_FAR_REACHING = """
    truncate 76 45; inotify_init 253 -; inotify_init1 294 26; inotify_add_watch 254 27
"""
"""They are refused if there are no namespaces."""

REPORTED = """
    socket 41 198; connect 42 203; bind 49 200; listen 50 201; accept 43 202; accept4 288 242; ptrace 101 117;
    process_vm_readv 310 270; process_vm_writev 311 271; kill 62 129; tkill 200 130; tgkill 234 131;
    rt_sigqueueinfo 129 138; rt_tgsigqueueinfo 297 240; fork 57 -; vfork 58 -; execve 59 221; execveat 322 281;
    mount 165 40; umount2 166 39; unshare 272 97; setns 308 268; pivot_root 155 41; chroot 161 51; fsopen 430 430;
    open_tree 428 428; move_mount 429 429; shmget 29 194; shmat 30 196; semget 64 190; semop 65 193; msgget 68 186;
    msgsnd 69 189; mq_open 240 180; add_key 248 217; request_key 249 218; keyctl 250 219; bpf 321 280;
    perf_event_open 298 241; userfaultfd 323 282; io_uring_setup 425 425; pidfd_getfd 438 438;
    pidfd_send_signal 424 424; open_by_handle_at 304 265; init_module 175 105; finit_module 313 273;
    kexec_load 246 104; reboot 169 142; swapon 167 224; sethostname 170 161; setdomainname 171 162; setuid 105 146;
    setgid 106 144; setreuid 113 145; setregid 114 143; setresuid 117 147; setresgid 119 149; setgroups 116 159;
    capset 126 91; kcmp 312 272; fanotify_init 300 262; settimeofday 164 170; clock_settime 227 112;
    acct 163 89; quotactl 179 60; ioperm 173 -; iopl 172 -
"""
"""Calls that no honest program makes unless its task needs them: refusals are noted (see `limits.refusals`)."""

CLONE = {"x86_64": 56, "aarch64": 220}
_CLONE3 = 435
_MMAP = {"x86_64": 9, "aarch64": 222}
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
CLONE_THREAD = 0x00010000
_MACHINE = platform.machine()

_ANY = 0xFFFFFFFF
_Ranges = tuple[tuple[int, int], ...]
"""Ranges of an argument's lower half: (first, last) ascending; single values may come in any order."""
_Row = tuple[str, int, int, tuple[tuple[int, _Ranges], ...]]
"""Name, number on x86_64, number on aarch64; the place and allowed ranges of each checked argument."""

_A_PROCESS: _Ranges = ((2, 0x7FFFFFFF),)
_ITSELF: _Ranges = ((0, 0),)
_ITS_NUMBER: _Ranges = ((OWN_NUMBER, OWN_NUMBER),)
_PRIO_PROCESS: _Ranges = ((0, 0),)
_PR_SCHED_CORE = 62  # lets a process decide which others share a core with another
_SIGNALS = (
    ("kill", 62, 129),
    ("tkill", 200, 130),
    ("tgkill", 234, 131),
    ("rt_sigqueueinfo", 129, 138),
    ("rt_tgsigqueueinfo", 297, 240),
)
_HARMLESS_REQUESTS: _Ranges = (
    (0, 0x5411),
    (0x5413, 0x541B),
    (0x541D, 0x8900),
    (0x8903, 0x40046601),
    (0x40046603, 0x40086601),
    (0x40086603, 0x401C581F),
    (0x401C5821, _ANY),
)
"""All of `ioctl` but TIOCSTI and TIOCLINUX, which type into a terminal, FIOSETOWN and SIOCSPGRP; and but
FS_IOC_SETFLAGS (two numbers) and FS_IOC_FSSETXATTR: what they set on a folder would stay when it is emptied."""
_WITH_ARGUMENTS: tuple[_Row, ...] = (
    *((*call, ((0, _A_PROCESS),)) for call in _SIGNALS),
    ("setpriority", 141, 140, ((0, _PRIO_PROCESS), (1, _ITSELF + _A_PROCESS))),
    ("sched_setaffinity", 203, 122, ((0, _ITSELF + _A_PROCESS),)),
    ("prlimit64", 302, 261, ((0, _ITSELF),)),
    ("get_robust_list", 274, 100, ((0, _ITSELF),)),
    ("prctl", 157, 167, ((0, ((0, _PR_SCHED_CORE - 1), (_PR_SCHED_CORE + 1, _ANY))),)),
    # Without F_SETOWN, F_SETSIG and F_SETOWN_EX, by which the kernel sends signals to others.
    ("fcntl", 72, 25, ((1, ((0, 7), (9, 9), (11, 14), (16, _ANY))),)),
    # Without SO_PEERPIDFD and SO_PASSPIDFD, which give a handle of the process at the other end.
    ("getsockopt", 55, 209, ((2, ((0, 76), (78, _ANY))),)),
    ("setsockopt", 54, 208, ((2, ((0, 75), (77, _ANY))),)),
    ("ioctl", 16, 29, ((1, _HARMLESS_REQUESTS),)),
)
_ITSELF_ONLY: tuple[_Row, ...] = (
    *((*call, ((0, _ITS_NUMBER),)) for call in _SIGNALS),
    ("setpriority", 141, 140, ((0, _PRIO_PROCESS), (1, _ITSELF + _ITS_NUMBER))),
    ("sched_setaffinity", 203, 122, ((0, _ITSELF + _ITS_NUMBER),)),
    # Without PR_SET_PDEATHSIG too: it ends with its parent.
    ("prctl", 157, 167, ((0, ((2, _PR_SCHED_CORE - 1), (_PR_SCHED_CORE + 1, _ANY))),)),
)
"""For a completion's process among others of its user."""

_LOOPBACK_SOCKET: _Row = ("socket", 41, 198, ((0, ((2, 2), (10, 10))),))
"""IPv4 and IPv6, for a process in a network namespace with no other process."""

_SOCKET = "socket 41 198"

_ALLOW = 0x7FFF0000
_KILL_PROCESS = 0x80000000
_NOTIFY = 0x7FC00000


def _refuse(error: int) -> int:
    return 0x00050000 | error


_LOAD, _JUMP, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_BITS, _RETURN = 0x20, 0x05, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, 16

_Instruction = tuple[int, int, int, int]
"""BPF: operation, jump if true, jump if false, constant."""


def _numbers(table: str) -> set[int]:
    column = {"x86_64": 1, "aarch64": 2}[_MACHINE]
    rows = (row.split() for row in table.split(";"))
    return {int(row[column]) for row in rows if row[column] != "-"}


_Leaf = tuple[_Instruction, ...]
"""Decides on a call whose number is known."""

_ALLOWED_LEAF: _Leaf = ((_RETURN, 0, 0, _ALLOW),)
_REFUSED_LEAF: _Leaf = ((_RETURN, 0, 0, _refuse(errno.EPERM)),)
_REPORT = (_RETURN, 0, 0, _NOTIFY)
_NO_SUCH_CALL: _Leaf = ((_RETURN, 0, 0, _refuse(errno.ENOSYS)),)
_SOCKET_REPORTED: _Leaf = (
    (_LOAD, 0, 0, _ARGUMENTS),
    (_JUMP_EQUAL, 0, 1, 1),  # AF_UNIX: the C library asks a daemon for the names of users
    *_REFUSED_LEAF,
    _REPORT,
)
_NO_SHARED_MEMORY: _Leaf = (
    (_LOAD, 0, 0, _ARGUMENTS + 8 * 3),
    (_JUMP_BITS, 0, 2, 0x01),  # MAP_SHARED
    (_JUMP_BITS, 0, 1, 0x20),  # MAP_ANONYMOUS
    *_REFUSED_LEAF,
    *_ALLOWED_LEAF,
)
_PRETENDED_LEAF: _Leaf = ((_RETURN, 0, 0, _refuse(0)),)
_ONLY_THREADS: _Leaf = (
    (_LOAD, 0, 0, _ARGUMENTS),
    (_JUMP_BITS, 0, 1, CLONE_THREAD),
    *_ALLOWED_LEAF,
    *_REFUSED_LEAF,
)


def _allowed_if(conditions: Sequence[tuple[int, _Ranges]]) -> _Leaf:
    """Allows the call if the lower half of each of these arguments lies in one of its ranges."""
    if not conditions:
        return _ALLOWED_LEAF
    (place, ranges), *others = conditions
    then = _allowed_if(others)
    leaf = [(_LOAD, 0, 0, _ARGUMENTS + 8 * place)]
    for first, last in ranges:
        if first == last:
            leaf += [(_JUMP_EQUAL, 0, len(then), first), *then]
            continue
        if last != _ANY:
            leaf.append((_JUMP_AT_LEAST, len(then) + 2, 0, last + 1))
        leaf += [(_JUMP_AT_LEAST, 0, len(then), first), *then, *_REFUSED_LEAF]
    return (*leaf, *_REFUSED_LEAF)


def _each(table: str, leaf: _Leaf) -> dict[int, _Leaf]:
    """This leaf for every call of a table."""
    return dict.fromkeys(_numbers(table), leaf)


def _checked_leaves(rows: Iterable[_Row]) -> dict[int, _Leaf]:
    return {
        x86_64 if _MACHINE == "x86_64" else aarch64: _allowed_if(conditions) for _, x86_64, aarch64, conditions in rows
    }


def _leaves(*, processes: bool = False, loopback: bool = False) -> dict[int, _Leaf]:
    """The leaf of each call by its number; all others are refused."""
    leaves = _each(_ALLOWED, _ALLOWED_LEAF)
    leaves |= _checked_leaves(_WITH_ARGUMENTS)
    if processes:
        leaves |= dict.fromkeys(_numbers(_PROCESSES) | _numbers(_PASSING), _ALLOWED_LEAF)
    if loopback:
        leaves |= _each(_LOOPBACK, _ALLOWED_LEAF)
        leaves |= _checked_leaves((_LOOPBACK_SOCKET,))
    leaves[CLONE[_MACHINE]] = _ALLOWED_LEAF if processes else _ONLY_THREADS
    leaves[_CLONE3] = _NO_SUCH_CALL
    return leaves


def _leaves_without_namespaces() -> dict[int, _Leaf]:
    """The leaves that differ for a process without namespaces."""
    leaves = _each(_PRETENDED, _PRETENDED_LEAF)
    return leaves | _each(_FAR_REACHING, _REFUSED_LEAF)


def _runs(leaves: dict[int, _Leaf], otherwise: _Leaf) -> list[tuple[int, _Leaf]]:
    """(first number, leaf) of each run of calls with the same leaf, ascending."""
    runs: list[tuple[int, _Leaf]] = []
    for number in range(max(leaves) + 2):
        leaf = leaves.get(number, otherwise)
        if not runs or runs[-1][1] != leaf:
            runs.append((number, leaf))
    return runs


_FAR = 250
"""A jump with a condition reaches over at most 255 instructions."""


class _SearchTree:
    """Instructions that find a call's leaf, written from the last one to the first: jumps go forward alone.

    A leaf that several runs have in common is written once, or again where it is too far for a jump.
    """

    def __init__(self, runs: list[tuple[int, _Leaf]]) -> None:
        self._reversed: list[_Instruction] = []
        self._leaves: dict[_Leaf, int] = {}
        self._write(runs)

    def instructions(self) -> list[_Instruction]:
        return self._reversed[::-1]

    def _write(self, runs: list[tuple[int, _Leaf]]) -> int:
        """Where it begins, counted from the end."""
        if len(runs) == 1:
            return self._leaf(runs[0][1])
        middle = len(runs) // 2
        above = self._write(runs[middle:])
        below = self._near(self._write(runs[:middle]))
        above = self._near(above)
        self._reversed.append((_JUMP_AT_LEAST, self._distance(above), self._distance(below), runs[middle][0]))
        return len(self._reversed)

    def _leaf(self, leaf: _Leaf) -> int:
        if leaf not in self._leaves or self._distance(self._leaves[leaf]) > _FAR:
            self._reversed += leaf[::-1]
            self._leaves[leaf] = len(self._reversed)
        return self._leaves[leaf]

    def _near(self, place: int) -> int:
        """The same, or a jump there that is near enough to be jumped to."""
        if self._distance(place) <= _FAR:
            return place
        self._reversed.append((_JUMP, 0, 0, self._distance(place)))
        return len(self._reversed)

    def _distance(self, place: int) -> int:
        return len(self._reversed) - place


def _reporting(leaves: dict[int, _Leaf], *, loopback: bool = False) -> dict[int, _Leaf]:
    """The same, but the calls of `REPORTED` are reported to a listener instead of being refused.

    Passing descriptors is allowed, because the listener has to be passed. Another filter on top of this one refuses it.
    """
    leaves = leaves | _each(_PASSING, _ALLOWED_LEAF)
    reported = _numbers(REPORTED) | {CLONE[_MACHINE]}
    if loopback:  # the C library looks for name servers by sockets of other families
        reported -= _checked_leaves((_LOOPBACK_SOCKET,)).keys()
    refused = _REFUSED_LEAF[0]
    sockets = dict.fromkeys(_numbers(_SOCKET) & reported, _SOCKET_REPORTED)
    return (
        leaves
        | {
            number: tuple(_REPORT if step == refused else step for step in leaves.get(number, _REFUSED_LEAF))
            for number in reported
        }
        | sockets
    )


@cache
def bpf_program(*, processes: bool = False, reporting: bool = False, loopback: bool = False) -> bytes:
    """The filter as BPF bytes. `processes` allows new ones, `reporting` needs a listener, `loopback` allows IP sockets.

    Raises `KeyError` on a machine that is neither x86_64 nor aarch64.
    """
    leaves = _leaves(processes=processes, loopback=loopback)
    return _program(_runs(_reporting(leaves, loopback=loopback) if reporting else leaves, _REFUSED_LEAF))


@cache
def bpf_in_shared_namespaces(*, reporting: bool = False) -> bytes:
    """The filter for a process whose namespaces others use before and after it.

    Raises `KeyError` as `bpf_program` does.
    """
    leaves = _leaves() | _checked_leaves(_ITSELF_ONLY)
    return _program(_runs(_reporting(leaves) if reporting else leaves, _REFUSED_LEAF))


@cache
def bpf_without_namespaces(*, reporting: bool = False, reports_threads: bool = False) -> bytes:
    """The filter for a process without namespaces. With `reports_threads`, its listener decides on new threads.

    Raises `KeyError` as `bpf_program` does.
    """
    leaves = _leaves() | _leaves_without_namespaces() | _checked_leaves(_ITSELF_ONLY)
    leaves = _reporting(leaves) if reporting else leaves
    if reports_threads:
        leaves |= {CLONE[_MACHINE]: (_REPORT,)}
    return _program(_runs(leaves, _REFUSED_LEAF))


@cache
def bpf_of_template_without_namespaces() -> bytes:
    """The same for a template: it may fork, and its forks may send signals to themselves."""
    return _program(_runs(_leaves(processes=True) | _leaves_without_namespaces(), _REFUSED_LEAF))


@cache
def bpf_on_top() -> dict[str, bytes]:
    """The filters that are installed on top of another one, by name. Raises `KeyError` as `bpf_program` does."""
    leaves = {
        # For a template's forks: no new processes, and each reaches only itself.
        "fork": {
            **_each(_PROCESSES, _REFUSED_LEAF),
            **_each(_PASSING, _REFUSED_LEAF),
            CLONE[_MACHINE]: _ONLY_THREADS,
            _CLONE3: _NO_SUCH_CALL,
            **_checked_leaves(_ITSELF_ONLY),
        },
        # No passing of descriptors.
        "last": _each(_PASSING, _REFUSED_LEAF),
        # No shared memory outside files: it stays allocated when most of it is no longer mapped, so only the kernel
        # itself can count it.
        "uncounted": {_MMAP[_MACHINE]: _NO_SHARED_MEMORY},
        # No hard links: of two names of one file a test could read what it has written itself.
        "unlinked": _each(_LINKS, _REFUSED_LEAF),
    }
    return {name: _program(_runs(each, _ALLOWED_LEAF)) for name, each in leaves.items()}


def _program(runs: list[tuple[int, _Leaf]]) -> bytes:
    instructions: list[_Instruction] = [
        (_LOAD, 0, 0, _ARCH),
        (_JUMP_EQUAL, 1, 0, _ARCHITECTURE[_MACHINE]),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_LOAD, 0, 0, _NUMBER),
        *_SearchTree(runs).instructions(),
    ]
    return b"".join(struct.pack("HBBI", *instruction) for instruction in instructions)
