"""Code in a text without fences: between marks that a prompt requires, in a quote, or between sentences."""

from __future__ import annotations

import ast
import re

from evaluator.extraction.definitions import is_code
from evaluator.extraction.fences import PYTHON_TAGS, Block
from evaluator.syntax import COMPLETION, MAX_PARSED, NOT_PYTHON, completion_tree, parse

_MOST_TRIED = 8
_LATEX = "lstlisting|verbatim|minted|code|python"
_MARKS = [
    (re.compile(rf"^[ \t]*{opening}", re.MULTILINE | re.IGNORECASE), re.compile(closing, re.MULTILINE | re.IGNORECASE))
    for opening, closing in (
        (r"\[BEGIN\]", r"^[ \t]*\[DONE\]"),
        (r"\[PYTHON\]", r"\[/PYTHON\]"),
        (r"<answer>", r"</answer>"),
        (rf"\\begin\{{(?:{_LATEX})\}}[^\n]*", rf"^[ \t]*\\end\{{(?:{_LATEX})\}}"),
    )
]
_MARK_LINE = re.compile(r"^\[(?:BEGIN|DONE|PYTHON)\][ \t]*$", re.MULTILINE)
_QUOTE = re.compile(r"^[ ]{0,3}>[ ]?", re.MULTILINE)
_QUOTED = re.compile(r"^[ ]{0,3}(>[^\n]*)", re.MULTILINE)
_INDENTED = re.compile(r"^[ \t]+(?:return|if|for|while|def)\b", re.MULTILINE)
_END_OF_TEXT = re.compile(
    r"(?:\s*(?:<\|(?:endoftext|im_end|end_of_text|eot_id|end|EOT|end▁of▁sentence)\|>|<｜end▁of▁sentence｜>"
    r"|<end_of_turn>|</s>))+\s*\Z"
)
_NAME = r"[A-Za-z_]\w*"
_STATEMENT = re.compile(
    rf"^(?:(?:async[ ]def|def|class)[ ]{_NAME}|import[ ][\w., ]+$|from[ ][\w.]+[ ]import\b|@{_NAME}"
    rf"|(?:{_NAME}\.)*{_NAME}\("
    r"|try:|(?:if|for|while|with)[ ][^\n]*:[ ]*(?:\#|$)"
    r"|[A-Za-z_][\w., \[\]]*(?::[ ]?[\w\[\], .]+)?(?:[-+*/%&|^]|//|\*\*|<<|>>)?=(?!=))",
    re.MULTILINE,
)
"""A line at the margin that may begin code, rather than a sentence."""


def without_end_of_text(text: str) -> str:
    """Without the tokens with which a model ends its text."""
    return _END_OF_TEXT.sub("", text, count=1) if text.rstrip()[-1:] == ">" else text


def without_lone_tag(text: str) -> str:
    """A first line `python`, left by a fence that the prompt opened, becomes blank."""
    first, found, rest = text.lstrip("\n").partition("\n")
    lines = len(text) - len(text.lstrip("\n"))
    return "\n" * (lines + 1) + rest if found and first.strip().lower() in PYTHON_TAGS else text


def unquoted(text: str) -> str:
    """Without the `>` of a block quote in which code or a fence begins."""
    quoted = "\n".join(line[1:].removeprefix(" ") for line in _QUOTED.findall(text))
    return _QUOTE.sub("", text) if re.search(r"^(?:```|~~~)", quoted, re.MULTILINE) or _begins(quoted) else text


def _begins(text: str) -> bool:
    return _STATEMENT.search(text) is not None


def has_marks(text: str) -> bool:
    """Whether a line is a mark that Python would take for a list."""
    return _MARK_LINE.search(text) is not None


def between_marks(text: str) -> tuple[str, int] | None:
    """The text between marks such as `[BEGIN]` and `[DONE]`, of which one may be missing, and the lines before it.

    What follows the first closing mark is another task's. A quoted text between them, as in MBPP's prompt, is unquoted.
    """
    for opening, closing in _MARKS:
        end = closing.search(text)
        begins = [found.end() for found in opening.finditer(text, 0, end.start() if end else len(text))]
        inside = text[begins[-1] if begins else 0 : end.start() if end else len(text)]
        if (begins or end) and inside.strip():
            return _literal(inside), text.count("\n", 0, begins[-1]) if begins else 0
    return None


def _literal(text: str) -> str:
    if text.strip()[0] not in "'\"":
        return text
    match completion_tree(text.strip()):
        case ast.Module(body=[ast.Expr(value=ast.Constant(value=str(inside)))]):
            return inside.replace("\r\n", "\n").replace("\r", "\n")
    return text


def looks_like_code(text: str) -> bool:
    """Whether some line could be Python's, and not a sentence's."""
    return _begins(text) or _INDENTED.search(text) is not None


def blocks_between_sentences(text: str, line: int) -> list[Block]:
    """The parts of a text that are whole statements, where what follows each is not code.

    What looks like the end of a program that was cut off is not a sentence: then there are no blocks.
    """
    if len(text) > MAX_PARSED:
        return []
    blocks: list[Block] = []
    position = 0
    for _ in range(_MOST_TRIED):
        found = _STATEMENT.search(text, position)
        if found is None:
            break
        code = whole_statements(text[found.start() :])
        if code and is_code(code):
            rest = text[found.start() + len(code) :].lstrip("\n")
            if _begins(rest.partition("\n")[0]):
                return []
            blocks.append(Block(code, line + text.count("\n", 0, found.start()), ""))
            position = found.start() + len(code)
        else:
            position = found.end()
    return blocks


def whole_statements(text: str) -> str:
    """The text up to where Python stops understanding it, cut back to the last whole statement; "" if that is none."""
    lines = text.split("\n")
    for _ in range(_MOST_TRIED):
        try:
            parse("\n".join(lines), COMPLETION)
        except SyntaxError as error:
            wrong = min(error.lineno or len(lines), len(lines))
        except NOT_PYTHON:
            return ""
        else:
            return "\n".join(lines)
        begins = (number for number in range(wrong - 1, -1, -1) if lines[number][:1].strip(" \t#)]}"))
        lines = lines[: next(begins, 0)]
        if not lines:
            return ""
    return ""
