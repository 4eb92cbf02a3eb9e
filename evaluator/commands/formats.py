"""`rollscope formats`: the supported formats, and the format of a file."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext, suppress
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
)
from evaluator.formats.reading.containers import RawRow, open_container
from evaluator.formats.reading.file_layout import no_rows
from evaluator.formats.reading.loader import sniff_each
from evaluator.formats.reading.problems import one_line, snippet_of
from evaluator.formats.reading.sources import resolve
from evaluator.model import Rollout, Task
from evaluator.tasks.given_tests import unread_tests

_SHOWN: Final = 20
_FILES_SHOWN: Final = 3
_COMPLETIONS: Final = ("completion", "generation", "response", "output", "prediction", "solution", "code", "text")


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
    seen: list[_Seen] = []
    for title, found, some in _alike(words, files, name, names):
        seen.append(each := _Seen(title, found, math.inf if check else _SHOWN))
        load = load_tasks if each.role is Role.TASKS else load_rollouts
        with nullcontext() if found else suppress(FormatError):  # it is among the problems
            records: Iterator[Task] | Iterator[Rollout] = load(some, name, field_map=names, on_problem=each.problem)
            for record in records:
                each.record(record)
        if not found and not each.bad:
            raise no_rows(*some)
        if check:
            each.problems = list(_with_first_bytes(some, each.problems))
    if as_json:
        first, *others = map(_report, seen)
        print_json({**first, "also": others})
    else:
        for each in seen:
            _print(each, check=check)
    bad = not any(each.rows for each in seen) or (check and any(each.bad for each in seen))
    return Exit.BAD_INPUT if bad else Exit.DONE


def _alike(
    words: str, files: list[Source], name: str | None, names: dict[str, str] | None
) -> Iterator[tuple[str, list[FormatMatch], list[Source]]]:
    """The files of rollouts, and those of tasks, each with a title and what is known of them; with the first of both
    those that can't be read, which are its problems as they are of `rollscope grade`. Raises `FormatError` for a file
    alone that can't be read.
    """
    try:
        matches = sniff_each(files, name, field_map=names)
    except FormatError as error:
        matches = {}
        try:
            load_rollouts(files, name, field_map=names)  # if this does not raise, its rows are told one by one
        except FormatError:
            raise error from None
    unread = [file for file in files if file not in matches]
    roles = [role for role in (Role.ROLLOUTS, Role.TASKS) if any(match.role is role for match in matches.values())]
    for role in roles:
        some = [file for file, match in matches.items() if match.role is role]
        shown = ", ".join(file.name for file in some[:_FILES_SHOWN]) + (", ..." if len(some) > _FILES_SHOWN else "")
        title = words if len(roles) == 1 else shown
        read = [file for file in files if file in some or (role is roles[0] and file in unread)]
        yield title, [matches[file] for file in some], read
    if not roles:
        yield words, [], files


class _Seen:
    """What a file has, counted as it is read."""

    def __init__(self, title: str, found: list[FormatMatch], most: float) -> None:
        self.title = title
        self.found = found
        """Of each file; empty if none has a row that can be read."""
        self._most = most
        self.rows = self.rewards = self.tests = 0
        self.completion = ""
        """A field of tasks that looks like one."""
        self.unread = ""
        """A field of tasks without tests that looks like tests."""
        self.grades: dict[str, Counter[str]] = {}
        """By who gave them, "" where nobody is named."""
        self.reasons: Counter[str] = Counter()
        self.problems: list[Problem] = []

    @property
    def role(self) -> Role:
        return self.found[0].role if self.found else Role.ROLLOUTS

    @property
    def formats(self) -> str:
        return ", ".join(dict.fromkeys(match.format for match in self.found))

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
            decided = (record.test, record.cases, record.grader, record.answer)
            has_tests = any(value not in (None, "", ()) for value in decided)
            self.tests += has_tests
            if not has_tests:
                self.unread = self.unread or unread_tests(record.metadata) or ""
            texts = (name for name in _COMPLETIONS if isinstance(record.metadata.get(name), str))
            self.completion = self.completion or next(texts, "")
            return
        self.rewards += record.given_reward is not None
        verdict = record.recorded_verdict.value if record.recorded_verdict else None
        if verdict is None and record.expected_pass is not None:
            verdict = "passed" if record.expected_pass else "not passed"
        if verdict is not None:
            self.grades.setdefault(record.recorded_by or "", Counter())[verdict] += 1


_Place = tuple[int, int | None]
"""A row's line and offset."""


