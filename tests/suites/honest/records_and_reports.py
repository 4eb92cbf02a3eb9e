"""Suites for one function that works on rows: lists of dicts, csv text and nested dicts."""

from __future__ import annotations

from tests.suites.honest_suite import Suite, unittest_suite

SUITES: list[Suite] = [
    unittest_suite("sales-grouped-by-region-and-city",
        "Write task_func(rows): {region: {city: {'orders': n, 'total': sum, 'best': largest amount}}} of order dicts.",
        "task_func", """
        import copy
        import unittest

        ROWS = [
            {"region": "north", "city": "York", "amount": 40},
            {"region": "south", "city": "Bath", "amount": 15},
            {"region": "north", "city": "Hull", "amount": 7},
            {"region": "north", "city": "York", "amount": 25},
            {"region": "south", "city": "Bath", "amount": 30},
            {"region": "north", "city": "York", "amount": 5},
            {"region": "south", "city": "Hull", "amount": -12},
        ]

        class TestCases(unittest.TestCase):
            def amounts(self, region, city):
                return [row["amount"] for row in ROWS if row["region"] == region and row["city"] == city]

            def test_every_group(self):
                report = task_func(ROWS)
                for row in ROWS:
                    with self.subTest(region=row["region"], city=row["city"]):
                        amounts = self.amounts(row["region"], row["city"])
                        group = report[row["region"]][row["city"]]
                        self.assertEqual(group, {"orders": len(amounts), "total": sum(amounts), "best": max(amounts)})

            def test_groups(self):
                report = task_func(ROWS)
                self.assertEqual(set(report), {row["region"] for row in ROWS})
                self.assertEqual(sorted(report["north"]), ["Hull", "York"])
                orders = sum(group["orders"] for cities in report.values() for group in cities.values())
                self.assertEqual(orders, len(ROWS))

            def test_rows_stay(self):
                rows = copy.deepcopy(ROWS)
                task_func(rows)
                self.assertListEqual(rows, ROWS)
                self.assertEqual(task_func([]), {})
        """, """
        def task_func(rows):
            report = {}
            for row in rows:
                cities = report.setdefault(row["region"], {})
                amount = row["amount"]
                group = cities.setdefault(row["city"], {"orders": 0, "total": 0, "best": amount})
                group["orders"] += 1
                group["total"] += amount
                group["best"] = max(group["best"], amount)
            return report
        """,
        ('{"orders": 0, "total": 0, "best": amount}', '{"orders": 0, "total": 0, "best": 0}'), """
        from itertools import groupby

        def task_func(rows):
            report = {}
            for (region, city), group in groupby(rows, key=lambda row: (row["region"], row["city"])):
                amounts = [row["amount"] for row in group]
                report.setdefault(region, {})[city] = {
                    "orders": len(amounts), "total": sum(amounts), "best": max(amounts)
                }
            return report
        """),
    unittest_suite("rows-joined-by-a-key",
        "Write task_func(left, right, key): a left join of two lists of dicts, with None where right has no match.",
        "task_func", """
        import unittest

        PEOPLE = [{"id": 1, "name": "Ann"}, {"id": 2, "name": "Bo"}, {"id": 3, "name": "Cy"}, {"id": 1, "name": "Di"}]
        PHONES = [{"id": 1, "phone": "11"}, {"id": 3, "phone": "31"}, {"id": 1, "phone": "12"}, {"id": 9, "phone": "9"}]

        def joined(left, right, key):
            fields = [name for name in right[0] if name != key]
            result = []
            for one in left:
                matches = 0
                for other in right:
                    if one[key] == other[key]:
                        result.append({**one, **other})
                        matches += 1
                if matches == 0:
                    result.append({**one, **{name: None for name in fields}})
            return result

        class TestCases(unittest.TestCase):
            def test_against_two_loops(self):
                self.assertEqual(task_func(PEOPLE, PHONES, "id"), joined(PEOPLE, PHONES, "id"))
                self.assertEqual(task_func(PHONES, PEOPLE, "id"), joined(PHONES, PEOPLE, "id"))

            def test_one_row(self):
                rows = task_func(PEOPLE[1:2], PHONES, "id")
                self.assertEqual(len(rows), 1)
                self.assertIsNone(rows[0]["phone"])
                self.assertEqual(rows[0]["name"], "Bo")

            def test_nothing_is_changed(self):
                left = [dict(row) for row in PEOPLE]
                right = [dict(row) for row in PHONES]
                task_func(left, right, "id")
                self.assertEqual((left, right), (PEOPLE, PHONES))

            def test_no_key(self):
                with self.assertRaises(KeyError):
                    task_func(PEOPLE, PHONES, "number")
        """, """
        def task_func(left, right, key):
            by_key = {}
            for row in right:
                by_key.setdefault(row[key], []).append(row)
            blank = {name: None for row in right for name in row if name != key}
            joined = []
            for row in left:
                for match in by_key.get(row[key], [blank]):
                    joined.append({**row, **match})
            return joined
        """,
        ("by_key.setdefault(row[key], []).append(row)", "by_key[row[key]] = [row]"),
        ("by_key.get(row[key], [blank])", "by_key.get(row[key], [])"),
    ),
    unittest_suite("ranks-with-equal-scores",
        "Write task_func(rows): (rank, name, score) by falling score, then name; equal scores share it: 1, 2, 2, 4.",
        "task_func", """
        import random
        import unittest

        class TestCases(unittest.TestCase):
            def check_ranks(self, rows):
                result = task_func(rows)
                self.assertEqual(len(result), len(rows))
                for rank, name, score in result:
                    above = [row for row in rows if row["score"] > score]
                    self.assertEqual(rank, len(above) + 1, name)
                self.assertEqual(sorted((row["name"], row["score"]) for row in rows),
                                 sorted((name, score) for _, name, score in result))
                for (_, name, score), (_, next_name, next_score) in zip(result, result[1:]):
                    self.assertTrue(score > next_score or score == next_score and name <= next_name)

            def test_small(self):
                rows = [{"name": name, "score": score} for name, score in zip("dcba", [7, 9, 7, 3])]
                self.assertEqual(task_func(rows), [(1, "c", 9), (2, "b", 7), (2, "d", 7), (4, "a", 3)])

            def test_many(self):
                rng = random.Random(11)
                for size in range(0, 30, 3):
                    names = [f"runner {n:02}" for n in range(size)]
                    rng.shuffle(names)
                    self.check_ranks([{"name": name, "score": rng.randint(0, 6)} for name in names])

            def test_all_equal(self):
                ranks = [rank for rank, _, _ in task_func([{"name": n, "score": 0.5} for n in "xyz"])]
                self.assertEqual(ranks, [1] * 3)
        """, """
        def task_func(rows):
            ordered = sorted(rows, key=lambda row: (-row["score"], row["name"]))
            result = []
            for place, row in enumerate(ordered, 1):
                if result and result[-1][2] == row["score"]:
                    rank = result[-1][0]
                else:
                    rank = place
                result.append((rank, row["name"], row["score"]))
            return result
        """,
        ("rank = place", "rank = result[-1][0] + 1 if result else 1"),
        ('sorted(rows, key=lambda row: (-row["score"], row["name"]))',
            'sorted(rows, key=lambda row: (row["score"], row["name"]), reverse=True)'),
    ),
    unittest_suite("csv-text-pivoted",
        "Write task_func(text): csv of month,shop,sold as {shop: {month: total}}, with 0 where a shop sold nothing.",
        "task_func", """
        import csv
        import io
        import unittest

        class TestCases(unittest.TestCase):
            def setUp(self):
                self.rows = [("Jan", "Ely", 3), ("Jan", "Bath, south", 4), ("Feb", "Ely", 5), ("Jan", "Ely", 2),
                             ("Mar", "Bath, south", 0), ("Mar", "Ware", 8)]
                out = io.StringIO()
                writer = csv.writer(out)
                writer.writerow(["month", "shop", "sold"])
                writer.writerows(self.rows)
                self.text = out.getvalue()

            def test_cells(self):
                table = task_func(self.text)
                for shop in {row[1] for row in self.rows}:
                    for month in ("Jan", "Feb", "Mar"):
                        expected = sum(sold for m, s, sold in self.rows if (m, s) == (month, shop))
                        self.assertEqual(table[shop][month], expected, f"{shop} in {month}")

            def test_shape(self):
                table = task_func(self.text)
                self.assertCountEqual(table, ["Ely", "Bath, south", "Ware"])
                for months in table.values():
                    self.assertListEqual(list(months), ["Jan", "Feb", "Mar"])

            def test_total(self):
                total = 0
                for months in task_func(self.text).values():
                    total += sum(months.values())
                self.assertEqual(total, sum(row[2] for row in self.rows))

            def test_header_only(self):
                self.assertDictEqual(task_func("month,shop,sold\\n"), {})
        """, """
        import csv
        import io

        def task_func(text):
            rows = list(csv.DictReader(io.StringIO(text)))
            months = list(dict.fromkeys(row["month"] for row in rows))
            table = {row["shop"]: dict.fromkeys(months, 0) for row in rows}
            for row in rows:
                table[row["shop"]][row["month"]] += int(row["sold"])
            return table
        """,
        ('["month"]] += int', '["month"]] = int'),
        ('table = {row["shop"]: dict.fromkeys(months, 0) for row in rows}',
            'table = dict.fromkeys((row["shop"] for row in rows), dict.fromkeys(months, 0))'),
    ),
    unittest_suite("running-totals-by-account",
        "Write task_func(rows): the rows as new dicts in the order of 'day', each with the 'balance' of its account.",
        "task_func", """
        import copy
        import unittest
        from itertools import accumulate

        class TestCases(unittest.TestCase):
            def setUp(self):
                moves = [("a", 3, 50), ("b", 1, 20), ("a", 1, 10), ("a", 2, -25), ("b", 4, -20), ("a", 4, 1)]
                self.rows = [{"account": account, "day": day, "amount": amount} for account, day, amount in moves]

            def test_balances(self):
                result = task_func(self.rows)
                for account in "ab":
                    mine = [row for row in result if row["account"] == account]
                    balances = list(accumulate(row["amount"] for row in mine))
                    self.assertEqual([row["balance"] for row in mine], balances, account)

            def test_order(self):
                result = task_func(self.rows)
                self.assertEqual([row["day"] for row in result], sorted(row["day"] for row in self.rows))
                self.assertEqual([row["account"] for row in result], list("baaaba"))

            def test_new_rows(self):
                before = copy.deepcopy(self.rows)
                result = task_func(self.rows)
                self.assertEqual(self.rows, before)
                result[0]["amount"] = 1000
                self.assertEqual(self.rows, before)
                self.assertNotIn("balance", self.rows[0])

            def test_last_balance_is_the_sum(self):
                last = {}
                for row in task_func(self.rows):
                    last[row["account"]] = row["balance"]
                self.assertEqual(last, {"a": 36, "b": 0})
        """, """
        def task_func(rows):
            balances = {}
            result = []
            for row in sorted(rows, key=lambda row: row["day"]):
                account = row["account"]
                balances[account] = balances.get(account, 0) + row["amount"]
                result.append({**row, "balance": balances[account]})
            return result
        """,
        ('result.append({**row, "balance": balances[account]})',
            'row["balance"] = balances[account]\n        result.append(row)'),
        ('in sorted(rows, key=lambda row: row["day"]):', "in rows:"),
    ),
    unittest_suite("table-of-padded-columns",
        "Write task_func(rows, columns): header, dashes and rows; two spaces between columns, numbers to the right.",
        "task_func", """
        import unittest

        STOCK = [{"item": "nail", "pieces": 1200, "price": 0.5}, {"item": "long ladder", "pieces": 7, "price": 89.95}]

        def column(rows, name):
            texts = [name] + [str(row.get(name, "")) for row in rows]
            width = max(len(text) for text in texts)
            numbers = bool(rows) and all(isinstance(row.get(name), (int, float)) for row in rows)
            texts = [text.rjust(width) if numbers else text.ljust(width) for text in texts]
            return [texts[0], "-" * width] + texts[1:]

        def expected(rows, names):
            lines = zip(*(column(rows, name) for name in names))
            return "\\n".join("  ".join(line).rstrip() for line in lines)

        class TestCases(unittest.TestCase):
            maxDiff = None

            def test_columns_in_any_order(self):
                for names in (["item", "pieces", "price"], ["price", "item"], ["pieces"]):
                    self.assertMultiLineEqual(task_func(STOCK, names), expected(STOCK, names))

            def test_lines(self):
                lines = task_func(STOCK, ["item", "pieces"]).split("\\n")
                self.assertEqual(len(lines), len(STOCK) + 2)
                self.assertEqual(lines[1], "-----------  ------")
                self.assertTrue(lines[2].endswith("  1200"))
                self.assertTrue(lines[3].startswith("long ladder  "))

            def test_missing_values(self):
                rows = STOCK + [{"item": "rope"}]
                self.assertEqual(task_func(rows, ["price", "item"]), expected(rows, ["price", "item"]))

            def test_no_rows(self):
                self.assertEqual(task_func([], ["item", "id"]), "item  id\\n----  --")
        """, """
        def task_func(rows, columns):
            padded = []
            for name in columns:
                values = [row.get(name, "") for row in rows]
                numbers = bool(values) and all(isinstance(value, (int, float)) for value in values)
                texts = [name] + [str(value) for value in values]
                width = max(map(len, texts))
                align = ">" if numbers else "<"
                cells = [f"{text:{align}{width}}" for text in texts]
                padded.append([cells[0], "-" * width, *cells[1:]])
            return "\\n".join("  ".join(line).rstrip() for line in zip(*padded))
        """,
        ("width = max(map(len, texts))", "width = max(map(len, texts[1:]), default=len(name))"),
        ("all(isinstance(value, (int, float)) for value in values)", "isinstance(values[0], (int, float))"),
    ),
    unittest_suite("invoices-that-are-overdue",
        "Write task_func(rows, today): (number, days late) of the unpaid, latest first; due on a weekend means Monday.",
        "task_func", """
        import unittest
        from datetime import date, datetime, timedelta

        def due_day(sent, days):
            day = datetime.strptime(sent, "%Y-%m-%d").date()
            for _ in range(days):
                day += timedelta(days=1)
            while day.strftime("%w") in "06":
                day += timedelta(days=1)
            return day

        class TestCases(unittest.TestCase):
            def test_each_day_of_two_weeks(self):
                for days in range(14):
                    row = {"number": 1, "sent": "2024-02-26", "days": days, "paid": False}
                    due = due_day("2024-02-26", days)
                    self.assertEqual(task_func([row], due), [])
                    for late in (1, 2, 40):
                        self.assertEqual(task_func([row], due + timedelta(days=late)), [(1, late)])

            def test_order(self):
                rows = [
                    {"number": number, "sent": f"2023-12-{day:02}", "days": days, "paid": number == 13}
                    for number, day, days in [(11, 20, 10), (12, 18, 3), (13, 1, 1), (14, 28, 30), (15, 22, 10)]
                ]
                today = date(2024, 1, 10)
                result = task_func(rows, today)
                self.assertEqual([number for number, _ in result], [12, 11, 15])
                self.assertEqual([late for _, late in result], [20, 9, 9])
                for number, late in result:
                    row = rows[number - 11]
                    self.assertEqual(today - timedelta(days=late), due_day(row["sent"], row["days"]))

            def test_bad_date(self):
                with self.assertRaises(ValueError):
                    task_func([{"number": 1, "sent": "2023-02-29", "days": 1, "paid": False}], date(2024, 1, 1))
        """, """
        from datetime import date, timedelta

        def task_func(rows, today):
            overdue = []
            for row in rows:
                due = date.fromisoformat(row["sent"]) + timedelta(days=row["days"])
                if due.weekday() >= 5:
                    due += timedelta(days=7 - due.weekday())
                if today > due and not row["paid"]:
                    overdue.append((row["number"], (today - due).days))
            return sorted(overdue, key=lambda pair: (-pair[1], pair[0]))
        """,
        ("due.weekday() >= 5", "due.isoweekday() >= 5"),
        ("today > due and", "today >= due and"),
    ),
    unittest_suite("newest-record-of-each-address",
        "Write task_func(rows): for each row['contact']['email'], in any case, the newest row where the first was.",
        "task_func", """
        import unittest

        def person(email, updated, name):
            return {"name": name, "contact": {"email": email}, "updated": updated}

        class TestCases(unittest.TestCase):
            def setUp(self):
                self.rows = [
                    person("ann@x.org", "2024-01-05", "Ann"),
                    person("bo@x.org", "2023-11-30", "Bo"),
                    person("ANN@x.org", "2024-02-01", "Ann B."),
                    person("cy@x.org", "2022-07-07", "Cy"),
                    person("Bo@X.org", "2023-02-28", "Robert"),
                    person("ann@X.ORG", "2023-12-31", "A."),
                ]

            def newest(self, email):
                best = None
                for row in self.rows:
                    same = row["contact"]["email"].casefold() == email
                    if same and (best is None or row["updated"] > best["updated"]):
                        best = row
                return best

            def test_newest(self):
                result = task_func(self.rows)
                self.assertEqual(result, [self.newest(email) for email in ("ann@x.org", "bo@x.org", "cy@x.org")])
                self.assertEqual([row["name"] for row in result], ["Ann B.", "Bo", "Cy"])

            def test_any_order_gives_the_same_rows(self):
                names = {row["name"] for row in task_func(self.rows)}
                for start in range(len(self.rows)):
                    turned = self.rows[start:] + self.rows[:start]
                    result = task_func(turned)
                    self.assertEqual({row["name"] for row in result}, names)
                    firsts = list(dict.fromkeys(row["contact"]["email"].lower() for row in turned))
                    self.assertEqual([row["contact"]["email"].lower() for row in result], firsts)

            def test_equal_dates_keep_the_first(self):
                rows = [person("e@x", "2024-01-01", str(n)) for n in range(3)]
                self.assertEqual(task_func(rows), rows[:1])
                self.assertEqual(len(rows), 3)
        """, """
        def task_func(rows):
            newest = {}
            for row in rows:
                email = row["contact"]["email"].lower()
                if email not in newest or row["updated"] > newest[email]["updated"]:
                    newest[email] = row
            return list(newest.values())
        """,
        ('row["updated"] > newest', 'row["updated"] >= newest'), """
        def task_func(rows):
            seen = set()
            result = []
            for row in sorted(rows, key=lambda row: row["updated"], reverse=True):
                email = row["contact"]["email"].lower()
                if email not in seen:
                    seen.add(email)
                    result.append(row)
            return result
        """),
]
