"""Small tables, lists and chips of the pages as HTML. All text from files is escaped here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from dashboard import facts
from dashboard.escape import attribute, html
from dashboard.facts import chip_html, name_html
from dashboard.input_problems import BadRow
from dashboard.queries.audits import BINS
from dashboard.queries.records import RolloutRecord, decoded
from evaluator.model import Component, Verdict


def confusion(counts: Mapping[tuple[int, str], int]) -> str:
    """A row per bin of the given reward, a column per verdict; bins and verdicts that no rollout has are left out."""
    verdicts = [v.value for v in Verdict if any(word == v for _, word in counts)]
    places = sorted({place for place, _ in counts})
    head = "".join(f"<th>{facts.chip_html(word)}</th>" for word in verdicts)
    rows = "".join(
        f"<tr><td>{html(BINS[place])}</td>{''.join(_confusion_cell(counts.get((place, word), 0)) for word in verdicts)}"
        f"<td><b>{sum(counts.get((place, word), 0) for word in verdicts):,}</b></td></tr>"
        for place in places
    )
    top = f"<thead><tr><th>given</th>{head}<th>all</th></tr></thead>"
    return f'<div class="rs-confusion-box"><table class="rs-confusion">{top}<tbody>{rows}</tbody></table></div>'


def _confusion_cell(count: int) -> str:
    return f"<td>{count:,}</td>" if count else '<td class="none">·</td>'


def bad_lines(found: Sequence[BadRow], *, with_file: bool, room: int) -> str:
    """A row per bad line: where it is, what is wrong, and below that how it begins. `room`: pixels that others need."""
    names = ["file"] * with_file + ["line", "byte", "what is wrong, and how the line begins"]
    head = "".join(f"<th>{name}</th>" for name in names)
    rows = "".join(_bad_line(bad, with_file=with_file) for bad in found)
    style = f"max-height:max(300px, calc(100vh - {room}px))"
    return (
        f'<div class="rs-bad-lines" style="{style}" tabindex="0" role="region" aria-label="bad lines">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _bad_line(bad: BadRow, *, with_file: bool) -> str:
    file = f"<td>{html(bad.path)}</td>" if with_file else ""
    offset = "–" if bad.offset is None else f"{bad.offset:,}"
    reason = f"<b>{html(bad.reason)}</b> " if bad.reason and not bad.message.startswith(bad.reason) else ""
    begins = f"<code>{html(bad.snippet)}</code>" if bad.snippet else ""
    return f"<tr>{file}<td>{bad.line:,}</td><td>{offset}</td><td>{reason}{html(bad.message)}{begins}</td></tr>"


def schema(tables: dict[str, list[tuple[str, str]]]) -> str:
    """Each table as a list that opens."""
    return "".join(_columns(name, columns, opened=index == 0) for index, (name, columns) in enumerate(tables.items()))


def _columns(name: str, columns: list[tuple[str, str]], *, opened: bool) -> str:
    rows = "".join(
        f"<tr><td>{html(_quoted(column))}</td><td>{html(kind.lower())}</td></tr>" for column, kind in columns
    )
    head = f"<summary>{html(name)} <span>{len(columns)} columns</span></summary>"
    return f'<details class="rs-schema"{" open" if opened else ""}>{head}<table>{rows}</table></details>'


def _quoted(column: str) -> str:
    """As it is written in a statement."""
    return f'"{column}"' if column in ("group", "row") else column


_SHOWN = 6
_LONGEST = 40
_TOOLTIP = 1_000


def chips(tags: Sequence[str], note: str) -> str:
    """The first tags and the start of the note, each a chip; all of it in the tooltip."""
    parts = [_chip("rs-tag", tag) for tag in tags[:_SHOWN]]
    if len(tags) > _SHOWN:
        parts.append(_chip("rs-tag", f"+{len(tags) - _SHOWN}", "\n".join(tags[_SHOWN:])))
    if note:
        parts.append(_chip("rs-note", " ".join(note.split()), note))
    return f'<div class="rs-noted">{"".join(parts)}</div>'


def _chip(kind: str, text: str, tooltip: str = "") -> str:
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return f'<span class="{kind}" title="{attribute((tooltip or text)[:_TOOLTIP])}">{html(shown)}</span>'


def preview(verdict: str, title: str, facts: list[str], *, verified: bool) -> str:
    """The verdict, the rollout's name, and its facts in one line, of which the first two are names."""
    drawn = [name_html(fact) if place < 2 else html(fact) for place, fact in enumerate(facts) if fact]
    line = " · ".join(f"<span>{fact}</span>" for fact in drawn)
    chip = chip_html(verdict, verified=verified)
    return f'<div class="rs-preview-head">{chip} <b>{html(title)}</b><div class="rs-soft">{line}</div></div>'


def answers(rows: list[tuple[str, str, int, bool]]) -> str:
    """(verdict, answer, rollouts, whether it is the selected rollout's) of each answer to a test case, in one list."""
    items = "".join(
        f'<li class="{"here" if here else ""}">{chip_html(verdict)}<code>{html(answer)}</code><b>{count:,}</b></li>'
        for verdict, answer, count, here in rows
    )
    return f'<ul class="rs-answers">{items}</ul>'


_MAX_MESSAGE = 200
_RIGHT = ' style="text-align:right"'
_HEADS = {"part": 16, "reward": 11, "weight": 11, "weighted": 13, "verdict": 30, "message": 19}
"""The columns, with their share of the width."""
_NUMBERS = ("reward", "weight", "weighted")


def reward_parts(rollout: RolloutRecord) -> None:
    """The table; nothing where the reward is one number."""
    found = decoded(rollout.components, list[Component])
    if not found:
        return
    facts.section("Parts of the reward")
    widths = "".join(f'<col style="width:{share}%">' for share in _HEADS.values())
    head = "".join(f"<th{_RIGHT if name in _NUMBERS else ''}>{name}</th>" for name in _HEADS)
    body = "".join(map(_part, found))
    st.html(
        '<div class="rs-diff" role="group" aria-label="components" style="max-height:240px"><table>'
        f"<colgroup>{widths}</colgroup><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _part(part: Component) -> str:
    weighted = None if part.reward is None else part.reward * part.weight
    numbers = (_number(part.reward), f"{part.weight:g}", _number(weighted))
    cells = "".join(f"<td{_RIGHT}>{number}</td>" for number in numbers)
    verdict = f"{facts.chip_html(part.verdict.value)} {part.verdict.value}"
    message = part.message or ""
    if len(message) > _MAX_MESSAGE:
        message = f"{message[: _MAX_MESSAGE - 1]}…"
    return f"<tr><td>{html(part.name)}</td>{cells}<td>{verdict}</td><td>{html(message)}</td></tr>"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"


def headline(text: str, obstacles: Sequence[str]) -> str:
    """The sentence; or why there is none."""
    if not obstacles:
        return f'<div class="rs-title rs-headline">{html(text)}</div>'
    reasons = "".join(f"<li>{html(line)}</li>" for line in obstacles)
    return f'<div class="rs-banner warn" role="status"><b>No headline.</b><ul class="rs-reasons">{reasons}</ul></div>'
