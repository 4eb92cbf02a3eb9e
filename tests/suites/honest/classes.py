"""Classes: comparisons, hashes and arithmetic of their objects; shared set-up, events, bound methods."""

from tests.suites.honest_suite import Suite, check_suite, unittest_suite

SUITES: list[Suite] = [
    check_suite("vector-arithmetic",
        "class Vector(*numbers) with +, -, unary -, * and / by a number, @ (dot product), abs, float, len, iter, ==.",
        "Vector", """
        a, b = candidate(1, 2, 3), candidate(4, 5, 6)
        assert a + b == candidate(5, 7, 9) and b - a == candidate(3, 3, 3)
        assert a * 2 == 2 * a == candidate(2, 4, 6)
        assert a @ b == 32
        assert -a == candidate(-1, -2, -3)
        assert abs(candidate(3, 4)) == float(candidate(3, 4)) == 5.0
        assert candidate(2, 4) / 2 == candidate(1, 2)
        assert len(a) == 3 and list(a) == [1, 2, 3] and tuple(b) == (4, 5, 6)
        x, y, z = a
        assert (x, y, z) == (1, 2, 3) and len({a, candidate(1, 2, 3), b}) == 2
        assert sum(a) == 6 and max(b) == 6 and 2 in a
        c = a
        c += b
        assert c == candidate(5, 7, 9) and list(a) == [1, 2, 3]
        """, """
        class Vector:
            def __init__(self, *numbers):
                self.numbers = list(numbers)

            def __iter__(self):
                return iter(self.numbers)

            def __len__(self):
                return len(self.numbers)

            def __add__(self, other):
                return Vector(*(x + y for x, y in zip(self, other)))

            def __neg__(self):
                return Vector(*(-x for x in self))

            def __sub__(self, other):
                return self + -other

            def __mul__(self, factor):
                return Vector(*(x * factor for x in self))

            __rmul__ = __mul__

            def __truediv__(self, divisor):
                return self * (1 / divisor)

            def __matmul__(self, other):
                return sum(x * y for x, y in zip(self, other))

            def __abs__(self):
                return (self @ self) ** 0.5

            __float__ = __abs__

            def __eq__(self, other):
                return self.numbers == other.numbers

            def __hash__(self):
                return hash(tuple(self))
        """,
        ("    def __neg__",
            "    def __iadd__(self, other):\n        self.numbers[:] = self + other\n        return self\n\n"
            "    def __neg__"),
    ),
    unittest_suite("shared-by-set-up-class",
        "class Library(books) with borrow(title, who), give_back(title) and borrowed_by(who).", "Library", """
        import unittest

        class LibraryTest(unittest.TestCase):
            @classmethod
            def setUpClass(cls):
                cls.titles = ["Emma", "Ulysses"]
                cls.library = Library(cls.titles)

            def tearDown(self):
                for title in self.titles:
                    self.library.give_back(title)

            def test_borrow(self):
                self.assertTrue(self.library.borrow("Emma", "ann"))
                self.assertFalse(self.library.borrow("Emma", "bob"))
                self.assertEqual(self.library.borrowed_by("ann"), ["Emma"])

            def test_unknown(self):
                with self.assertRaises(KeyError):
                    self.library.borrow("Dune", "ann")
        """, """
        class Library:
            def __init__(self, books):
                self._borrower = dict.fromkeys(books)

            def borrow(self, title, who):
                if self._borrower[title] is not None:
                    return False
                self._borrower[title] = who
                return True

            def give_back(self, title):
                self._borrower[title] = None

            def borrowed_by(self, who):
                return [title for title, borrower in self._borrower.items() if borrower == who]
        """,
        ("if self._borrower[title] is not None", "if self._borrower.get(title) is not None"),
    ),
    unittest_suite("event-emitter",
        "class EventEmitter with on(event, callback), off(event, callback), once(event, callback), emit(event, *args).",
        "EventEmitter", """
        import unittest

        class EventEmitterTest(unittest.TestCase):
            def setUp(self):
                self.emitter = EventEmitter()
                self.seen = []

            def test_order(self):
                self.emitter.on("x", lambda value: self.seen.append(("first", value)))
                self.emitter.on("x", lambda value: self.seen.append(("second", value)))
                self.assertEqual(self.emitter.emit("x", 3), 2)
                self.assertEqual(self.seen, [("first", 3), ("second", 3)])

            def test_off(self):
                self.emitter.on("x", self.seen.append)
                self.emitter.emit("x", 1)
                self.emitter.off("x", self.seen.append)
                self.assertEqual(self.emitter.emit("x", 2), 0)
                self.assertEqual(self.seen, [1])

            def test_once(self):
                def callback(*values):
                    self.seen.append(values)
                self.emitter.once("y", callback)
                self.emitter.emit("y", 1, 2)
                self.emitter.emit("y", 3)
                self.assertEqual(self.seen, [(1, 2)])
        """, """
        class EventEmitter:
            def __init__(self):
                self.callbacks = {}

            def on(self, event, callback):
                self.callbacks.setdefault(event, []).append((callback, False))

            def once(self, event, callback):
                self.callbacks.setdefault(event, []).append((callback, True))

            def off(self, event, callback):
                self.callbacks[event] = [each for each in self.callbacks.get(event, []) if each[0] != callback]

            def emit(self, event, *args):
                callbacks = list(self.callbacks.get(event, []))
                for callback, only_once in callbacks:
                    callback(*args)
                    if only_once:
                        self.off(event, callback)
                return len(callbacks)
        """,
        ("each[0] != callback", "each[0] is not callback"),
    ),
    check_suite("attributes-changed-by-the-test",
        "class User(name, tags=None) with rename(name), tag_line() and settings, a dict of dicts.", "User", """
        user = candidate("ann")
        user.tags.append("new")
        user.tags += ["x", "y"]
        user.settings["mail"]["daily"] = True
        user.settings.setdefault("theme", {})["dark"] = 1
        assert user.tag_line() == "ann: new, x, y"
        assert user.settings == {"mail": {"daily": True}, "theme": {"dark": 1}}
        del user.tags[0]
        user.name = "bob"
        assert user.tag_line() == "bob: x, y"
        assert candidate("z").tags == [] and candidate("z").settings == {"mail": {}}
        mine = ["a"]
        other = candidate("c", mine)
        mine.append("b")
        assert other.tag_line() == "c: a"
        user.nickname = "bobby"
        assert user.nickname == "bobby" and not hasattr(other, "nickname")
        """, """
        class User:
            def __init__(self, name, tags=None):
                self.name = name
                self.tags = list(tags or [])
                self.settings = {"mail": {}}

            def rename(self, name):
                self.name = name

            def tag_line(self):
                return f"{self.name}: {', '.join(self.tags)}"
        """,
        ('"mail": {}', ""),
    ),
]
