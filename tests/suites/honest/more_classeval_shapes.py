"""More classes with a state and a TestCase for each method, as in ClassEval's suites."""

from __future__ import annotations

from tests.suites.honest_suite import Suite, unittest_suite

SUITES: list[Suite] = [
    unittest_suite("matrix-of-lists",
        "class Matrix(rows): rows; transpose() and times(other) give a new Matrix (a ValueError on sizes), trace().",
        "Matrix", """
        import unittest

        class MatrixTestTranspose(unittest.TestCase):
            def test_transpose(self):
                matrix = Matrix([[1, 2, 3], [4, 5, 6]])
                turned = matrix.transpose()
                self.assertListEqual(turned.rows, [[1, 4], [2, 5], [3, 6]])
                turned.rows[0][1] = 9
                self.assertEqual(matrix.rows[1], [4, 5, 6])

        class MatrixTestTimes(unittest.TestCase):
            def test_times(self):
                first, second = Matrix([[1, 2]]), Matrix([[3, 0], [4, 5]])
                self.assertEqual(first.times(second).rows, [[11, 10]])
                self.assertRaises(ValueError, second.times, first)

        class MatrixTestTrace(unittest.TestCase):
            def test_trace(self):
                matrix = Matrix([[1, 2], [3, 4]])
                matrix.rows[1][1] += 6
                self.assertEqual(matrix.trace(), 11)
        """, """
        class Matrix:
            def __init__(self, rows):
                self.rows = [list(row) for row in rows]

            def transpose(self):
                return Matrix(zip(*self.rows))

            def times(self, other):
                if len(self.rows[0]) != len(other.rows):
                    raise ValueError("sizes do not fit")
                columns = list(zip(*other.rows))
                return Matrix([[sum(a * b for a, b in zip(row, column)) for column in columns] for row in self.rows])

            def trace(self):
                return sum(row[i] for i, row in enumerate(self.rows))
        """,
        ("columns = list(zip(*other.rows))", "columns = other.rows"),
        ("!= len(other.rows)", "!= len(other.rows[0])"),
        ("sum(row[i] for i, row in enumerate(self.rows))", "sum(row[-1 - i] for i, row in enumerate(self.rows))"),
    ),
    unittest_suite("score-table",
        "class ScoreTable: scores; add(name, points) keeps the best, top(n) as pairs, rank(name) from 1 or None.",
        "ScoreTable", """
        import unittest

        class ScoreTableTestAdd(unittest.TestCase):
            def test_keeps_the_best(self):
                table = ScoreTable()
                for points in (5, 9, 7, -1):
                    table.add("ann", points)
                table.add("bob", -3)
                self.assertDictEqual(table.scores, {"ann": 9, "bob": -3})

        class ScoreTableTestTop(unittest.TestCase):
            def setUp(self):
                self.table = ScoreTable()
                self.table.scores.update({"zoe": 4, "bob": 4, "ann": 1, "max": 8})

            def test_top(self):
                self.assertListEqual(self.table.top(3), [("max", 8), ("bob", 4), ("zoe", 4)])
                self.assertEqual(len(self.table.top(99)), 4)

            def test_rank(self):
                self.assertEqual([self.table.rank(name) for name in ("max", "bob", "zoe", "ann")], [1, 2, 2, 4])
                self.table.scores["ann"] = 10
                self.assertEqual(self.table.rank("max"), 2)
                self.assertIsNone(self.table.rank("tim"))
        """, """
        class ScoreTable:
            def __init__(self):
                self.scores = {}

            def add(self, name, points):
                self.scores[name] = max(points, self.scores.get(name, points))

            def top(self, n):
                return sorted(self.scores.items(), key=lambda pair: (-pair[1], pair[0]))[:n]

            def rank(self, name):
                if name not in self.scores:
                    return None
                return 1 + sum(points > self.scores[name] for points in self.scores.values())
        """,
        ("self.scores.get(name, points)", "self.scores.get(name, 0)"),
        ("(-pair[1], pair[0])", "-pair[1]"),
        ("sum(points > self.scores[name] for", "sum(points >= self.scores[name] for"),
    ),
    unittest_suite("expense-splitter",
        "class Expenses(people): items; add(payer, amount), total(), balances(): what each gets back, by name.",
        "Expenses", """
        import unittest

        class ExpensesTestAdd(unittest.TestCase):
            def test_add(self):
                trip = Expenses(["ann", "bob"])
                trip.add("bob", 12.5)
                self.assertEqual(trip.items, [("bob", 12.5)])
                with self.assertRaises(ValueError):
                    trip.add("eve", 1)
                self.assertEqual(trip.total(), 12.5)

        class ExpensesTestBalances(unittest.TestCase):
            def test_balances(self):
                trip = Expenses(["ann", "bob", "cy"])
                trip.items.append(("ann", 60))
                trip.add("bob", 30)
                self.assertDictEqual(trip.balances(), {"ann": 30, "bob": 0, "cy": -30})
                trip.people.append("dan")
                self.assertAlmostEqual(trip.balances()["ann"], 37.5)
                self.assertAlmostEqual(sum(trip.balances().values()), 0)
        """, """
        class Expenses:
            def __init__(self, people):
                self.people, self.items = list(people), []

            def add(self, payer, amount):
                if payer not in self.people:
                    raise ValueError(payer)
                self.items.append((payer, amount))

            def total(self):
                return sum(amount for _, amount in self.items)

            def balances(self):
                balances = {person: -self.total() / len(self.people) for person in self.people}
                for payer, amount in self.items:
                    balances[payer] += amount
                return balances
        """,
        ("-self.total() / len(self.people) for", "self.total() / len(self.people) for"),
        ("/ len(self.people)", "/ len({payer for payer, _ in self.items})"),
    ),
    unittest_suite("tag-index",
        "class TagIndex: tags (tag -> set of items); add(item, *tags), find(*tags): items with all, drop(item).",
        "TagIndex", """
        import unittest

        class TagIndexTestFind(unittest.TestCase):
            def setUp(self):
                self.index = TagIndex()
                self.index.add("lion", "Animal", "wild")
                self.index.add("dog", "animal")
                self.index.tags["wild"].add("rose")

            def test_find(self):
                self.assertEqual(self.index.find("animal"), {"lion", "dog"})
                self.assertEqual(self.index.find("wild", "ANIMAL"), {"lion"})
                self.assertEqual(self.index.find("wild", "tame"), set())
                self.assertEqual(self.index.find(), set())

            def test_answers_are_copies(self):
                self.index.find("wild").clear()
                self.assertIn("rose", self.index.tags["wild"])

        class TagIndexTestDrop(unittest.TestCase):
            def test_drop(self):
                index = TagIndex()
                index.add("a", "x", "y")
                index.add("b", "y")
                index.drop("a")
                self.assertDictEqual(index.tags, {"y": {"b"}})
        """, """
        class TagIndex:
            def __init__(self):
                self.tags = {}

            def add(self, item, *tags):
                for tag in tags:
                    self.tags.setdefault(tag.lower(), set()).add(item)

            def find(self, *tags):
                found = [self.tags.get(tag.lower(), set()) for tag in tags]
                return set.intersection(*found) if found else set()

            def drop(self, item):
                for items in self.tags.values():
                    items.discard(item)
                self.tags = {tag: items for tag, items in self.tags.items() if items}
        """,
        ("set.intersection", "set.union"),
        (" if items}", "}"),
        ("return set.intersection(*found) if found else set()",
            "result = found[0] if found else set()\n"
            "        for other in found[1:]:\n            result &= other\n        return result"),
    ),
    unittest_suite("election-count",
        "class Election(names): votes (name -> n), voted (a set); vote(voter, name) once, winner(), None on a tie.",
        "Election", """
        import unittest

        class ElectionTestVote(unittest.TestCase):
            def test_vote(self):
                election = Election(["ann", "bob"])
                self.assertTrue(election.vote(1, "bob"))
                self.assertFalse(election.vote(1, "ann"))
                self.assertFalse(election.vote(2, "eve"))
                self.assertTrue(election.vote(2, "bob"))
                self.assertDictEqual(election.votes, {"ann": 0, "bob": 2})
                self.assertEqual(election.voted, {1, 2})

        class ElectionTestWinner(unittest.TestCase):
            def test_winner(self):
                election = Election(["ann", "bob", "cy"])
                self.assertIsNone(election.winner())
                election.votes["cy"] = 3
                self.assertEqual(election.winner(), "cy")
                election.votes["ann"] += 3
                self.assertIsNone(election.winner())
        """, """
        class Election:
            def __init__(self, names):
                self.votes, self.voted = {name: 0 for name in names}, set()

            def vote(self, voter, name):
                if voter in self.voted or name not in self.votes:
                    return False
                self.voted.add(voter)
                self.votes[name] += 1
                return True

            def winner(self):
                most = max(self.votes.values())
                leading = [name for name, n in self.votes.items() if n == most]
                return leading[0] if len(leading) == 1 else None
        """,
        (" if len(leading) == 1 else None", ""),
        ("voter in self.voted or name not in self.votes:\n            return False\n        self.voted.add(voter)",
            "voter in self.voted:\n            return False\n        self.voted.add(voter)\n"
            "        if name not in self.votes:\n            return False"),
    ),
    unittest_suite("lift-with-stops",
        "class Lift(floors): floor 0, stops; call(floor), a ValueError if none; step() to the first stop, by 1.",
        "Lift", """
        import unittest

        class LiftTestCall(unittest.TestCase):
            def test_call(self):
                lift = Lift(4)
                lift.call(3)
                lift.call(3)
                self.assertEqual(lift.stops, [3])
                for floor in (4, -1):
                    with self.assertRaises(ValueError):
                        lift.call(floor)

        class LiftTestStep(unittest.TestCase):
            def test_step(self):
                lift = Lift(9)
                lift.stops.append(2)
                lift.stops.append(1)
                self.assertListEqual([lift.step() for _ in range(5)], [1, 2, 1, 1, 1])
                self.assertEqual(lift.stops, [])

            def test_from_above(self):
                lift = Lift(9)
                lift.floor = 5
                lift.call(5)
                self.assertEqual((lift.step(), lift.stops), (5, []))
        """, """
        class Lift:
            def __init__(self, floors):
                self.floors, self.floor, self.stops = floors, 0, []

            def call(self, floor):
                if not 0 <= floor < self.floors:
                    raise ValueError(f"no floor {floor}")
                if floor not in self.stops:
                    self.stops.append(floor)

            def step(self):
                if self.stops:
                    target = self.stops[0]
                    self.floor += (target > self.floor) - (target < self.floor)
                    if self.floor == target:
                        self.stops.pop(0)
                return self.floor
        """,
        ("0 <= floor < self.floors", "0 <= floor <= self.floors"),
        ("(target > self.floor) - (target < self.floor)", "1 if target > self.floor else -1"),
        ("target = self.stops[0]", "target = min(self.stops)"),
    ),
    unittest_suite("recent-pages-cache",
        "class RecentPages(capacity): pages (a dict, oldest use first), hits; get(key), or None; put(key, page).",
        "RecentPages", """
        import unittest

        class RecentPagesTestGet(unittest.TestCase):
            def test_get(self):
                cache = RecentPages(2)
                cache.put("a", 1)
                self.assertEqual(cache.get("a"), 1)
                self.assertIsNone(cache.get("b"))
                self.assertEqual(cache.hits, 1)

        class RecentPagesTestPut(unittest.TestCase):
            def test_oldest_use_goes(self):
                cache = RecentPages(2)
                cache.put("a", 1)
                cache.put("b", 2)
                cache.get("a")
                cache.put("c", 3)
                self.assertListEqual(list(cache.pages), ["a", "c"])
                cache.put("a", 4)
                self.assertEqual(list(cache.pages.items()), [("c", 3), ("a", 4)])

            def test_less_room(self):
                cache = RecentPages(3)
                cache.pages.update(x=1, y=2, z=3)
                cache.capacity = 1
                cache.put("w", 4)
                self.assertDictEqual(cache.pages, {"w": 4})
        """, """
        class RecentPages:
            def __init__(self, capacity):
                self.capacity, self.pages, self.hits = capacity, {}, 0

            def get(self, key):
                if key not in self.pages:
                    return None
                self.hits += 1
                self.pages[key] = self.pages.pop(key)
                return self.pages[key]

            def put(self, key, page):
                self.pages.pop(key, None)
                self.pages[key] = page
                while len(self.pages) > self.capacity:
                    del self.pages[next(iter(self.pages))]
        """,
        ("self.pages[key] = self.pages.pop(key)\n        ", ""),
        ("while len(self.pages)", "if len(self.pages)"),
        ("self.pages.pop(key, None)\n        ", ""),
    ),
    unittest_suite("settings-parser",
        "class Settings: sections; read(text) of [section] and key = value lines with # notes, get(...), dump().",
        "Settings", """
        import unittest

        class SettingsTestRead(unittest.TestCase):
            def test_read(self):
                settings = Settings()
                settings.read("[db]\\n# a note\\nurl = a=b#1\\n\\n[ui]\\n size=3 \\n[db]\\nport = 1")
                self.assertDictEqual(settings.sections, {"db": {"url": "a=b#1", "port": "1"}, "ui": {"size": "3"}})

            def test_line_without_section(self):
                self.assertRaises(ValueError, Settings().read, "key = 1")

        class SettingsTestGetAndDump(unittest.TestCase):
            def setUp(self):
                self.settings = Settings()
                self.settings.read("[a]\\nx = 1")

            def test_get(self):
                self.assertEqual(self.settings.get("a", "x"), "1")
                self.assertIsNone(self.settings.get("b", "x"))
                self.assertEqual(self.settings.get("a", "y", "none"), "none")

            def test_dump(self):
                self.settings.sections["a"]["y"] = "2"
                self.assertEqual(self.settings.dump(), "[a]\\nx = 1\\ny = 2")
        """, """
        class Settings:
            def __init__(self):
                self.sections = {}

            def read(self, text):
                section = None
                for line in map(str.strip, text.splitlines()):
                    if line.startswith("["):
                        section = self.sections.setdefault(line[1:-1], {})
                    elif line and not line.startswith("#"):
                        if section is None:
                            raise ValueError(f"no section: {line}")
                        key, _, value = line.partition("=")
                        section[key.strip()] = value.strip()

            def get(self, section, key, default=None):
                return self.sections.get(section, {}).get(key, default)

            def dump(self):
                lines = []
                for name, entries in self.sections.items():
                    lines += [f"[{name}]", *(f"{key} = {value}" for key, value in entries.items())]
                return "\\n".join(lines)
        """,
        ('line.partition("=")', 'line.rpartition("=")'),
        ("section = self.sections.setdefault(line[1:-1], {})", "section = self.sections[line[1:-1]] = {}"),
        ('if line.startswith("[")', 'line = line.split("#")[0]\n            if line.startswith("[")'),
    ),
]
