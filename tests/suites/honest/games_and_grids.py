"""A game or a grid as a class, and a TestCase that plays with it, as in ClassEval's suites."""

from __future__ import annotations

from tests.suites.honest_suite import Suite, unittest_suite

SUITES: list[Suite] = [
    unittest_suite("noughts-and-crosses-with-undo",
        "class NoughtsAndCrosses(size=3): board, moves, turn; play(r, c) or ValueError, undo(), winner() or 'draw'.",
        "NoughtsAndCrosses", """
        import unittest

        class NoughtsAndCrossesTestPlay(unittest.TestCase):
            def setUp(self):
                self.game = NoughtsAndCrosses()

            def test_turns(self):
                for n, (row, column) in enumerate([(1, 1), (0, 0), (2, 0)]):
                    self.assertEqual(self.game.turn, "XO"[n % 2])
                    self.game.play(row, column)
                self.assertEqual(self.game.board, [["O", "", ""], ["", "X", ""], ["X", "", ""]])
                self.assertListEqual(self.game.moves, [(1, 1), (0, 0), (2, 0)])

            def test_taken(self):
                self.game.play(0, 2)
                with self.assertRaises(ValueError):
                    self.game.play(0, 2)
                self.assertEqual(self.game.turn, "O")
                self.assertEqual(len(self.game.moves), 1)

            def test_undo(self):
                self.game.play(2, 2)
                self.game.play(2, 1)
                self.game.undo()
                self.assertEqual((self.game.turn, self.game.moves), ("O", [(2, 2)]))
                self.assertEqual(self.game.board[2], ["", "", "X"])

        class NoughtsAndCrossesTestWinner(unittest.TestCase):
            def test_lines(self):
                for size in (3, 4):
                    diagonals = [[(i, i) for i in range(size)], [(i, size - 1 - i) for i in range(size)]]
                    rows = [[(i, j) for j in range(size)] for i in range(size)]
                    columns = [[(j, i) for j in range(size)] for i in range(size)]
                    for line in rows + columns + diagonals:
                        game = NoughtsAndCrosses(size)
                        for row, column in line:
                            self.assertIsNone(game.winner())
                            game.board[row][column] = "O"
                        self.assertEqual(game.winner(), "O", line)

            def test_draw(self):
                game = NoughtsAndCrosses()
                game.board = [list("XOX"), list("XOO"), ["O", "X", ""]]
                self.assertIsNone(game.winner())
                game.board[2][2] = "X"
                self.assertEqual(game.winner(), "draw")
                game.board[1] = list("OXO")
                self.assertEqual(game.winner(), "X")
        """, """
        class NoughtsAndCrosses:
            def __init__(self, size=3):
                self.size = size
                self.board = [[""] * size for _ in range(size)]
                self.moves = []
                self.turn = "X"

            def play(self, row, column):
                if self.board[row][column]:
                    raise ValueError("this field is taken")
                self.board[row][column] = self.turn
                self.moves.append((row, column))
                self._next()

            def undo(self):
                row, column = self.moves.pop()
                self.board[row][column] = ""
                self._next()

            def winner(self):
                for line in self._lines():
                    if line[0] and all(mark == line[0] for mark in line):
                        return line[0]
                if all(mark for row in self.board for mark in row):
                    return "draw"
                return None

            def _next(self):
                self.turn = "O" if self.turn == "X" else "X"

            def _lines(self):
                yield from self.board
                yield from zip(*self.board)
                yield [self.board[i][i] for i in range(self.size)]
                yield [self.board[i][-1 - i] for i in range(self.size)]
        """,
        ('self.board[row][column] = ""\n        self._next()', 'self.board[row][column] = ""'),
        ("self.board[i][-1 - i] for i in range(self.size)", "self.board[i][2 - i] for i in range(3)"),
    ),
    unittest_suite("counts-of-a-minefield",
        "class Minefield(width, height): mines (a set of (x, y)), opened; count(x, y), open(x, y) -> False on a mine.",
        "Minefield", """
        import random
        import unittest

        class MinefieldTestCount(unittest.TestCase):
            def test_random_fields(self):
                rng = random.Random(5)
                for width, height in [(1, 1), (4, 3), (7, 5)]:
                    field = Minefield(width, height)
                    for _ in range(width * height // 3):
                        field.mines.add((rng.randrange(width), rng.randrange(height)))
                    for x in range(width):
                        for y in range(height):
                            near = [(x + i, y + j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
                            self.assertEqual(field.count(x, y), sum(place in field.mines for place in near))

            def test_outside(self):
                field = Minefield(3, 2)
                for x, y in [(3, 0), (0, 2), (-1, 1)]:
                    with self.assertRaises(IndexError):
                        field.count(x, y)

        class MinefieldTestOpen(unittest.TestCase):
            def setUp(self):
                self.field = Minefield(5, 3)
                self.field.mines.update({(2, 0), (2, 1)})

            def test_mine(self):
                self.assertIs(self.field.open(2, 1), False)
                self.assertEqual(self.field.opened, {})

            def test_one(self):
                self.assertIs(self.field.open(1, 1), True)
                self.assertEqual(self.field.opened, {(1, 1): 2})

            def test_spreads_from_a_zero(self):
                self.assertTrue(self.field.open(0, 0))
                self.assertEqual(self.field.opened, {(0, 0): 0, (1, 0): 2, (0, 1): 0, (1, 1): 2, (0, 2): 0, (1, 2): 1})
                self.field.mines.clear()
                self.field.opened.clear()
                self.field.open(4, 2)
                self.assertEqual(len(self.field.opened), 15)
                self.assertEqual(set(self.field.opened.values()), {0})
        """, """
        class Minefield:
            def __init__(self, width, height):
                self.width, self.height = width, height
                self.mines = set()
                self.opened = {}

            def neighbours(self, x, y):
                for i in range(max(x - 1, 0), min(x + 2, self.width)):
                    for j in range(max(y - 1, 0), min(y + 2, self.height)):
                        if (i, j) != (x, y):
                            yield i, j

            def count(self, x, y):
                if not (0 <= x < self.width and 0 <= y < self.height):
                    raise IndexError("outside of the field")
                return sum(place in self.mines for place in self.neighbours(x, y))

            def open(self, x, y):
                if (x, y) in self.mines:
                    return False
                waiting = [(x, y)]
                while waiting:
                    place = waiting.pop()
                    if place not in self.opened:
                        self.opened[place] = self.count(*place)
                        if self.opened[place] == 0:
                            waiting.extend(self.neighbours(*place))
                return True
        """,
        ("                if (i, j) != (x, y):\n                    yield i, j", "                yield i, j"),
        ("if self.opened[place] == 0:\n                    waiting", "if True:\n                    waiting"),
    ),
    unittest_suite("chess-clock-of-two-players",
        "class ChessClock(seconds, bonus=0): left {'white', 'black'}, turn, moves; spend(s), press(), loser() or None.",
        "ChessClock", """
        import unittest

        class ChessClockTest(unittest.TestCase):
            def setUp(self):
                self.clock = ChessClock(60, bonus=2)

            def test_game(self):
                spent = [5, 9.5, 0, 20, 12]
                left = {"white": 60, "black": 60}
                for n, seconds in enumerate(spent):
                    player = ["white", "black"][n % 2]
                    self.assertEqual(self.clock.turn, player)
                    self.clock.spend(seconds)
                    self.clock.press()
                    left[player] += 2 - seconds
                    self.assertEqual(self.clock.left, left)
                self.assertEqual(self.clock.moves, {"white": 3, "black": 2})
                self.assertIsNone(self.clock.loser())

            def test_out_of_time(self):
                self.clock.left["black"] = 3
                self.clock.press()
                self.clock.spend(3)
                self.assertEqual(self.clock.loser(), "black")
                self.assertEqual(self.clock.left["black"], 0)
                with self.assertRaises(RuntimeError):
                    self.clock.press()
                with self.assertRaises(RuntimeError):
                    self.clock.spend(1)
                self.assertEqual(self.clock.moves["black"], 0)

            def test_never_below_zero(self):
                self.clock.spend(61)
                self.assertEqual(self.clock.left, {"white": 0, "black": 60})
                self.assertEqual(self.clock.loser(), "white")

            def test_without_bonus(self):
                clock = ChessClock(10)
                clock.spend(4)
                clock.spend(4)
                clock.press()
                self.assertEqual((clock.left["white"], clock.bonus, clock.turn), (2, 0, "black"))
        """, """
        class ChessClock:
            def __init__(self, seconds, bonus=0):
                self.bonus = bonus
                self.left = {"white": seconds, "black": seconds}
                self.moves = {"white": 0, "black": 0}
                self.turn = "white"

            def spend(self, seconds):
                self._check()
                self.left[self.turn] = max(0, self.left[self.turn] - seconds)

            def press(self):
                self._check()
                self.left[self.turn] += self.bonus
                self.moves[self.turn] += 1
                self.turn = "black" if self.turn == "white" else "white"

            def loser(self):
                for player, seconds in self.left.items():
                    if seconds <= 0:
                        return player
                return None

            def _check(self):
                if self.loser() is not None:
                    raise RuntimeError("the game is over")
        """,
        ('self.left[self.turn] += self.bonus\n        self.moves[self.turn] += 1\n        self.turn = "black"',
            'self.moves[self.turn] += 1\n        self.turn = "black"'),
        ("max(0, self.left[self.turn] - seconds)", "self.left[self.turn] - seconds"),
    ),
    unittest_suite("robot-on-a-grid-with-walls",
        "class Robot(grid), '#' is a wall: x, y, heading 'N', visited; run('LRF') -> blocked steps, or ValueError.",
        "Robot", """
        import unittest

        GRID = ["..#.",
                "....",
                "#..."]

        class RobotTestRun(unittest.TestCase):
            def setUp(self):
                self.robot = Robot(GRID)

            def test_start(self):
                self.assertEqual((self.robot.x, self.robot.y, self.robot.heading), (0, 0, "N"))
                self.assertEqual(self.robot.visited, [(0, 0)])

            def test_turns(self):
                headings = []
                for command in "RRRRLLLL":
                    self.assertEqual(self.robot.run(command), 0)
                    headings.append(self.robot.heading)
                self.assertEqual("".join(headings), "ESWNWSEN")

            def test_walls_and_borders(self):
                self.assertEqual(self.robot.run("FRFF"), 2)
                self.assertEqual((self.robot.x, self.robot.y), (1, 0))
                self.assertEqual(self.robot.run("RFFF"), 1)
                self.assertEqual((self.robot.x, self.robot.y, self.robot.heading), (1, 2, "S"))
                self.robot.heading = "W"
                self.assertEqual(self.robot.run("FF"), 2)

            def test_visited(self):
                self.robot.x = 3
                self.robot.visited.clear()
                self.robot.run("LLFRFRF")
                self.assertListEqual(self.robot.visited, [(3, 1), (2, 1)])

            def test_every_field_on_foot(self):
                robot = Robot(["..."] * 3)
                for command in ["RFF", "RF", "RFF", "LF", "LFF"]:
                    self.assertEqual(robot.run(command), 0, command)
                self.assertEqual(len(set(robot.visited)), 9)

            def test_unknown_command(self):
                with self.assertRaises(ValueError):
                    self.robot.run("RFXF")
        """, """
        class Robot:
            STEPS = {"N": (0, -1), "E": (1, 0), "S": (0, 1), "W": (-1, 0)}

            def __init__(self, grid):
                self.grid = grid
                self.x, self.y = 0, 0
                self.heading = "N"
                self.visited = [(0, 0)]

            def free(self, x, y):
                return 0 <= y < len(self.grid) and 0 <= x < len(self.grid[y]) and self.grid[y][x] != "#"

            def run(self, commands):
                blocked = 0
                for command in commands:
                    if command == "F":
                        dx, dy = self.STEPS[self.heading]
                        if self.free(self.x + dx, self.y + dy):
                            self.x += dx
                            self.y += dy
                            self.visited.append((self.x, self.y))
                        else:
                            blocked += 1
                    elif command in ("L", "R"):
                        turn = 1 if command == "R" else -1
                        self.heading = "NESW"[("NESW".index(self.heading) + turn) % 4]
                    else:
                        raise ValueError(f"unknown command: {command}")
                return blocked
        """,
        ("return 0 <= y < len(self.grid) and 0 <= x < len(self.grid[y]) and", "return"),
        ('{"N": (0, -1), "E": (1, 0), "S": (0, 1)', '{"N": (0, 1), "E": (1, 0), "S": (0, -1)'),
    ),
    unittest_suite("scores-of-five-dice",
        "class DiceScorer: sheet {category: points}; options(dice) of open categories, score(category, dice), total().",
        "DiceScorer", """
        import itertools
        import unittest
        from collections import Counter

        class DiceScorerTestOptions(unittest.TestCase):
            def setUp(self):
                self.scorer = DiceScorer()

            def expected(self, dice):
                counts = Counter(dice)
                most = max(counts.values())
                points = {str(n): n * counts[n] for n in range(1, 7)}
                points["three"] = sum(dice) if most >= 3 else 0
                points["full house"] = 25 if sorted(counts.values()) == [2, 3] else 0
                points["straight"] = 40 if most == 1 and max(dice) - min(dice) == 4 else 0
                points["five"] = 50 if most == 5 else 0
                points["chance"] = sum(dice)
                return points

            def test_many_throws(self):
                for dice in itertools.islice(itertools.combinations_with_replacement(range(1, 7), 5), 0, None, 7):
                    self.assertDictEqual(self.scorer.options(list(dice)), self.expected(dice), dice)

            def test_straights(self):
                for dice, points in [([5, 3, 2, 4, 1], 40), ([2, 3, 4, 5, 6], 40), ([1, 2, 3, 4, 6], 0)]:
                    self.assertEqual(self.scorer.options(dice)["straight"], points)

            def test_open_ones_only(self):
                self.scorer.sheet["chance"] = 20
                options = self.scorer.options([6] * 5)
                self.assertNotIn("chance", options)
                self.assertEqual(len(options), 10)

        class DiceScorerTestScore(unittest.TestCase):
            def test_score(self):
                scorer = DiceScorer()
                self.assertEqual(scorer.score("full house", [2, 5, 2, 5, 5]), 25)
                self.assertEqual(scorer.score("five", [2, 5, 2, 5, 5]), 0)
                self.assertEqual(scorer.sheet, {"full house": 25, "five": 0})
                for category in ("five", "four"):
                    with self.assertRaises(KeyError):
                        scorer.score(category, [1, 1, 1, 1, 1])
                self.assertEqual(scorer.total(), 25)

            def test_bonus(self):
                scorer = DiceScorer()
                for n in range(1, 7):
                    scorer.score(str(n), [n, n, n, 7 - n, 7 - n])
                self.assertEqual(scorer.total(), 63 + 35)
                scorer.sheet["1"] -= 1
                self.assertEqual(scorer.total(), 62)
        """, """
        from collections import Counter

        class DiceScorer:
            def __init__(self):
                self.sheet = {}

            def options(self, dice):
                counts = Counter(dice)
                shape = sorted(counts.values())
                points = {str(n): n * counts[n] for n in range(1, 7)}
                points["three"] = sum(dice) if shape[-1] >= 3 else 0
                points["full house"] = 25 if shape == [2, 3] else 0
                points["straight"] = 40 if sorted(dice) in ([1, 2, 3, 4, 5], [2, 3, 4, 5, 6]) else 0
                points["five"] = 50 if shape == [5] else 0
                points["chance"] = sum(dice)
                return {name: value for name, value in points.items() if name not in self.sheet}

            def score(self, category, dice):
                self.sheet[category] = self.options(dice)[category]
                return self.sheet[category]

            def total(self):
                upper = sum(self.sheet.get(str(n), 0) for n in range(1, 7))
                return sum(self.sheet.values()) + (35 if upper >= 63 else 0)
        """,
        ("shape[-1] >= 3", "shape[-1] == 3"),
        ("upper >= 63", "upper > 63"),
    ),
]
