"""Honest programs that read their input in their own way."""

from tests.attacks.corpus import Honest

READING: list[Honest] = [
    Honest("open-0", "sum_line", """
for line in open(0):
    print(sum(map(int, line.split())))
""", "stdin_is_text"),
    Honest("dev-stdin", "sum_line", """
with open("/dev/stdin") as source:
    for line in source:
        print(sum(map(int, line.split())))
""", "no_files"),
    Honest("proc-self-fd-0", "sum_line", """
for line in open("/proc/self/fd/0").read().splitlines():
    print(sum(map(int, line.split())))
""", "stdin_is_text"),
    Honest("stdin-buffer", "total", """
import sys
data = sys.stdin.buffer.read().split()
n = int(data[0])
print(sum(map(int, data[1:n + 1])))
""", "stdin_is_text"),
    Honest("stdin-buffer-readline", "total", """
import sys
input = sys.stdin.buffer.readline
print(sum(int(input()) for _ in range(int(input()))))
""", "assigned_builtin"),
    Honest("os-read-0", "total", """
import os
chunks = []
while chunk := os.read(0, 4):
    chunks.append(chunk)
n, *numbers = map(int, b"".join(chunks).split())
print(sum(numbers[:n]))
""", "stdin_is_text"),
    Honest("os-fstat-0", "total", """
import io, os
input = io.BytesIO(os.read(0, os.fstat(0).st_size)).readline
n = int(input())
print(sum([int(input()) for _ in range(n)]))
""", "stdin_is_text"),
    Honest("mmap-of-stdin", "total", """
import mmap
with mmap.mmap(0, 0, access=mmap.ACCESS_READ) as mapped:
    n = int(mapped.readline())
    print(sum(int(mapped.readline()) for _ in range(n)))
""", "stdin_is_text"),
    Honest("select-on-stdin", "total", """
import select, sys
ready, _, _ = select.select([sys.stdin], [], [], 5)
numbers = list(map(int, ready[0].read().split()))
print(sum(numbers[1:]))
""", "stdin_is_text"),
    Honest("fileinput", "sum_line", """
import fileinput
for line in fileinput.input():
    print(sum(map(int, line.split())))
""", "own_arguments"),
    Honest("input-then-readline", "total", """
import sys
n = int(input())
first = int(sys.stdin.readline()) if n else 0
print(first + sum(int(input()) for _ in range(n - 1)))
""", "os_or_sys"),
    Honest("input-then-read", "total", """
import sys
n = int(input())
print(sum(map(int, sys.stdin.read().split())))
""", "mocked_reading"),
    Honest("input-then-loop-over-stdin", "total", """
from sys import stdin
n = int(input())
print(sum(int(line) for line in stdin))
""", "mocked_reading"),
    Honest("readline-then-readlines", "total", """
from sys import stdin
stdin.readline()
print(sum(map(int, stdin.readlines())))
""", "mocked_reading"),
    Honest("reading-twice", "total", """
import sys
lines = sys.stdin.readlines()
sys.stdin.seek(0)
assert sys.stdin.readlines() == lines
print(sum(map(int, lines[1:])))
""", "words_of_tests"),
    Honest("until-end-of-input", "sum_line", """
while True:
    try:
        line = input()
    except EOFError:
        break
    print(sum(map(int, line.split())))
""", "endless_loop"),
    Honest("bare-except-at-end-of-input", "sum_line", """
try:
    for _ in range(10 ** 6):
        print(sum(map(int, input().split())))
except:
    pass
""", "catches_all"),
    Honest("arguments-or-stdin", "sum_line", """
import sys
source = open(sys.argv[1]) if len(sys.argv) > 1 else sys.stdin
for line in source:
    print(sum(map(int, line.split())))
""", "own_arguments"),
    Honest("input-with-carriage-returns", "carriage_returns", """
import sys
for line in sys.stdin.buffer.read().split(b"\\r\\n"):
    if line:
        print(sum(map(int, line.split())))
""", "stdin_is_text"),
    Honest("source-with-carriage-returns", "sum_line",
        "import sys\r\nfor line in sys.stdin:\r\n    print(sum(map(int, line.split())))\r\n", "carriage_return"),
    Honest("new-stdin-over-descriptor", "sum_line", """
import io, sys
sys.stdin = io.TextIOWrapper(io.FileIO(0), encoding="utf-8")
for line in sys.stdin:
    print(sum(map(int, line.split())))
""", "builtins_kept"),
]
