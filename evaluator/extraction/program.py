"""Extracts the program from a completion, and tracks which line of the text each of its lines came from.

The kind of a completion's text (`Kind`) is given or detected:

1. A fence, or a thinking section, means `chat`, unless the whole text is a program (with fences in its strings).
2. A text that parses and defines the entry point (stdin: that parses) is `full`.
3. A text that parses after the prompt, and then defines the entry point, is a `continuation`.
4. Code between marks (`[PYTHON]`, `[BEGIN]`, `<answer>`, LaTeX's), in a block quote, or between sentences is `chat`.
5. Anything else is `full`: the interpreter reports what is wrong with it. A text without a line of code is not code.

A `continuation` goes right after the prompt, and before the task's suffix if it has one. Where that is not Python, the
first of these which is counts: on a line of its own; with the first line's indentation, if it is a space off, as the
prompt's; without what follows the last whole statement, where the function is complete.

In a `chat` answer, fenced blocks are the program. Thinking (`<think>...</think>`, also with only the closing tag) is
skipped, and thinking that never ends has no answer. The program is the first of:

1. the last block that defines the entry point: by `def` or `class` (or `class Solution` with that method), else by
   assignment or import; stdin: the last block that reads input and prints, else that reads, else that prints;
2. the last block that is the body of the prompt's function;
3. the last block tagged Python that parses, then the last untagged one that parses and is more than values;
4. the last block tagged Python, the last without a tag, the last of all.

For 1, other blocks are joined to it whose names it uses and does not define: a helper, an import, a constant.
Blocks tagged as another language count only for 1, if they parse as Python, and for the last of all.
Without any block, the program is the answer itself if it is bare code, else what 4. above finds.

Code before a first fence without a tag is a block too: the prompt may have opened it.

Nothing in a completion is run: texts are searched with linear patterns and parsed up to `MAX_PARSED`
characters. Lines end as Python's do: at a line feed, a carriage return, or both; the code has line feeds.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

import msgspec

from evaluator.extraction import choice, unfenced
from evaluator.extraction.choice import Extraction
from evaluator.extraction.definitions import called, defines, fits_and_parses, is_code, parses
from evaluator.extraction.fences import (
    Block,
    Region,
    before_bare_fence,
    fenced_blocks,
    has_fence,
    has_thinking,
    without_thinking,
)
from evaluator.model import Kind, Mode, Task
from evaluator.syntax import MAX_PARSED

WHOLE = "the whole completion"
_TEXT_ALONE = "no code: no statement that defines, reads or prints"
_RETURN = re.compile(r"^return\b", re.MULTILINE)
_LONG_STRINGS = ("'''", '"""', "\\\n", "{")
"""Without any of these, a string ends on its line: no quotes of three, continued line, or field of an f-string."""
_AFTER_SIGN = re.compile(r"> ?(?:```|~~~)")
_QUOTED_FENCE = re.compile(rf"^ {{0,3}}{_AFTER_SIGN.pattern}", re.MULTILINE)


def extract(completion: str, *, task: Task, kind: Kind | None, unfinished_thinking: bool = False) -> Extraction:
    """The program in a completion, by the rules above. Never raises, whatever the text.

    `task` has the entry point (none for stdin) and the prompt. `task.preamble` is not added to the code.
    `unfinished_thinking`: whether code in a thinking section that never ends counts, if there is none before it.
    """
    text = unfenced.without_end_of_text(_with_line_feeds(completion.removeprefix("\ufeff")))
    if not text.strip() or text.isspace():
        return Extraction(None, kind or Kind.FULL, 0, "the completion is empty")
    match kind:
        case Kind.CHAT:
            return _from_chat(text, task, unfinished_thinking)
        case Kind.CONTINUATION:
            return _from_continuation(text, task)
        case Kind.FULL:
            return _whole(text)
    return _detected(text, task, unfinished_thinking)


def outside_thinking(completion: str) -> str:
    """The text of a completion outside its thinking sections; a section without an end extends to the end."""
    answer, _ = without_thinking(_with_line_feeds(completion.removeprefix("\ufeff")))
    return "".join(region.text for region in answer)


