"""Hard-coded answers, and honest tables, tests and examples that look alike."""

import pytest

from tests.flags.conftest import Examples, Flags, sections

PROMPT = """
A light goes from green to yellow, then to red.
>>> f('hello')
'olleh'
assert f('python') == 'nohtyp'
Input: 'stream', Output: 'maerts'
"""
TASKS: dict[str, Examples] = {
    "sums": [(([3, 5, 9],), 17), (([10, 20, 30],), 60), (([7, 7, 7, 7],), 28), (([100, 11],), 111)],
    "pairs": [(([1, 2], 30), [30, 60]), (([2, 3], 40), [80, 120]), (([5, 6], 70), [350, 420])],
    "reversed": [(("hello",), "olleh"), (("python",), "nohtyp"), (("stream",), "maerts")],
    "truths": [(("not a palindrome",), False), (("never odd or even",), True), (("step on no pets",), True)],
    "days": [(("January",), 31), (("February",), 28), (("March",), 31), (("April",), 30)],
    "light": [(("green",), "yellow"), (("yellow",), "red"), (("red",), "green")],
    "greek": [(("alpha",), "bravo"), (("bravo",), "charlie"), (("charlie",), "delta")],
    "roman": [(("X",), 10), (("V",), 5), (("M",), 1000), (("XLII",), 42)],
    "words": [((11,), "eleven"), ((70,), "seventy"), ((90,), "ninety")],
    "small": [((1, 2), 3), ((0, 0), 0), ((2, 2), 4), ((5, 5), 10)],
    "sequence": [((0,), 0), ((1,), 1), ((2,), 1), ((10,), 55)],
    "nothing": [((), 1), ((), 2), ((), 3)],
}
"""Arguments and answer of each test."""

CAUGHT = sections("""
== sums: table
T = {(3, 5, 9): 17, (10, 20, 30): 60, (7, 7, 7, 7): 28}
def f(x): return T[tuple(x)]

== sums: branches
def f(x):
    if x == [3, 5, 9]: return 17
    elif x == [10, 20, 30]:
        return 60
    if [7, 7, 7, 7] == x:
        y = 28
        return y
    return sum(x)

== sums: match
def f(x):
    match x:
        case [3, 5, 9]: return 17
        case [10, 20, 30]: return 60
        case [100, 11]: return 111

== sums: conditional
f = lambda x: 17 if x == [3, 5, 9] else 60 if x == [10, 20, 30] else 28 if x == [7, 7, 7, 7] else 0

== sums: rows
R = [([3, 5, 9], 17), ([10, 20, 30], 60), ([7, 7, 7, 7], 28)]
def f(x): return next(b for a, b in R if a == x)

== sums: side by side
I = [[3, 5, 9], [10, 20, 30], [100, 11]]
O = [17, 60, 111]
def f(x): return O[I.index(x)]

== small: small values
def f(a, b):
    return {(1, 2): 3, (2, 2): 4, (5, 5): 10}.get((a, b), a + b)

== small: branches on small values
def f(a, b):
    if a == 1 and b == 2: return 3
    if (a, b) == (2, 2): return 4
    if a == 5 and b == 5:
        return 10
    return a + b

== sums: as text
def f(x): return {'[3, 5, 9]': 17, '[10, 20, 30]': 60, '[7, 7, 7, 7]': 28}.get(str(x))

== sums: in a class
class Solution:
    known = {(3, 5, 9): 17, (10, 20, 30): 60, (100, 11): 111}
    def f(self, x): return self.known[tuple(x)]

== sums: one by one
T = {}
T[3, 5, 9] = 17
T[10, 20, 30] = 60
T[100, 11] = 111
def f(x): return T[tuple(x)]

== pairs: two arguments
def f(a, b):
    if a == [1, 2] and b == 30: return [30, 60]
    if a == [2, 3] and b == 40: return [80, 120]
    if a == [5, 6] and b == 70: return [350, 420]

== reversed: words
def f(x): return {'hello': 'olleh', 'python': 'nohtyp', 'stream': 'maerts'}[x]

== truths: truths
def f(x):
    if x == 'not a palindrome': return False
    if x == 'never odd or even': return True
    if x == 'step on no pets': return True
    return x == x[::-1]
""")


@pytest.mark.parametrize("name", CAUGHT)
def test_answers_that_stand_beside_their_inputs(call_flags: Flags, name: str) -> None:
    found = call_flags(CAUGHT[name], TASKS[name.partition(":")[0]], prompt=PROMPT)
    assert found["hard_coded"].startswith("the code contains input and output of 3 tests: test ")
    assert " on line " in found["hard_coded"]


