"""Search in completions and code: one thread per run and text, whose hits all visitors share.

Hits go into the connection's table `found` as they come, with the line of the first match, so that the filter and
everything that follows it reads them like a column. The texts themselves are read only once.
"""

from __future__ import annotations

import itertools
import re
import threading
from collections import OrderedDict
from typing import Literal, NamedTuple

import duckdb

from dashboard.queries.expressions import IN_PARTS
from dashboard.state import Filter
from dashboard.workspace import OpenRun, Params
from evaluator.runs.reading import one_line

_STEP = 5_000
"""Rollouts per query: a search can be stopped between two of them."""
_SCANS_KEPT = 8
_MARKED = 1_000
_AT_ONCE_S = 0.3
"""How long the first visitor waits: most runs are searched by then."""

State = Literal["running", "stopped", "finished"]


class Progress(NamedTuple):
    """How far a search is."""

    state: State
    done: int
    total: int
    hits: int
    error: str
    """Why nothing can be found, in one line; "" if it can."""


class Scan:
    """One search in one run."""

    def __init__(self, run: OpenRun, find: str) -> None:
        self.connection = run.connection
        self.number = next(_numbers)
        self.hits = 0
        self._find = find
        self._recorded = run.recorded
        self._cursor = run.connection.cursor()
        self._done = 0
        self._ends, self._total = _steps(self._cursor)
        self._error = _refusal(self._cursor, find)
        self._halt = threading.Event()
        self._thread = threading.Thread(target=self._go_on, name="search", daemon=True)
        self._thread.start()

    def wait(self, seconds: float | None = None) -> None:
        """Wait until it has ended."""
        self._thread.join(seconds)

    def stop(self) -> None:
        """End it before the next step."""
        self._halt.set()

    def resume(self) -> None:
        """Continue where it was stopped."""
        if not self._thread.is_alive():
            self._halt.clear()
            self._thread = threading.Thread(target=self._go_on, name="search", daemon=True)
            self._thread.start()

    def discard(self) -> None:
        """End it and remove its hits."""
        self.stop()
        self.wait()
        self._cursor.execute("DELETE FROM found WHERE find = $find", {"find": self._find})

    def progress(self) -> Progress:
        """How far it is now."""
        ended = self._done == len(self._ends) or bool(self._error)
        state: State = "finished" if ended else "running" if self._thread.is_alive() else "stopped"
        return Progress(state, min(self._done * _STEP, self._total), self._total, self.hits, self._error)

    def _go_on(self) -> None:
        try:
            while self._done < len(self._ends) and not (self._halt.is_set() or self._error):
                first = self._ends[self._done - 1] + 1 if self._done else 0
                sql, params = _matches(self._find, recorded=self._recorded)
                self._cursor.execute(sql, params | _span(self._cursor, first, self._ends[self._done]))
                self.hits += int((self._cursor.fetchone() or (0,))[0])
                self._done += 1
        except duckdb.Error as error:
            self._error = f"The search ended early: {one_line(error)}"


_scans: OrderedDict[tuple[str, tuple[int, ...], str], Scan] = OrderedDict()
_lock = threading.Lock()
_numbers = itertools.count(1)


def scan(run: OpenRun, find: str) -> Scan:
    """The search for a text, which starts now if there is none yet."""
    with _lock:
        key = (str(run.path), run.stamp, find)
        found = _scans.get(key)
        is_new = found is None or found.connection is not run.connection
        if found is None or is_new:
            for outdated in [each for each in _scans if each[0] == key[0] and each[1] != key[1]]:  # the run has grown
                _scans.pop(outdated).discard()
            found = _scans[key] = Scan(run, find)
        _scans.move_to_end(key)
        while len(_scans) > _SCANS_KEPT:
            _scans.popitem(last=False)[1].discard()
    if is_new:
        found.wait(_AT_ONCE_S)
    return found


def ended_with_more(run: OpenRun, find: str, hits: int) -> bool:
    """Whether the search has ended and found more than these."""
    now = scan(run, find).progress()
    return now.state != "running" and now.hits > hits


def filter_key(filter_: Filter) -> str:
    """Equal for two filters that let the same rollouts of a run through. It changes with each hit of a search."""
    if not filter_.find:
        return repr(filter_)
    with _lock:
        stamps = [(each.number, each.hits) for (_, _, find), each in _scans.items() if find == filter_.find]
    return f"{filter_!r}{stamps}"


