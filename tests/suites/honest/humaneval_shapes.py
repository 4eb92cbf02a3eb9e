"""Bodies of `check(candidate)` with loops, helpers, references, tolerances and seeds, as some of HumanEval's."""

from __future__ import annotations

from tests.suites.honest_suite import Suite, check_suite

SUITES: list[Suite] = [
    check_suite("shift-cipher-inverse",
        'def decode(text, key):\n    """Takes back encode(text, key), which moves each letter on by key."""', "decode",
        """
        random.seed(0)
        for _ in range(50):
            text = "".join(random.choice(string.ascii_lowercase) for _ in range(random.randint(0, 15)))
            key = random.randint(0, 40)
            assert candidate(encode(text, key), key) == text
        """, """
        def decode(text, key):
            return "".join(chr((ord(sign) - 97 - key) % 26 + 97) for sign in text)
        """,
        ("- key", "+ key"),
        ("(ord(sign) - 97 - key) % 26 + 97", "ord(sign) - key"),
        before="""
        import random, string

        def encode(text, key):
            return "".join(chr((ord(sign) - 97 + key) % 26 + 97) for sign in text)
        """),
    check_suite("primes-below-by-trial", 'def primes_below(n):\n    """All primes below n, in order."""',
        "primes_below", """
        def is_prime(k):
            return k > 1 and all(k % d for d in range(2, k))

        for n in range(60):
            assert candidate(n) == [k for k in range(n) if is_prime(k)], f"primes below {n}"
        """, """
        def primes_below(n):
            sieve, primes = [True] * n, []
            for i in range(2, n):
                if sieve[i]:
                    primes.append(i)
                    for j in range(i * i, n, i):
                        sieve[j] = False
            return primes
        """,
        ("range(2, n)", "range(1, n)"),
        ("range(i * i, n, i)", "range(i * i, n, 2 * i)"),
    ),
    check_suite("median-within-tolerance",
        'def median(values):\n    """The middle value, or the mean of the two in the middle."""', "median", """
        cases = [([3.5], 3.5), ([4, 1], 2.5), ([9, 1, 5], 5), ([0.1, 0.4, 0.2, 0.3], 0.25), ([-1, -1, 7, 2], 0.5)]
        for values, expected in cases:
            assert abs(candidate(values) - expected) < 1e-6, values
        """, """
        def median(values):
            ordered = sorted(values)
            middle = len(ordered) // 2
            if len(ordered) % 2:
                return ordered[middle]
            return (ordered[middle - 1] + ordered[middle]) / 2
        """,
        ("sorted(values)", "list(values)"),
        ("(ordered[middle - 1] + ordered[middle]) / 2", "ordered[middle]"),
        before="METADATA = {'author': 'me', 'dataset': 'test'}"),
    check_suite("moving-means-isclose",
        'def moving_means(values, size):\n    """The mean of each window of that size."""', "moving_means", """
        import math
        import random

        random.seed(0)
        values = [random.uniform(-5, 5) for _ in range(30)]
        for size in range(1, 31):
            found = candidate(values, size)
            assert len(found) == len(values) - size + 1
            for i, mean in enumerate(found):
                assert math.isclose(mean, sum(values[i:i + size]) / size, rel_tol=1e-9, abs_tol=1e-9)
        """, """
        def moving_means(values, size):
            return [sum(values[i:i + size]) / size for i in range(len(values) - size + 1)]
        """,
        ("range(len(values) - size + 1)", "range(len(values) - size)"),
        ("/ size", "/ len(values)"),
    ),
    check_suite("common-items-sorted",
        'def common(first, second):\n    """The items of both lists, each once, in any order."""', "common", """
        assert sorted(candidate([1, 4, 4, 2], [4, 1, 9])) == [1, 4]
        assert sorted(candidate(list("banana"), list("nab"))) == ["a", "b", "n"]
        assert sorted(candidate([], [1])) == []
        for n in range(10):
            assert sorted(candidate(list(range(n)), list(range(3, 20)))) == list(range(3, n))
        """, """
        def common(first, second):
            return list(set(first) & set(second))
        """,
        ("list(set(first) & set(second))", "[x for x in first if x in second]"),
        ("&", "|"),
    ),
    check_suite("rotates-without-touching",
        'def rotate_right(items, k):\n    """A new list, turned right by k places; k may be negative."""',
        "rotate_right", """
        for k in range(-7, 8):
            items = list("abcde")
            turned = candidate(items, k)
            assert turned == ["abcde"[(i - k) % 5] for i in range(5)], k
            assert items == ["a", "b", "c", "d", "e"], "the argument was changed"
        assert candidate([], 3) == []
        """, """
        def rotate_right(items, k):
            if not items:
                return []
            k %= len(items)
            return items[-k:] + items[:-k]
        """,
        ("if not items:\n        return []\n    ", ""),
        ("k %= len(items)\n    ", ""), """
        def rotate_right(items, k):
            if items:
                for _ in range(k % len(items)):
                    items.insert(0, items.pop())
            return items
        """),
    check_suite("whole-root-or-value-error",
        'def whole_root(n):\n    """The square root of n, rounded down. A ValueError where n is negative."""',
        "whole_root", """
        for n in list(range(50)) + [10 ** 20, 10 ** 20 - 1]:
            root = candidate(n)
            assert root * root <= n < (root + 1) ** 2, n
        for n in (-1, -100):
            try:
                candidate(n)
            except ValueError:
                pass
            else:
                assert False, "no ValueError"
        """, """
        def whole_root(n):
            if n < 0:
                raise ValueError("no root of a negative number")
            low, high = 0, n + 1
            while high - low > 1:
                middle = (low + high) // 2
                if middle * middle <= n:
                    low = middle
                else:
                    high = middle
            return low
        """,
        ("middle * middle <= n", "middle * middle < n"),
        ('raise ValueError("no root of a negative number")', "return None"),
    ),
    check_suite("sorts-even-places",
        'def sort_even(items):\n    """A list with the items of the even places sorted, the others as they were."""',
        "sort_even", """
        import random
        random.seed(0)
        for size in range(12):
            items = [random.randint(-9, 9) for _ in range(size)]
            out = candidate(list(items))
            assert out[1::2] == items[1::2]
            assert out[::2] == sorted(items[::2])
            assert sorted(out) == sorted(items)
        """, """
        def sort_even(items):
            out = list(items)
            out[::2] = sorted(items[::2])
            return out
        """,
        ("[::2]", "[1::2]"),
        ("sorted(items[::2])", "sorted(items)[::2]"),
    ),
    check_suite("squeezes-spaces-once-is-enough",
        'def squeeze(text):\n    """Words with one space between them, and none around."""', "squeeze", """
        for text in ["", " ", "a  b", "a     b", "  first", "last  ", "tab\\t\\tand\\nline"]:
            once = candidate(text)
            assert candidate(once) == once, repr(text)
            assert "  " not in once and once == once.strip()
            assert once.split(" ") == (text.split() or [""])
        """, """
        def squeeze(text):
            return " ".join(text.split())
        """,
        ('" ".join(text.split())', 'text.replace("  ", " ").strip()'),
        ("text.split()", 'text.split(" ")'),
    ),
    check_suite("run-lengths-and-back",
        'def shrink(text):\n    """The runs of text as (sign, count), so that expand gives the text again."""',
        "shrink", """
        import random
        random.seed(0)
        texts = ["", "a", "aab"] + ["".join(random.choices("abc", k=n)) for n in range(1, 25)]
        for text in texts:
            pairs = candidate(text)
            assert expand(pairs) == text
            assert all(left[0] != right[0] for left, right in zip(pairs, pairs[1:]))
        """, """
        def shrink(text):
            pairs = []
            for sign in text:
                if pairs and pairs[-1][0] == sign:
                    pairs[-1] = (sign, pairs[-1][1] + 1)
                else:
                    pairs.append((sign, 1))
            return pairs
        """, """
        def shrink(text):
            return [(sign, text.count(sign)) for sign in dict.fromkeys(text)]
        """,
        ("pairs.append((sign, 1))", "pairs.append((sign, 0))"),
        preamble="""
        def expand(pairs):
            return "".join(sign * count for sign, count in pairs)
        """),
    check_suite("counts-of-words",
        'def count_words(text):\n    """How often each word stands in the text, in small letters and without marks."""',
        "count_words", """
        cases = {
            "": {},
            "One fish, two fish.": {"one": 1, "fish": 2, "two": 1},
            "It's its own; it's THE own!": {"it's": 2, "its": 1, "own": 2, "the": 1},
        }
        for text, expected in cases.items():
            assert candidate(text) == expected, text
            assert all(candidate(text).get(word) == count for word, count in expected.items())
        assert "missing" not in candidate("nothing is here")
        """, """
        import re

        def count_words(text):
            counts = {}
            for word in re.findall(r"[a-z']+", text.lower()):
                counts[word] = counts.get(word, 0) + 1
            return counts
        """,
        (".lower()", ""),
        ("""re.findall(r"[a-z']+", text.lower())""", "text.lower().split()"),
    ),
    check_suite("depth-of-nested-lists",
        'def depth(items):\n    """How deep the lists are nested; 1 for a flat list."""', "depth", """
        nested = []
        for expected in range(1, 12):
            assert candidate(nested) == expected
            nested = [1, nested, "x"] if expected % 2 else [nested, [0]]
        assert candidate([[], [[]], [[[1]], 2]]) == 4
        """, """
        def depth(items):
            depths = [depth(item) for item in items if isinstance(item, list)]
            return 1 + max(depths, default=0)
        """,
        ("max(depths, default=0)", "sum(depths)"),
        ("max(depths, default=0)", "(depths[0] if depths else 0)"),
    ),
    check_suite("transpose-there-and-back",
        'def transpose(matrix):\n    """The columns of a list of lists, as a list of lists."""', "transpose", """
        for rows in range(1, 5):
            for columns in range(1, 5):
                matrix = [[10 * i + j for j in range(columns)] for i in range(rows)]
                turned = candidate(matrix)
                assert len(turned) == columns and all(len(row) == rows for row in turned)
                assert all(turned[j][i] == matrix[i][j] for i in range(rows) for j in range(columns))
                assert candidate(turned) == matrix
        """, """
        def transpose(matrix):
            return [list(column) for column in zip(*matrix)]
        """,
        ("[list(column) for column in zip(*matrix)]", "list(zip(*matrix))"),
        ("list(column) for column in zip(*matrix)", "[row[i] for row in matrix] for i in range(len(matrix))"),
    ),
    check_suite("brackets-true-or-false",
        'def balanced(text):\n    """Whether the brackets ()[]{} of the text are closed in the right order."""',
        "balanced", """
        good = ["", "()", "a(b[c]{d})e", "[[]()]" * 20]
        bad = ["(", ")", "([)]", "(()", "())", "}{"]
        for text in good + bad:
            assert candidate(text) is (text in good), text
        """, """
        def balanced(text):
            stack = []
            for sign in text:
                if sign in "([{":
                    stack.append(sign)
                elif sign in ")]}":
                    if not stack or "([{".index(stack.pop()) != ")]}".index(sign):
                        return False
            return not stack
        """,
        ("return not stack", "return True"),
        ("not stack or ", ""),
    ),
    check_suite("digit-sums-at-random",
        'def digit_sum(n):\n    """The sum of the digits of a whole number, whatever its sign."""', "digit_sum", """
        import random
        random.seed(0)
        numbers = [0, 9, -10] + [random.randint(-10 ** 6, 10 ** 6) for _ in range(100)]
        for n in numbers:
            assert candidate(n) == sum(int(digit) for digit in str(abs(n))), n
        """, """
        def digit_sum(n):
            n = abs(n)
            total = 0
            while n > 0:
                total += n % 10
                n //= 10
            return total
        """,
        ("n = abs(n)\n    ", ""),
        ("while n > 0:", "while n > 9:"),
    ),
    check_suite("digits-in-any-base",
        'def to_base(n, base):\n    """The digits of n >= 0 in a base from 2 to 36, with small letters."""', "to_base",
        """
        for base in range(2, 37):
            for n in [0, 1, base - 1, base, 1234, base ** 5 + 1]:
                text = candidate(n, base)
                assert int(text, base) == n
                assert text == text.lower() and (text == "0" or not text.startswith("0"))
        """, """
        def to_base(n, base):
            if n == 0:
                return "0"
            text = ""
            while n > 0:
                text = "0123456789abcdefghijklmnopqrstuvwxyz"[n % base] + text
                n //= base
            return text
        """,
        ('if n == 0:\n        return "0"\n    ', ""),
        ('"0123456789abcdefghijklmnopqrstuvwxyz"[n % base]', "str(n % base)"),
    ),
    check_suite("common-divisor-of-many",
        'def common_divisor(numbers):\n    """The greatest common divisor of all the numbers; 0 for none."""',
        "common_divisor", """
        assert candidate([]) == 0
        rng = random.Random(7)
        for size in range(1, 6):
            for factor in (1, 6, 35):
                numbers = [factor * rng.randint(0, 12) for _ in range(size)]
                assert candidate(numbers) == reduce(math.gcd, numbers), numbers
        """, """
        def common_divisor(numbers):
            result = 0
            for n in numbers:
                while n:
                    result, n = n, result % n
            return result
        """,
        ("result = 0", "result = 1"),
        ("for n in numbers:", "for n in numbers[:2]:"),
        before="import math, random\nfrom functools import reduce"),
    check_suite("collatz-path-with-a-helper",
        'def path(n):\n    """The numbers from n down to 1: the half of an even one, 3 n + 1 after an odd one."""',
        "path", """
        def follows(before, after):
            return after == (before // 2 if before % 2 == 0 else 3 * before + 1)

        for n in range(1, 30):
            steps = candidate(n)
            assert steps[0] == n and steps[-1] == 1 and steps.count(1) == 1
            assert all(follows(*pair) for pair in zip(steps, steps[1:]))
            assert all(type(step) is int for step in steps)
        """, """
        def path(n):
            steps = [n]
            while n != 1:
                n = 3 * n + 1 if n % 2 else n // 2
                steps.append(n)
            return steps
        """,
        ("n // 2", "n / 2"),
        ("steps = [n]", "steps = []"),
    ),
    check_suite("insertion-places-against-bisect",
        'def place(ordered, x):\n    """The first place in a sorted list where x can go."""', "place", """
        from bisect import bisect_left
        lists = [[], [1], [1, 1, 1], [2 * (i // 2) for i in range(9)], list(range(0, 40, 3))]
        for ordered in lists:
            for x in range(-1, 42):
                assert candidate(ordered, x) == bisect_left(ordered, x), (ordered, x)
        """, """
        def place(ordered, x):
            low, high = 0, len(ordered)
            while low < high:
                middle = (low + high) // 2
                if ordered[middle] < x:
                    low = middle + 1
                else:
                    high = middle
            return low
        """,
        ("ordered[middle] < x", "ordered[middle] <= x"),
        ("len(ordered)", "len(ordered) - 1"),
    ),
    check_suite("merges-two-sorted-lists",
        'def merged(left, right):\n    """One sorted list of two sorted lists, which stay as they are."""', "merged",
        """
        for size in range(7):
            left = sorted(i * i % 7 + i for i in range(size))
            right = sorted((3 * i) % 5 for i in range(9 - size))
            kept = left[:], right[:]
            assert candidate(left, right) == sorted(left + right)
            assert (left, right) == kept
        """, """
        def merged(left, right):
            out, i, j = [], 0, 0
            while i < len(left) and j < len(right):
                if left[i] <= right[j]:
                    out.append(left[i])
                    i += 1
                else:
                    out.append(right[j])
                    j += 1
            return out + left[i:] + right[j:]
        """,
        (" + right[j:]", ""), """
        def merged(left, right):
            out = []
            while left and right:
                out.append((left if left[0] <= right[0] else right).pop(0))
            return out + left + right
        """),
    check_suite("every-subset-once",
        'def subsets(items):\n    """All subsets of a set, as a list of sets in any order."""', "subsets", """
        for n in range(6):
            items = {"abcdef"[i] for i in range(n)}
            found = candidate(items)
            assert len(found) == 2 ** n
            assert all(subset <= items for subset in found)
            assert len({tuple(sorted(subset)) for subset in found}) == 2 ** n
        assert sorted(map(sorted, candidate({1, 2}))) == [[], [1], [1, 2], [2]]
        """, """
        def subsets(items):
            found = [set()]
            for item in items:
                found += [subset | {item} for subset in found]
            return found
        """,
        ("return found", "return found[1:]"),
        ("found += [subset | {item} for subset in found]", "found += [found[-1] | {item}]"),
    ),
    check_suite("keys-grouped-by-value",
        'def by_value(mapping):\n    """Each value of the dict with the sorted list of its keys."""', "by_value", """
        marks = {name: len(name) for name in ["tim", "anna", "bo", "lea", "otto", "al"]}
        before = dict(marks)
        assert candidate(marks) == {3: ["lea", "tim"], 4: ["anna", "otto"], 2: ["al", "bo"]}
        assert marks == before
        assert candidate({}) == {}
        for value, keys in candidate({i: i % 3 for i in reversed(range(10))}).items():
            assert keys == list(range(value, 10, 3))
        """, """
        def by_value(mapping):
            groups = {}
            for key in sorted(mapping):
                groups.setdefault(mapping[key], []).append(key)
            return groups
        """,
        ("sorted(mapping)", "mapping"),
        ("groups.setdefault(mapping[key], []).append(key)", "groups[mapping[key]] = [key]"),
    ),
    check_suite("triangle-area-or-error",
        'def area(a, b, c):\n    """The area of a triangle; a ValueError where the sides do not make one."""', "area",
        """
        for sides, expected in {(3, 4, 5): 6.0, (2, 2, 2): 1.7320508, (13, 14, 15): 84.0}.items():
            assert abs(candidate(*sides) - expected) < 1e-6
        for sides in [(1, 2, 3), (1, 9, 2), (0, 1, 1)]:
            raised = False
            try:
                candidate(*sides)
            except ValueError as error:
                raised = True
                assert str(error) == "not a triangle"
            assert raised, sides
        """, """
        def area(a, b, c):
            low, middle, high = sorted((a, b, c))
            if low <= 0 or low + middle <= high:
                raise ValueError("not a triangle")
            s = (a + b + c) / 2
            return (s * (s - a) * (s - b) * (s - c)) ** 0.5
        """,
        ("low + middle <= high", "low + middle < high"),
        ("(a + b + c) / 2", "a + b + c"),
        ("low, middle, high = sorted((a, b, c))", "low, middle, high = a, b, c"),
    ),
    check_suite("best-run-by-brute-force",
        'def best_run(items):\n    """The largest sum of one or more items that stand side by side."""', "best_run",
        """
        random.seed(0)
        for top in (10, 0):
            for size in range(1, 15):
                items = [random.randint(-10, top) for _ in range(size)]
                assert candidate(items) == brute_force(items), items
        """, """
        def best_run(items):
            best = current = items[0]
            for item in items[1:]:
                current = max(item, current + item)
                best = max(best, current)
            return best
        """,
        ("best = current = items[0]", "best = current = 0"),
        ("best = max(best, current)", "best = current"),
        before="""
        import random

        def brute_force(items):
            return max(sum(items[i:j]) for i in range(len(items)) for j in range(i + 1, len(items) + 1))
        """),
]
