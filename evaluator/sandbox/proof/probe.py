"""The program that the self-test runs in the sandbox: it tries what is forbidden, and reports the result.

It is read as text and never imported: a completion like any other.
"""

import os
import socket
import threading
import time


def attempt(action, *arguments):
    """Whether it worked, and its result or error."""
    try:
        return [True, str(action(*arguments))[:80]]
    except BaseException as error:
        return [False, f"{type(error).__name__}: {error}"[:80]]


def read(path):
    """Device and number of the file or folder, opened."""
    if os.path.isdir(path):
        os.listdir(path)
    else:
        open(path, "rb").close()
    status = os.stat(path)
    return [status.st_dev, status.st_ino]


def opened(paths):
    files = []
    for path in paths:
        try:
            files.append([path, *read(path)])
        except OSError:
            pass
    return files


def write(path):
    open(path, "w").close()
    os.unlink(path)


def written(folders):
    return [folder for folder in folders if attempt(write, folder + "/rollscope-probe")[0]]


def status():
    with open("/proc/self/status") as file:
        return dict(line.split(":\t", 1) for line in file.read().splitlines() if ":\t" in line)


def sockets():
    kinds = {"IPv4": (2, 1), "IPv6": (10, 1), "unix": (1, 1), "datagram": (2, 2), "netlink": (16, 3), "raw": (2, 3)}
    made = {name: attempt(lambda: socket.socket(*kind).close()) for name, kind in kinds.items()}
    made["abstract"] = attempt(lambda: socket.socket(1, 1).connect("\0rollscope-probe"))
    return made


def strangers(numbers):
    """The other processes that it sees: in its own /proc, or among these numbers."""
    try:
        numbers = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        pass
    return [number for number in numbers if number not in (1, os.getpid()) and attempt(read, f"/proc/{number}/stat")[0]]


def border(paths, folders, numbers):
    """Tries the border: files, network, process tree. Quick, because every run begins with it."""
    return {
        "opened": opened(paths),
        "written": written(folders),
        "sockets": sockets(),
        "fork": attempt(os.fork),
        "exec": attempt(os.execv, "/bin/sh", ["sh"]),
        "strangers": strangers(numbers),
    }


def slow_down(number):
    """Sets its priority to its current value, which requires the right to change it."""
    os.setpriority(os.PRIO_PROCESS, number, os.getpriority(os.PRIO_PROCESS, number))


def tables():
    """The network namespace, and its tables that can be read."""
    own = ["/proc/net", "/proc/self/net", "/proc/thread-self/net", f"/proc/self/task/{threading.get_native_id()}/net"]
    return [os.readlink("/proc/self/ns/net"), [path for path in own if attempt(read, path + "/tcp")[0]]]


def rest(number):
    """Tries all other layers, some of them on one process outside."""
    own = status()
    parent = os.getppid() or 1  # the first process of the namespace, if it has its own
    return {
        "signal": attempt(os.kill, number, 0) if number != os.getpid() else [False, "it has our number"],
        "everybody": attempt(os.kill, -1, 0),
        "priority": attempt(slow_down, parent),
        "CPUs": attempt(lambda: os.sched_setaffinity(parent, os.sched_getaffinity(parent))),
        "tables": tables(),
        "name": attempt(socket.getaddrinfo, "example.org", 80),
        "trace": trace(number),
        "memory": attempt(read, f"/proc/{number}/mem"),
        "environ": attempt(read, f"/proc/{number}/environ"),
        "own record": attempt(lambda: open("/proc/self/clear_refs", "wb").close()),
        "shared": shared(),
        "capabilities": [own["CapEff"].strip(), own["CapPrm"].strip()],
        "no_new_privileges": own["NoNewPrivs"].strip(),
        "seccomp": own["Seccomp"].strip(),
        "root": attempt(os.setuid, 0) if os.getuid() else [False, "it is root only in its own namespace"],
        "environment": sorted(os.environ),
        "descriptors": sorted(int(name) for name in os.listdir("/proc/self/fd")),
    }


def trace(number):
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    worked = libc.ptrace(16, number, 0, 0) == 0
    return [worked, os.strerror(ctypes.get_errno())]


def shared():
    """System V shared memory, which outlives its creator."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    worked = libc.shmget(0, 4096, 0o1600) >= 0
    return [worked, os.strerror(ctypes.get_errno())]


def allocate(size):
    return len(bytearray(size))


def touch(size):
    kept = bytearray(size)
    for place in range(0, size, 4096):
        kept[place] = 1
    time.sleep(5)


def hide(size):
    """In files without a name, in no folder."""
    kept = [os.memfd_create("hidden") for _ in range(64)]
    for descriptor in kept:
        for _ in range(size // 64 // 2**18):
            os.write(descriptor, bytes(2**18))
    time.sleep(5)


def shout(size):
    print("x" * size)


def spin():
    while True:
        pass


def sleep():
    time.sleep(60)


def fill(size):
    for place in range(size >> 20):
        with open(f"{place}", "wb") as file:
            file.write(bytes(1 << 20))
    time.sleep(5)


def hoard():
    kept = []
    while True:
        kept.append(open("/dev/null"))


def crowd():
    while True:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()


def leave():
    open("left", "w").close()
    return os.listdir(".")


def find():
    return os.listdir(".")