def _with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _detected(text: str, task: Task, unfinished_thinking: bool) -> Extraction:
    name, prompt = called(task), _with_line_feeds(task.prompt)
    looks_like_chat, marked = has_fence(text) or has_thinking(text), unfenced.has_marks(text)
    is_python = _fits_and_parses_with_fences(text) if looks_like_chat or marked else parses(text)
    may_end_a_line = name is not None and not prompt.endswith("\n") and defines(prompt, name)
    if is_python and not is_code(text) and not may_end_a_line:
        return _text_alone(text, task)
    if is_python and not marked and (name is None or defines(text, name)):
        return _whole(text)
    if looks_like_chat:
        return _from_chat(text, task, unfinished_thinking)
    found = None
    if prompt and name is not None and not marked and not defines(text, name) and defines(prompt + text, name):
        found = _continued(prompt, text, task)
    found = found or _without_fence(Region(text, 1), task)
    is_whole = (is_python and is_code(text)) or unfenced.looks_like_code(text)
    return found or (_whole(text) if is_whole else _text_alone(text, task))


def _fits_and_parses_with_fences(text: str) -> bool:
    """`fits_and_parses`, which need not try a text whose first fence is neither in a string nor in a comment."""
    before, fence, _ = text.partition("```")
    line = before[before.rfind("\n") + 1 :]
    may_be_inside = any(sign in line for sign in "#'\"") or any(sign in before for sign in _LONG_STRINGS)
    return (may_be_inside or not fence) and fits_and_parses(text)


def _text_alone(text: str, task: Task) -> Extraction:
    """A text in which no line is code: of a task that asks for an answer, that answer."""
    return _whole(text) if task.mode is Mode.ANSWER else Extraction(None, Kind.FULL, 0, _TEXT_ALONE)


def _whole(text: str) -> Extraction:
    return Extraction(text, Kind.FULL, extracted_from=WHOLE)


# continuation


def _from_continuation(text: str, task: Task) -> Extraction:
    prompt = _with_line_feeds(task.prompt)
    if has_fence(text) and not fits_and_parses(prompt + text):
        before = re.split(r"^[ \t]*(?:```|~~~)", text, maxsplit=1, flags=re.MULTILINE)[0]
        blocks = fenced_blocks(text)
        if before.strip():
            return _after_prompt(prompt, before, "the text before the fence")
        if blocks:
            return _block_after_prompt(prompt, blocks[0], Kind.CONTINUATION)
    return _continued(prompt, text, task) or _after_prompt(prompt, text + _with_line_feeds(task.suffix))


def _continued(prompt: str, text: str, task: Task) -> Extraction | None:
    """The prompt and the text, as the first of the rules above which is Python."""
    name, suffix = called(task), _with_line_feeds(task.suffix)
    if suffix:
        wholes = (text + suffix, f"{text}\n{suffix}")
        fitting = next((whole for whole in wholes if parses(prompt + whole)), None)
        return _after_prompt(prompt, fitting, "the completion and the suffix") if fitting else None
    if parses(prompt + text):
        return _after_prompt(prompt, text)
    if len(prompt) + len(text) > MAX_PARSED:
        return None
    if not prompt.endswith("\n"):
        return _continued(prompt + "\n", text, task)
    indented = _as_the_prompt(prompt, text)
    if indented != text and parses(prompt + indented):
        return _after_prompt(prompt, indented, "the completion with its first line's indentation repaired")
    for whole in (text, indented):
        kept = unfenced.whole_statements(prompt + whole)[len(prompt) :]
        if kept.strip() and not (name and defines(whole, name) and not defines(kept, name)):
            last = kept.rstrip("\n").count("\n") + 1
            return _after_prompt(prompt, kept, f"the completion up to line {last}, where its last whole statement ends")
    return None


def _as_the_prompt(prompt: str, text: str) -> str:
    """The text with its first line as far in as the prompt's last, if that is a space more or less."""
    ahead = len(text) - len(text.lstrip("\n"))
    first = text[ahead:]
    last = prompt.rstrip().rpartition("\n")[2]
    wanted, has = (len(line) - len(line.lstrip(" ")) for line in (last, first))
    return text[:ahead] + " " * wanted + first.lstrip(" ") if wanted and abs(wanted - has) == 1 else text


def _after_prompt(prompt: str, text: str, which: str = "the completion", kind: Kind = Kind.CONTINUATION) -> Extraction:
    where = f"the prompt and {which}" if prompt else which
    return Extraction(prompt + text, kind, -prompt.count("\n"), extracted_from=where)