def spans(run: OpenRun, find: str, text: str) -> list[tuple[int, int]]:
    """Where the text has what is searched for: start and end in characters, at most `_MARKED`; [] if it can't."""
    if not find or not text:
        return []
    if not is_pattern(find):
        starts = itertools.islice((found.start() for found in re.finditer(re.escape(find), text)), _MARKED)
        return [(start, start + len(find)) for start in starts]
    pattern = f"(?m)(?s:(.*?))({find[1:-1]})"
    sql = "SELECT regexp_extract_all($text, $pattern, 1), regexp_extract_all($text, $pattern, 2)"
    try:
        found = run.rows(sql, {"text": text, "pattern": pattern})
    except duckdb.Error:
        return []
    result, end = [], 0
    for before, hit in itertools.islice(zip(*found[0], strict=True), _MARKED):
        result.append((end + len(before), end := end + len(before) + len(hit)))
    return [span for span in result if span[0] < span[1]]


def is_pattern(find: str) -> bool:
    """Whether it is a regular expression between slashes."""
    return len(find) > 2 and find.startswith("/") and find.endswith("/")


def _steps(cursor: duckdb.DuckDBPyConnection) -> tuple[list[int], int]:
    """The last row of each step, and how many rollouts there are."""
    sql = f"""
        SELECT "row"
        FROM (SELECT "row", row_number() OVER (ORDER BY "row") AS n, count(*) OVER () AS total FROM rollouts)
        WHERE n % {_STEP} = 0 OR n = total ORDER BY n"""  # noqa: S608
    ends = [row for (row,) in cursor.execute(sql).fetchall()]
    (total,) = cursor.execute("SELECT count(*) FROM rollouts").fetchone() or (0,)
    return ends, int(total)


def _span(cursor: duckdb.DuckDBPyConnection, first: int, last: int) -> Params:
    """The parameters of one step: its rows, and the files that have them."""
    span: Params = {"first": first, "last": last}
    sql = 'SELECT DISTINCT part_file FROM rollouts WHERE "row" BETWEEN $first AND $last'
    return span | {"parts": [part for (part,) in cursor.execute(sql, span).fetchall()]}


def _refusal(cursor: duckdb.DuckDBPyConnection, find: str) -> str:
    """Why this can't be searched for: what is wrong with a regular expression."""
    if not is_pattern(find):
        return ""
    try:
        cursor.execute("SELECT regexp_matches('', $pattern)", {"pattern": find[1:-1]})
    except duckdb.Error as error:
        why = one_line(error).partition("Error: ")[2] or one_line(error)
        return f"{find} is not a regular expression that can be searched for: {why}"
    return ""


# A regular expression is matched by RE2, whose time is linear in the text, so that no pattern can hang the server.
# Its position is the length of what comes before: the shortest start after which it matches. `^` and `$` are the
# ends of a line.
_TEXT = {
    "matches": "contains({}, $find)",
    "hit": "$find",
    "position": "strpos(text, $find)",
}
_PATTERN = {
    "matches": "regexp_matches({}, $pattern)",
    "hit": "regexp_extract(text, $pattern)",
    "position": "length(regexp_extract(text, $until, 1)) + 1",
}


def _matches(find: str, *, recorded: bool) -> tuple[str, Params]:
    """Adds the matching rollouts of one step to `found`, with the line of the first match; the code comes first.

    `recorded`: the code of rollouts that are not graded is not stored; it is only looked for in matching completions.
    """
    by = _PATTERN if is_pattern(find) else _TEXT
    in_code, in_completion = (by["matches"].format(f"coalesce({column}, '')") for column in ("code", "completion"))
    somewhere = in_completion if recorded else f"{in_code} OR {in_completion}"
    sql = f"""
        INSERT INTO found
        WITH m AS (SELECT "row", {in_code} AS is_code, CASE WHEN is_code THEN code ELSE completion END AS text
                   FROM stored_rollouts
                   WHERE {IN_PARTS} AND "row" BETWEEN $first AND $last AND ({somewhere})),
             p AS (SELECT *, {by["hit"]} AS hit, {by["position"]} AS place FROM m),
             c AS (SELECT *, string_split(left(text, place - 1), chr(10)) AS above,
                          substr(text, place + length(hit), 200) AS below FROM p)
        SELECT $find, "row", is_code, len(above), right(above[-1], 80),
               left(string_split(hit, chr(10))[1], 160),
               CASE WHEN contains(hit, chr(10)) THEN '' ELSE string_split(below, chr(10))[1] END
        FROM c"""  # noqa: S608
    params: Params = {"find": find}
    if is_pattern(find):
        pattern = f"(?m){find[1:-1]}"
        params |= {"pattern": pattern, "until": f"\\A((?s:.*?))(?:{pattern})"}
    return sql, params
