"""Regular expressions over text that nobody vouches for: RE2's, whose time grows with the text and never explodes.

So lookaround and back references are not to be had.
"""

from __future__ import annotations

from functools import lru_cache

from evaluator.extras import needs

with needs("runs", "a pattern needs pyarrow"):
    import pyarrow as pa
    import pyarrow.compute as pc

LONGEST = 20_000
"""Characters of a text that `last_match` looks at, counted from its end."""

_BEGIN, _END = "\x02", "\x03"
_ELSEWHERE = str.maketrans({_BEGIN: " ", _END: " "})


class PatternError(ValueError):
    """Not a pattern of RE2's. The message says why."""


@lru_cache(1024)
def has_group(pattern: str) -> bool:
    """Whether a pattern has a group. Raises `PatternError` where it is none that can be used."""
    try:
        pc.match_substring_regex(pa.scalar(""), pattern=pattern)
    except (pa.ArrowInvalid, UnicodeEncodeError) as error:
        said = str(error).removeprefix("Invalid regular expression: ")
        raise PatternError(f"the pattern {pattern!r} can't be used: {said} (RE2's syntax is meant)") from None
    try:
        pc.replace_substring_regex(pa.scalar(""), pattern=pattern, replacement=r"\1")
    except pa.ArrowInvalid:
        return False
    return True


def matches(pattern: str, text: str) -> bool:
    """Whether a pattern is found anywhere in a text. Raises `PatternError`."""
    has_group(pattern)
    return bool(pc.match_substring_regex(_scalar(text), pattern=pattern).as_py())


def last_match(pattern: str, text: str) -> str | None:
    """The first group of a pattern's last match in the text's end, or the whole match where it has no group."""
    group = r"\1" if has_group(pattern) else r"\0"
    end = _scalar(text[-LONGEST:].translate(_ELSEWHERE))
    marked = pc.replace_substring_regex(end, pattern=pattern, replacement=f"{_BEGIN}{group}{_END}").as_py()
    _, found, rest = marked.rpartition(_BEGIN)
    return rest.partition(_END)[0] if found else None


def _scalar(text: str) -> pa.Scalar:
    return pa.scalar(text.encode("utf-8", "backslashreplace").decode())
