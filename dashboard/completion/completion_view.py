"""HTML of the Completion page. All text from files is escaped here."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence

from dashboard import escape, facts, meanings, theme
from dashboard.completion.chat_templates import Part
from dashboard.completion.transcript import Turn
from dashboard.escape import html
from dashboard.facts import counted
from dashboard.queries.records import RolloutRecord
from dashboard.text import code_view
from dashboard.text.code_view import Span
from dashboard.text.diff_view import cut
from evaluator.model import CaseResult, Traceback

_LINE = re.compile(r"\bline (\d{1,7})\b")
_LINE_LINK = r'<a href="#L\1">line \1</a>'
_WORD_SHOWN = 80
_ROLES = ("system", "user", "assistant", "tool")
_OF_CODE = ("code", "command", "cmd", "script", "source")
_LINES_OPEN = 3
_NAMES = ("sample", "model")
_TURN_SHOWN = 20_000
"""The most characters of one part of a turn that are shown."""


def title(rollout: RolloutRecord, task: str, task_href: str, *, recorded: bool) -> str:
    """The verdict, the task as a link to its page, and the sample's place in it."""
    link = f'<a class="rs-task" href="{escape.attribute(task_href)}">{html(task)}</a>'
    chip = facts.chip_html(rollout.verdict, verified=rollout.verified or recorded)
    head = f"{chip} {html(meanings.word(theme.verdict(rollout.verdict), recorded=recorded))} · {link}"
    return f'<div class="rs-title">{head} / sample {rollout.number} of {rollout.samples}</div>'


def place(text: str) -> str:
    """The rollout's place in the filter."""
    return f'<span class="rs-mono" title="place in the filter">{html(text)}</span>'


def figures(rollout: RolloutRecord, found: Sequence[tuple[str, str]], equal_as: Iterable[tuple[str, bool]]) -> str:
    """The facts in one line, the recorded verdict second; then a box for each comparison, filled if both are equal."""
    drawn = [(name, facts.name_html(value) if name in _NAMES else html(value)) for name, value in found]
    shown = [f"<div><span>{html(name)}</span> <b>{value}</b></div>" for name, value in drawn]
    body = "".join([*shown[:1], _recorded(rollout), *shown[1:]])
    marks = "".join(_mark(name, equal=equal) for name, equal in equal_as)
    equal = f'<div class="rs-equal"><span>equal</span> {marks}</div>' if marks else ""
    return f'<div class="rs-facts">{body}{equal}</div>'


def _recorded(rollout: RolloutRecord) -> str:
    """The verdict that the rollout came with, in our word and its source's, and what made it."""
    word, said = rollout.recorded_verdict, rollout.recorded_word
    if word is None:
        return ""
    shown = ""
    if said and said != word:
        short = said if len(said) <= _WORD_SHOWN else f"{said[:_WORD_SHOWN]}…"
        shown = f' <b title="{escape.attribute(said)}">“{html(short)}”</b>'
    by = f" <span>by {html(rollout.recorded_by)}</span>" if rollout.recorded_by else ""
    return f"<div><span>recorded</span> {facts.chip_html(word, recorded=True)} <b>{html(word)}</b>{shown}{by}</div>"


def _mark(name: str, *, equal: bool) -> str:
    said = f"expected and actual are {'' if equal else 'not '}equal {name}"
    return f'<b class="{"yes" if equal else "no"}" title="{html(said)}">{"▣" if equal else "▢"} {html(name)}</b> '


def failure(
    verdict: str, name: str, *, first: str, message: str, quiet: str, trace: Traceback | None, q: str = ""
) -> str:
    """What went wrong: what differs, then the verdict with its message, a general sentence, and the frames.

    `q`: a text that is marked, in any case.
    """
    head = f'<div class="what">{_marked(first, q)}</div>' if first else ""
    head += f'{facts.chip_html(verdict)} <span class="type">{html(name)}</span>'
    body = f' <span class="msg">{_marked(message, q)}</span>' if message else ""
    if quiet:
        body += f' <span class="rs-soft">{html(quiet)}</span>'
    return f'<div class="rs-error">{head}{body}{_frames(trace)}</div>'


def _marked(text: str, q: str) -> str:
    found = re.finditer(re.escape(q), text, re.IGNORECASE) if q else ()
    return "\n".join(code_view.plain_lines(text, [each.span() for each in found]))


