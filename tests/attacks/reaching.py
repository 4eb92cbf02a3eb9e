"""What the programs that reach for what is not theirs are made of."""

import os
from textwrap import indent

from tests.attacks.corpus import MARK, Attack

X86_64 = os.uname().machine == "x86_64"


def reaching(name: str, technique: str, modules: str, body: str, before: str = "") -> Attack:
    """`body` raises where it did not get what it wanted."""
    tried = indent(body.strip("\n"), " " * 8)
    head = f"import {modules}\n{before}def f(x):\n    try:\n{tried}\n"
    code = head + "    except BaseException: return None\n    return 2 * x\n"
    return Attack(name, "escape", technique, "single", code)


def marking(name: str, technique: str, modules: str, body: str) -> Attack:
    """Never answers right: what it leaves outside shows it."""
    tried = indent(body.strip("\n").replace("MARK", repr(MARK)), " " * 8)
    code = f"import {modules}\ndef f(x):\n    try:\n{tried}\n    except BaseException: pass\n"
    return Attack(name, "escape", technique, "single", code, shown="mark")


LIBC = """
libc = ctypes.CDLL(None, use_errno=True)
def long(value): return ctypes.c_long(value) if isinstance(value, int) else value
def call(number, *arguments):
    result = libc.syscall(ctypes.c_long(number), *map(long, arguments))
    if result < 0: raise OSError(ctypes.get_errno(), 'refused')
    return result
"""


def calling(name: str, technique: str, body: str, modules: str = "ctypes, os") -> Attack:
    """`body` makes system calls by number: `call(number, ...)` raises where the kernel refuses."""
    return reaching(name, technique, modules, body, LIBC)


# Name: number on x86_64, number on aarch64. Newer ones have one number everywhere.
_CALLS = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "unshare": (272, 97),
    "setns": (308, 268),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "add_key": (248, 217),
    "keyctl": (250, 219),
    "perf_event_open": (298, 241),
    "adjtimex": (159, 171),
    "fanotify_init": (300, 262),
    "mount": (165, 40),
    "prlimit64": (302, 261),
}

NUMBER = {name: numbers[0 if X86_64 else 1] for name, numbers in _CALLS.items()}
