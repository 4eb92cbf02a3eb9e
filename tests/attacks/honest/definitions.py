"""Honest functions and classes that are defined in other ways than by one plain `def`."""

from __future__ import annotations

from tests.attacks.corpus import Honest

DEFINITIONS: list[Honest] = [
    Honest("class-solution", "double", """
class Solution:
    def f(self, x):
        return 2 * x
""", "top_level_function"),
    Honest("helper-after-the-function", "double", """
def f(x):
    return helper(x, 2)
def helper(x, y):
    return x * y
""", "last_function"),
    Honest("lambda", "double", "f = lambda x: x + x\n", "plain_function"),
    Honest("partial", "double", """
from functools import partial
from operator import mul
f = partial(mul, 2)
""", "plain_function"),
    Honest("cached", "double", """
import functools
@functools.cache
def f(x):
    return 2 * x
""", "plain_function"),
    Honest("decorated", "double", """
import functools
def checked(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    return wrapper
@checked
def f(x):
    return 2 * x
""", "two_namespaces"),
    Honest("instance-with-call", "double", """
class Doubler:
    def __call__(self, x):
        return 2 * x
f = Doubler()
""", "plain_function"),
    Honest("recursion", "double", """
def f(x):
    if x == 0:
        return 0
    return f(x - 1) + 2 if x > 0 else -f(-x)
""", "two_namespaces"),
    Honest("own-equality", "distinct", """
class Key:
    def __init__(self, value):
        self.value = value
    def __eq__(self, other):
        return self.value == other.value
    def __hash__(self):
        return hash(self.value)
def f(items):
    return [key.value for key in dict.fromkeys(map(Key, items))]
""", "own_equality"),
    Honest("own-order-on-a-heap", "sort_list", """
import heapq
class Item:
    def __init__(self, value):
        self.value = value
    def __lt__(self, other):
        return self.value < other.value
def f(items):
    heap = [Item(value) for value in items]
    heapq.heapify(heap)
    return [heapq.heappop(heap).value for _ in items]
""", "own_equality"),
    Honest("metaclass", "double", """
class Registry(type):
    known = {}
    def __new__(cls, name, bases, body):
        made = super().__new__(cls, name, bases, body)
        Registry.known[name] = made
        return made
class Twice(metaclass=Registry):
    factor = 2
def f(x):
    return Registry.known["Twice"].factor * x
""", "dunder_names"),
    Honest("future-annotations", "double", """
from __future__ import annotations
def f(x: Undefined) -> int | None:
    return 2 * x
""", "imports_prepended"),
    Honest("dataclass-with-future-annotations", "double", """
from __future__ import annotations
from dataclasses import dataclass
@dataclass(order=True)
class Number:
    value: int
    def twice(self) -> Number:
        return Number(2 * self.value)
def f(x):
    return Number(x).twice().value
""", "unregistered_module"),
    Honest("star-import", "half", """
from math import *
def f(x):
    return copysign(fabs(x) / 2, x)
""", "indented_into_function"),
    Honest("global-counter", "double", """
calls = 0
def f(x):
    global calls
    calls += 1
    return 2 * x if calls else None
""", "indented_into_function"),
    Honest("deleted-names", "double", """
import math
two = math.floor(2.5)
def f(x, *, factor=two):
    values = [x, factor]
    del values[1]
    return values[0] * factor
del math, two
""", "assigned_builtin"),
    Honest("builtins-names-reused", "sort_list", """
def f(items):
    list = [*items]
    max = len(list)
    for i in range(max):
        for j in range(max - 1 - i):
            if list[j] > list[j + 1]:
                list[j], list[j + 1] = list[j + 1], list[j]
    return list
""", "assigned_builtin"),
]