def _with_first_bytes(files: list[Source], problems: list[Problem]) -> Iterator[Problem]:
    """The same; those with rows that are well-formed have their first bytes too, those of a table as JSON."""
    wanted: dict[str, set[_Place]] = {}
    for problem in problems:
        if not problem.snippet:
            wanted.setdefault(problem.path, set()).add((problem.line, problem.offset))
    begins = {
        (file.name, place): text for file in files for place, text in _first_bytes(file, wanted.get(file.name, set()))
    }
    for problem in problems:
        text = problem.snippet or begins.get((problem.path, (problem.line, problem.offset)), "")
        yield msgspec.structs.replace(problem, snippet=text)


def _first_bytes(file: Source, places: set[_Place]) -> Iterator[tuple[_Place, str]]:
    if not places:
        return
    with suppress(FormatError), open_container(file) as container:
        for row in container.raw_rows():
            if (row.line, row.offset) in places and not isinstance(row, Problem):
                data = row.data if isinstance(row, RawRow) else json.dumps(row.fields).encode()
                yield (row.line, row.offset), snippet_of(data)


def _report(seen: _Seen) -> dict[str, object]:
    first = seen.found[0] if seen.found else None
    return {
        "file": seen.title, "format": seen.formats or None, "holds": seen.role.value if first else None,
        "why": first.why if first else "", "container": first.container if first else "", "rows": seen.rows,
        "with_tests": seen.tests if seen.role is Role.TASKS else None, "rewards": seen.rewards, "recorded": seen.grades,
        "bad_lines": seen.bad, "reasons": seen.reasons,
        "problems": [
            {"file": p.path, "line": p.line, "offset": p.offset, "reason": p.reason, "message": p.message,
             "snippet": p.snippet} for p in seen.problems
        ],
    }  # fmt: skip


def _print(seen: _Seen, *, check: bool) -> None:
    if seen.found:
        first = seen.found[0]
        print(f"{one_line(seen.title)}: {seen.role} in format {seen.formats} ({first.why}), {first.container}")
        for other in first.others:
            print(f"  could be read as {other.role} in format {other.format} ({other.why})")
    else:
        print(f"{one_line(seen.title)}: nothing in it can be read")
    print(f"  {counted(seen.rows, 'usable row')}, {counted(seen.bad, 'bad line')}{_by_count(seen.reasons)}")
    if seen.found and seen.role is Role.ROLLOUTS:
        _print_grades(seen)
    elif seen.rows > seen.tests:
        _print_without_tests(seen)
    for problem in seen.problems:
        print(_line(problem) if check else problem)
    if seen.bad > len(seen.problems):
        print(f"... and {seen.bad - len(seen.problems):,} more (--check prints all)")


def _print_without_tests(seen: _Seen) -> None:
    without = seen.rows - seen.tests
    fix = ""
    if seen.unread:
        fix = f"; if {seen.unread} has them: --map tests={seen.unread} (--dataset-map beside rollouts)"
    elif seen.completion and not seen.tests:
        fix = f"; if {seen.completion} is the completion, these are rollouts: --map completion={seen.completion}"
    print(f"  {counted(without, 'row')} without tests{fix}" if seen.tests else f"  no row has tests{fix}")


def _print_grades(seen: _Seen) -> None:
    for who, verdicts in seen.grades.items():
        print(f"  graded by {one_line(who) or 'its source'}{_by_count(verdicts)}")
    if seen.rewards:
        print(f"  {counted(seen.rewards, 'reward')}")
    if not seen.grades and not seen.rewards:
        print("  no recorded grades")


def _by_count(counts: Counter[str]) -> str:
    """Such as `: passed 3, time_limit 1`."""
    return ": " + ", ".join(f"{word} {count:,}" for word, count in counts.most_common()) if counts else ""


def _line(problem: Problem) -> str:
    at = "" if problem.offset is None else f"byte {problem.offset:,}, "
    begins = f" (begins {problem.snippet})" if problem.snippet else ""
    said = problem.message if problem.message.startswith(problem.reason) else f"{problem.reason}: {problem.message}"
    return one_line(f"{problem.path}:{problem.line}: {at}{said}{begins}")
