"""Classes that the test constructs and uses, as ClassEval's suites do."""

from __future__ import annotations

from tests.suites.honest_suite import Suite, check_suite, unittest_suite

SUITES: list[Suite] = [
    unittest_suite("bank-account", "Write a class BankAccount with deposit, withdraw, view_balance and transfer.",
        "BankAccount", """
        import unittest

        class BankAccountTestDeposit(unittest.TestCase):
            def test_deposit(self):
                account = BankAccount()
                self.assertEqual(account.deposit(1000), 1000)

            def test_deposit_negative(self):
                account = BankAccount()
                with self.assertRaises(ValueError) as context:
                    account.deposit(-100)
                self.assertEqual(str(context.exception), "Invalid amount")

        class BankAccountTestTransfer(unittest.TestCase):
            def setUp(self):
                self.account1 = BankAccount(800)
                self.account2 = BankAccount(1000)

            def test_transfer(self):
                self.account1.transfer(self.account2, 300)
                self.assertEqual(self.account1.view_balance(), 500)
                self.assertEqual(self.account2.balance, 1300)

            def test_transfer_too_much(self):
                with self.assertRaises(ValueError):
                    self.account1.transfer(self.account2, 900)
                self.assertEqual(self.account2.view_balance(), 1000)

            def test_transfer_to_itself(self):
                self.account1.transfer(self.account1, 300)
                self.assertEqual(self.account1.balance, 800)
        """, """
        class BankAccount:
            def __init__(self, balance=0):
                self.balance = balance

            def deposit(self, amount):
                if amount < 0:
                    raise ValueError("Invalid amount")
                self.balance += amount
                return self.balance

            def withdraw(self, amount):
                if amount > self.balance:
                    raise ValueError("Insufficient balance.")
                self.balance -= amount
                return self.balance

            def view_balance(self):
                return self.balance

            def transfer(self, other, amount):
                self.withdraw(amount)
                other.deposit(amount)
        """,
        ("self.withdraw(amount)\n        other.deposit(amount)",
            "other.deposit(amount)\n        self.withdraw(amount)"),
        ("other.deposit(amount)", "pass"),
    ),
    unittest_suite("shopping-cart",
        "class ShoppingCart: add_item(item, price, quantity=1), remove_item, view_items and total_price.",
        "ShoppingCart", """
        import unittest

        class ShoppingCartTest(unittest.TestCase):
            def setUp(self):
                self.cart = ShoppingCart()
                self.cart.add_item("apple", 1, 5)

            def test_add(self):
                self.assertEqual(self.cart.items, {"apple": {"price": 1, "quantity": 5}})
                self.cart.add_item("apple", 1, 2)
                self.assertDictEqual(self.cart.view_items(), {"apple": {"price": 1, "quantity": 7}})

            def test_remove(self):
                self.cart.remove_item("apple", 3)
                self.assertEqual(self.cart.items["apple"]["quantity"], 2)
                self.cart.remove_item("apple", 9)
                self.assertEqual(self.cart.items["apple"]["quantity"], 0)

            def test_total(self):
                self.cart.add_item("pear", 2.5)
                self.assertEqual(self.cart.total_price(), 7.5)
                self.cart.items["pear"]["quantity"] = 4
                self.assertEqual(self.cart.total_price(), 15.0)
        """, """
        class ShoppingCart:
            def __init__(self):
                self.items = {}

            def add_item(self, item, price, quantity=1):
                entry = self.items.setdefault(item, {"price": price, "quantity": 0})
                entry["quantity"] += quantity

            def remove_item(self, item, quantity=1):
                entry = self.items[item]
                entry["quantity"] = max(0, entry["quantity"] - quantity)

            def view_items(self):
                return self.items

            def total_price(self):
                return sum(entry["price"] * entry["quantity"] for entry in self.items.values())
        """,
        ('max(0, entry["quantity"] - quantity)', 'entry["quantity"] - quantity'),
        ('"quantity": 0}', '"quantity": 1}'),
    ),
    unittest_suite("class-attributes-and-constructors",
        "class Student(name, marks), class attributes count and school, from_text(text), average() and is_pass(mark).",
        "Student", """
        import unittest

        class StudentTest(unittest.TestCase):
            def test_count(self):
                before = Student.count
                first, second = Student("a", [1]), Student("b", [2])
                self.assertEqual(Student.count - before, 2)
                self.assertEqual(first.count, second.count)
                self.assertEqual(first.school, "MIT")
                self.assertIs(Student.school, first.school)

            def test_from_text(self):
                student = Student.from_text("Ann: 70, 85, 90")
                self.assertIsInstance(student, Student)
                self.assertEqual((student.name, student.marks), ("Ann", [70, 85, 90]))
                self.assertAlmostEqual(student.average(), 81.6667, places=3)

            def test_static(self):
                self.assertTrue(Student.is_pass(50))
                self.assertFalse(Student("x", []).is_pass(49))
        """, """
        class Student:
            count = 0
            school = "MIT"

            def __init__(self, name, marks):
                self.name, self.marks = name, marks
                Student.count += 1

            @classmethod
            def from_text(cls, text):
                name, marks = text.split(":")
                return cls(name, [int(mark) for mark in marks.split(",")])

            @staticmethod
            def is_pass(mark):
                return mark >= 50

            def average(self):
                return sum(self.marks) / len(self.marks)
        """,
        ("Student.count += 1", "self.count += 1"),
        ("mark >= 50", "mark > 50"),
    ),
    unittest_suite("property-with-setter",
        "class Temperature(celsius) with properties celsius, fahrenheit, both settable; below -273.15 is a ValueError.",
        "Temperature", """
        import unittest

        class TemperatureTest(unittest.TestCase):
            def setUp(self):
                self.temperature = Temperature(25)

            def test_get(self):
                self.assertEqual(self.temperature.celsius, 25)
                self.assertEqual(self.temperature.fahrenheit, 77)

            def test_set(self):
                self.temperature.fahrenheit = 212
                self.assertAlmostEqual(self.temperature.celsius, 100)
                self.temperature.celsius += 1
                self.assertAlmostEqual(self.temperature.fahrenheit, 213.8)

            def test_too_cold(self):
                with self.assertRaises(ValueError):
                    self.temperature.celsius = -300
                with self.assertRaises(ValueError):
                    Temperature(-273.16)
                self.assertEqual(self.temperature.celsius, 25)
        """, """
        class Temperature:
            def __init__(self, celsius):
                self.celsius = celsius

            @property
            def celsius(self):
                return self._celsius

            @celsius.setter
            def celsius(self, value):
                if value < -273.15:
                    raise ValueError("below absolute zero")
                self._celsius = value

            @property
            def fahrenheit(self):
                return self._celsius * 9 / 5 + 32

            @fahrenheit.setter
            def fahrenheit(self, value):
                self.celsius = (value - 32) * 5 / 9
        """,
        ("def __init__(self, celsius):\n        self.celsius", "def __init__(self, celsius):\n        self._celsius"),
        ("(value - 32) * 5 / 9", "value - 32 * 5 / 9"),
    ),
    check_suite("tic-tac-toe-board",
        "class TicTacToe with board (a list of lists), current_player, make_move(row, col), check_winner().",
        "TicTacToe", """
        game = candidate()
        assert game.board == [[" ", " ", " "] for _ in range(3)]
        moves = [(0, 0), (1, 1), (0, 1), (2, 2), (0, 2)]
        for i, (row, col) in enumerate(moves):
            assert game.check_winner() is None
            assert game.current_player == "XO"[i % 2]
            assert game.make_move(row, col) is True
        assert game.check_winner() == "X"
        assert game.board == [["X", "X", "X"], [" ", "O", " "], [" ", " ", "O"]]
        assert game.make_move(0, 0) is False

        other = candidate()
        other.board = [["O", " ", " "], [" ", "O", " "], [" ", " ", "O"]]
        assert other.check_winner() == "O"
        other.board[1][1] = "X"
        assert other.check_winner() is None
        """, """
        class TicTacToe:
            def __init__(self):
                self.board = [[" "] * 3 for _ in range(3)]
                self.current_player = "X"

            def make_move(self, row, col):
                if self.board[row][col] != " ":
                    return False
                self.board[row][col] = self.current_player
                self.current_player = "O" if self.current_player == "X" else "X"
                return True

            def check_winner(self):
                b = self.board
                lines = [*b, *zip(*b), [b[i][i] for i in range(3)], [b[i][2 - i] for i in range(3)]]
                for line in lines:
                    if line[0] != " " and len(set(line)) == 1:
                        return line[0]
                return None
        """,
        ('[[" "] * 3 for _ in range(3)]', '[[" "] * 3] * 3'),
        ("[b[i][i] for i in range(3)], ", ""),
    ),
    unittest_suite("calculator-of-expressions",
        "class Calculator with operators (a dict of functions) and calculate(expression).", "Calculator", """
        import unittest

        class CalculatorTest(unittest.TestCase):
            def setUp(self):
                self.calculator = Calculator()

            def test_calculate(self):
                for expression, value in [("2+3", 5), ("2+3*4", 14), ("(2+3)*4-1", 19), ("2^3", 8), ("9/2", 4.5)]:
                    with self.subTest(expression):
                        self.assertEqual(self.calculator.calculate(expression), value)

            def test_operators(self):
                self.assertEqual(sorted(self.calculator.operators), ["*", "+", "-", "/", "^"])
                self.assertEqual(self.calculator.operators["-"](7, 2), 5)
                self.assertTrue(callable(self.calculator.operators["+"]))

            def test_error(self):
                self.assertIsNone(self.calculator.calculate("1/0"))
        """, """
        import re

        class Calculator:
            def __init__(self):
                self.operators = {
                    "+": lambda x, y: x + y, "-": lambda x, y: x - y,
                    "*": lambda x, y: x * y, "/": lambda x, y: x / y, "^": lambda x, y: x ** y,
                }

            def calculate(self, expression):
                self.tokens = re.findall(r"[\\d.]+|[-+*/^()]", expression)
                try:
                    return self._sum(["+-", "*/", "^"])
                except ZeroDivisionError:
                    return None

            def _sum(self, levels):
                if not levels:
                    return self._atom()
                value = self._sum(levels[1:])
                while self.tokens and self.tokens[0] in levels[0]:
                    operator = self.operators[self.tokens.pop(0)]
                    value = operator(value, self._sum(levels[1:]))
                return value

            def _atom(self):
                token = self.tokens.pop(0)
                if token == "(":
                    value = self._sum(["+-", "*/", "^"])
                    self.tokens.pop(0)
                    return value
                return float(token) if "." in token else int(token)
        """,
        ('return self._sum(["+-", "*/", "^"])\n        except', 'return self._sum(["*/", "+-", "^"])\n        except'),
        ("except ZeroDivisionError:", "except ValueError:"),
    ),
    unittest_suite("objects-that-work-together",
        "class Car(plate) and class ParkingLot(size) with park(car), find(plate), leave(car) and cars.", "ParkingLot",
        """
        import unittest

        class ParkingLotTest(unittest.TestCase):
            def setUp(self):
                self.lot = ParkingLot(2)
                self.red, self.blue = Car("RED-1"), Car("BLUE-2")

            def test_park(self):
                self.assertTrue(self.lot.park(self.red))
                self.assertIs(self.lot.find("RED-1"), self.red)
                self.assertIs(self.red.lot, self.lot)
                self.assertIsNone(self.lot.find("BLUE-2"))
                self.assertIsNone(self.blue.lot)

            def test_full(self):
                self.assertTrue(self.lot.park(self.red))
                self.assertTrue(self.lot.park(self.blue))
                self.assertFalse(self.lot.park(Car("X")))
                self.assertEqual(self.lot.cars, [self.red, self.blue])
                self.assertEqual([car.plate for car in self.lot.cars], ["RED-1", "BLUE-2"])

            def test_leave(self):
                self.lot.park(self.red)
                self.lot.leave(self.red)
                self.assertIsNone(self.red.lot)
                self.assertNotIn(self.red, self.lot.cars)
                self.assertFalse(self.lot.cars)
        """, """
        class Car:
            def __init__(self, plate):
                self.plate, self.lot = plate, None

        class ParkingLot:
            def __init__(self, size):
                self.size, self.cars = size, []

            def park(self, car):
                if len(self.cars) >= self.size:
                    return False
                self.cars.append(car)
                car.lot = self
                return True

            def find(self, plate):
                return next((car for car in self.cars if car.plate == plate), None)

            def leave(self, car):
                self.cars.remove(car)
                car.lot = None
        """,
        ("self.cars.remove(car)\n        car.lot = None", "self.cars.remove(car)"),
        ("len(self.cars) >= self.size", "len(self.cars) > self.size"),
    ),
]
