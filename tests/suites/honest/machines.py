"""A machine as a class, and a TestCase that works it, as in ClassEval's suites."""

from __future__ import annotations

from tests.suites.honest_suite import Suite, unittest_suite

SUITES: list[Suite] = [
    unittest_suite("elevator-that-serves-one-way-first",
        "class Elevator(top): floor 0, direction, calls (a set), served; call(floor), move() by one, run() to rest.",
        "Elevator", """
        import unittest

        class ElevatorTestCall(unittest.TestCase):
            def test_call(self):
                elevator = Elevator(5)
                for floor in (5, 2, 5):
                    elevator.call(floor)
                self.assertEqual(elevator.calls, {2, 5})
                self.assertRaises(ValueError, elevator.call, 6)
                self.assertRaises(ValueError, elevator.call, -1)
                self.assertEqual(len(elevator.calls), 2)

        class ElevatorTestMove(unittest.TestCase):
            def test_move(self):
                elevator = Elevator(9)
                self.assertEqual(elevator.direction, "rest")
                elevator.call(2)
                seen = []
                for _ in range(4):
                    elevator.move()
                    seen.append((elevator.floor, elevator.direction, elevator.served[:]))
                self.assertEqual(seen, [(1, "up", []), (2, "rest", [2]), (2, "rest", [2]), (2, "rest", [2])])

            def test_down(self):
                elevator = Elevator(9)
                elevator.floor = 7
                elevator.calls.add(6)
                elevator.move()
                self.assertEqual((elevator.floor, elevator.direction), (6, "rest"))

        class ElevatorTestRun(unittest.TestCase):
            def setUp(self):
                self.elevator = Elevator(10)

            def test_both_ways(self):
                self.elevator.floor = 4
                self.elevator.direction = "up"
                self.elevator.calls.update([8, 3, 6, 1])
                self.assertEqual(self.elevator.run(), 4 + 7)
                self.assertEqual(self.elevator.served, [6, 8, 3, 1])
                self.assertEqual(self.elevator.calls, set())

            def test_called_on_the_way(self):
                self.elevator.call(7)
                while self.elevator.floor < 3:
                    self.elevator.move()
                self.elevator.call(1)
                self.elevator.call(5)
                self.assertEqual(self.elevator.run(), 4 + 6)
                self.assertListEqual(self.elevator.served, [5, 7, 1])
                self.assertEqual(self.elevator.run(), 0)
        """, """
        class Elevator:
            def __init__(self, top):
                self.top = top
                self.floor = 0
                self.direction = "rest"
                self.calls = set()
                self.served = []

            def call(self, floor):
                if not 0 <= floor <= self.top:
                    raise ValueError(f"there is no floor {floor}")
                self.calls.add(floor)

            def move(self):
                if not self.calls:
                    self.direction = "rest"
                    return
                above = any(floor > self.floor for floor in self.calls)
                below = any(floor < self.floor for floor in self.calls)
                if self.direction == "down":
                    self.direction = "down" if below else "up"
                else:
                    self.direction = "up" if above else "down"
                self.floor += 1 if self.direction == "up" else -1
                if self.floor in self.calls:
                    self.calls.remove(self.floor)
                    self.served.append(self.floor)
                if not self.calls:
                    self.direction = "rest"

            def run(self):
                moves = 0
                while self.calls:
                    self.move()
                    moves += 1
                return moves
        """,
        ("0 <= floor <= self.top", "0 <= floor < self.top"), """
        class Elevator:
            def __init__(self, top):
                self.top = top
                self.floor = 0
                self.direction = "rest"
                self.calls = set()
                self.served = []

            def call(self, floor):
                if floor < 0 or floor > self.top:
                    raise ValueError("no such floor")
                self.calls.add(floor)

            def move(self):
                if not self.calls:
                    self.direction = "rest"
                    return
                target = min(self.calls, key=lambda floor: abs(floor - self.floor))
                self.direction = "up" if target > self.floor else "down"
                self.floor += 1 if target > self.floor else -1
                if self.floor in self.calls:
                    self.calls.remove(self.floor)
                    self.served.append(self.floor)
                if not self.calls:
                    self.direction = "rest"

            def run(self):
                moves = 0
                while self.calls:
                    self.move()
                    moves += 1
                return moves
        """),
    unittest_suite("crossing-light-with-a-timer",
        "class CrossingLight: durations by colour, colour 'red', left; tick(seconds=1), press() shortens red to 5 s.",
        "CrossingLight", """
        import unittest

        class CrossingLightTestTick(unittest.TestCase):
            def test_one_round(self):
                light = CrossingLight()
                colours = []
                for _ in range(sum(light.durations.values())):
                    colours.append(light.colour)
                    light.tick()
                expected = []
                for colour in ("red", "green", "yellow"):
                    expected += [colour] * light.durations[colour]
                self.assertEqual(colours, expected)
                self.assertEqual((light.colour, light.left), ("red", 30))

            def test_many_seconds(self):
                light = CrossingLight()
                light.tick(53)
                self.assertEqual((light.colour, light.left), ("yellow", 2))
                light.tick(55 * 4 + 3)
                self.assertEqual((light.colour, light.left), ("red", 29))

            def test_durations(self):
                light = CrossingLight()
                light.durations["green"] = 2
                light.tick(30)
                self.assertEqual(light.left, 2)
                light.tick(2)
                self.assertEqual(light.colour, "yellow")
                self.assertEqual(CrossingLight().durations, {"red": 30, "green": 20, "yellow": 5})

            def test_backwards(self):
                with self.assertRaises(ValueError):
                    CrossingLight().tick(-1)

        class CrossingLightTestPress(unittest.TestCase):
            def test_red(self):
                light = CrossingLight()
                light.press()
                self.assertEqual(light.left, 5)
                light.tick(2)
                light.press()
                self.assertEqual(light.left, 3)

            def test_other_colours(self):
                light = CrossingLight()
                light.colour, light.left = "green", 12
                light.press()
                self.assertEqual((light.colour, light.left), ("green", 12))
        """, """
        class CrossingLight:
            ORDER = ["red", "green", "yellow"]

            def __init__(self):
                self.durations = {"red": 30, "green": 20, "yellow": 5}
                self.colour = "red"
                self.left = self.durations["red"]

            def tick(self, seconds=1):
                if seconds < 0:
                    raise ValueError("time does not run backwards")
                self.left -= seconds
                while self.left <= 0:
                    place = self.ORDER.index(self.colour)
                    self.colour = self.ORDER[(place + 1) % len(self.ORDER)]
                    self.left += self.durations[self.colour]

            def press(self):
                if self.colour == "red":
                    self.left = min(self.left, 5)
        """,
        ("while self.left <= 0:", "if self.left <= 0:"),
        ("min(self.left, 5)", "5"),
    ),
    unittest_suite("vending-machine-that-gives-change",
        "class VendingMachine: prices, stock, coins {value: n} in its bank, paid; insert(coin), buy(name) -> change.",
        "VendingMachine", """
        import unittest

        class VendingMachineTestInsert(unittest.TestCase):
            def test_insert(self):
                machine = VendingMachine()
                for coin in (50, 20, 50):
                    machine.insert(coin)
                self.assertEqual(machine.paid, 120)
                self.assertEqual({coin: n for coin, n in machine.coins.items() if n}, {50: 2, 20: 1})

            def test_strange_coin(self):
                machine = VendingMachine()
                for coin in (0, 3, -50):
                    self.assertRaises(ValueError, machine.insert, coin)
                self.assertEqual(machine.paid, 0)

        class VendingMachineTestBuy(unittest.TestCase):
            def setUp(self):
                self.machine = VendingMachine()
                self.machine.prices.update(tea=130, nuts=90)
                self.machine.stock["tea"] = 2
                self.machine.stock["nuts"] = 0
                self.machine.coins.update({10: 3, 20: 4, 50: 1})

            def pay(self, *coins):
                for coin in coins:
                    self.machine.insert(coin)

            def test_change(self):
                self.pay(100, 100)
                self.assertEqual(self.machine.buy("tea"), [50, 20])
                self.assertEqual((self.machine.paid, self.machine.stock["tea"]), (0, 1))
                self.assertEqual(self.machine.coins[50], 0)
                self.pay(200)
                change = self.machine.buy("tea")
                self.assertEqual(sum(change), 70)
                self.assertListEqual(change, [20, 20, 20, 10])
                self.assertEqual(self.machine.stock, {"tea": 0, "nuts": 0})

            def test_exact(self):
                self.pay(100, 20, 10)
                self.assertEqual(self.machine.buy("tea"), [])
                self.assertEqual(self.machine.coins[100], 1)

            def test_refused(self):
                self.pay(50, 50)
                for name, message in [("tea", "too little"), ("nuts", "sold out"), ("cake", "unknown")]:
                    with self.assertRaises(ValueError) as caught:
                        self.machine.buy(name)
                    self.assertEqual(str(caught.exception), message)
                self.assertEqual(self.machine.paid, 100)
                self.assertEqual(self.machine.stock["tea"], 2)
        """, """
        class VendingMachine:
            COINS = (200, 100, 50, 20, 10)

            def __init__(self):
                self.prices = {}
                self.stock = {}
                self.coins = {coin: 0 for coin in self.COINS}
                self.paid = 0

            def insert(self, coin):
                if coin not in self.COINS:
                    raise ValueError("not a coin of this machine")
                self.coins[coin] += 1
                self.paid += coin

            def buy(self, name):
                if name not in self.prices:
                    raise ValueError("unknown")
                if self.stock.get(name, 0) == 0:
                    raise ValueError("sold out")
                if self.paid < self.prices[name]:
                    raise ValueError("too little")
                change, rest = [], self.paid - self.prices[name]
                for coin in self.COINS:
                    while rest >= coin and self.coins[coin] > 0:
                        self.coins[coin] -= 1
                        change.append(coin)
                        rest -= coin
                self.stock[name] -= 1
                self.paid = 0
                return change
        """,
        ("while rest >= coin and self.coins[coin] > 0:", "while rest >= coin:"),
        ("self.stock[name] -= 1\n        self.paid = 0", "self.stock[name] -= 1"),
    ),
]
