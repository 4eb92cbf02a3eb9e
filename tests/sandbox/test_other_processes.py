"""A completion can't affect other processes or see the machine's network. On itself it may do the usual."""

import os

from tests.sandbox.conftest import Run

NUMBER = 0 if os.uname().machine == "x86_64" else 1
# Each call's numbers on x86_64 and aarch64, and arguments that name another process.
CALLS = {
    "kill": ((62, 129), "parent, 0"),
    "tkill": ((200, 130), "parent, 0"),
    "tgkill": ((234, 131), "parent, parent, 0"),
    "rt_sigqueueinfo": ((129, 138), "parent, 0, room"),
    "rt_tgsigqueueinfo": ((297, 240), "parent, parent, 0, room"),
    "setpriority": ((141, 140), "0, parent, 19"),
    "setpriority of a group": ((141, 140), "1, 0, 19"),
    "setpriority of a user": ((141, 140), "2, 0, 19"),
    "sched_setaffinity": ((203, 122), "parent, 8, cpus"),
    "sched_setparam": ((142, 118), "parent, room"),
    "sched_setscheduler": ((144, 119), "parent, 0, room"),
    "sched_setattr": ((314, 274), "parent, room, 0"),
    "ioprio_set": ((251, 30), "1, parent, 3 << 13"),
    "prlimit64": ((302, 261), "parent, 7, None, room"),
    "prctl of core scheduling": ((157, 167), "62, 1, parent, 1, None"),
    "get_robust_list": ((274, 100), "parent, room, room"),
    "process_vm_readv": ((310, 270), "parent, room, 0, room, 0, 0"),
    "process_vm_writev": ((311, 271), "parent, room, 0, room, 0, 0"),
    "ptrace": ((101, 117), "16, parent, 0, 0"),
    "kcmp": ((312, 272), "parent, parent, 0, 0, 0"),
    "perf_event_open": ((298, 241), "room, parent, -1, -1, 0"),
    "move_pages": ((279, 239), "parent, 0, None, None, None, 0"),
    "migrate_pages": ((256, 238), "parent, 1, room, room"),
    "pidfd_open": ((434, 434), "parent, 0"),
    "pidfd_send_signal": ((424, 424), "0, 0, None, 0"),
    "pidfd_getfd": ((438, 438), "0, 0, 0"),
    "process_madvise": ((440, 440), "0, room, 0, 0, 0"),
    "process_mrelease": ((448, 448), "0, 0"),
    "getsockopt of the process at the other end": ((55, 209), "3, 1, 77, room, size"),
    "setsockopt of the process at the other end": ((54, 208), "3, 1, 76, cpus, 4"),
}
CALLING = """
import ctypes, errno, os
lib = ctypes.CDLL(None, use_errno=True)
room = ctypes.create_string_buffer(4096)
cpus = (ctypes.c_ulong * 1)(1)
size = ctypes.byref(ctypes.c_int(4))
parent = os.getppid() or 1  # the first process of its namespace, if it has one
def tried(number, *arguments):
    given = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    return lib.syscall(ctypes.c_long(number), *given), errno.errorcode.get(ctypes.get_errno())
"""
REFUSED = (-1, "EPERM")


def test_no_call_reaches_another_process(call: Run, program: Run) -> None:
    """Nor does one of a template's fork."""
    tried = [f"tried({numbers[NUMBER]}, {arguments})" for numbers, arguments in CALLS.values()]
    outcomes = call(CALLING + "def f(text): return eval(text)", *([text] for text in tried))
    assert [outcome.value for outcome in outcomes] == [REFUSED] * len(CALLS)
    outcomes = program(CALLING + "print(eval(input()))", *(text.encode() for text in tried), reuse=False)
    assert [outcome.stdout.text() for outcome in outcomes] == [f"{REFUSED}\n"] * len(CALLS)


TO_ITSELF = """
import ctypes, fcntl, os, resource, signal, threading
received = []
signal.signal(signal.SIGUSR1, lambda *_: received.append(1))
os.kill(os.getpid(), signal.SIGUSR1)
signal.raise_signal(signal.SIGUSR1)
signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
one = threading.Thread(target=os.getpriority, args=(os.PRIO_PROCESS, 0))
one.start()
one.join()
for number in (0, os.getpid()):
    os.sched_setaffinity(number, os.sched_getaffinity(number))
    os.setpriority(os.PRIO_PROCESS, number, 19)
    os.getpgid(number), os.getsid(number), os.sched_getscheduler(number), os.sched_getparam(number)
resource.prlimit(0, resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))
fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL))
for record in ("status", "stat", "statm", "maps", "cmdline", "limits", "fd/0"):
    open("/proc/self/" + record).close()
for record in ("/proc/meminfo", "/proc/cpuinfo", "/dev/stdin", "/dev/fd/0"):
    open(record).close()
os.listdir("/proc/self/fd")
print(len(received), os.nice(1))
"""


def test_it_may_do_the_usual_to_itself(program: Run) -> None:
    (outcome,) = program(TO_ITSELF, b"given")
    assert outcome.stdout.text() == "3 19\n", outcome
