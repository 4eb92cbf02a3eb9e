"""Programs that go on by themselves: they catch what should end them, or keep it away."""

from tests.attacks.corpus import Attack
from tests.attacks.endless import SPIN, endless

# fmt: off
_SWALLOWED = [
    endless("except-round-a-loop", "swallowed exception", """
def f(x):
    while True:
        try:
            for _ in iter(int, 1): pass
        except: pass
"""),
    endless("finally-continues", "swallowed exception", """
def f(x):
    while True:
        try:
            for _ in iter(int, 1): pass
        finally:
            continue
"""),
    endless("suppressed-sleep", "swallowed exception", """
import contextlib, time
def f(x):
    while True:
        with contextlib.suppress(BaseException):
            time.sleep(3600)
"""),
    endless("recursion-in-finally", "swallowed exception", """
def deeper():
    try:
        deeper()
    finally:
        deeper()
def f(x):
    while True:
        try: deeper()
        except BaseException: pass
"""),
    endless("generator-that-never-ends", "swallowed exception", """
def numbers():
    while True:
        try: yield 1
        except BaseException: pass
        try: yield 2
        except BaseException: pass
def f(x):
    while True:
        try:
            for _ in numbers(): pass
        except BaseException: pass
"""),
    endless("loop-while-it-is-loaded", "swallowed exception", SPIN + "spin()\ndef f(x): return 2 * x\n"),
]

_SIGNALS = [
    endless("alarm-ignored", "signals", """
import signal
for number in signal.valid_signals():
    try: signal.signal(number, signal.SIG_IGN)
    except OSError: pass
def f(x):
    while True: pass
"""),
    endless("handlers-replaced", "signals", """
import signal
def nothing(number, frame): pass
for number in signal.valid_signals():
    try: signal.signal(number, nothing)
    except (OSError, ValueError): pass
def f(x):
    while True: pass
"""),
    endless("alarm-cancelled", "signals", """
import signal
def f(x):
    while True:
        signal.alarm(0)
        for timer in signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF: signal.setitimer(timer, 0)
"""),
    endless("signals-blocked", "signals", """
import signal
def f(x):
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    while True: pass
"""),
    endless("stops-itself", "signals", """
import os, signal
def f(x):
    while True:
        try: os.kill(os.getpid(), signal.SIGSTOP)
        except BaseException: pass
"""),
]

_THREADS = [
    endless("joins-a-thread-that-never-ends", "threads", SPIN + """
import threading
def f(x):
    thread = threading.Thread(target=spin)
    thread.start()
    while True:
        try: thread.join()
        except BaseException: pass
"""),
    endless("thread-that-keeps-the-interpreter", "threads", """
import sys, threading, time
def spin():
    while True: pass
def f(x):
    sys.setswitchinterval(1e6)
    threading.Thread(target=spin).start()
    time.sleep(0.01)
    while True: pass
"""),
    endless("thread-outlives-the-program", "threads",
        SPIN + "import threading\nthreading.Thread(target=spin).start()\n", "single_stdin"),
    endless("threads-that-start-threads", "threads", """
import threading
def again():
    while True:
        try:
            thread = threading.Thread(target=again)
            thread.start()
            return
        except BaseException: pass
def f(x):
    again()
    while True:
        try: threading.Event().wait()
        except BaseException: pass
"""),
]

_AT_THE_END = [
    endless("del-that-never-ends", "at the end", """
class Held:
    def __del__(self):
        while True:
            try:
                for _ in iter(int, 1): pass
            except BaseException: pass
def f(x):
    held = Held()
    del held
    return 2 * x
"""),
    endless("del-that-comes-back", "at the end", """
class Held:
    def __del__(self):
        Held()
        while True: pass
def f(x):
    while True:
        try: Held()
        except BaseException: pass
"""),
    endless("atexit-that-sleeps", "at the end", """
import atexit, time
def late():
    while True:
        try: time.sleep(3600)
        except BaseException: pass
atexit.register(late)
""", "single_stdin"),
    endless("collector-that-never-ends", "at the end", SPIN + """
import gc
def f(x):
    gc.callbacks.append(lambda phase, info: spin())
    gc.collect()
    return 2 * x
"""),
]

ATTACKS: list[Attack] = [*_SWALLOWED, *_SIGNALS, *_THREADS, *_AT_THE_END]
