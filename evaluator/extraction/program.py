"""Extracts the program from a completion, and tracks which line of the text each of its lines came from.

The kind of a completion's text (`Kind`) is given or detected:

1. A fence, or a thinking section, means `chat`, unless the whole text is a program (with fences in its strings).
2. A text that parses and defines the entry point (stdin: that parses) is `full`.
3. A text that parses after the prompt, and then defines the entry point, is a `continuation`.
4. Anything else is `full`: the interpreter reports what is wrong with it.

In a `chat` answer, one fenced block is the program. Thinking (`<think>...</think>`, also with only the closing tag) is
skipped; thinking that never ends counts only if there is no code before it. The program is the first of:

1. the last block that defines the entry point: by `def` or `class` (or `class Solution` with that method),
   else by assignment. A usage example after it does not;
2. the last block that is the body of the prompt's function;
3. the last block tagged Python that parses, then the last untagged one that parses and is more than values;
4. the last block tagged Python, the last without a tag, the last of all.

Blocks tagged as another language count only for 1, if they parse as Python, and for the last of all.
Without any block, the program is the answer itself if it is bare code.

Code before a first fence without a tag is a block too: the prompt may have opened it.

Nothing in a completion is run: texts are searched with linear patterns and parsed up to `MAX_PARSED`
characters. Lines end as Python's do: at a line feed, a carriage return, or both; the code has line feeds.
"""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache

import msgspec

from evaluator import syntax
from evaluator.extraction.fences import Block, before_bare_fence, fenced_blocks, has_fence
from evaluator.model import Kind, Mode, Task

MAX_PARSED = 100_000
"""Characters; a longer text is not parsed, and counts as Python if it defines the entry point."""

_MOST_TRIED = 8
"""Blocks that are parsed, from the last. This many of the maximum length take about a second."""

_FILENAME = "<completion>"
_THINK_OPEN = re.compile(r"^[ \t]*<think(?:ing)?>", re.MULTILINE | re.IGNORECASE)
_THINK_CLOSE = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_ORPHAN_CLOSE = re.compile(r"^[ \t]*</think(?:ing)?>|</think(?:ing)?>[ \t]*$", re.MULTILINE | re.IGNORECASE)
_RETURN = re.compile(r"^return\b", re.MULTILINE)
_SOLUTION = re.compile(r"^class[ \t]+Solution\b", re.MULTILINE)
_NESTING = (ast.If, ast.Try, ast.With, ast.For, ast.While)

# Parsing a completion must not print its warnings (such as an invalid escape) as if they were ours.
for _category in (SyntaxWarning, DeprecationWarning):
    warnings.filterwarnings("ignore", category=_category, module=re.escape(_FILENAME))


class Extraction(msgspec.Struct, frozen=True):
    """The program extracted from a completion.

    `code` is None if there is none; `reason` then says why. Line of the completion's text = line of `code`
    + `line_offset`; if that is not above 0, the line is in the prompt. `kind` is the text's kind, given or detected.
    """

    code: str | None
    kind: Kind
    line_offset: int = 0
    reason: str | None = None


class _Region(msgspec.Struct, frozen=True):
    """A part of the completion's text and the line on which it begins."""

    text: str
    line: int


def extract(completion: str, *, task: Task, kind: Kind | None) -> Extraction:
    """The program in a completion, by the rules above. Never raises, whatever the text.

    `task` has the entry point (none for stdin) and the prompt. `task.preamble` is not added to the code.
    """
    text = _with_line_feeds(completion.removeprefix("\ufeff"))
    if not text.strip() or text.isspace():
        return Extraction(None, kind or Kind.FULL, 0, "the completion is empty")
    match kind or _kind_of(text, task):
        case Kind.CHAT:
            return _from_chat(text, task)
        case Kind.CONTINUATION:
            return _from_continuation(text, task)
        case _:
            return Extraction(text, Kind.FULL)


def outside_thinking(completion: str) -> str:
    """The text of a completion outside its thinking sections; a section without an end extends to the end."""
    answer, _ = _without_thinking(_with_line_feeds(completion.removeprefix("\ufeff")))
    return "".join(region.text for region in answer)


def _with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _called(task: Task) -> str | None:
    return None if task.mode is Mode.STDIN else task.entry_point


def _kind_of(text: str, task: Task) -> Kind:
    name = _called(task)
    looks_like_chat = has_fence(text) or _THINK_OPEN.search(text) or _ORPHAN_CLOSE.search(text)
    if (name is None or _defines(text, name)) and (_parses(text) if not looks_like_chat else _fits_and_parses(text)):
        return Kind.FULL
    if looks_like_chat:
        return Kind.CHAT
    if task.prompt and name is not None:
        joined = _with_line_feeds(task.prompt) + text
        if _defines(joined, name) and _parses(joined):
            return Kind.CONTINUATION
    return Kind.FULL


