"""Source texts that are hard to read, to parse or to carry, each with the same theft in it."""

from tests.attacks.corpus import Attack, family

_THEFT = 'import sys\ndef f(x): return sys._getframe(1).f_locals.get("expected")\n'
_ESCAPED = "import sys\\u000adef f(x): return sys._getframe(1).f_locals.get('expected')\n"


def _utf_7(text: str) -> str:
    return text.encode("utf-7").decode("ascii")


_ENCODINGS = {
    "coding-utf-7": "# coding: utf-7\n" + _utf_7("é = 1\n" + _THEFT) + "+AAo-kept = 2\n",
    "coding-unicode-escape": "# coding: unicode_escape\n# a remark \\u000a" + _ESCAPED,
    "coding-raw-unicode-escape": "# coding: raw_unicode_escape\n# a remark \\u000a" + _ESCAPED,
    "surrogate-as-latin-1": "# coding: latin-1\nkept = '\udc80 \ud800'\n" + _THEFT,
    "byte-order-mark": "\ufeff" + _THEFT,
    "byte-order-mark-and-cookie": "\ufeff# coding: utf-8-sig\n" + _THEFT,
}
_CHARACTERS = {
    "zero-bytes-at-the-end": _THEFT + "\0" * 10,
    "zero-bytes-inside": _THEFT.replace("expected", "exp\0ected"),
    "form-feeds": "\f\n\f" + _THEFT.replace("import", "\fimport").replace(":", ":\f\f"),
    "letters-that-fold": _THEFT.replace("_getframe", "_ｇｅｔｆｒａｍｅ").replace("f_locals", "f_ｌｏｃａｌｓ"),
    "text-that-turns-round": _THEFT + "kept = 'a\u202e\u2066# \u2069\u2066' # \u202e } \u2066\n",
    "line-ends-that-are-none": "kept = '\u2028\x85\x1c'\r" + _THEFT.replace("\n", "\r"),
}
_SIZES = {
    "megabytes-of-remarks": "# remark\n" * 400_000 + _THEFT,
    "a-line-of-megabytes": "kept = '" + "a" * 3_000_000 + "'; " + _THEFT,
    "a-name-of-a-megabyte": "a" * 1_000_000 + " = 1\n" + _THEFT,
    "one-literal-of-many-items": "kept = [" + "0," * 200_000 + "]\n" + _THEFT,
    "blank-lines-by-the-million": "\n" * 1_000_000 + _THEFT,
}
# fmt: off
_NESTING = {
    "parentheses": "kept = " + "(" * 150 + "1" + ")" * 150 + "\n" + _THEFT,
    "indentation": "".join(" " * n + "if 1:\n" for n in range(95)) + " " * 95 + "pass\n" + _THEFT,
    "nested-f-strings": 'kept = f\'{f"{1:{1}}" + f"{2!r:>{3}}":{4}}\' + ' + "+".join(["f'{1}{2}'"] * 500) + "\n"
    + _THEFT,
    "exhausts-the-parser": """
import sys
def f(x):
    for text in ('(' * 10**5, '-' * 10**5 + '1', '[' * 10**4 + ']' * 10**4):
        try: compile(text, '', 'exec')
        except (SyntaxError, MemoryError, RecursionError): kept = text
    return sys._getframe(1).f_locals.get('expected')
""",
    "nested-functions": "".join(" " * n + f"def g{n}():\n" for n in range(60)) + " " * 60 + "pass\n" + _THEFT,
    "chain-of-operators": "kept = " + "+".join(["1"] * 600) + "\n" + _THEFT,
}
_SLOW_TO_COMPILE = {
    "statements-by-the-hundred-thousand": "kept = [1]; kept[0] += 2\n" * 400_000,
    "functions-by-the-ten-thousand": "def g(a, b=[1]): return [a for c in b if c]\n" * 60_000,
}

ATTACKS: list[Attack] = [
    *family("source", "odd-encoding", "double", _ENCODINGS),
    *family("source", "odd-characters", "double", _CHARACTERS),
    *family("source", "size-of-the-source", "double", _SIZES),
    *family("source", "nesting-of-the-source", "double", _NESTING),
    *(
        Attack(name, "source", "slow-to-compile", "single", code + _THEFT, "hangs")
        for name, code in _SLOW_TO_COMPILE.items()
    ),
]
