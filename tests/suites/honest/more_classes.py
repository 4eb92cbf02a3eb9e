"""More of classes: shared set-up, chains of calls, events, bound methods, inheritance."""

from __future__ import annotations

from tests.suites.honest_suite import Suite, check_suite, unittest_suite

SUITES: list[Suite] = [
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

            def test_borrow_again(self):
                self.assertTrue(self.library.borrow("Emma", "bob"))
                self.assertTrue(self.library.borrow("Ulysses", "bob"))
                self.assertCountEqual(self.library.borrowed_by("bob"), ["Ulysses", "Emma"])
                self.assertListEqual(self.library.borrowed_by("ann"), [])

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
        ("self._borrower[title] = None", "pass"),
        ("if self._borrower[title] is not None", "if self._borrower.get(title) is not None"),
    ),
    check_suite("chained-calls-return-self",
        "class Query(table) with where(text), order_by(name), limit(n) and build().", "Query", """
        query = candidate("users")
        assert query.where("age > 3") is query
        assert query.build() == "SELECT * FROM users WHERE age > 3"
        text = candidate("t").where("a = 1").where("b = 2").order_by("a").limit(5).build()
        assert text == "SELECT * FROM t WHERE a = 1 AND b = 2 ORDER BY a LIMIT 5"
        base = candidate("t")
        one = base.limit(1)
        assert one.limit(2).build() == base.build() == "SELECT * FROM t LIMIT 2"
        """, """
        class Query:
            def __init__(self, table):
                self.table, self.conditions, self.order, self.count = table, [], None, None

            def where(self, text):
                self.conditions.append(text)
                return self

            def order_by(self, name):
                self.order = name
                return self

            def limit(self, n):
                self.count = n
                return self

            def build(self):
                text = f"SELECT * FROM {self.table}"
                if self.conditions:
                    text += " WHERE " + " AND ".join(self.conditions)
                if self.order:
                    text += f" ORDER BY {self.order}"
                if self.count is not None:
                    text += f" LIMIT {self.count}"
                return text
        """,
        ('" AND ".join', '" OR ".join'),
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
        ("append((callback, True))", "append((callback, False))"),
        ("each[0] != callback", "each[0] is not callback"),
    ),
    check_suite("bound-methods",
        "class Button(label) with click() and reset(), and handlers(), the list of the two methods.", "Button", """
        button, other = candidate("ok"), candidate("ok")
        assert button.click == button.click
        assert button.click != other.click and button.click != button.reset
        assert button.handlers() == [button.click, button.reset]
        assert button.click in button.handlers() and other.click not in button.handlers()
        assert button.click.__self__ is button
        assert button.click.__name__ == "click"
        click = button.click
        assert [click(), click(), button.click()] == [1, 2, 3]
        assert candidate.click(other) == 1
        button.reset()
        assert button.clicks == 0 and other.clicks == 1
        """, """
        class Button:
            def __init__(self, label):
                self.label, self.clicks = label, 0

            def click(self):
                self.clicks += 1
                return self.clicks

            def reset(self):
                self.clicks = 0

            def handlers(self):
                return [self.click, self.reset]
        """,
        ("[self.click, self.reset]", "[lambda: self.click(), lambda: self.reset()]"),
        ("self.clicks = 0\n\n    def handlers", "self.clicks = 1\n\n    def handlers"),
    ),
    check_suite("shapes-by-inheritance",
        "class Shape with area() (NotImplementedError) and describe(); Circle(r), Square(side), both Shapes.", "Shape",
        """
        import math
        shapes = [Circle(1), Square(2)]
        for shape, name, area in zip(shapes, ["Circle", "Square"], [math.pi, 4]):
            assert isinstance(shape, candidate) and isinstance(shape, Shape)
            assert abs(shape.area() - area) < 1e-9
            assert shape.describe() == f"{name} with area {area:.2f}"
            assert shape.__class__.__name__ == name
        assert issubclass(Circle, candidate) and not issubclass(Circle, Square)
        assert Square.__bases__ == (Shape,)
        assert Circle.__mro__ == (Circle, Shape, object)
        try:
            candidate().area()
        except NotImplementedError:
            return
        assert False
        """, """
        import math

        class Shape:
            def area(self):
                raise NotImplementedError

            def describe(self):
                return f"{type(self).__name__} with area {self.area():.2f}"

        class Circle(Shape):
            def __init__(self, r):
                self.r = r

            def area(self):
                return math.pi * self.r ** 2

        class Square(Shape):
            def __init__(self, side):
                self.side = side

            def area(self):
                return self.side ** 2
        """,
        ("math.pi * self.r ** 2", "math.pi * self.r * 2"),
        ("raise NotImplementedError", "return NotImplemented"),
    ),
    check_suite("min-stack", "class MinStack: push, pop, top, get_min.", "MinStack", """
        stack = candidate()
        reference = []
        for i, x in enumerate([5, 3, 3, 8, 1, 9]):
            stack.push(x)
            reference.append(x)
            assert stack.top() == x
            assert stack.get_min() == min(reference), (i, x)
        while len(reference) > 1:
            assert stack.pop() == reference.pop()
            assert stack.get_min() == min(reference)
        stack.pop()
        assert stack.get_min() is None
        """, """
        class MinStack:
            def __init__(self):
                self.items, self.least = [], []

            def push(self, x):
                self.items.append(x)
                if not self.least or x <= self.least[-1]:
                    self.least.append(x)

            def pop(self):
                x = self.items.pop()
                if x == self.least[-1]:
                    self.least.pop()
                return x

            def top(self):
                return self.items[-1]

            def get_min(self):
                return self.least[-1] if self.least else None
        """,
        ("x <= self.least[-1]", "x < self.least[-1]"),
    ),
    unittest_suite("orders-of-items",
        "class Item(name, price) and class Order with items, add(item) and total(discount=None), a function.", "Order",
        """
        import unittest

        class OrderTest(unittest.TestCase):
            def setUp(self):
                self.order = Order()
                for name, price in {"pen": 2.0, "ink": 7.5}.items():
                    self.order.add(Item(name, price))

            def test_items(self):
                self.assertEqual(len(self.order.items), 2)
                self.assertEqual(self.order.items[0].name, "pen")
                self.assertEqual(max(self.order.items, key=lambda item: item.price).name, "ink")
                self.assertTrue(all(isinstance(item, Item) for item in self.order.items))

            def test_change_an_item(self):
                self.order.items[1].price = 10
                self.assertEqual(self.order.total(), 12)

            def test_discount(self):
                self.assertEqual(self.order.total(discount=lambda item: 0.5 if item.name == "ink" else 0), 5.75)

            def test_orders_are_separate(self):
                self.assertEqual(Order().items, [])
                self.assertIsNot(Order().items, self.order.items)
        """, """
        class Item:
            def __init__(self, name, price):
                self.name, self.price = name, price

        class Order:
            def __init__(self):
                self.items = []

            def add(self, item):
                self.items.append(item)

            def total(self, discount=None):
                return sum(item.price * (1 - discount(item) if discount else 1) for item in self.items)
        """,
        ("class Order:\n    def __init__(self):\n        self.items = []", "class Order:\n    items = []"),
        ("(1 - discount(item) if discount else 1)", "(discount(item) if discount else 1)"),
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
        ("list(tags or [])", "tags or []"),
    ),
    unittest_suite("lru-cache-class",
        "class LRUCache(capacity) with get(key) (-1 where it is not there) and put(key, value).", "LRUCache", """
        import unittest

        class LRUCacheTest(unittest.TestCase):
            def test_example(self):
                cache = LRUCache(2)
                operations = [("put", 1, 1), ("put", 2, 2), ("get", 1), ("put", 3, 3), ("get", 2), ("put", 4, 4),
                              ("get", 1), ("get", 3), ("get", 4)]
                results = [getattr(cache, name)(*args) for name, *args in operations]
                self.assertEqual(results, [None, None, 1, None, -1, None, -1, 3, 4])

            def test_overwrite(self):
                cache = LRUCache(capacity=1)
                cache.put("a", [1])
                cache.put("a", [2])
                self.assertEqual(cache.get("a"), [2])
                cache.put(("t", 1), None)
                self.assertIsNone(cache.get(("t", 1)))
                self.assertEqual(cache.get("a"), -1)
        """, """
        from collections import OrderedDict

        class LRUCache:
            def __init__(self, capacity):
                self.capacity, self.values = capacity, OrderedDict()

            def get(self, key):
                if key not in self.values:
                    return -1
                self.values.move_to_end(key)
                return self.values[key]

            def put(self, key, value):
                self.values[key] = value
                self.values.move_to_end(key)
                if len(self.values) > self.capacity:
                    self.values.popitem(last=False)
        """,
        ("        self.values.move_to_end(key)\n        return", "        return"),
        ("last=False", "last=True"),
    ),
]