# continuation


def _from_continuation(text: str, task: Task) -> Extraction:
    prompt = _with_line_feeds(task.prompt)
    whole = _after_prompt(prompt, text, Kind.CONTINUATION)
    if not has_fence(text) or _fits_and_parses(prompt + text):
        return whole
    before = re.split(r"^[ \t]*(?:```|~~~)", text, maxsplit=1, flags=re.MULTILINE)[0]
    if before.strip():
        return _after_prompt(prompt, before, Kind.CONTINUATION)
    blocks = fenced_blocks(text)
    return _block_after_prompt(prompt, blocks[0], Kind.CONTINUATION) if blocks else whole


def _after_prompt(prompt: str, text: str, kind: Kind) -> Extraction:
    return Extraction(prompt + text, kind, -prompt.count("\n"))


def _block_after_prompt(prompt: str, block: Block, kind: Kind) -> Extraction:
    """A block right after the prompt. Blank lines replace the text before it, so that line numbers stay right."""
    if prompt and not prompt.endswith("\n"):
        prompt += "\n"
    return _after_prompt(prompt, "\n" * (block.line - 1) + block.text, kind)


# chat


def _from_chat(text: str, task: Task) -> Extraction:
    answer, unfinished = _without_thinking(text)
    blocks = [block for region in answer for block in _blocks(region)]
    if not blocks:
        bare = _bare_code(answer, task)
        if bare:
            return bare
        blocks = fenced_blocks(unfinished.text, unfinished.line) if unfinished else []
    if not blocks:
        return Extraction(None, Kind.CHAT, 0, _why_nothing(answer, unfinished))
    return _from_blocks(blocks, task)


def _blocks(region: _Region) -> list[Block]:
    """The fenced blocks; before them, the text that a lone closing fence ends, if it is code."""
    leading = before_bare_fence(region.text)
    blocks = fenced_blocks(region.text, region.line)
    if leading.strip() and len(leading) <= MAX_PARSED and _is_code(textwrap.dedent(leading)):
        return [Block(leading, region.line, ""), *blocks]
    return blocks


def _why_nothing(answer: Sequence[_Region], unfinished: _Region | None) -> str:
    if unfinished:
        return "no fenced block: the text ends while the model is thinking"
    if not any(region.text.strip() for region in answer):
        return "no fenced block: nothing follows the thinking"
    return "no fenced block"


def _from_blocks(blocks: Sequence[Block], task: Task) -> Extraction:
    name = _called(task)
    if name is not None:
        defining = _last_that_defines(blocks, name)
        if defining:
            return _from_block(defining)
        for block in blocks[: -_MOST_TRIED - 1 : -1]:
            body = None if block.foreign else _as_body(block, task, name)
            if body:
                return body
    return _from_block(_last_likely(blocks))


def _from_block(block: Block) -> Extraction:
    code = block.text
    if code[:1] in " \t\n" and not _parses(code):
        # an indented block without an indented fence
        dedented = textwrap.dedent(code) if len(code) <= MAX_PARSED else code
        code = dedented if _parses(dedented) else code
    return Extraction(code, Kind.CHAT, block.line - 1)


def _last_that_defines(blocks: Sequence[Block], name: str) -> Block | None:
    ours = [block for block in blocks if not block.foreign]
    for defines in (_defines_by_statement, _assigns):
        for block in reversed(ours):
            if defines(textwrap.dedent(block.text) if block.text[:1] in " \t" else block.text, name):
                return block
    for block in blocks[: -_MOST_TRIED - 1 : -1]:
        if block.foreign and _defines_by_statement(block.text, name) and _fits_and_parses(block.text):
            return block
    return None


def _last_likely(blocks: Sequence[Block]) -> Block:
    python = [block for block in blocks if block.python]
    untagged = [block for block in blocks if not block.python and not block.foreign]
    for block in python[: -_MOST_TRIED - 1 : -1]:
        if _parses(block.text):
            return block
    for block in untagged[: -_MOST_TRIED - 1 : -1]:
        if _is_code(block.text):
            return block
    return (python or untagged or list(blocks))[-1]


