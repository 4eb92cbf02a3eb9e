"""Regular expressions for untrusted text: RE2's, which take linear time and have no lookaround or back references."""

from __future__ import annotations

from functools import lru_cache

from evaluator.extras import needs

with needs("runs", "a pattern needs pyarrow"):
    import pyarrow as pa
    import pyarrow.compute as pc

LONGEST = 20_000
"""`last_match` searches so many characters at the end of a text."""

_BEGIN, _END = "\x02", "\x03"
_ELSEWHERE = str.maketrans({_BEGIN: " ", _END: " "})


class PatternError(ValueError):
    """Not a valid RE2 pattern. The message says why."""


@lru_cache(1024)
def has_group(pattern: str) -> bool:
    """Whether a pattern has a group. Raises `PatternError` if it is not valid."""
    try:
        pc.match_substring_regex(pa.scalar(""), pattern=pattern)
    except (pa.ArrowInvalid, UnicodeEncodeError) as error:
        reason = str(error).removeprefix("Invalid regular expression: ")
        raise PatternError(f"the pattern {pattern!r} is not valid in RE2's syntax: {reason}") from None
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
    """The first group of a pattern's last match in the text's end, or the whole match if it has no group."""
    group = r"\1" if has_group(pattern) else r"\0"
    end = _scalar(text[-LONGEST:].translate(_ELSEWHERE))
    marked = pc.replace_substring_regex(end, pattern=pattern, replacement=f"{_BEGIN}{group}{_END}").as_py()
    _, begin, rest = marked.rpartition(_BEGIN)
    return rest.partition(_END)[0] if begin else None


def _scalar(text: str) -> pa.Scalar:
    return pa.scalar(text.encode("utf-8", "backslashreplace").decode())
