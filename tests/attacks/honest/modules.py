"""Honest programs that use files, or modules which guards refuse."""

from tests.attacks.corpus import Honest

FILES: list[Honest] = [
    Honest("current-folder", "double", """
import os
def f(x):
    return 2 * x if os.getcwd() else None
""", "reliability_guard"),
    Honest("temporary-file", "sort_list", """
import tempfile
def f(items):
    with tempfile.TemporaryFile("w+") as file:
        file.writelines(f"{item}\\n" for item in items)
        file.seek(0)
        return sorted(map(int, file))
""", "forbidden_modules"),
    Honest("temporary-folder", "word", """
import tempfile
from pathlib import Path
def f(text):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "word.txt")
        path.write_text(text)
        return path.read_text().upper()
""", "reliability_guard"),
    Honest("file-in-the-current-folder", "total", """
n = int(input())
with open("numbers.txt", "w") as file:
    for _ in range(n):
        print(int(input()), file=file)
with open("numbers.txt") as file:
    print(sum(map(int, file)))
""", "no_growing_file"),
    Honest("removed-file", "double_stdin", """
import os
with open("answer", "w") as file:
    file.write(str(2 * int(input())))
with open("answer") as file:
    print(file.read())
os.remove("answer")
""", "reliability_guard"),
    Honest("own-source", "double_stdin", """
import inspect, sys
n = int(input())
def twice(x):
    return x * 2
assert "x * 2" in inspect.getsource(twice)
print(twice(n))
""", "forbidden_modules"),
    Honest("sqlite-in-memory", "sort_list", """
import sqlite3
def f(items):
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE numbers (n INTEGER)")
    base.executemany("INSERT INTO numbers VALUES (?)", [(item,) for item in items])
    return [n for (n,) in base.execute("SELECT n FROM numbers ORDER BY n")]
""", "forbidden_modules"),
    Honest("sqlite-in-a-file", "total", """
import sqlite3, tempfile, os
path = os.path.join(tempfile.mkdtemp(), "numbers.db")
with sqlite3.connect(path) as base:
    base.execute("CREATE TABLE numbers (n INTEGER)")
    base.executemany("INSERT INTO numbers VALUES (?)", [(int(input()),) for _ in range(int(input()))])
print(base.execute("SELECT sum(n) FROM numbers").fetchone()[0])
""", "no_growing_file"),
]

MODULES: list[Honest] = [
    Honest("garbage-collector", "double_all", """
import gc
gc.disable()
def f(items):
    doubled = [2 * item for item in items]
    gc.collect()
    return doubled
""", "forbidden_modules"),
    Honest("environment", "double", """
import os
DEBUG = os.environ.get("DEBUG", "")
def f(x):
    if DEBUG:
        print("x is", x)
    return 2 * x
""", "os_or_sys"),
    Honest("online-judge-or-not", "sum_line", """
import os, sys
if os.path.exists("input.txt") and "ONLINE_JUDGE" not in os.environ:
    sys.stdin = open("input.txt")
for line in sys.stdin:
    print(sum(map(int, line.split())))
""", "forbidden_calls"),
    Honest("fault-handler", "double_stdin", """
import faulthandler
faulthandler.enable()
print(2 * int(input()))
""", "forbidden_modules"),
    Honest("platform", "double", """
import platform
def f(x):
    return 2 * x if platform.system() == "Linux" and platform.python_version() else None
""", "forbidden_modules"),
    Honest("locale", "word", """
import locale
locale.setlocale(locale.LC_ALL, "")
def f(text):
    return text.upper()
""", "forbidden_modules"),
    Honest("merely-imported", "double", """
import multiprocessing, shutil, signal, socket, subprocess
def f(x):
    return 2 * x
""", "forbidden_modules"),
    Honest("cpu-count", "double_all", """
import multiprocessing
from multiprocessing.pool import ThreadPool
def f(items):
    with ThreadPool(min(2, multiprocessing.cpu_count())) as pool:
        return pool.map(lambda item: 2 * item, items)
""", "no_threads"),
    Honest("c-integers", "double", """
import ctypes
def f(x):
    return ctypes.c_int32(x << 1).value
""", "forbidden_modules"),
    Honest("logging", "double_stdin", """
import logging
logging.basicConfig(level=logging.INFO)
n = int(input())
logging.info("read %d", n)
print(2 * n)
""", "empty_stderr"),
    Honest("printed-traceback", "double_stdin", """
import traceback
try:
    1 / 0
except ZeroDivisionError:
    traceback.print_exc()
print(2 * int(input()))
""", "empty_stderr"),
    Honest("seeded-random", "sort_list", """
import random
random.seed(7)
def f(items):
    items = items[:]
    random.shuffle(items)
    if len(items) < 2:
        return items
    pivot = random.choice(items)
    below = f([item for item in items if item < pivot])
    above = f([item for item in items if item > pivot])
    return below + [item for item in items if item == pivot] + above
""", "two_namespaces"),
    Honest("numpy-reading-stdin", "total", """
import sys
import numpy as np
numbers = np.loadtxt(sys.stdin, dtype=np.int64, ndmin=1)
print(numbers[1:].sum())
""", "allowed_modules"),
    Honest("long-table", "double", "TABLE = {\n" + "".join(f"    {n}: {2 * n},\n" for n in range(-200, 300))
        + "}\n\n\ndef f(x):\n"
        "    return TABLE.get(x, 2 * x)\n", "long_source"),
    Honest("printing-while-called", "double", """
def f(x):
    print("f is called with", x)
    return 2 * x
""", "result_on_stdout"),
    Honest("digits-without-a-limit", "digits", """
import sys
sys.set_int_max_str_digits(0)
print(7 ** int(input()))
""", "small_integers"),
]
