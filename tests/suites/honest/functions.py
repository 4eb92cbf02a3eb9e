"""Functions that take or make functions: decorators, closures, callbacks, and what such a function says of itself."""

from tests.suites.honest_suite import Suite, check_suite, unittest_suite

SUITES: list[Suite] = [
    unittest_suite("decorator-that-counts", "def counted(function): a decorator; its function has the attribute calls.",
        "counted", """
        import unittest

        class TestCounted(unittest.TestCase):
            def test_function(self):
                @counted
                def add(a, b=1):
                    "Adds."
                    return a + b
                self.assertEqual(add.calls, 0)
                self.assertEqual(add(1), 2)
                self.assertEqual(add(1, b=5), 6)
                self.assertEqual(add.calls, 2)
                self.assertEqual(add.__name__, "add")
                self.assertEqual(add.__doc__, "Adds.")

            def test_separate(self):
                one, two = counted(len), counted(max)
                one("x")
                self.assertEqual((one.calls, two.calls), (1, 0))
                self.assertEqual(two([3, 4]), 4)
        """, """
        from functools import wraps

        def counted(function):
            @wraps(function)
            def wrapper(*args, **kwargs):
                wrapper.calls += 1
                return function(*args, **kwargs)
            wrapper.calls = 0
            return wrapper
        """,
        ("return function(*args, **kwargs)", "return function(*args)"),
    ),
    check_suite("decorator-on-methods",
        "def logged(log):  # a decorator: appends (name, arguments without self) to the list log", "logged", """
        log = []
        class Robot:
            def __init__(self, name):
                self.name = name
            @candidate(log)
            def move(self, x, *, fast=False):
                return f"{self.name} moves {x}"
            @classmethod
            @candidate(log)
            def make(cls, name):
                return cls(name)
        robot = Robot.make("r2")
        assert isinstance(robot, Robot)
        assert robot.move(3) == "r2 moves 3" and Robot.move(robot, 4, fast=True) == "r2 moves 4"
        assert log == [("make", ("r2",)), ("move", (3,)), ("move", (4,))]
        assert robot.move.__name__ == "move"
        """, """
        import functools

        def logged(log):
            def decorate(method):
                @functools.wraps(method)
                def wrapper(self, *args, **kwargs):
                    log.append((method.__name__, args))
                    return method(self, *args, **kwargs)
                return wrapper
            return decorate
        """,
        ("return method(self, *args, **kwargs)", "method(self, *args, **kwargs)"),
    ),
    unittest_suite("callbacks-and-keys",
        "def group_by(items, key), def top(items, n, key=None, reverse=True), def apply_all(functions, x).", "group_by",
        """
        import operator
        import unittest
        from functools import partial

        class TestCallbacks(unittest.TestCase):
            def test_group_by(self):
                self.assertEqual(group_by(range(6), lambda x: x % 3), {0: [0, 3], 1: [1, 4], 2: [2, 5]})
                self.assertEqual(group_by(["a", "bb", "cc"], key=len), {1: ["a"], 2: ["bb", "cc"]})
                self.assertEqual(group_by(["Ab", "aB"], str.lower), {"ab": ["Ab", "aB"]})

            def test_top(self):
                people = [{"n": "x", "age": 3}, {"n": "y", "age": 9}]
                self.assertEqual(top(people, 1, key=operator.itemgetter("age")), [people[1]])
                self.assertEqual(top([3, 1, 2], 2), [3, 2])
                self.assertEqual(top([3, -4], 1, abs, reverse=False), [3])

            def test_apply_all(self):
                results = apply_all([str, partial(operator.add, 1), partial(int.__mul__, 3), lambda x: [x]], 4)
                self.assertEqual(results, ["4", 5, 12, [4]])
        """, """
        def group_by(items, key):
            groups = {}
            for item in items:
                groups.setdefault(key(item), []).append(item)
            return groups

        def top(items, n, key=None, reverse=True):
            return sorted(items, key=key, reverse=reverse)[:n]

        def apply_all(functions, x):
            return [function(x) for function in functions]
        """,
        ("key=key, reverse=reverse", "reverse=reverse"),
    ),
]
