"""Code that reads otherwise than it runs is flagged, with marks for what is not seen; honest text is not."""

import pytest

from evaluator import invisible
from tests.flags.conftest import Flags

FLAGGED = {
    "an override in a comment": ("def f(x):\n    return x  # \u202e } \u2066if admin\u2069", "line 2", "⟨U+202E⟩"),
    "an isolate in a literal": ("def f(x):\n    return x != 'user\u2066'", "line 2", "⟨U+2066⟩"),
    "a zero-width space in a name": ("def f(x):\n    to\u200btal = x\n    return x", "line 2", "to⟨U+200B⟩tal"),
    "a joiner in an ASCII name": ("def f(x):\n    to\u200dtal = x\n    return x", "line 2", "to⟨U+200D⟩tal"),
    "a soft hyphen in an operator": ("def f(x):\n    return x -\u00ad 1", "line 2", "-⟨U+00AD⟩"),
    "a payload in a literal": ("def f(x):\n    return 'a" + "\u200b\u200c" * 8 + "'", "line 2", "⟨U+200B⟩⟨U+200C⟩"),
    "a payload of tags": ("x = 1\n# " + "".join(chr(0xE0000 + ord(c)) for c in "exec"), "line 2", "⟨U+E0065⟩"),
    "a payload of selectors": ("x = '❤" + "\ufe0f\ufe01\ufe02\ufe03\ufe04" + "'", "line 1", "⟨U+FE01⟩"),
    "a byte order mark in the middle": ("def f(x):\n    return x\n\ufeffy = 1", "line 3", "⟨U+FEFF⟩"),
    "behind a fault": ("def f(x:\n    to\u200btal = x", "line 2", "⟨U+200B⟩"),
    "far out on a long line": ("x = [" + "1, " * 400 + "\u202e]", "line 1", "⟨U+202E⟩"),
}
HONEST = {
    "a byte order mark at the start": "\ufeffdef f(x):\n    return x",
    "emoji of several": "def f(x):\n    return '👩\u200d👩\u200d👧 ❤\ufe0f\u200d🔥 1\ufe0f\u20e3'",
    "Persian": "def f(x):\n    return 'می\u200cخواهم'",
    "Hindi": "def f(x):\n    return 'क्\u200dष'",
    "Hebrew with a mark": "def f(x):\n    return 'שלום\u200f!'",
    "one zero-width space in a literal": "def f(x):\n    return x.replace('\u200b', '')",
    "one in a comment": "def f(x):\n    return x  # pasted\u200b from a page",
    "escapes": "def f(x):\n    return x.strip('\\u200b\\u202e\\ufeff')",
    "in a formatted literal": "def f(x):\n    return f'{x}\u200b{x!r}'",
    "in a docstring of several lines": 'def f(x):\n    """One\n    two\u200b\n    """\n    return x',
}


@pytest.mark.parametrize("name", FLAGGED)
def test_what_is_not_seen_is_flagged_and_drawn_in_the_evidence(call_flags: Flags, name: str) -> None:
    code, where, mark = FLAGGED[name]
    evidence = call_flags(code)["invisible_text"]
    assert evidence.startswith(f"{where}: ")
    assert mark in evidence
    assert not invisible.UNSEEN.search(evidence)


@pytest.mark.parametrize("name", HONEST)
def test_honest_text_is_not_flagged(call_flags: Flags, name: str) -> None:
    assert "invisible_text" not in call_flags(HONEST[name])


def test_a_mark_stands_for_each_unseen_character_and_for_no_other() -> None:
    assert invisible.marked("a\u202eb\u200bc\x1b\x00\u2028\n\t") == "a⟨U+202E⟩b⟨U+200B⟩c⟨U+001B⟩⟨U+0000⟩⟨U+2028⟩\n\t"
    for honest in (*HONEST.values(), "plain", "Ünïcödé", "日本語", "\r\n"):
        plain = honest.replace("\u200b", "").replace("\u200f", "").replace("\ufeff", "")
        assert invisible.marked(plain) == plain
