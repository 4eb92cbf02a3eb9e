"""The report as HTML. Every text goes through `_text`: nothing from a file is markup, invisible or reordered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Final

from evaluator import invisible
from evaluator.model import Verdict
from evaluator.options import choices
from evaluator.report import verdict_colours
from evaluator.report.contents import Cluster, Contents, Failure, Flag, GridRow, Model, Note, Part
from evaluator.runs.metrics import Interval
from evaluator.runs.schema import Manifest

_STYLE: Final = Path(__file__).with_name("style.css")
_NAME: Final = 160
"""Characters of a name that are shown."""
_NAMES_ACROSS: Final = 6
"""Models whose names are written across the grid; the names of more are turned."""
_BAD_LINES: Final = 100
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"


def html(found: Contents) -> str:
    """The whole page."""
    title = f"{found.name}: Rollscope report"
    style = _STYLE.read_text(encoding="utf-8") + verdict_colours.rules("v-", border="var(--line)")
    return "\n".join(
        (
            f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{_text(title)}</title>',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<style>\n{style}</style>\n</head>\n<body>",
            *_body(found),
            "</body>\n</html>\n",
        )
    )


def _body(found: Contents) -> Iterator[str]:
    yield from _head(found)
    yield from _verdicts(found.verdicts, found.rollouts)
    yield from _models(found)
    yield from _clusters(found.clusters)
    yield from _flags(found.flags)
    yield from _grid(found.grid, found.models)
    yield from _failures(found.failures, several=found.models.total > 1)
    yield from _notes(found.notes)
    yield from _bad_lines(found.manifest)


def _head(found: Contents) -> Iterator[str]:
    manifest = found.manifest
    yield f"<h1>{_text(found.name)}</h1>"
    if found.chosen_by:
        part = f"{found.rollouts:,} of {found.total:,} rollouts"
        yield f"<p>{part}, chosen by <code>{_text(found.chosen_by, 2_000)}</code></p>"
    figures = [
        ("rollouts", f"{found.rollouts:,}"),
        ("tasks", f"{found.tasks:,}"),
        ("pass@1", _interval(found.pass_at_1) if found.rates else "none: chosen by outcome"),
        ("mean reward", _number(found.mean_reward)),
        ("not verified", f"{found.unverified:,}"),
    ]
    yield _facts(figures if found.rollouts else figures[:1])
    yield _facts(_provenance(manifest))


def _provenance(manifest: Manifest) -> list[tuple[str, str]]:
    limits = manifest.options.limits
    return [
        ("rollouts file", manifest.rollouts or "unknown"),
        ("dataset", manifest.dataset or "unknown"),
        ("dataset hash", manifest.dataset_hash[:16] or "unknown"),
        ("state", f"{manifest.state} ({manifest.stopped_by})" if manifest.stopped_by else manifest.state),
        ("created", manifest.created),
        ("evaluator", manifest.evaluator_version or "unknown"),
        ("Python", manifest.python or "unknown"),
        ("grader", manifest.options.grader or "tests, unless the task names one"),
        ("checker", manifest.options.checker or "by the kind of task, unless the task names one"),
        ("limits", f"{limits.wall_s:g} s wall, {limits.cpu_s:g} s CPU, {limits.memory_mb:g} MiB"),
        ("sandbox", f"{manifest.options.sandbox.strictness} ({', '.join(manifest.layers) or 'layers unknown'})"),
        *choices(manifest.options),
    ]


def _verdicts(counts: dict[str, int], total: int) -> Iterator[str]:
    yield "<h2>Verdicts</h2>"
    rows = [
        f'<tr><td>{_chip(word)} {word}</td><td class="n">{count:,}</td><td class="n">{count / total:.1%}</td>'
        f'<td class="bar"><i class="v-{word}" style="width:{100 * count / total:.2f}%"></i></td></tr>'
        for word, count in counts.items()
    ]
    yield _table("<th>verdict</th><th class=n>rollouts</th><th class=n>share</th><th></th>", rows)


def _models(found: Contents) -> Iterator[str]:
    models: Part[Model] = found.models
    yield _heading("Models", models, "model")
    rows = [
        f'<tr><td>{_text(each.name)}</td><td class="n">{each.rollouts:,}</td><td class="n">{each.tasks:,}</td>'
        f'<td class="n">{each.passed:,}</td>'
        f'<td class="n">{_interval(each.pass_at_1) if found.rates else "–"}</td>'
        f'<td class="n">{_number(each.mean_reward)}</td></tr>'
        for each in models.rows
    ]
    head = "<th>model</th><th class=n>rollouts</th><th class=n>tasks</th><th class=n>passed</th>"
    yield _table(f"{head}<th class=n>pass@1 (95% interval)</th><th class=n>mean reward</th>", rows)


def _clusters(clusters: Part[Cluster]) -> Iterator[str]:
    if not clusters.rows:
        return
    yield _heading("Failures that look alike", clusters, "kind")
    rows = [
        f"<tr><td>{_chip(each.verdict)}</td><td>{_text(each.name)}</td>"
        f'<td class="n">{each.rollouts:,}</td><td class="n">{each.tasks:,}</td></tr>'
        for each in clusters.rows
    ]
    yield _table("<th></th><th>error</th><th class=n>rollouts</th><th class=n>tasks</th>", rows)


def _flags(flags: Part[Flag]) -> Iterator[str]:
    if not flags.rows:
        return
    yield _heading("Flags", flags, "flag")
    rows = [
        f'<tr><td>{_text(each.word)}</td><td class="n">{each.rollouts:,}</td><td class="n">{each.tasks:,}</td></tr>'
        for each in flags.rows
    ]
    yield _table("<th>flag</th><th class=n>rollouts</th><th class=n>tasks</th>", rows)


def _grid(grid: Part[GridRow], models: Part[Model]) -> Iterator[str]:
    """A row for each task. The samples of several models are in a column each."""
    if not grid.rows:
        return
    yield _heading("Tasks and their samples, in the order of the file", grid, "task")
    shown = {word for row in grid.rows for words in row.verdicts.values() for word in words}
    yield f"<p>{' '.join(f'{_chip(v.value)} {v.value}' for v in Verdict if v.value in shown)}</p>"
    yield from _left_out(grid.rows, models)
    rows = [
        f'<tr><td>{_text(row.task_id, 60)}</td><td class="n">{row.passed:,}/{row.samples:,}</td>'
        f"{''.join(_samples(row.verdicts.get(each.name, ())) for each in models.rows)}</tr>"
        for row in grid.rows
    ]
    upright = ' class="up"' if len(models.rows) > _NAMES_ACROSS else ""
    names = [f"<th{upright}>{_text(each.name, 40)}</th>" for each in models.rows]
    samples = "".join(names) if len(names) > 1 else "<th>samples</th>"
    yield _table(f"<th>task</th><th class=n>passed</th>{samples}", rows, "grid")


def _left_out(rows: Sequence[GridRow], models: Part[Model]) -> Iterator[str]:
    """What the rows of the grid leave out."""
    if any(row.samples > sum(map(len, row.verdicts.values())) for row in rows):
        most = max(len(words) for row in rows for words in row.verdicts.values())
        of_each = "task and model" if models.total > 1 else "task"
        yield f'<p class="cut">Of each {of_each}, the first {most} sample{"" if most == 1 else "s"}.</p>'
    if len(models.rows) < models.total:
        yield f'<p class="cut">The first {len(models.rows)} of {models.total:,} models.</p>'


def _samples(verdicts: Iterable[str]) -> str:
    return f"<td>{''.join(map(_chip, verdicts))}</td>"


def _failures(failures: Part[Failure], *, several: bool) -> Iterator[str]:
    """`several`: whether they are of several models."""
    if not failures.rows:
        return
    yield _heading("Failures", failures, "failure")
    if several and len(failures.rows) < failures.total:
        yield '<p class="cut">Of each model in turn, in the order of the file.</p>'
    for each in failures.rows:
        yield from _failure(each)


def _failure(each: Failure) -> Iterator[str]:
    model = f" · {_text(each.model)}" if each.model else ""
    test = f" · test {each.test}" if each.test is not None else ""
    yield f"<article>\n<h3>{_chip(each.verdict)} {_text(each.task_id)}"
    yield f'<span class="soft">{_text(each.sample_id)}{model}{test}</span></h3>'
    error = ": ".join(text for text in (each.error_type, each.error_message) if text)
    said = each.difference or error or each.verdict
    yield f"<p>{_text(said, 600)}</p>"
    left = _pre(_code_lines(each)) if each.code else ""
    shown = [("input", each.input), ("expected", each.expected), ("actual", each.actual)]
    right = "".join(f'<p class="soft">{name}</p>{_pre(_text(text, len(text)))}' for name, text in shown if text)
    yield f'<div class="sides"><div>{left}</div><div>{right}</div></div>\n</article>'


def _code_lines(each: Failure) -> str:
    """The lines with their numbers; the failing one is marked."""
    lines = ""
    for number, line in each.code:
        text = f"<i>{number:4}</i> {_text(line, len(line))}"
        lines += f"<b>{text}</b>" if number == each.error_line else f"{text}\n"
    return lines


def _notes(notes: Part[Note]) -> Iterator[str]:
    if not notes.rows:
        return
    yield _heading("Notes", notes, "note")
    rows = [
        f"<tr><td>{_text(each.task_id)}</td><td>{_text(_noted(each))}</td>"
        f"<td>{''.join(f'<span class=tag>{_text(tag)}</span>' for tag in each.tags if tag)}</td>"
        f"<td>{_text(each.note, 2_000)}</td></tr>"
        for each in notes.rows
    ]
    yield _table("<th>task</th><th>noted about</th><th>tags</th><th>note</th>", rows)


def _noted(each: Note) -> str:
    """What a note is about."""
    if each.sample_id is not None:
        return each.sample_id
    return "the task" if each.test is None else f"test {each.test}"


def _bad_lines(manifest: Manifest) -> Iterator[str]:
    total = manifest.problems_total or len(manifest.problems)
    if not total:
        return
    bad = manifest.problems[:_BAD_LINES]
    yield _heading("Bad input lines, left out", Part(bad, total), "line")
    yield _pre("\n".join(f"{_text(each.path)}:{each.line}: {_text(each.message, 300)}" for each in bad))


def _heading(title: str, part: Part[object], noun: str) -> str:
    """A heading that says how many there are, and if only a part is shown."""
    whole = f"{part.total:,} {noun}{'' if part.total == 1 else 's'}"
    shown = f"the first {len(part.rows):,} of {whole}" if len(part.rows) < part.total else whole
    return f'<h2>{title} <span class="soft">{shown}</span></h2>'


def _table(head: str, rows: Iterable[str], kind: str = "") -> str:
    body = "\n".join(rows)
    return f'<table class="{kind}">\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table>'


def _facts(found: list[tuple[str, str]]) -> str:
    return "<dl>" + "".join(f"<div><dt>{name}</dt><dd>{_text(value)}</dd></div>" for name, value in found) + "</dl>"


def _chip(word: str) -> str:
    """A verdict's letter on its colour."""
    verdict = verdict_colours.verdict(word)
    return f'<span class="v v-{verdict.value}">{verdict.letter}</span>'


def _pre(inner: str) -> str:
    return f"<pre>{inner}</pre>"


def _interval(found: Interval) -> str:
    return f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f})" if found.n else "–"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _text(value: str, most: int = _NAME) -> str:
    """Text from a file, escaped, and cut to `most` characters."""
    return escape(invisible.marked(value if len(value) <= most else f"{value[:most]}…"))
