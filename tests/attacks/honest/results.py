"""Honest functions whose results are not of the plainest types."""

from __future__ import annotations

from tests.attacks.corpus import Honest

RESULTS: list[Honest] = [
    Honest("counter", "tally", """
from collections import Counter
def f(text):
    return Counter(text)
""", "same_type"),
    Honest("defaultdict", "tally", """
from collections import defaultdict
def f(text):
    counts = defaultdict(lambda: 0)
    for letter in text:
        counts[letter] += 1
    return counts
""", "pickled_result"),
    Honest("ordered-dict", "tally", """
from collections import OrderedDict
def f(text):
    return OrderedDict((letter, text.count(letter)) for letter in text)
""", "printed_result"),
    Honest("namedtuple", "divide", """
from collections import namedtuple
Division = namedtuple("Division", "quotient rest")
def f(a, b):
    return Division(*divmod(a, b))
""", "pickled_result"),
    Honest("tuple", "divide", "f = divmod\n", "plain_function"),
    Honest("typed-namedtuple", "divide", """
from typing import NamedTuple
class Division(NamedTuple):
    quotient: int
    rest: int
def f(a, b):
    return Division(a // b, a % b)
""", "same_type"),
    Honest("deque", "double_all", """
from collections import deque
def f(items):
    doubled = deque()
    while items:
        doubled.appendleft(2 * items.pop())
    return doubled
""", "json_result"),
    Honest("int-for-bool", "even", "def f(x):\n    return 1 - x % 2\n", "same_type"),
    Honest("int-enum", "even", """
from enum import IntEnum
class Parity(IntEnum):
    ODD = 0
    EVEN = 1
def f(x):
    return Parity(1 - x % 2)
""", "printed_result"),
    Honest("decimal", "half", """
from decimal import Decimal
def f(x):
    return Decimal(x) / 2
""", "json_result"),
    Honest("fraction", "half", """
from fractions import Fraction
def f(x):
    return Fraction(x, 2)
""", "json_result"),
    Honest("numpy-integer", "double", """
import numpy as np
def f(x):
    return np.int64(x) * 2
""", "json_result"),
    Honest("numpy-bool", "even", """
import numpy
def f(x):
    return numpy.equal(x % 2, 0)
""", "json_result"),
    Honest("numpy-float", "half", """
import numpy as np
def f(x):
    return np.float32(x) / np.float32(2)
""", "same_type"),
    Honest("numpy-array", "double_all", """
import numpy as np
def f(items):
    return np.array(items, dtype=np.int32) * 2
""", "json_result"),
    Honest("list-of-numpy-integers", "sort_list", """
import numpy as np
def f(items):
    return list(np.sort(np.array(items)))
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