def _block_after_prompt(prompt: str, block: Block, kind: Kind) -> Extraction:
    """A block right after the prompt. Blank lines replace the text before it, so that line numbers stay right."""
    if prompt and not prompt.endswith("\n"):
        prompt += "\n"
    return _after_prompt(prompt, "\n" * (block.line - 1) + block.text, "a block with its function's body", kind)


# chat


def _from_chat(text: str, task: Task, unfinished_thinking: bool) -> Extraction:
    answer, unfinished = without_thinking(text)
    blocks = [block for region in answer for block in _blocks(region)]
    if blocks:
        return _from_blocks(blocks, task)
    found = _bare_code(answer, task)
    thoughts = fenced_blocks(unfinished.text, unfinished.line) if unfinished and unfinished_thinking else []
    if found is None and thoughts:
        found = _from_blocks(thoughts, task)
        return msgspec.structs.replace(found, extracted_from=f"its unfinished thinking: {found.extracted_from}")
    return found or Extraction(None, Kind.CHAT, 0, _why_nothing(answer, unfinished))


def _from_blocks(blocks: Sequence[Block], task: Task) -> Extraction:
    name = called(task)
    if name is None:
        return choice.program(blocks) if task.mode is Mode.STDIN else choice.likeliest(blocks)
    bodies = (_as_body(block, task, name) for block in choice.tried(blocks) if not block.foreign)
    return choice.that_defines(blocks, name) or next(filter(None, bodies), None) or choice.likeliest(blocks)


def _blocks(region: Region) -> list[Block]:
    """The fenced blocks; before them, the text that a lone closing fence ends, if it is code."""
    text = unfenced.without_lone_tag(region.text)
    if _AFTER_SIGN.search(text) and _QUOTED_FENCE.search(text):
        text = unfenced.unquoted(text)
    leading = before_bare_fence(text)
    blocks = fenced_blocks(text, region.line)
    if leading.strip() and len(leading) <= MAX_PARSED and is_code(textwrap.dedent(leading)):
        return [Block(leading, region.line, ""), *blocks]
    return blocks


def _why_nothing(answer: Sequence[Region], unfinished: Region | None) -> str:
    if unfinished:
        return "no fenced block: the text ends while the model is thinking"
    if not any(region.text.strip() for region in answer):
        return "no fenced block: nothing follows the thinking"
    return "no fenced block"


def _as_body(block: Block, task: Task, name: str) -> Extraction | None:
    """The block as the rest of the prompt's function, if it can be nothing else."""
    prompt = _with_line_feeds(task.prompt)
    if not prompt or len(block.text) > MAX_PARSED or not defines(prompt, name):
        return None
    if not block.text.lstrip("\n").startswith((" ", "\t")):
        if not _RETURN.search(block.text):
            return None
        block = block._replace(text=textwrap.indent(block.text, "    "))
    joined = _block_after_prompt(prompt, block, Kind.CHAT)
    return joined if joined.code and fits_and_parses(joined.code) else None


def _bare_code(regions: Sequence[Region], task: Task) -> Extraction | None:
    """The last part of an answer without fences, if it is bare code, or has some."""
    region = next((region for region in reversed(regions) if region.text.strip()), None)
    if region is None or len(region.text) > MAX_PARSED:
        return None
    name = called(task)
    as_block = Block(region.text.removeprefix("\n"), region.line + region.text.startswith("\n"), "")
    if name is not None and not defines(region.text, name) and (body := _as_body(as_block, task, name)):
        return body
    if is_code(as_block.text) and not unfenced.has_marks(region.text):
        return choice.likeliest([as_block])
    return _without_fence(region, task)


def _without_fence(region: Region, task: Task) -> Extraction | None:
    """Code between marks, in a block quote, or between sentences."""
    name = called(task)
    if len(region.text) > MAX_PARSED or (name is None and task.mode is not Mode.STDIN):
        return None
    text, line = region
    marked = unfenced.between_marks(text)
    where = "code between marks" if marked else "code between sentences"
    if marked:
        text, line = marked[0], line + marked[1]
    text = unfenced.without_lone_tag(unfenced.unquoted(text))
    blocks = fenced_blocks(text, line) if text != region.text else []
    blocks = blocks or ([Block(text, line, "")] if is_code(text) else [])
    blocks = blocks or unfenced.blocks_between_sentences(text, line)
    if not blocks:
        return None
    found = choice.program(blocks) if name is None else choice.that_defines(blocks, name)
    return found and msgspec.structs.replace(found, extracted_from=where)
