"""Honest programs that make code from text, look at themselves, or test themselves."""

from tests.attacks.corpus import Honest

LANGUAGE: list[Honest] = [
    Honest("eval", "double", "def f(x):\n    return eval('2 * x', {}, {'x': x})\n", "forbidden_calls"),
    Honest("eval-of-input", "total", """
n = eval(input())
print(sum(eval(input()) for _ in range(n)))
""", "few_builtins"),
    Honest("exec-of-made-code", "double", """
names = {}
exec("def twice(x):\\n    return 2 * x", names)
f = names["twice"]
""", "few_builtins"),
    Honest("globals", "double", """
for name, factor in (("once", 1), ("twice", 2)):
    globals()[name] = lambda x, factor=factor: factor * x
def f(x):
    return twice(x)
""", "few_builtins"),
    Honest("literal-eval", "total", """
import ast
numbers = [ast.literal_eval(input()) for _ in range(ast.literal_eval(input()))]
print(sum(numbers))
""", "eval_anywhere"),
    Honest("dunder-import", "half", "def f(x):\n    return __import__('math').ldexp(x, -1)\n", "dunder_names"),
    Honest("getattr-by-name", "word", """
def f(text):
    return getattr(text, "upper")()
""", "forbidden_calls"),
    Honest("pickle-of-an-own-class", "double", """
import pickle
class Number:
    def __init__(self, value):
        self.value = value
def f(x):
    return pickle.loads(pickle.dumps(Number(x))).value * 2
""", "unregistered_module"),
    Honest("pickle-of-an-enum", "double_stdin", """
import enum, pickle
class Factor(enum.Enum):
    TWICE = 2
print(pickle.loads(pickle.dumps(Factor.TWICE)).value * int(input()))
""", "forbidden_modules"),
    Honest("own-unit-tests", "double", """
import unittest
def f(x):
    return 2 * x
class TestF(unittest.TestCase):
    def test_twice(self):
        self.assertEqual(f(3), 6)
if __name__ == "__main__":
    unittest.main()
""", "words_of_tests"),
    Honest("unit-tests-that-run", "double_stdin", """
import io, unittest
def twice(x):
    return 2 * x
class TestTwice(unittest.TestCase):
    def test_twice(self):
        self.assertEqual(twice(4), 8)
suite = unittest.defaultTestLoader.loadTestsFromTestCase(TestTwice)
assert unittest.TextTestRunner(stream=io.StringIO()).run(suite).wasSuccessful()
print(twice(int(input())))
""", "words_of_tests"),
    Honest("doctest", "double", '''
import doctest

def f(x):
    """
    >>> f(2)
    4
    """
    return 2 * x

assert doctest.testmod().failed == 0
''', "words_of_tests"),
]