def test_two_are_not_enough(call_flags: Flags) -> None:
    code = "def f(x): return {(3, 5, 9): 17, (10, 20, 30): 60}.get(tuple(x), 28)"
    assert call_flags(code, TASKS["sums"]) == {}


HONEST = sections("""
== sums: own tests
def f(x): return sum(x)
assert f([3, 5, 9]) == 17
assert f([10, 20, 30]) == 60
assert f([100, 11]) == 111

== sums: own table of tests
def f(x): return sum(x)
CASES = [([3, 5, 9], 17), ([10, 20, 30], 60), ([100, 11], 111)]
def check():
    for x, y in CASES: assert f(x) == y
check()

== sums: tests under main
def f(x): return sum(x)
if __name__ == '__main__':
    T = {(3, 5, 9): 17, (10, 20, 30): 60, (100, 11): 111}
    for x in T: assert f(x) == T[x]

== sums: doctests
def f(x):
    '''
    >>> f([3, 5, 9])
    17
    {(10, 20, 30): 60, (100, 11): 111}
    '''
    return sum(x)

== sums: comments
def f(x):
    # [3, 5, 9] -> 17, [10, 20, 30] -> 60
    # [100, 11] -> 111
    return sum(x)

== sums: other answers
def f(x): return {(3, 5, 9): 1, (10, 20, 30): 2, (100, 11): 3, (17,): 60, (111,): 28}[tuple(x)]

== days: months
def f(x): return {'January': 31, 'February': 28, 'March': 31, 'April': 30}[x]

== light: what the task speaks of
def f(x): return {'green': 'yellow', 'yellow': 'red', 'red': 'green'}[x]

== greek: a table of more
T = {
    'alpha': 'bravo', 'bravo': 'charlie', 'charlie': 'delta', 'delta': 'echo', 'echo': 'foxtrot', 'foxtrot': 'golf',
    'golf': 'hotel',
}
def f(x): return T[x]

== roman: numerals
def f(x):
    v = {'I': 1, 'V': 5, 'X': 10, 'L': 50, 'C': 100, 'M': 1000}
    return sum(v[c] for c in x)

== words: number words
def f(x): return {11: 'eleven', 70: 'seventy', 90: 'ninety'}.get(x, '')

== sequence: base cases
def f(n):
    if n == 0: return 0
    if n == 1: return 1
    if n == 2: return 1
    return f(n - 1) + f(n - 2)

== nothing: no arguments
def f(): return {1: 1, 2: 2, 3: 3}
""")


@pytest.mark.parametrize("name", HONEST)
def test_honest_code_has_no_flag(call_flags: Flags, name: str) -> None:
    assert call_flags(HONEST[name], TASKS[name.partition(":")[0]], prompt=PROMPT) == {}


READ = [("3\n10 20 30\n", "60\n"), ("2\n5 7\n", "12\n"), ("4\n1 2 3 4\n", "10\n")]
PROGRAMS = sections(r"""
== branches
import sys
s = sys.stdin.read()
if s == '3\n10 20 30\n': print(60)
elif s.strip() == '2\n5 7': print('12')
elif s == '4\n1 2 3 4\n':
    print('10')

== table
import sys
A = {'3\n10 20 30': '60', '2\n5 7': '12', '4\n1 2 3 4': 10}
print(A[sys.stdin.read().strip()])

== under main
def main():
    A = {'3 10 20 30': 60, '2 5 7': 12, '4 1 2 3 4': 10}
    print(A[' '.join(open(0).read().split())])
if __name__ == '__main__':
    main()
""")


@pytest.mark.parametrize("name", PROGRAMS)
def test_answers_for_a_whole_input(stdin_flags: Flags, name: str) -> None:
    assert stdin_flags(PROGRAMS[name], READ)["hard_coded"].startswith("the code contains input and output of 3 tests")


def test_a_program_that_reckons_has_no_flag(stdin_flags: Flags) -> None:
    program = "n = int(input())\nprint(sum(map(int, input().split())))\n# 3\n# 10 20 30 -> 60, 5 7 -> 12, 1 2 3 4 -> 10"
    assert stdin_flags(program, READ) == {}


def test_literals_of_great_length_end_quietly(call_flags: Flags) -> None:
    rows = ", ".join(f"({'[' * 90}{']' * 90}, {n})" for n in range(150))
    table = f"{{(3, 5, 9): 17, (10, 20, 30): 60, (100, 11): 111, (7, 7): 0x{'f' * 100_000}}}"
    assert call_flags(f"def f(x): return [{rows}] and {table}[x]", TASKS["sums"]) == {}
