"""Honest programs that end or keep time in their own way: exits, callbacks, alarms."""

from tests.attacks.corpus import Honest

ENDINGS: list[Honest] = [
    Honest("quit", "double_stdin", "print(2 * int(input()))\nquit()\n", "reliability_guard"),
    Honest("exit-0", "double_stdin", "print(2 * int(input()))\nexit(0)\n", "forbidden_calls"),
    Honest("sys-exit-in-main", "sum_line", """
import sys
def main():
    for line in sys.stdin:
        print(sum(map(int, line.split())))
    return 0
if __name__ == "__main__":
    sys.exit(main())
""", "exit_is_failure"),
    Honest("exit-status", "double_stdin", """
import sys
print(2 * int(input()))
sys.exit(3)
""", "exit_status_0"),
    Honest("exit-with-a-message", "double_stdin", """
import sys
print(2 * int(input()))
sys.exit("done")
""", "empty_stderr"),
    Honest("os-exit-after-flush", "double_stdin", """
import os, sys
print(2 * int(input()))
sys.stdout.flush()
os._exit(0)
""", "exit_is_failure"),
    Honest("system-exit-caught", "sum_line", """
import sys
def solve():
    for line in sys.stdin:
        print(sum(map(int, line.split())))
    raise SystemExit
try:
    solve()
except SystemExit:
    pass
""", "catches_all"),
    Honest("only-as-main", "sum_line", """
import sys
def main():
    for line in sys.stdin:
        print(sum(map(int, line.split())))
if __name__ == "__main__":
    main()
""", "not_main"),
    Honest("prints-at-exit", "total", """
import atexit
out = []
atexit.register(lambda: print("\\n".join(out)))
n = int(input())
out.append(str(sum(int(input()) for _ in range(n))))
""", "taken_at_once"),
    Honest("own-stdout-flushed-at-exit", "total", """
import atexit, io, os, sys
sys.stdout = io.StringIO()
atexit.register(lambda: os.write(1, sys.stdout.getvalue().encode()))
n = int(input())
print(sum(int(input()) for _ in range(n)))
""", "taken_at_once"),
    Honest("thread-that-nobody-joins", "total", """
import threading, time
def work():
    time.sleep(0.05)
    n = int(input())
    print(sum(int(input()) for _ in range(n)))
threading.Thread(target=work).start()
""", "taken_at_once"),
    Honest("finalizer-that-prints", "total", """
import weakref
class Answer:
    value = 0
answer = Answer()
said = []
weakref.finalize(answer, lambda: print(said[0]))
said.append(sum(int(input()) for _ in range(int(input()))))
""", "taken_at_once"),
]

CLOCKS: list[Honest] = [
    Honest("own-alarm", "double", """
import signal
class TooLate(Exception):
    pass
def late(signum, frame):
    raise TooLate
def f(x):
    signal.signal(signal.SIGALRM, late)
    signal.alarm(60)
    try:
        return 2 * x
    except TooLate:
        return None
    finally:
        signal.alarm(0)
""", "alarm_kept"),
    Honest("best-answer-until-the-alarm", "double_stdin", """
import signal
best = 0
def late(signum, frame):
    print(best)
    raise SystemExit
signal.signal(signal.SIGALRM, late)
best = 2 * int(input())
signal.setitimer(signal.ITIMER_REAL, 0.05)
while True:
    pass
""", "alarm_kept"),
    Honest("short-sleep", "double", """
import time
def f(x):
    time.sleep(0.01)
    return 2 * x
""", "forbidden_modules"),
    Honest("measured-time", "double", """
import time
def f(x):
    began = time.perf_counter()
    doubled = 2 * x
    assert time.perf_counter() - began < 60
    return doubled
""", "words_of_tests"),
    Honest("measured-memory", "double", """
import resource
def f(x):
    used = resource.getrusage(resource.RUSAGE_SELF)
    return 2 * x if used.ru_maxrss and used.ru_utime >= 0 else None
""", "reliability_guard"),
    Honest("raised-stack-limit", "depth", """
import resource, sys
hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
try:
    resource.setrlimit(resource.RLIMIT_STACK, (hard, hard))
except (OSError, ValueError):
    pass
sys.setrecursionlimit(10 ** 6)
def down(n):
    return n and 1 + down(n - 1)
print(down(int(input())))
""", "reliability_guard"),
]