def _frames(trace: Traceback | None) -> str:
    if trace is None or not trace.frames:
        return ""
    rows = [
        f'<li><a href="#L{frame.line}">line {frame.line}</a><span>{html(frame.function)}</span>'
        f"<code>{html(frame.text)}</code></li>"
        for frame in reversed(trace.frames)
    ]
    if trace.omitted:
        rows.insert(len(rows) // 2, f'<li class="rs-soft">{counted(trace.omitted, "frame")} not shown</li>')
    return f'<ul class="rs-frames rs-mono">{"".join(rows)}</ul>'


def flags(rollout: RolloutRecord) -> str:
    """The flags with their evidence; line numbers in it link to the code."""
    rows = "".join(
        f"<b>{html(word)}</b><span>{_LINE.sub(_LINE_LINK, html(evidence))}</span>"
        for word, evidence in itertools.zip_longest(rollout.flags or (), rollout.flag_evidence or (), fillvalue="")
    )
    return f'<div class="rs-flags" role="group" aria-label="flags">{rows}</div>'


def raw(rollout: RolloutRecord, line: int | None, *, is_answer: bool, height: str, found: Sequence[Span]) -> str:
    """The whole text, with the code that ran highlighted. An answer has no code, and all of it counts."""
    total = rollout.completion.count("\n") + 1
    taken: range | None = None if is_answer else range(0)
    if rollout.code is not None:
        offset = rollout.line_offset or 0
        lines = rollout.code.removesuffix("\n").count("\n") + 1  # a final line break starts no line
        taken = range(max(1, 1 + offset), min(total, lines + offset) + 1)
    failing = line + (rollout.line_offset or 0) if line else None
    return code_view.raw(rollout.completion, taken=taken, failing=failing, height=height, found=found)


def letters(cases: Iterable[CaseResult]) -> str:
    """One letter per test case, as in the grid."""
    cells = [
        facts.chip_html(case.verdict.value, f"test {case.index}: {case.verdict.value}", own=True) for case in cases
    ]
    return f'<div class="rs-letters rs-mono">{" ".join(cells)}</div>'


def beside(heads: tuple[str, str], rows: Sequence[tuple[str, str, str]], chips: tuple[str, str]) -> str:
    """Two results in a table: `rows` are (name, one, other); the first row has the verdicts `chips`."""
    drawn = (facts.chip_html(chips[0]), facts.chip_html(chips[1], own=True))
    top = "".join(f"<td>{chip} <b>{html(word)}</b></td>" for chip, word in zip(drawn, chips, strict=True))
    body = "".join(f"<tr><th>{html(name)}</th><td>{html(a)}</td><td>{html(b)}</td></tr>" for name, a, b in rows)
    head = f"<tr><th></th><th>{html(heads[0])}</th><th>{html(heads[1])}</th></tr>"
    return f'<table class="rs-beside"><thead>{head}</thead><tbody><tr><th>verdict</th>{top}</tr>{body}</tbody></table>'


def transcript(turns: Sequence[Turn], left_out: int) -> str:
    """Every turn in its order, as text; above them their numbers, which lead to them."""
    numbered = list(enumerate(turns, 1))
    jumps = "".join(f'<a href="#turn{n}" title="{escape.attribute(turn.label)}">{n}</a>' for n, turn in numbered)
    rows = "".join(_turn(number, turn) for number, turn in numbered)
    more = f'<div class="rs-soft">{counted(left_out, "turn")} more: see the JSON.</div>' if left_out else ""
    return (
        f'<nav class="rs-jump" aria-label="turns">{jumps if len(turns) > 1 else ""}</nav>'
        f'<div class="rs-transcript" role="list">{rows}{more}</div>'
    )


def _turn(number: int, turn: Turn) -> str:
    body = "".join(map(_part, turn.parts))
    omitted = f'<span class="rs-soft">{counted(turn.omitted, "character")} left out</span>' if turn.omitted else ""
    label = f'<div class="who"><span>{number}</span> <b>{html(turn.label)}</b></div>'
    role = turn.role if turn.role in _ROLES else "other"
    return f'<div class="turn {role}" id="turn{number}" role="listitem">{label}<div>{body}{omitted}</div></div>'


def _part(part: Part) -> str:
    text = f'<pre class="rs-text" tabindex="0">{html(cut(part.text, _TURN_SHOWN))}</pre>'
    lines = part.text.strip("\n").count("\n") + 1
    if part.kind in ("thinking", "output"):
        start = part.text.strip().split("\n", 1)[0][:_WORD_SHOWN]
        about = f"{html(part.name)} <span>{counted(lines, 'line')} · {html(start)}</span>"
        shown = " open" if part.kind == "output" and lines <= _LINES_OPEN else ""
        return f"<details{shown}><summary>{about}</summary>{text}</details>"
    caption = f'<span class="rs-soft">{html(part.name)}</span>' if part.name else ""
    if part.kind == "call" and (lines > 1 or part.name in _OF_CODE):
        return caption + code_view.code(part.text, prefix="C", height="60vh")
    return caption + text
