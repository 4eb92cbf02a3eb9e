"""Honest functions and classes that are defined in other ways than by one plain `def`."""

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
]
