"""A class with a state, and a TestCase for each of its methods, as in ClassEval's suites."""

from __future__ import annotations

from tests.suites.honest_suite import Suite, unittest_suite

SUITES: list[Suite] = [
    unittest_suite("savings-account-with-history",
        "class SavingsAccount(rate): balance, history; deposit(x), withdraw(x), add_interest(); ValueError if too low.",
        "SavingsAccount", """
        import unittest

        class SavingsAccountTestMoves(unittest.TestCase):
            def test_deposit_and_withdraw(self):
                account = SavingsAccount(0.02)
                account.deposit(100)
                account.withdraw(100)
                self.assertEqual(account.balance, 0)
                self.assertListEqual(account.history, [("deposit", 100), ("withdraw", 100)])

            def test_too_much(self):
                account = SavingsAccount(0.02)
                account.history.append(("opened", 0))
                self.assertRaises(ValueError, account.withdraw, 1)
                self.assertEqual(account.history, [("opened", 0)])

        class SavingsAccountTestAddInterest(unittest.TestCase):
            def test_add_interest(self):
                account = SavingsAccount(0.5)
                account.balance, account.rate = 200.0, 0.015
                self.assertAlmostEqual(account.add_interest(), 3.0)
                self.assertAlmostEqual(account.balance, 203.0)
        """, """
        class SavingsAccount:
            def __init__(self, rate):
                self.rate, self.balance, self.history = rate, 0, []

            def deposit(self, amount):
                self.balance += amount
                self.history.append(("deposit", amount))

            def withdraw(self, amount):
                if amount > self.balance:
                    raise ValueError("not enough money")
                self.balance -= amount
                self.history.append(("withdraw", amount))

            def add_interest(self):
                interest = self.balance * self.rate
                self.balance += interest
                return interest
        """,
        ("amount > self.balance", "amount >= self.balance"),
        ("self.balance += interest\n        return interest", "return interest"),
    ),
    unittest_suite("stock-room-changed-in-place",
        "class StockRoom: stock (a dict), take(name, n) -> how many it gave, missing(names), low(limit) in order.",
        "StockRoom", """
        import unittest

        class StockRoomTestTake(unittest.TestCase):
            def setUp(self):
                self.room = StockRoom()
                self.room.stock["nail"] = 5

            def test_take(self):
                self.assertEqual(self.room.take("nail", 2), 2)
                self.assertEqual(self.room.take("nail", 9), 3)
                self.assertDictEqual(self.room.stock, {"nail": 0})

            def test_take_unknown(self):
                self.assertEqual(self.room.take("glue", 1), 0)
                self.assertNotIn("glue", self.room.stock)

        class StockRoomTestReports(unittest.TestCase):
            def test_missing_and_low(self):
                room = StockRoom()
                room.stock.update(saw=1, nail=0, bolt=3)
                self.assertEqual(room.missing(["nail", "saw", "glue"]), ["nail", "glue"])
                self.assertEqual(room.low(1), ["nail", "saw"])
                del room.stock["saw"]
                self.assertEqual(room.low(3), ["bolt", "nail"])
        """, """
        class StockRoom:
            def __init__(self):
                self.stock = {}

            def take(self, name, n):
                given = min(n, self.stock.get(name, 0))
                if given:
                    self.stock[name] -= given
                return given

            def missing(self, names):
                return [name for name in names if not self.stock.get(name)]

            def low(self, limit):
                return sorted(name for name, n in self.stock.items() if n <= limit)
        """,
        ("n <= limit", "n < limit"),
        ("not self.stock.get(name)", "name not in self.stock"),
        ("min(n, self.stock.get(name, 0))", "n if name in self.stock else 0"),
    ),
    unittest_suite("weekly-timetable",
        "class Timetable: lessons by day; add(day, start, end, name), False on overlap; on(day): names by start.",
        "Timetable", """
        import unittest

        class TimetableTestAdd(unittest.TestCase):
            def test_overlap(self):
                table = Timetable()
                self.assertTrue(table.add("Mon", 9, 11, "art"))
                self.assertFalse(table.add("Mon", 10, 12, "chemistry"))
                self.assertFalse(table.add("Mon", 8, 12, "physics"))
                self.assertTrue(table.add("Mon", 11, 12, "music"))
                self.assertTrue(table.add("Tue", 10, 12, "chemistry"))
                self.assertEqual(table.lessons, {"Mon": [(9, 11, "art"), (11, 12, "music")],
                                                 "Tue": [(10, 12, "chemistry")]})

        class TimetableTestOn(unittest.TestCase):
            def test_on(self):
                table = Timetable()
                table.lessons = {"Fri": [(13, 14, "sport")]}
                table.lessons["Fri"].append((8, 9, "latin"))
                self.assertListEqual(table.on("Fri"), ["latin", "sport"])
                self.assertListEqual(table.on("Sun"), [])
                self.assertNotIn("Sun", table.lessons)
        """, """
        class Timetable:
            def __init__(self):
                self.lessons = {}

            def add(self, day, start, end, name):
                for other_start, other_end, _ in self.lessons.get(day, []):
                    if start < other_end and other_start < end:
                        return False
                self.lessons.setdefault(day, []).append((start, end, name))
                return True

            def on(self, day):
                return [name for _, _, name in sorted(self.lessons.get(day, []))]
        """,
        ("start < other_end and other_start < end", "start <= other_end and other_start <= end"),
        ("start < other_end and other_start < end", "other_start <= start < other_end"),
        ("sorted(self.lessons.get(day, []))", "self.lessons.get(day, [])"),
    ),
    unittest_suite("text-statistics",
        "class TextStatistics(text): words(), longest() (the first; None if none), frequency(word), mean_length().",
        "TextStatistics", """
        import unittest

        class TextStatisticsTestWords(unittest.TestCase):
            def test_words(self):
                self.assertEqual(TextStatistics("Hi, you two!").words(), ["hi", "you", "two"])
                self.assertEqual(TextStatistics(" ... ").words(), [])

        class TextStatisticsTestLongest(unittest.TestCase):
            def test_longest(self):
                self.assertEqual(TextStatistics("zen three those").longest(), "three")
                self.assertIsNone(TextStatistics("").longest())

        class TextStatisticsTestNumbers(unittest.TestCase):
            def setUp(self):
                self.statistics = TextStatistics("A rose is a rose")

            def test_frequency(self):
                self.assertEqual(self.statistics.frequency("Rose"), 2)
                self.statistics.text += ", is a rosette"
                self.assertEqual((self.statistics.frequency("rose"), self.statistics.frequency("is")), (2, 2))

            def test_mean_length(self):
                self.assertAlmostEqual(self.statistics.mean_length(), 2.4)
                self.statistics.text = "?!"
                self.assertEqual(self.statistics.mean_length(), 0)
        """, """
        import re

        class TextStatistics:
            def __init__(self, text):
                self.text = text

            def words(self):
                return re.findall(r"[a-z]+", self.text.lower())

            def longest(self):
                return max(self.words(), key=len, default=None)

            def frequency(self, word):
                return self.words().count(word.lower())

            def mean_length(self):
                words = self.words()
                return sum(map(len, words)) / len(words) if words else 0
        """,
        ("self.words().count(word.lower())", "self.text.lower().count(word.lower())"),
        (" if words else 0", ""),
        ("max(self.words(), key=len, default=None)", "max(self.words(), default=None)"),
    ),
    unittest_suite("url-builder",
        "class UrlBuilder(host): scheme, host, segments, query; add(segment), build(), which quotes what has to be.",
        "UrlBuilder", """
        import unittest

        class UrlBuilderTestAdd(unittest.TestCase):
            def test_add(self):
                builder = UrlBuilder("example.org")
                builder.add("/docs/")
                builder.add("a b")
                self.assertEqual(builder.segments, ["docs", "a b"])

        class UrlBuilderTestBuild(unittest.TestCase):
            def setUp(self):
                self.builder = UrlBuilder("example.org")

            def test_host_only(self):
                self.assertEqual(self.builder.build(), "https://example.org/")
                self.builder.scheme = "http"
                self.assertEqual(self.builder.build(), "http://example.org/")

            def test_all(self):
                self.builder.segments.append("a/b c")
                self.builder.query["q"] = "x & y"
                self.builder.query["n"] = 2
                self.assertEqual(self.builder.build(), "https://example.org/a%2Fb%20c?q=x+%26+y&n=2")
        """, """
        from urllib.parse import quote, urlencode

        class UrlBuilder:
            def __init__(self, host):
                self.scheme, self.host, self.segments, self.query = "https", host, [], {}

            def add(self, segment):
                self.segments.append(segment.strip("/"))

            def build(self):
                path = "/".join(quote(segment, safe="") for segment in self.segments)
                query = "?" + urlencode(self.query) if self.query else ""
                return f"{self.scheme}://{self.host}/{path}{query}"
        """,
        (', safe=""', ""),
        ('"?" + urlencode(self.query) if self.query else ""', '"?" + urlencode(self.query)'),
        ('.strip("/")', ""),
    ),
    unittest_suite("unit-converter",
        "class UnitConverter: factors (unit -> metres), add_unit(name, factor), convert(x, unit, to) or ValueError.",
        "UnitConverter", """
        import unittest

        class UnitConverterTestConvert(unittest.TestCase):
            def setUp(self):
                self.converter = UnitConverter()

            def test_convert(self):
                self.assertAlmostEqual(self.converter.convert(2.5, "km", "m"), 2500)
                self.assertAlmostEqual(self.converter.convert(1, "cm", "km"), 0.00001, places=9)
                self.converter.factors["foot"] = 0.3048
                self.assertAlmostEqual(self.converter.convert(10, "foot", "cm"), 304.8)

            def test_unknown(self):
                for unit, to in (("m", "mile"), ("mile", "m")):
                    with self.assertRaises(ValueError) as caught:
                        self.converter.convert(1, unit, to)
                    self.assertIn("mile", str(caught.exception))

        class UnitConverterTestAddUnit(unittest.TestCase):
            def test_add_unit(self):
                converter, other = UnitConverter(), UnitConverter()
                converter.add_unit("mile", 1609.344)
                self.assertIn("mile", converter.factors)
                self.assertNotIn("mile", other.factors)
                self.assertRaises(ValueError, converter.add_unit, "zero", 0)
        """, """
        class UnitConverter:
            def __init__(self):
                self.factors = {"m": 1, "km": 1000, "cm": 0.01}

            def add_unit(self, name, factor):
                if factor <= 0:
                    raise ValueError("a factor has to be above 0")
                self.factors[name] = factor

            def convert(self, x, unit, to):
                for name in (unit, to):
                    if name not in self.factors:
                        raise ValueError(f"no such unit: {name}")
                return x * self.factors[unit] / self.factors[to]
        """,
        ("x * self.factors[unit] / self.factors[to]", "x * self.factors[to] / self.factors[unit]"),
        ("for name in (unit, to):", "for name in (unit,):"),
        ('def __init__(self):\n        self.factors = {"m": 1, "km": 1000, "cm": 0.01}',
            'factors = {"m": 1, "km": 1000, "cm": 0.01}'),
    ),
    unittest_suite("turnstile-states",
        "class Turnstile: state ('locked' at first), coins, log; coin() unlocks, push() is True and locks if open.",
        "Turnstile", """
        import unittest

        class TurnstileTestCoin(unittest.TestCase):
            def test_coin(self):
                gate = Turnstile()
                self.assertEqual((gate.state, gate.coins), ("locked", 0))
                gate.coin()
                gate.coin()
                self.assertEqual((gate.state, gate.coins), ("open", 2))

        class TurnstileTestPush(unittest.TestCase):
            def setUp(self):
                self.gate = Turnstile()

            def test_push(self):
                self.assertFalse(self.gate.push())
                self.gate.state = "open"
                self.assertTrue(self.gate.push())
                self.assertFalse(self.gate.push())
                self.assertEqual(self.gate.log, ["blocked", "passed", "blocked"])

            def test_logs_are_apart(self):
                self.gate.log.append("note")
                self.assertListEqual(Turnstile().log, [])
        """, """
        class Turnstile:
            def __init__(self):
                self.state, self.coins, self.log = "locked", 0, []

            def coin(self):
                self.coins += 1
                self.state = "open"

            def push(self):
                passed = self.state == "open"
                self.log.append("passed" if passed else "blocked")
                self.state = "locked"
                return passed
        """,
        ('self.state = "locked"\n        return', "return"),
        ('self.state = "open"', 'self.state = "open" if self.state == "locked" else "locked"'),
    ),
    unittest_suite("print-queue",
        "class PrintQueue: jobs (dicts of name and pages); add(name, pages), cancel(name), next_job(), total_pages().",
        "PrintQueue", """
        import unittest

        class PrintQueueTestNextJob(unittest.TestCase):
            def test_order(self):
                queue = PrintQueue()
                queue.add("a", 3)
                queue.jobs.append({"name": "b", "pages": 1})
                self.assertEqual(queue.next_job(), {"name": "a", "pages": 3})
                self.assertEqual(queue.next_job()["name"], "b")
                self.assertIsNone(queue.next_job())

        class PrintQueueTestCancel(unittest.TestCase):
            def test_cancel(self):
                queue = PrintQueue()
                for name in "xyxx":
                    queue.add(name, 2)
                self.assertEqual(queue.cancel("x"), 3)
                self.assertListEqual([job["name"] for job in queue.jobs], ["y"])
                self.assertEqual(queue.cancel("x"), 0)

        class PrintQueueTestTotalPages(unittest.TestCase):
            def test_total_pages(self):
                queue = PrintQueue()
                self.assertEqual(queue.total_pages(), 0)
                queue.add("long", 10)
                queue.jobs[0]["pages"] += 5
                self.assertEqual(queue.total_pages(), 15)
        """, """
        class PrintQueue:
            def __init__(self):
                self.jobs = []

            def add(self, name, pages):
                self.jobs.append({"name": name, "pages": pages})

            def cancel(self, name):
                before = len(self.jobs)
                self.jobs = [job for job in self.jobs if job["name"] != name]
                return before - len(self.jobs)

            def next_job(self):
                return self.jobs.pop(0) if self.jobs else None

            def total_pages(self):
                return sum(job["pages"] for job in self.jobs)
        """,
        ("self.jobs.pop(0)", "self.jobs.pop()"),
        ('self.jobs = [job for job in self.jobs if job["name"] != name]',
            'for job in self.jobs:\n            if job["name"] == name:\n                self.jobs.remove(job)'),
    ),
]
