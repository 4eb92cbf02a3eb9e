"""Fifteen small functions such as models write for programming tasks, each with a generator of arguments."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

from _random_data import numbers, words


class Function(NamedTuple):
    """A function, and a generator of its positional arguments."""

    name: str
    source: str
    make_arguments: Callable[[Random], list[Any]]


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
        lambda rng: [numbers(rng, 20), rng.randint(-40, 40)],
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
        lambda rng: [[sorted(numbers(rng, 2)) for _ in range(12)]],
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
        lambda rng: [words(rng, 15)],
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
        lambda rng: [numbers(rng, 40)],
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
        lambda rng: [[numbers(rng, 5) for _ in range(5)]],
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
        lambda rng: [words(rng, 25), 3],
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
        lambda rng: [numbers(rng, 15), rng.randint(0, 40)],
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
        lambda rng: [" ".join(words(rng, 12))],
    ),
)
