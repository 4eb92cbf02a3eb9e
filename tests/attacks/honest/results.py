"""Honest functions whose results are not of the plainest types."""

from tests.attacks.corpus import Honest

RESULTS: list[Honest] = [
    Honest("counter", "tally", """
from collections import Counter
def f(text):
    return Counter(text)
""", "same_type"),
    Honest("namedtuple", "divide", """
from collections import namedtuple
Division = namedtuple("Division", "quotient rest")
def f(a, b):
    return Division(*divmod(a, b))
""", "pickled_result"),
    Honest("tuple", "divide", "f = divmod\n", "plain_function"),
    Honest("deque", "double_all", """
from collections import deque
def f(items):
    doubled = deque()
    while items:
        doubled.appendleft(2 * items.pop())
    return doubled
""", "json_result"),
    Honest("int-enum", "even", """
from enum import IntEnum
class Parity(IntEnum):
    ODD = 0
    EVEN = 1
def f(x):
    return Parity(1 - x % 2)
""", "printed_result"),
    Honest("numpy-integer", "double", """
import numpy as np
def f(x):
    return np.int64(x) * 2
""", "json_result"),
    Honest("numpy-array", "double_all", """
import numpy as np
def f(items):
    return np.array(items, dtype=np.int32) * 2
""", "json_result"),
    Honest("huge-integer", "power", """
def f(n):
    return 7 ** n
""", "numbers_are_floats"),
    Honest("generator-inside", "double_all", """
def f(items):
    def doubled():
        for item in items:
            yield 2 * item
        return
    return [*doubled()]
""", "cut_at_first_return"),
    Honest("argument-sorted-in-place", "sort_list", """
def f(items):
    items.sort()
    return items
""", "arguments_kept"),
]
