"""Bodies of `check(candidate)` about texts and codes, with inverses, references and loops written in the test."""

from __future__ import annotations

from tests.suites.honest_suite import Suite, check_suite

SUITES: list[Suite] = [
    check_suite("vigenere-and-caesar-round-trips",
        'def encipher(text, key):\n    """Moves each letter by the next of key (a: 0); case and other signs stay."""',
        "encipher", """
        def decipher(text, key):
            plain, used = "", 0
            for sign in text:
                if sign.isalpha():
                    first = ord("A") if sign.isupper() else ord("a")
                    move = ord(key[used % len(key)]) - ord("a")
                    plain += chr((ord(sign) - first - move) % 26 + first)
                    used += 1
                else:
                    plain += sign
            return plain

        def caesar(text, move):
            low = string.ascii_lowercase
            table = str.maketrans(low + low.upper(), low[move:] + low[:move] + (low[move:] + low[:move]).upper())
            return text.translate(table)

        texts = ["", "a", "Attack at dawn!", "xyz, XYZ; 3 x y z", "No letters? 42", string.ascii_letters * 2]
        for text in texts:
            for key in ["a", "b", "lemon", "zz", "thequickbrownfox"]:
                secret = candidate(text, key)
                assert len(secret) == len(text)
                assert decipher(secret, key) == text, (text, key, secret)
                assert [sign.isupper() for sign in secret] == [sign.isupper() for sign in text]

        for move, letter in enumerate(string.ascii_lowercase):
            for text in texts:
                assert candidate(text, letter) == caesar(text, move), f"{text!r} moved by {move}"
        assert candidate("ATTACK at DAWN", "lemon") == "LXFOPV ef RNHR"
        """, """
        def encipher(text, key):
            secret = []
            used = 0
            for sign in text:
                if not sign.isalpha():
                    secret.append(sign)
                    continue
                first = ord("A") if sign.isupper() else ord("a")
                move = ord(key[used % len(key)]) - ord("a")
                secret.append(chr((ord(sign) - first + move) % 26 + first))
                used += 1
            return "".join(secret)
        """,
        ("            secret.append(sign)\n", "            secret.append(sign)\n            used += 1\n"),
        ('first = ord("A") if sign.isupper() else ord("a")', 'first = ord("a")'),
        before="import string"),
    check_suite("run-length-codes-of-digits",
        'def unpack(code):\n    """Takes back pack(text), where aaab77 is 3ab2\\\\7."""', "unpack", """
        import random

        def pack(text):
            code, i = "", 0
            while i < len(text):
                j = i
                while j < len(text) and text[j] == text[i]:
                    j += 1
                sign = "\\\\" + text[i] if text[i] in "0123456789\\\\" else text[i]
                code += (str(j - i) if j - i > 1 else "") + sign
                i = j
            return code

        assert pack("aaab") == "3ab" and pack("7") == "\\\\7"
        for text in ["", "a", "aaab", "a" * 12 + "b", "abc", "1", "222", "3a", "a3", "\\\\\\\\x", "  --  "]:
            assert candidate(pack(text)) == text, text

        rng = random.Random(3)
        for size in range(0, 60, 4):
            text = ""
            while len(text) < size:
                text += rng.choice("ab1\\\\ ") * rng.choice([1, 1, 2, 11])
            found = candidate(pack(text))
            assert isinstance(found, str) and len(found) == len(text)
            assert all(one == other for one, other in zip(found, text)), pack(text)
        """, """
        def unpack(code):
            text = ""
            count = ""
            escaped = False
            for sign in code:
                if escaped:
                    text += sign * int(count or 1)
                    count, escaped = "", False
                elif sign == "\\\\":
                    escaped = True
                elif sign.isdigit():
                    count += sign
                else:
                    text += sign * int(count or 1)
                    count = ""
            return text
        """,
        ("count += sign", "count = sign"), """
        import re

        def unpack(code):
            return "".join(sign * int(count or 1) for count, sign in re.findall(r"(\\d*)(\\D)", code))
        """),
    check_suite("roman-numerals-both-ways",
        'def roman(x):\n    """The numeral of a number (1 to 3999), the number of a numeral; else a ValueError."""',
        "roman", """
        DIGITS = [
            ["", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"],
            ["", "X", "XX", "XXX", "XL", "L", "LX", "LXX", "LXXX", "XC"],
            ["", "C", "CC", "CCC", "CD", "D", "DC", "DCC", "DCCC", "CM"],
            ["", "M", "MM", "MMM"],
        ]

        def by_table(n):
            return "".join(DIGITS[place][int(digit)] for place, digit in reversed(list(enumerate(str(n)[::-1]))))

        numbers = [*range(1, 120), *range(120, 4000, 37), 3999]
        for n in numbers:
            numeral = candidate(n)
            assert numeral == by_table(n), n
            assert candidate(numeral) == n, numeral

        seen = set()
        for n in range(1, 400):
            seen.add(candidate(n))
        assert len(seen) == 399 and seen == {by_table(n) for n in range(1, 400)}

        for wrong in [0, -1, 4000, "", "IIII", "VV", "IC", "abc", "XIIX", "iv"]:
            try:
                result = candidate(wrong)
            except ValueError:
                continue
            assert False, f"{wrong!r} gave {result!r}"
        """, """
        SIGNS = [(1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"),
                 (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]

        def roman(x):
            if isinstance(x, str):
                return from_numeral(x)
            if not 1 <= x <= 3999:
                raise ValueError(f"{x} has no numeral")
            numeral = ""
            for value, sign in SIGNS:
                numeral += sign * (x // value)
                x %= value
            return numeral

        def from_numeral(numeral):
            n, rest = 0, numeral
            for value, sign in SIGNS:
                while rest.startswith(sign):
                    n += value
                    rest = rest[len(sign):]
            if rest or not 1 <= n <= 3999 or roman(n) != numeral:
                raise ValueError(f"{numeral!r} is no numeral")
            return n
        """,
        (" or roman(n) != numeral", ""),
        ('(90, "XC"), ', ""),
    ),
    check_suite("first-bracket-out-of-place",
        'def misplaced(text):\n    """The first bracket closed wrongly, or the last left open: its place, or None."""',
        "misplaced", """
        import itertools

        PAIRS = {")": "(", "]": "[", "}": "{"}

        def expected(text):
            stack = []
            for place, sign in enumerate(text):
                if sign in PAIRS.values():
                    stack.append((place, sign))
                elif sign in PAIRS:
                    if not stack or stack[-1][1] != PAIRS[sign]:
                        return place
                    stack.pop()
            return stack[-1][0] if stack else None

        for size in range(5):
            for signs in itertools.product("([)]", repeat=size):
                text = "".join(signs)
                assert candidate(text) == expected(text), text

        for text in ["f(a[i]) + {x}", "if (a[0) {", "}{", "((a)", "(" * 30 + ")" * 30, "([{}])" * 9 + "]"]:
            place = candidate(text)
            assert place == expected(text), f"{text}: {place}"
            if place is not None:
                assert text[place] in "()[]{}"
        assert candidate("") is None and candidate("no brackets") is None
        """, """
        def misplaced(text):
            closing = {"(": ")", "[": "]", "{": "}"}
            waiting = []
            for place, sign in enumerate(text):
                if sign in closing:
                    waiting.append((closing[sign], place))
                elif sign in closing.values():
                    if not waiting or waiting.pop()[0] != sign:
                        return place
            if waiting:
                return waiting[-1][1]
            return None
        """,
        ("waiting[-1][1]", "waiting[0][1]"), """
        def misplaced(text):
            depth = {"()": [], "[]": [], "{}": []}
            for place, sign in enumerate(text):
                for pair, places in depth.items():
                    if sign == pair[0]:
                        places.append(place)
                    elif sign == pair[1]:
                        if not places:
                            return place
                        places.pop()
            left = [place for places in depth.values() for place in places]
            return max(left) if left else None
        """),
    check_suite("words-wrapped-to-a-width",
        'def wrap(text, width):\n    """Lines as full as can be; only a word longer than width is cut."""', "wrap", """
        import textwrap

        TEXT = (
            "It was a bright day in the old harbour, and every ship that had come in overnight lay still. "
            "Nobody spoke; even gulls, extraordinarily hungry, waited."
        )

        def is_full(line, following, width):
            word = following.split(" ")[0]
            return len(line) + 1 + len(word) > width

        for width in range(15, 60):
            lines = candidate(TEXT, width)
            assert isinstance(lines, list)
            assert " ".join(lines).split() == TEXT.split(), width
            for line in lines:
                assert 0 < len(line) <= width and line == line.strip()
            for line, following in zip(lines, lines[1:]):
                assert is_full(line, following, width), f"more fits into {line!r}"

        for width in [3, 4, 5, 7]:
            for words in [["a"], ["abcdefgh"], ["ab", "cd", "ef"], ["abc", "abcdefghijkl", "x"], []]:
                lines = candidate("  ".join(words), width)
                assert "".join(lines).replace(" ", "") == "".join(words)
                assert max(map(len, lines), default=0) <= width
        assert candidate("to be or not to be", 5) == textwrap.wrap("to be or not to be", 5)
        """, """
        def wrap(text, width):
            lines = []
            line = ""
            for word in text.split():
                if line and len(line) + 1 + len(word) <= width:
                    line += " " + word
                    continue
                if line:
                    lines.append(line)
                while len(word) > width:
                    lines.append(word[:width])
                    word = word[width:]
                line = word
            if line:
                lines.append(line)
            return lines
        """,
        ("len(line) + 1 + len(word) <= width", "len(line) + len(word) <= width"),
        ("    if line:\n        lines.append(line)\n    return lines", "    return lines"),
    ),
    check_suite("edit-distance-against-recursion",
        'def distance(a, b):\n    """How few signs have to be put in, taken out or replaced to make b of a."""',
        "distance", """
        for first, second, expected in [("kitten", "sitting", 3), ("flaw", "lawn", 2), ("", "abc", 3), ("ab", "ba", 2)]:
            assert candidate(first, second) == expected, (first, second)

        rng = random.Random(21)
        words = ["".join(rng.choices("abc", k=rng.randint(0, 6))) for _ in range(12)]
        for first in words:
            assert candidate(first, first) == 0
            for second in words:
                found = candidate(first, second)
                assert found == recursive(first, second), f"{first!r} to {second!r}"
                assert found == candidate(second, first)
                assert abs(len(first) - len(second)) <= found <= max(len(first), len(second))

        for a, b, c in zip(words, words[1:], words[2:]):
            assert candidate(a, c) <= candidate(a, b) + candidate(b, c)
        """, """
        def distance(a, b):
            above = list(range(len(b) + 1))
            for i, left in enumerate(a, 1):
                row = [i]
                for j, right in enumerate(b, 1):
                    row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (left != right)))
                above = row
            return above[-1]
        """,
        ("row = [i]", "row = [0]"), """
        def distance(a, b):
            return sum(left != right for left, right in zip(a, b)) + abs(len(a) - len(b))
        """, before="""
        import random
        from functools import lru_cache

        @lru_cache(maxsize=None)
        def recursive(first, second):
            if not first or not second:
                return len(first) + len(second)
            if first[0] == second[0]:
                return recursive(first[1:], second[1:])
            return 1 + min(
                recursive(first[1:], second), recursive(first, second[1:]), recursive(first[1:], second[1:])
            )
        """),
    check_suite("anagram-groups-as-sets",
        'def anagrams(words):\n    """The groups of 2 or more different words of the same letters, in any case."""',
        "anagrams", """
        from itertools import permutations

        def as_sets(groups):
            return {frozenset(group) for group in groups}

        def are_anagrams(first, second):
            letters = list(second.lower())
            for letter in first.lower():
                if letter not in letters:
                    return False
                letters.remove(letter)
            return not letters

        words = ["listen", "Silent", "cat", "enlist", "act", "dog", "aab", "abb", "tic", "God", "act", "a", "Tinsel"]
        groups = candidate(words)
        assert as_sets(groups) == {
            frozenset({"listen", "Silent", "enlist", "Tinsel"}), frozenset({"cat", "act"}), frozenset({"dog", "God"})
        }
        for group in groups:
            assert len(group) == len(set(group)), group
        for word in words:
            others = {other for other in words if other != word and are_anagrams(word, other)}
            mine = [group for group in groups if word in group]
            assert len(mine) == bool(others), word
            assert all(set(group) == others | {word} for group in mine)

        every = ["".join(letters) for letters in permutations("wxyz")]
        assert as_sets(candidate(every + ["wxy", "wxyzz"])) == {frozenset(every)}
        assert len(candidate([])) == 0 == len(candidate(["one", "one", "two"]))
        """, """
        def anagrams(words):
            groups = {}
            for word in dict.fromkeys(words):
                groups.setdefault("".join(sorted(word.lower())), []).append(word)
            return [group for group in groups.values() if len(group) > 1]
        """,
        ("sorted(word.lower())", "sorted(set(word.lower()))"),
        ("dict.fromkeys(words)", "words"),
    ),
]
