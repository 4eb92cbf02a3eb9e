"""Fifteen small stdin programs such as models write for programming tasks, each with a generator of inputs.

Also the import header of contest sets.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from _random_data import numbers, words


class StdinProgram(NamedTuple):
    """A program, and a generator of its stdin."""

    name: str
    source: str
    make_input: Callable[[Random], str]


def _line(values: list[int]) -> str:
    return " ".join(map(str, values)) + "\n"


def _counted(rng: Random, low: int = -50, high: int = 50) -> str:
    values = numbers(rng, rng.randint(5, 40), low, high)
    return f"{len(values)}\n{_line(values)}"


def _grid(rng: Random) -> str:
    rows = ["".join(rng.choices(".#", weights=(3, 1), k=8)) for _ in range(8)]
    return "8 8\n" + "\n".join(rows) + "\n"


def _edges(rng: Random) -> str:
    pairs = [(rng.randint(1, 12), rng.randint(1, 12), rng.randint(1, 9)) for _ in range(24)]
    return "12 24\n" + "".join(f"{a} {b} {weight}\n" for a, b, weight in pairs)


_IMPORTED = (
    "string re datetime collections heapq bisect copy math random statistics itertools functools operator io sys json"
).split()

HEADER = "".join(
    [
        *(f"from {name} import *\n" for name in [*_IMPORTED, "builtins", "typing"]),
        *(f"import {name}\n" for name in _IMPORTED),
        "sys.setrecursionlimit(6 * 10**5)\n",
    ]
)

STDIN_PROGRAMS = (
    StdinProgram(
        "sum_of_even",
        """
n = int(input())
a = list(map(int, input().split()))
print(sum(x for x in a if x % 2 == 0))
""",
        _counted,
    ),
    StdinProgram(
        "count_primes",
        """
import sys

def main():
    n = int(sys.stdin.readline())
    sieve = [True] * (n + 1)
    sieve[0:2] = [False] * min(2, n + 1)
    i = 2
    while i * i <= n:
        if sieve[i]:
            for j in range(i * i, n + 1, i):
                sieve[j] = False
        i += 1
    print(sum(sieve))

if __name__ == "__main__":
    main()
""",
        lambda rng: f"{rng.randint(1, 500)}\n",
    ),
    StdinProgram(
        "word_counts",
        """
import sys
from collections import Counter

words = sys.stdin.read().split()
for word, count in sorted(Counter(words).items(), key=lambda item: (-item[1], item[0])):
    print(word, count)
""",
        lambda rng: " ".join(words(rng, 30)) + "\n",
    ),
    StdinProgram(
        "brackets",
        """
def balanced(s):
    stack = []
    pairs = {')': '(', ']': '[', '}': '{'}
    for c in s:
        if c in pairs.values():
            stack.append(c)
        elif not stack or stack.pop() != pairs[c]:
            return False
    return not stack

for _ in range(int(input())):
    print("YES" if balanced(input().strip()) else "NO")
""",
        lambda rng: "5\n" + "".join("".join(rng.choices("()[]{}", k=rng.randint(2, 8))) + "\n" for _ in range(5)),
    ),
    StdinProgram(
        "grid_paths",
        """
from collections import deque

h, w = map(int, input().split())
grid = [input().strip() for _ in range(h)]
dist = [[-1] * w for _ in range(h)]
queue = deque([(0, 0)])
dist[0][0] = 0
while queue:
    r, c = queue.popleft()
    for dr, dc in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        nr, nc = r + dr, c + dc
        if 0 <= nr < h and 0 <= nc < w and grid[nr][nc] == '.' and dist[nr][nc] < 0:
            dist[nr][nc] = dist[r][c] + 1
            queue.append((nr, nc))
print(dist[h - 1][w - 1])
""",
        _grid,
    ),
    StdinProgram(
        "knapsack",
        """
import sys
input = sys.stdin.readline

n, capacity = map(int, input().split())
best = [0] * (capacity + 1)
for _ in range(n):
    weight, value = map(int, input().split())
    for c in range(capacity, weight - 1, -1):
        best[c] = max(best[c], best[c - weight] + value)
