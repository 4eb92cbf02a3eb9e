"""Honest programs that write their output in their own way."""

from tests.attacks.corpus import Honest

WRITING: list[Honest] = [
    Honest("os-write-1", "sum_line", """
import os, sys
for line in sys.stdin:
    os.write(1, b"%d\\n" % sum(map(int, line.split())))
""", "stdout_is_text"),
    Honest("dev-stdout", "double_stdin", """
with open("/dev/stdout", "w") as out:
    out.write(f"{2 * int(input())}\\n")
""", "stdout_is_text"),
    Honest("stdout-buffer", "sum_line", """
import sys
for line in sys.stdin:
    sys.stdout.buffer.write(str(sum(map(int, line.split()))).encode() + b"\\n")
sys.stdout.buffer.flush()
""", "stdout_is_text"),
    Honest("buffered-writer-for-stdout", "total", """
import io, sys
sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w"), 1 << 16))
n = int(input())
print(sum(int(input()) for _ in range(n)))
sys.stdout.flush()
""", "builtins_kept"),
    Honest("faster-print", "sum_line", """
import builtins, sys
out = sys.stdout
def faster(*values, sep=" ", end="\\n"):
    out.write(sep.join(map(str, values)) + end)
builtins.print = faster
for line in sys.stdin:
    print(sum(map(int, line.split())))
""", "builtins_kept"),
    Honest("answer-through-logging", "sum_line", """
import logging, sys
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(message)s")
for line in sys.stdin:
    logging.info(sum(map(int, line.split())))
""", "shared_interpreter"),
    Honest("print-is-stdout-write", "sum_line", """
import sys
print = lambda value: sys.stdout.write(f"{value}\\n")
for line in sys.stdin:
    print(sum(map(int, line.split())))
""", "assigned_builtin"),
    Honest("print-end-and-flush", "sum_line", """
import sys
for place, line in enumerate(sys.stdin):
    print(end="\\n" * bool(place), flush=True)
    print(sum(map(int, line.split())), end="", flush=True)
""", "exact_bytes"),
    Honest("trailing-spaces", "sum_line", """
import sys
for line in sys.stdin:
    print(sum(map(int, line.split())), end=" \\n")
print()
""", "exact_bytes"),
    Honest("output-with-carriage-returns", "sum_line", """
import sys
sys.stdout.reconfigure(newline="\\r\\n")
for line in sys.stdin:
    print(sum(map(int, line.split())))
""", "exact_bytes"),
    Honest("redirected-and-printed-at-the-end", "sum_line", """
import contextlib, io, sys
kept = io.StringIO()
with contextlib.redirect_stdout(kept):
    for line in sys.stdin:
        print(sum(map(int, line.split())))
sys.__stdout__.write(kept.getvalue())
""", "stdout_is_text"),
    Honest("progress-on-stderr", "sum_line", """
import sys
for place, line in enumerate(sys.stdin):
    print("line", place, file=sys.stderr)
    print(sum(map(int, line.split())))
""", "empty_stderr"),
    Honest("large-output", "numbers", """
n = int(input())
print("\\n".join(map(str, range(1, n + 1))))
""", "unread_pipe"),
    Honest("large-output-number-by-number", "numbers", """
for number in range(int(input())):
    print(number + 1)
""", "unread_pipe"),
    Honest("greek-names", "sum_line", """
import sys
for строка in sys.stdin:
    σ = sum(map(int, строка.split()))
    print(σ)
""", "ascii_source"),
    Honest("echo-of-any-text", "any_text", """
import sys
sys.stdout.write(sys.stdin.read())
""", "ascii_output"),
    Honest("echo-of-bytes", "any_text", """
import shutil, sys
shutil.copyfileobj(sys.stdin.buffer, sys.stdout.buffer)
""", "stdin_is_text"),
    Honest("surrogate-pair-joined", "emoji", """
for _ in range(int(input())):
    text = "\\ud83d\\udc1f"
    print(text.encode("utf-16", "surrogatepass").decode("utf-16"))
""", "escapes_decoded"),
    Honest("string-over-two-lines", "echo", '''
import sys
template = """%s
"""
sys.stdout.write("".join(template % line for line in sys.stdin.read().split("\\n")[:-1]))
''', "escapes_decoded"),
    Honest("docstring-with-code", "two_lines", '''
text = """first
second"""
for _ in range(int(input())):
    print(text.replace("\\n", "|"))
''', "indented_into_function"),
]
