"""Thirty small programs such as models write for programming tasks: fifteen that read stdin, fifteen functions.

Each stands with a maker of inputs. `_workloads` makes tasks and completions of them.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

StdinMaker = Callable[[Random], str]
CallMaker = Callable[[Random], list[Any]]


class StdinProgram(NamedTuple):
    """A program that reads stdin, and a maker of its stdin."""

    name: str
    source: str
    make_input: StdinMaker


class Function(NamedTuple):
    """A function, and a maker of its positional arguments."""

    name: str
    source: str
    make_arguments: CallMaker


def _numbers(rng: Random, count: int, low: int = -50, high: int = 50) -> list[int]:
    return [rng.randint(low, high) for _ in range(count)]


def _line(values: list[int]) -> str:
    return " ".join(map(str, values)) + "\n"


def _counted(rng: Random, low: int = -50, high: int = 50) -> str:
    values = _numbers(rng, rng.randint(5, 40), low, high)
    return f"{len(values)}\n{_line(values)}"


def _words(rng: Random, count: int) -> list[str]:
    return ["".join(rng.choices("abcde", k=rng.randint(1, 6))) for _ in range(count)]


def _grid(rng: Random) -> str:
    rows = ["".join(rng.choices(".#", weights=(3, 1), k=8)) for _ in range(8)]
    return "8 8\n" + "\n".join(rows) + "\n"


def _edges(rng: Random) -> str:
    pairs = [(rng.randint(1, 12), rng.randint(1, 12), rng.randint(1, 9)) for _ in range(24)]
    return "12 24\n" + "".join(f"{a} {b} {weight}\n" for a, b, weight in pairs)


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
        lambda rng: " ".join(_words(rng, 30)) + "\n",
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
        lambda rng: "5\n" + "".join(_line(_numbers(rng, 5)) for _ in range(10)),
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


FUNCTIONS = (
    Function(
        "two_sum",
        """
def two_sum(nums, target):
    seen = {}
    for i, x in enumerate(nums):
        if target - x in seen:
            return [seen[target - x], i]
        seen[x] = i
    return []
""",
        lambda rng: [_numbers(rng, 20), rng.randint(-40, 40)],
    ),
    Function(
        "is_palindrome",
        """
def is_palindrome(s: str) -> bool:
    letters = [c.lower() for c in s if c.isalnum()]
    return letters == letters[::-1]
""",
        lambda rng: ["".join(rng.choices("aA, ", k=rng.randint(1, 12)))],
    ),
    Function(
        "merge_intervals",
        """
from typing import List

class Solution:
    def merge_intervals(self, intervals: List[List[int]]) -> List[List[int]]:
        merged = []
        for start, end in sorted(intervals):
            if merged and start <= merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], end)
            else:
                merged.append([start, end])
        return merged
""",
        lambda rng: [[sorted(_numbers(rng, 2)) for _ in range(12)]],
    ),
    Function(
        "group_anagrams",
        """
from collections import defaultdict

def group_anagrams(words):
    groups = defaultdict(list)
    for word in words:
        groups["".join(sorted(word))].append(word)
    return sorted(sorted(group) for group in groups.values())
""",
        lambda rng: [_words(rng, 15)],
    ),
    Function(
        "roman",
        """
def roman(n):
    table = [(1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"),
             (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]
    result = ""
    for value, letters in table:
        while n >= value:
            result += letters
            n -= value
    return result
""",
        lambda rng: [rng.randint(1, 3999)],
    ),
    Function(
        "max_subarray",
        """
def max_subarray(nums):
    best = current = nums[0]
    for x in nums[1:]:
        current = max(x, current + x)
        best = max(best, current)
    return best
""",
        lambda rng: [_numbers(rng, 40)],
    ),
    Function(
        "edit_distance",
        """
def edit_distance(a, b):
    previous = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            row.append(min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (x != y)))
        previous = row
    return previous[-1]
""",
        lambda rng: ["".join(rng.choices("abcd", k=12)), "".join(rng.choices("abcd", k=12))],
    ),
    Function(
        "prime_factors",
        """
def prime_factors(n):
    factors = []
    d = 2
    while d * d <= n:
        while n % d == 0:
            factors.append(d)
            n //= d
        d += 1
    if n > 1:
        factors.append(n)
    return factors
""",
        lambda rng: [rng.randint(2, 20000)],
    ),
    Function(
        "spiral",
        """
def spiral(matrix):
    result = []
    matrix = [list(row) for row in matrix]
    while matrix:
        result += matrix.pop(0)
        matrix = [list(row) for row in zip(*matrix)][::-1]
    return result
""",
        lambda rng: [[_numbers(rng, 5) for _ in range(5)]],
    ),
    Function(
        "top_k",
        """
import heapq
from collections import Counter

def top_k(words, k):
    counts = Counter(words)
    return [word for word, _ in heapq.nsmallest(k, counts.items(), key=lambda item: (-item[1], item[0]))]
""",
        lambda rng: [_words(rng, 25), 3],
    ),
    Function(
        "mean_absolute_deviation",
        """
def mean_absolute_deviation(numbers):
    mean = sum(numbers) / len(numbers)
    return sum(abs(x - mean) for x in numbers) / len(numbers)
""",
        lambda rng: [[rng.random() * 100 for _ in range(20)]],
    ),
    Function(
        "climb",
        """
from functools import lru_cache

def climb(n):
    @lru_cache(None)
    def ways(k):
        return 1 if k < 2 else ways(k - 1) + ways(k - 2)
    return ways(n)
""",
        lambda rng: [rng.randint(1, 60)],
    ),
    Function(
        "rotate",
        """
def rotate(nums, k):
    if not nums:
        return nums
    k %= len(nums)
    return nums[-k:] + nums[:-k]
""",
        lambda rng: [_numbers(rng, 15), rng.randint(0, 40)],
    ),
    Function(
        "permutation_count",
        """
import itertools

def permutation_count(text):
    return len(set(itertools.permutations(text)))
""",
        lambda rng: ["".join(rng.choices("abc", k=5))],
    ),
    Function(
        "histogram",
        """
import math
import re

def histogram(text: str) -> dict:
    counts = {}
    for word in re.findall(r"[a-z]+", text):
        counts[word] = counts.get(word, 0) + 1
    total = math.fsum(counts.values()) or 1.0
    return {word: count / total for word, count in counts.items()}
""",
        lambda rng: [" ".join(_words(rng, 12))],
    ),
)
