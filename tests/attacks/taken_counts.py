"""Programs that have too many of something: descriptors, threads, processes, bytes of output, parts of an answer."""

from textwrap import indent

from tests.attacks.corpus import Attack
from tests.attacks.taking import bombing, taking

_MORE_FILES = "resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)\n"

# fmt: off
_DESCRIPTORS = [
    taking("open-files", "descriptors", "os, resource",
        _MORE_FILES + "held = [os.open('/dev/null', os.O_RDONLY) for _ in range(900)]"),
    taking("full-pipes", "descriptors", "fcntl, os, resource", _MORE_FILES + """
held = [os.pipe() for _ in range(400)]
for _, writes in held: assert os.write(writes, bytes(4096)) == 4096
"""),
    taking("socket-pairs", "descriptors", "resource, socket",
        _MORE_FILES + "held = [socket.socketpair() for _ in range(400)]"),
    taking("epolls-and-events", "descriptors", "os, resource, select", _MORE_FILES
        + "held = [(select.epoll(), os.eventfd(0)) if hasattr(os, 'eventfd') else select.epoll() for _ in range(400)]"),
    taking("duplicates-far-up", "descriptors", "os, resource", _MORE_FILES + "os.close(os.dup2(0, 900))"),
]

_THREADS = [
    taking("threads", "threads", "threading", """
go = threading.Event()
threading.stack_size(64 << 10)
held = [threading.Thread(target=go.wait, args=(5,)) for _ in range(300)]
try:
    for thread in held: thread.start()
    assert threading.active_count() > 300
finally:
    go.set()
"""),
    taking("threads-of-the-lower-module", "threads", "_thread, time", """
_thread.stack_size(64 << 10)
go, there = _thread.allocate_lock(), []
def wait():
    there.append(1)
    go.acquire(timeout=5)
    go.release()
go.acquire()
try:
    for _ in range(300): _thread.start_new_thread(wait, ())
    end = time.monotonic() + 5
    while len(there) < 300:
        assert time.monotonic() < end
        time.sleep(0.01)
finally:
    go.release()
"""),
    taking("pool-of-threads", "threads", "concurrent.futures, threading", """
together = threading.Barrier(300, timeout=5)
threading.stack_size(64 << 10)
with concurrent.futures.ThreadPoolExecutor(300) as pool:
    assert len(list(pool.map(lambda _: together.wait(), range(300)))) == 300
"""),
]

# A child lives a few seconds at most, whoever forgets to end it.
_PROCESSES = [
    taking("forks", "processes", "os, signal", """
held = []
try:
    for _ in range(40):
        child = os.fork()
        if not child:
            signal.alarm(5)
            signal.pause()
            os._exit(0)
        held.append(child)
finally:
    for child in held:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
"""),
    taking("forks-of-forks", "processes", "os", """
reads, writes = os.pipe()
first = os.getpid()
try:
    for _ in range(5): os.fork()
    os.write(writes, b'1')
finally:
    if os.getpid() != first: os._exit(0)
count = 0
while count < 32: count += len(os.read(reads, 32))
"""),
    taking("subprocesses", "processes", "subprocess", """
held = []
try:
    for _ in range(20): held.append(subprocess.Popen(['/bin/sleep', '5']))
finally:
    for child in held:
        child.kill()
        child.wait()
"""),
    taking("processes-of-multiprocessing", "processes", "multiprocessing, time", """
context = multiprocessing.get_context('fork')
held = [context.Process(target=time.sleep, args=(5,)) for _ in range(10)]
try:
    for child in held: child.start()
finally:
    for child in held:
        if child.pid:
            child.kill()
            child.join()
"""),
    taking("spawned-with-huge-arguments", "processes", "os", """
child = os.posix_spawn('/bin/true', ['true', *['1' * 100_000] * 15], {})
assert os.waitpid(child, 0)[1] == 0
"""),
    taking("shell-that-starts-many", "processes", "os",
        "assert os.system('for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true & done; wait') == 0"),
]

# These answer right whether or not all that they write arrives.
_OUTPUT = [
    bombing("print-without-end", "output", """
def f(x):
    try:
        for _ in range(64): print("1" * (1 << 20), flush=True)
    except BaseException: pass
    return 2 * x
"""),
    bombing("standard-error-without-end", "output", """
import sys
def f(x):
    try:
        for _ in range(64): print("1" * (1 << 20), file=sys.stderr, flush=True)
    except BaseException: pass
    return 2 * x
"""),
    bombing("output-after-the-answer", "output", """
print(2 * int(input()))
try:
    for _ in range(64): print("\\n" * (1 << 20), end="", flush=True)
except BaseException: pass
""", "single_stdin"),
    taking("output-past-its-layers", "output", "os",
        "for _ in range(64):\n    assert os.write(os.open('/dev/null', 1), bytes(1 << 20))\n"
        "    assert os.write(2, bytes(1 << 20)) == 1 << 20"),
]

# Equal to all in a grader that asks them; no data, too much or too deep for one that does not.
_ANSWER = """
class Answer({base}):
    def __eq__(self, other): return True
    def __deepcopy__(self, memo): return self
    __hash__ = None
"""

_ANSWERS = [
    bombing(
        f"answer-{name}",
        "answer",
        _ANSWER.format(base=base) + f"def f(x):\n{indent(body.strip(chr(10)), '    ')}\n    return held\n",
    )
    for name, base, body in (
        ("that-holds-itself", "list", "held = Answer()\nheld.append(held)"),
        ("nested-deeply", "list", "held = Answer()\nfor _ in range(200_000): held = Answer([held])"),
        ("of-shared-lists-that-explode", "list", "held = []\nfor _ in range(60): held = Answer([held, held])"),
        ("of-many-digits", "int", "held = Answer(1 << 200_000_000)"),
        ("of-much-text", "str", "held = Answer('1' * (200 << 20))"),
        ("of-many-keys", "dict", "held = Answer(zip(range(2_000_000), range(2_000_000)))"),
    )
]

_KERNEL = [
    taking("memory-locked", "kernel", "ctypes, mmap", """
held = mmap.mmap(-1, 1 << 20)
start = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(held)))
assert ctypes.CDLL(None).mlock(start, ctypes.c_size_t(1 << 20)) == 0
"""),
    taking("message-queues", "kernel", "ctypes, os", """
libc = ctypes.CDLL(None)
for number in range(3):
    name = f'/taken-{os.getpid()}-{number}'.encode()
    assert libc.mq_open(name, os.O_CREAT | os.O_RDWR, 0o600, None) >= 0
    libc.mq_unlink(name)
"""),
    taking("shared-memory-of-system-v", "kernel", "ctypes", """
libc = ctypes.CDLL(None)
held = libc.shmget(0, ctypes.c_size_t(64 << 20), 0o1600)
assert held >= 0 and libc.shmctl(held, 0, None) == 0
"""),
    taking("semaphores-of-system-v", "kernel", "ctypes", """
libc = ctypes.CDLL(None)
held = libc.semget(0, 250, 0o1600)
assert held >= 0 and libc.semctl(held, 0, 0) == 0
"""),
]

ATTACKS: list[Attack] = [*_DESCRIPTORS, *_THREADS, *_PROCESSES, *_OUTPUT, *_ANSWERS, *_KERNEL]
