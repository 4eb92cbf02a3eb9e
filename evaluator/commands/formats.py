"""`rollscope formats`: the supported formats, and the format of a file."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

import msgspec

from evaluator.commands.output import Exit, counted, print_json, print_table
from evaluator.formats import (
    FormatError,
    FormatMatch,
    Problem,
    Role,
    Source,
    known_formats,
    load_rollouts,
    load_tasks,
    parse_field_map,
    sniff,
)
from evaluator.formats.reading.containers import RawRow, open_container
from evaluator.formats.reading.problems import one_line, snippet_of
from evaluator.formats.reading.sources import resolve
from evaluator.model import Rollout, Task

_SHOWN: Final = 20


def formats(file: str | None, format_name: str | None, field_map: str | None, *, check: bool, as_json: bool) -> int:
    """Print what a file is, how many rows are usable, which grades they came with, and what is wrong with others.

    `file`: as ROLLOUTS of `rollscope grade`; None: print every format and what it holds. With `check`, every bad line
    is printed.
    """
    if file is not None:
        return _inspect(file, format_name, field_map, check=check, as_json=as_json)
    known = known_formats().values()
    if as_json:
        print_json([{"name": f.name, "roles": [role.value for role in f.roles], "title": f.title} for f in known])
        return Exit.DONE
    print_table(("format", "holds", "fields"), [(each.name, ", ".join(each.roles), each.title) for each in known])
    print("Plain, .gz, .zst, .bz2 or .xz; JSON lines, one JSON list, Parquet or CSV. Detected from the first rows.")
    return Exit.DONE


def _inspect(words: str, name: str | None, field_map: str | None, *, check: bool, as_json: bool) -> int:
    files = resolve(words, remote=True)
    names = parse_field_map(field_map) if field_map else None
    found = _format_of(files[0], name, mapped=names is not None)
    seen = _Seen(math.inf if check else _SHOWN)
    load = load_tasks if found.role is Role.TASKS else load_rollouts
    records: Iterator[Task] | Iterator[Rollout] = load(files, name, field_map=names, on_problem=seen.problem)
    for record in records:
        seen.record(record)
    if check:
        seen.problems = list(_with_first_bytes(files, seen.problems))
    if as_json:
        print_json(_report(words, found, seen))
    else:
        _print(words, found, seen, check=check)
    return Exit.BAD_INPUT if seen.rows == 0 or (check and seen.bad) else Exit.DONE


class _Seen:
    """What a file has, counted as it is read."""

    def __init__(self, most: float) -> None:
        self._most = most
        self.rows = self.rewards = 0
        self.grades: dict[str, Counter[str]] = {}
        """By who gave them, "" where nobody is named."""
        self.reasons: Counter[str] = Counter()
        self.problems: list[Problem] = []

    @property
    def bad(self) -> int:
        return self.reasons.total()

    def problem(self, problem: Problem) -> None:
        self.reasons[problem.reason] += 1
        if len(self.problems) < self._most:
            self.problems.append(problem)

    def record(self, record: Task | Rollout) -> None:
        self.rows += 1
        if not isinstance(record, Rollout):
            return
        self.rewards += record.given_reward is not None
        verdict = record.recorded_verdict.value if record.recorded_verdict else None
        if verdict is None and record.expected_pass is not None:
            verdict = "passed" if record.expected_pass else "not passed"
        if verdict is not None:
            self.grades.setdefault(record.recorded_by or "", Counter())[verdict] += 1


def _format_of(file: Source, name: str | None, *, mapped: bool) -> FormatMatch:
    if mapped and name is None:
        name = "mapped"
    if name is None:
        return sniff(file)
    roles = known_formats()[name].roles if name in known_formats() else ()
    return FormatMatch(name, Role.ROLLOUTS if Role.ROLLOUTS in roles or not roles else Role.TASKS, "named", "")


def _with_first_bytes(files: list[Source], problems: list[Problem]) -> Iterator[Problem]:
    """The same; those with rows that are well-formed JSON have their first bytes too."""
    wanted: dict[str, set[int]] = {}
    for problem in problems:
        if not problem.snippet:
            wanted.setdefault(problem.path, set()).add(problem.line)
    begins = {
        (file.name, line): text for file in files for line, text in _first_bytes(file, wanted.get(file.name, set()))
    }
    for problem in problems:
        text = problem.snippet or begins.get((problem.path, problem.line), "")
        yield msgspec.structs.replace(problem, snippet=text)


def _first_bytes(file: Source, lines: set[int]) -> Iterator[tuple[int, str]]:
    if not lines:
        return
    with suppress(FormatError), open_container(file) as container:
        for row in container.raw_rows():
            if isinstance(row, RawRow) and row.line in lines:
                yield row.line, snippet_of(row.data)


def _report(words: str, found: FormatMatch, seen: _Seen) -> dict[str, object]:
    return {
        "file": words, "format": found.format, "holds": found.role.value, "why": found.why,
        "container": found.container, "rows": seen.rows, "rewards": seen.rewards, "recorded": seen.grades,
        "bad_lines": seen.bad, "reasons": seen.reasons,
        "problems": [
            {"file": p.path, "line": p.line, "offset": p.offset, "reason": p.reason, "message": p.message,
             "snippet": p.snippet} for p in seen.problems
        ],
    }  # fmt: skip


def _print(words: str, found: FormatMatch, seen: _Seen, *, check: bool) -> None:
    packed = f", {found.container}" if found.container else ""
    print(f"{one_line(words)}: {found.role} in format {found.format} ({found.why}){packed}")
    for other in found.others:
        print(f"  could be read as {other.role} in format {other.format} ({other.why})")
    print(f"  {counted(seen.rows, 'usable row')}, {counted(seen.bad, 'bad line')}{_by_count(seen.reasons, ': ')}")
    if found.role is Role.ROLLOUTS:
        _print_grades(seen)
    for problem in seen.problems:
        print(_line(problem) if check else problem)
    if seen.bad > len(seen.problems):
        print(f"... and {seen.bad - len(seen.problems):,} more (--check prints all)")


def _print_grades(seen: _Seen) -> None:
    for who, verdicts in seen.grades.items():
        print(f"  graded by {one_line(who) or 'its source'}{_by_count(verdicts, ': ')}")
    if seen.rewards:
        print(f"  {counted(seen.rewards, 'reward')}")
    if not seen.grades and not seen.rewards:
        print("  no recorded grades")


def _by_count(counts: Counter[str], before: str) -> str:
    """Such as `: passed 3, time_limit 1`."""
    return before + ", ".join(f"{word} {count:,}" for word, count in counts.most_common()) if counts else ""


def _line(problem: Problem) -> str:
    at = "" if problem.offset is None else f"byte {problem.offset:,}, "
    begins = f" (begins {problem.snippet})" if problem.snippet else ""
    said = problem.message if problem.message.startswith(problem.reason) else f"{problem.reason}: {problem.message}"
    return one_line(f"{problem.path}:{problem.line}: {at}{said}{begins}")