def _as_body(block: Block, task: Task, name: str) -> Extraction | None:
    """The block as the rest of the prompt's function, if it can be nothing else."""
    prompt = _with_line_feeds(task.prompt)
    if not prompt or len(block.text) > MAX_PARSED or not _defines(prompt, name):
        return None
    if not block.text.lstrip("\n").startswith((" ", "\t")):
        if not _RETURN.search(block.text):
            return None
        block = block._replace(text=textwrap.indent(block.text, "    "))
    joined = _block_after_prompt(prompt, block, Kind.CHAT)
    return joined if joined.code and _fits_and_parses(joined.code) else None


def _bare_code(regions: Sequence[_Region], task: Task) -> Extraction | None:
    """The last part of an answer without fences, if it is bare code."""
    region = next((region for region in reversed(regions) if region.text.strip()), None)
    if region is None or len(region.text) > MAX_PARSED:
        return None
    name = _called(task)
    as_block = Block(region.text.removeprefix("\n"), region.line + region.text.startswith("\n"), "")
    if name is not None and not _defines(region.text, name):
        body = _as_body(as_block, task, name)
        if body:
            return body
    return _from_block(as_block) if _is_code(as_block.text) else None


def _without_thinking(text: str) -> tuple[list[_Region], _Region | None]:
    """The parts outside thinking sections, and the section without an end, if any."""
    regions: list[_Region] = []
    position = line = 0
    opening = _THINK_OPEN.search(text)
    orphan = _ORPHAN_CLOSE.search(text)
    if orphan and (opening is None or orphan.start() < opening.start()):
        position = orphan.end()
        opening = _THINK_OPEN.search(text, position)
    line = 1 + text.count("\n", 0, position)
    while opening:
        regions.append(_Region(text[position : opening.start()], line))
        line += text.count("\n", position, opening.start())
        closing = _THINK_CLOSE.search(text, opening.end())
        if closing is None:
            return regions, _Region(text[opening.end() :], line)
        line += text.count("\n", opening.start(), closing.end())
        position = closing.end()
        opening = _THINK_OPEN.search(text, position)
    return [*regions, _Region(text[position:], line)], None


# which names a text defines, and whether it is Python


class _Patterns(msgspec.Struct, frozen=True):
    """Patterns that find definitions of one name."""

    top: re.Pattern[str]
    inner: re.Pattern[str]
    assignment: re.Pattern[str]


@lru_cache(maxsize=4096)
def _patterns(name: str) -> _Patterns:
    escaped = re.escape(name)
    return _Patterns(
        top=re.compile(rf"^(?:(?:async[ \t]+)?def|class)[ \t]+{escaped}\b", re.MULTILINE),
        inner=re.compile(rf"^[ \t]+(?:async[ \t]+)?def[ \t]+{escaped}\b", re.MULTILINE),
        assignment=re.compile(rf"^{escaped}[ \t]*(?::[^=\n]*)?=(?!=)", re.MULTILINE),
    )


def _defines(text: str, name: str) -> bool:
    return _defines_by_statement(text, name) or _assigns(text, name)


def _assigns(text: str, name: str) -> bool:
    return _patterns(name).assignment.search(text) is not None


def _defines_by_statement(text: str, name: str) -> bool:
    patterns = _patterns(name)
    if patterns.top.search(text):
        return True
    if patterns.inner.search(text) is None:
        return False
    return _SOLUTION.search(text) is not None or _defines_when_run(text, name)


def _defines_when_run(text: str, name: str) -> bool:
    """Whether a function is defined inside a statement such as `if` or `try` at the top."""
    tree = _tree(text)
    return tree is not None and any(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name
        for node in _run_at_once(tree.body)
    )


def _run_at_once(statements: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    waiting = list(statements)
    while waiting:
        statement = waiting.pop()
        yield statement
        if isinstance(statement, _NESTING):
            waiting.extend(node for node in ast.iter_child_nodes(statement) if isinstance(node, ast.stmt))
        if isinstance(statement, ast.Try):
            waiting.extend(node for handler in statement.handlers for node in handler.body)


def _tree(text: str) -> ast.Module | None:
    return None if len(text) > MAX_PARSED else syntax.tree_of(text, _FILENAME)


def _parses(text: str) -> bool:
    return len(text) > MAX_PARSED or _tree(text) is not None


def _fits_and_parses(text: str) -> bool:
    return _tree(text) is not None


def _is_code(text: str) -> bool:
    """Whether a text parses and is more than names and values, unlike an English word or an output."""
    tree = _tree(text)
    if tree is None:
        return len(text) > MAX_PARSED
    return any(
        not isinstance(node, ast.Expr)
        or any(isinstance(part, ast.Call | ast.Await | ast.NamedExpr) for part in ast.walk(node.value))
        for node in tree.body
    )
