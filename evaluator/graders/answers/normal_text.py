"""Which differences between two answers are ignored."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from typing import Literal

import msgspec

_LONGEST_NUMBER = 400
_NUMBER = re.compile(r"([+-]?)[$€£]?((?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]*)(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,4})?)")
_MINUS = "\N{MINUS SIGN}\N{HYPHEN}\N{NON-BREAKING HYPHEN}\N{EN DASH}\N{SMALL HYPHEN-MINUS}\N{FULLWIDTH HYPHEN-MINUS}-"
_OF_NUMBER = re.compile(
    r"(?P<point>(?<=\d)\.(?=\d)|(?<![^\W_])(?<!\.)\.(?=\d))"
    rf"|(?:(?<![^\W_])(?<![)\]}}{_MINUS}])|(?<=\d[eE])|(?<=\d\.[eE]))[{_MINUS}](?=[$€£]?\.?\d)"
)
"""The parts of a number that Unicode counts as punctuation: the point between or before digits, and the sign."""
_ARTICLE = re.compile(r"\b(?:a|an|the)\b", re.IGNORECASE)


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """What is ignored, in this order: Unicode forms, letters' case, punctuation, articles, white space.

    With `punctuation` "ignore" the point and the minus sign of a number still count: 3.14 is not 314, -5 is not 5 and
    1e-5 is not 1e5. A point belongs to a number between two digits, or before a digit if no letter, digit or point
    precedes it. A minus (a hyphen or an en dash, too) does if a number follows at once, with or without a currency
    sign, and no letter, digit, closing bracket or other minus precedes it; and in an exponent. Commas never count.
    """

    unicode: Literal["keep", "NFC", "NFKC"] = "NFC"
    case: Literal["keep", "ignore"] = "keep"
    punctuation: Literal["keep", "ignore"] = "keep"
    articles: Literal["keep", "ignore"] = "keep"
    whitespace: Literal["keep", "fold"] = "keep"
    strip: bool = True
    numbers: bool = False


def normal(text: str, rules: Rules) -> str:
    """The text in the form in which two texts are compared."""
    if rules.unicode != "keep":
        text = unicodedata.normalize(rules.unicode, text)
    if rules.case == "ignore":
        text = text.casefold()
    if rules.punctuation == "ignore":
        text = _without_punctuation(text)
    if rules.articles == "ignore":
        text = " ".join(_ARTICLE.sub(" ", text).split())
    if rules.whitespace == "fold":
        text = " ".join(text.split())
    return text.strip() if rules.strip else text


def _without_punctuation(text: str) -> str:
    kept: list[str] = []
    start = 0
    for part in _OF_NUMBER.finditer(text):
        kept += [_unpunctuated(text[start : part.start()]), "." if part["point"] else "-"]
        start = part.end()
    return "".join([*kept, _unpunctuated(text[start:])])


def _unpunctuated(text: str) -> str:
    return "".join(char for char in text if not unicodedata.category(char).startswith("P"))


def as_number(text: str) -> Decimal | None:
    """The number in a text, possibly with commas between thousands, a currency sign, a point at the end.

    None for anything else, `nan`, `inf`, fractions and per cents included.
    """
    text = text.strip().replace("\N{MINUS SIGN}", "-")
    match = _NUMBER.fullmatch(text) if len(text) <= _LONGEST_NUMBER else None
    if match is None or not re.search("^[.,]?[0-9]", match.group(2)):
        return None
    sign, digits = match.groups()
    return Decimal(sign + digits.replace(",", ""))