print(best[capacity])
""",
        lambda rng: "8 40\n" + "".join(f"{rng.randint(1, 15)} {rng.randint(1, 30)}\n" for _ in range(8)),
    ),
    StdinProgram(
        "increasing",
        """
from bisect import bisect_left

n = int(input())
tails = []
for x in map(int, input().split()):
    i = bisect_left(tails, x)
    if i == len(tails):
        tails.append(x)
    else:
        tails[i] = x
print(len(tails))
""",
        _counted,
    ),
    StdinProgram(
        "shortest_paths",
        """
import heapq
import sys

def main():
    data = list(map(int, sys.stdin.buffer.read().split()))
    n, m = data[0], data[1]
    graph = [[] for _ in range(n + 1)]
    for i in range(m):
        a, b, w = data[2 + 3 * i:5 + 3 * i]
        graph[a].append((b, w))
        graph[b].append((a, w))
    dist = [float("inf")] * (n + 1)
    dist[1] = 0
    heap = [(0, 1)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > dist[u]:
            continue
        for v, w in graph[u]:
            if d + w < dist[v]:
                dist[v] = d + w
                heapq.heappush(heap, (d + w, v))
    print(*(-1 if d == float("inf") else d for d in dist[1:]))

main()
""",
        _edges,
    ),
    StdinProgram(
        "gcd_lcm",
        """
import math
a, b = map(int, input().split())
g = math.gcd(a, b)
print(g, a * b // g)
""",
        lambda rng: f"{rng.randint(1, 10**9)} {rng.randint(1, 10**9)}\n",
    ),
    StdinProgram(
        "run_lengths",
        """
from itertools import groupby
text = input()
print("".join(f"{key}{len(list(group))}" for key, group in groupby(text)))
""",
        lambda rng: "".join(rng.choices("aab", k=30)) + "\n",
    ),
    StdinProgram(
        "matrix_product",
        """
n = int(input())
a = [list(map(int, input().split())) for _ in range(n)]
b = [list(map(int, input().split())) for _ in range(n)]
for i in range(n):
    print(*[sum(a[i][k] * b[k][j] for k in range(n)) for j in range(n)])
""",
        lambda rng: "5\n" + "".join(_line(numbers(rng, 5)) for _ in range(10)),
    ),
    StdinProgram(
        "collatz",
        """
n = int(input())
steps = 0
while n != 1:
    n = n // 2 if n % 2 == 0 else 3 * n + 1
    steps += 1
print(steps)
""",
        lambda rng: f"{rng.randint(1, 5000)}\n",
    ),
    StdinProgram(
        "mean_and_median",
        """
n = int(input())
values = sorted(map(int, input().split()))
middle = n // 2
median = values[middle] if n % 2 else (values[middle - 1] + values[middle]) / 2
print(f"{sum(values) / n:.6f}")
print(f"{median:.6f}")
""",
        _counted,
    ),
    StdinProgram(
        "memoised_coins",
        """
import sys
from functools import lru_cache
sys.setrecursionlimit(10000)

coins = list(map(int, input().split()))
target = int(input())

@lru_cache(maxsize=None)
def fewest(rest):
    if rest == 0:
        return 0
    return min((fewest(rest - c) + 1 for c in coins if c <= rest), default=10**9)

answer = fewest(target)
print(answer if answer < 10**9 else -1)
""",
        lambda rng: f"1 {rng.randint(2, 9)} {rng.randint(10, 25)}\n{rng.randint(20, 120)}\n",
    ),
    StdinProgram(
        "disjoint_sets",
        """
class DSU:
    def __init__(self, n):
        self.parent = list(range(n))

    def find(self, x):
        while self.parent[x] != x:
            self.parent[x] = self.parent[self.parent[x]]
            x = self.parent[x]
        return x

    def union(self, a, b):
        self.parent[self.find(a)] = self.find(b)

n, m = map(int, input().split())
sets = DSU(n + 1)
for _ in range(m):
    a, b, _w = map(int, input().split())
    sets.union(a, b)
print(len({sets.find(i) for i in range(1, n + 1)}))
""",
        _edges,
    ),
)
