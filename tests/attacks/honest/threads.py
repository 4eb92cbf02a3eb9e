"""Honest programs with threads, event loops and deep stacks."""

from tests.attacks.corpus import Honest

THREADS: list[Honest] = [
    Honest("thread-with-a-large-stack", "depth", """
import sys, threading
sys.setrecursionlimit(10 ** 6)
threading.stack_size(512 * 1024 * 1024)
def down(n):
    return 0 if n == 0 else 1 + down(n - 1)
def main():
    print(down(int(input())))
thread = threading.Thread(target=main)
thread.start()
thread.join()
""", "little_memory"),
    Honest("deep-recursion", "depth", """
import sys
sys.setrecursionlimit(200000)
def down(n):
    if n == 0:
        return 0
    return 1 + down(n - 1)
print(down(int(input())))
""", "fixed_recursion_limit"),
    Honest("deep-recursion-through-c", "depth_through_c", """
import sys
from functools import lru_cache
sys.setrecursionlimit(1 << 30)
@lru_cache(maxsize=None)
def down(n):
    return 0 if n == 0 else 1 + down(n - 1)
print(down(int(input())))
""", "small_stack"),
    Honest("four-threads", "double_all", """
import threading
def f(items):
    doubled = [None] * len(items)
    def work(start):
        for place in range(start, len(items), 4):
            doubled[place] = 2 * items[place]
    threads = [threading.Thread(target=work, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return doubled
""", "no_threads"),
    Honest("thread-pool", "double_all", """
from concurrent.futures import ThreadPoolExecutor
def f(items):
    with ThreadPoolExecutor(max_workers=8) as pool:
        return list(pool.map(lambda item: 2 * item, items))
""", "no_threads"),
    Honest("queue-and-daemon", "double_all", """
import queue, threading
def f(items):
    todo, done = queue.Queue(), []
    def work():
        while True:
            done.append(2 * todo.get())
            todo.task_done()
    threading.Thread(target=work, daemon=True).start()
    for item in items:
        todo.put(item)
    todo.join()
    return done
""", "endless_loop"),
    Honest("dining-locks", "total", """
import threading
lock, total = threading.Lock(), 0
def add(number):
    global total
    with lock:
        total += number
n = int(input())
threads = [threading.Thread(target=add, args=(int(input()),)) for _ in range(n)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(total)
""", "no_threads"),
    Honest("asyncio-run", "double_all", """
import asyncio
async def twice(item):
    await asyncio.sleep(0)
    return 2 * item
def f(items):
    async def gather():
        return await asyncio.gather(*map(twice, items))
    return asyncio.run(gather())
""", "forbidden_modules"),
    Honest("asyncio-to-thread", "total", """
import asyncio
async def main():
    n = int(await asyncio.to_thread(input))
    print(sum([int(await asyncio.to_thread(input)) for _ in range(n)]))
asyncio.run(main())
""", "no_threads"),
    Honest("timer", "double_stdin", """
import threading
n = int(input())
threading.Timer(0.02, lambda: print(2 * n)).start()
""", "taken_at_once"),
]
