"""Word problems with numbers, answered by a function without arguments, as MathQA's are."""

from __future__ import annotations

from tests.suites.honest_suite import Suite, check_suite

_COMPARE = """
import math

def compare(x, y):
    return math.fabs(x - y) < 1e-8
"""


def _at_top_level(asserts: str) -> str:
    """A test whose asserts stand in the module, where `check` has nothing left to do."""
    return f"{_COMPARE}\ncandidate = problem\n{asserts}\n"


SUITES: list[Suite] = [
    check_suite("train-over-a-bridge", '''
        def problem():
            """
            A train of 180 m goes at 54 km/h. How many seconds does it take to pass a bridge of 270 m?
            n0 = 180.0 n1 = 54.0 n2 = 270.0
            """
        ''', "problem", "pass", """
        def problem():
            n0 = 180.0
            n1 = 54.0
            n2 = 270.0
            t0 = n0 + n2
            t1 = n1 * 1000.0 / 3600.0
            answer = t0 / t1
            return answer
        """,
        ("n0 + n2", "n2"),
        (" * 1000.0 / 3600.0", ""),
        before=_at_top_level("assert compare(candidate(), 30.0)")),
    check_suite("two-discounts-in-a-row", '''
        def problem():
            """
            A coat costs 800. It gets a discount of 20 %, and then one of 10 % on the new price. What is the price?
            n0 = 800.0 n1 = 20.0 n2 = 10.0
            """
        ''', "problem", "pass", """
        def problem():
            n0 = 800.0
            n1 = 20.0
            n2 = 10.0
            t0 = n0 * (100.0 - n1) / 100.0
            answer = t0 * (100.0 - n2) / 100.0
            return answer
        """,
        ("t0 * (100.0 - n2) / 100.0", "t0 - n0 * n2 / 100.0"),
        ("t0 * (100.0 - n2) / 100.0", "n0 - t0 * (100.0 - n2) / 100.0"),
        before=_at_top_level("assert compare(candidate(), 576.0)")),
    check_suite("two-people-work-together", '''
        def problem():
            """
            One painter needs 12 hours for a house, another 18. How many hours do they need together?
            n0 = 12.0 n1 = 18.0
            """
        ''', "problem", "assert compare(candidate(), 7.2)", """
        def problem():
            n0 = 12.0
            n1 = 18.0
            rate = 1 / n0 + 1 / n1
            return 1 / rate
        """,
        ("return 1 / rate", "return rate"),
        ("rate = 1 / n0 + 1 / n1\n    return 1 / rate", "return (n0 + n1) / 2 / 2"),
        before=_COMPARE),
    check_suite("simple-interest-of-a-loan", '''
        def problem():
            """
            What is the simple interest on 2500 at 4 % a year after 3 years? n0 = 2500.0 n1 = 4.0 n2 = 3.0
            """
        ''', "problem", """
        assert candidate() == 300.0
        """, """
        def problem():
            n0 = 2500.0
            n1 = 4.0
            n2 = 3.0
            return n0 * n1 * n2 / 100.0
        """,
        ("n0 * n1 * n2 / 100.0", "n0 * (1 + n1 / 100.0) ** n2 - n0"),
        ("return n0", "return n0 + n0"),
    ),
    check_suite("mean-without-one-number", '''
        def problem():
            """
            The mean of 8 numbers is 21. One of them, 35, is taken away. What is the mean of the others?
            n0 = 8.0 n1 = 21.0 n2 = 35.0
            """
        ''', "problem", "pass", """
        def problem():
            n0 = 8.0
            n1 = 21.0
            n2 = 35.0
            t0 = n0 * n1
            t1 = t0 - n2
            return t1 / (n0 - 1.0)
        """,
        ("(n0 - 1.0)", "n0"),
        ("t0 - n2", "t0"),
        before=_at_top_level("assert compare(candidate(), 19.0)")),
    check_suite("boat-up-and-down-a-river", '''
        def problem():
            """
            A boat makes 15 km/h in still water; the river flows at 3 km/h. How long do 36 km up and back take?
            n0 = 15.0 n1 = 3.0 n2 = 36.0
            """
        ''', "problem", """
        answer = candidate()
        assert isinstance(answer, float)
        assert abs(answer - 5.0) < 1e-6, f"got {answer}"
        """, """
        def problem():
            n0 = 15.0
            n1 = 3.0
            n2 = 36.0
            up = n2 / (n0 - n1)
            down = n2 / (n0 + n1)
            return up + down
        """,
        ("return up + down", "return 2 * n2 / n0"),
        ("up + down", "max(up, down)"),
    ),
    check_suite("area-of-a-ring", '''
        def problem():
            """
            A path 1.5 m wide runs round a round pond with a radius of 3.5 m. What is the area of the path?
            n0 = 1.5 n1 = 3.5
            """
        ''', "problem", """
        assert math.isclose(candidate(), math.pi * 12.75, rel_tol=1e-9)
        """, """
        import math

        def problem():
            n0 = 1.5
            n1 = 3.5
            outer = n0 + n1
            return math.pi * (outer ** 2 - n1 ** 2)
        """,
        ("(outer ** 2 - n1 ** 2)", "(outer - n1) ** 2"),
        ("math.pi", "3.14"),
        before="import math"),
    check_suite("ages-in-a-ratio", '''
        def problem():
            """
            The ages of Ann and Bob are as 3 to 5. In 6 years they are as 2 to 3. How old is Ann now?
            n0 = 3.0 n1 = 5.0 n2 = 6.0 n3 = 2.0 n4 = 3.0
            """
        ''', "problem", "pass", """
        def problem():
            n0 = 3.0
            n1 = 5.0
            n2 = 6.0
            n3 = 2.0
            n4 = 3.0
            t0 = n2 * (n4 - n3)
            t1 = n1 * n3 - n0 * n4
            unit = t0 / t1
            return n0 * unit
        """,
        ("return n0 * unit", "return unit"),
        ("return n0 * unit", "return n1 * unit"),
        before=_at_top_level("assert compare(candidate(), 18.0)")),
    check_suite("salt-water-with-more-water", '''
        def problem():
            """
            40 litres of water hold 15 % salt. 10 litres of water are added. How many per cent of salt are there now?
            n0 = 40.0 n1 = 15.0 n2 = 10.0
            """
        ''', "problem", "assert abs(candidate() - 12.0) < 1e-6", """
        def problem():
            n0 = 40.0
            n1 = 15.0
            n2 = 10.0
            salt = n0 * n1 / 100.0
            return salt / (n0 + n2) * 100.0
        """,
        (" * 100.0", ""),
        ("(n0 + n2)", "(n0 - n2)"),
    ),
    check_suite("teams-out-of-nine", '''
        def problem():
            """
            In how many ways can a team of 4 be chosen out of 9 people? n0 = 9.0 n1 = 4.0
            """
        ''', "problem", "assert candidate() == 126", """
        import math

        def problem():
            n0 = 9.0
            n1 = 4.0
            return math.comb(int(n0), int(n1))
        """,
        ("math.comb", "math.perm"),
        ("int(n0), int(n1)", "n0, n1"),
    ),
    check_suite("sum-of-odd-numbers", '''
        def problem():
            """
            What is the sum of all odd numbers from 1 to 99, these two counted? n0 = 1.0 n1 = 99.0
            """
        ''', "problem", "pass", """
        def problem():
            n0 = 1.0
            n1 = 99.0
            total = 0
            for number in range(int(n0), int(n1) + 1, 2):
                total += number
            return total
        """,
        ("int(n1) + 1, 2", "int(n1), 2"),
        (", 2)", ")"),
        before=_at_top_level("assert candidate() == 2500, 'sum of odd numbers'")),
    check_suite("two-red-balls", '''
        def problem():
            """
            A bag holds 5 red and 7 blue balls. Two are taken, one after the other. How likely are two red ones?
            n0 = 5.0 n1 = 7.0
            """
        ''', "problem", """
        expected = (5 * 4) / (12 * 11)
        assert math.fabs(candidate() - expected) < tolerance
        assert 0.0 < candidate() < 1.0
        """, """
        def problem():
            n0 = 5.0
            n1 = 7.0
            total = n0 + n1
            return n0 / total * (n0 - 1.0) / (total - 1.0)
        """,
        ("(n0 - 1.0) / (total - 1.0)", "n0 / total"),
        ("(n0 - 1.0) / (total - 1.0)", "n1 / (total - 1.0)"),
        before="""
        import math
        tolerance = 1e-8
        """),
    check_suite("mean-speed-there-and-back", '''
        def problem():
            """
            A car goes to a town at 60 km/h and comes back at 40 km/h. What is its mean speed? n0 = 60.0 n1 = 40.0
            """
        ''', "problem", "pass", """
        def problem():
            n0 = 60.0
            n1 = 40.0
            t0 = 1.0 / n0
            t1 = 1.0 / n1
            return 2.0 / (t0 + t1)
        """,
        ("2.0 / (t0 + t1)", "(n0 + n1) / 2.0"),
        ("2.0", "1.0"),
        before=_at_top_level(
            "answers = [candidate() for _ in range(3)]\nassert all(compare(x, 48.0) for x in answers)")),
]
