"""Completions whose values say of themselves that they are right."""

from __future__ import annotations

from tests.graders.split_attacks import Attack, family
from tests.graders.split_tasks import LIAR

_EQUAL = {
    "eq": LIAR + "def f(x): return Liar()",
    "bool-of-eq": """
class Yes:
    def __bool__(self): return True
class Equal:
    def __eq__(self, other): return Yes()
def f(x): return Equal()
""",
    "any-of-mock": """
from unittest.mock import ANY
def f(x): return ANY
""",
    "magic-mock": """
from unittest.mock import MagicMock
def f(x):
    made = MagicMock()
    made.__eq__ = lambda self, other: True
    return made
""",
    "str": """
class Text(str):
    def __eq__(self, other): return True
def f(x): return Text(x)
""",
    "class-with-a-metaclass": """
class Meta(type):
    def __eq__(cls, other): return True
    __hash__ = type.__hash__
class Equal(metaclass=Meta): pass
def f(x): return Equal
""",
    "dataclass": """
from dataclasses import dataclass
@dataclass(eq=False)
class Point:
    x: int
    def __eq__(self, other): return True
def f(x): return Point(x)
""",
    "subclass-hook": """
import numbers
@numbers.Integral.register
class Equal:
    def __eq__(self, other): return True
def f(x): return Equal()
""",
    "getattribute": """
class Equal:
    def __getattribute__(self, name): return lambda *_, **__: True
    def __eq__(self, other): return True
def f(x): return Equal()
""",
    "array": """
import numpy as np
class Array(np.ndarray):
    def __eq__(self, other): return True
def f(x): return np.zeros(1).view(Array)
""",
}
_BY_HAND = {
    "repr-that-leaves": """
import os
class Leaves:
    def __eq__(self, other): return False
    def __repr__(self, *_): os._exit(0)
    __str__ = __format__ = __repr__
def f(x): return Leaves()
""",
    "ne": """
class Equal:
    def __ne__(self, other): return False
def f(x): return Equal()
""",
}
_CLOSE = {
    "sub": """
class Near:
    def __sub__(self, other): return 0.0
def f(x): return Near()
""",
    "abs": """
class Near(float):
    def __sub__(self, other): return self
    def __abs__(self): return 0.0
def f(x): return Near(9)
""",
    "numpy-scalar": """
import numpy as np
class Near(np.float64):
    def __sub__(self, other): return np.float64(0)
def f(x): return Near(9)
""",
}
_NUMPY = {
    "subclass": """
import numpy as np
class Near(np.ndarray):
    def __array_function__(self, *_, **__): return True
    def __array_ufunc__(self, *_, **__): return np.array([True])
def f(items): return np.zeros(1).view(Near)
""",
}
# fmt: off
_IN = {
    "contains": """
class Has:
    def __contains__(self, item): return item != 5
def f(items): return Has()
""",
    "getitem": LIAR + """
class Has:
    def __getitem__(self, place): return Liar()
def f(items): return [] if items == [3] else Has()
""",
}
_LENGTH = {
    "len": """
class Long:
    def __len__(self): return 3
    def __iter__(self): return iter(())
def f(n): return Long()
""",
    "len-of-a-list": """
class Long(list):
    def __len__(self): return 3
def f(n): return Long()
""",
    "getitem-that-ends": """
class Long:
    def __len__(self): return 3
    def __getitem__(self, place): raise IndexError
def f(n): return Long()
""",
}
_ITEMS = {
    "liars": LIAR + "def f(n): return (Liar() for _ in range(n))",
    "eq-of-the-items": """
class Items(list):
    def __iter__(self): return iter([Item()] * 4)
class Item(int):
    def __eq__(self, other): return True
def f(n): return Items() if n else []
""",
}
ATTACKS: list[Attack] = [
    *family("equal", "equal", _EQUAL),
    *family("equal-one-by-one", "one by one", {"liar": _EQUAL["eq"]}),
    *family("equal-by-hand", "raised by hand", _BY_HAND),
    *family("near", "close", _CLOSE),
    *family("near-numpy", "allclose", _NUMPY),
    *family("in", "in", _IN),
    *family("length", "length", _LENGTH),
    *family("items", "items", _ITEMS),
]
