"""The cache of grades as a worker uses it: which grades are kept, and what is new in one that was kept.

A grade's key is a digest of all that decides it: the completion's text, the task's tests and grader, the run's options,
the sandbox's proved layers, the Python inside with its packages, the Python outside, and this package's own source.
What order a mapping has decides nothing.

A grade is kept if the same completion would get it again. Limits of time and memory also depend on the machine, so a
grade with such a test case is not; nor is one without a reward, or one whose test suite was answered in two ways.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import secrets
import sys
from collections import OrderedDict
from functools import cache
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from evaluator.graders.grader import Grader
from evaluator.graders.plans import is_of_leetcode
from evaluator.graders.spec import parse_spec
from evaluator.model import Grade, JsonValue, Rollout, Task, Verdict
from evaluator.options import CacheSettings, Options
from evaluator.runs.grade_cache import KEY_BYTES, GradeCache
from evaluator.sandbox import Sandbox, fingerprint
from evaluator.user_files import cache_folder

_PACKAGE: Final = Path(__file__).parent.parent
_COPIED: Final = {"__pycache__", "_app"}
"""Folders in the package whose files decide no grade: caches, and the dashboard in a wheel."""
_DECIDE_NOTHING: Final = {"task_id", "source", "licence", "metadata", "line"}
_DECIDING: Final = tuple(name for name in Task.__struct_fields__ if name not in _DECIDE_NOTHING)
_CLOCK: Final = re.compile(
    r"\b(?:now|today|utcnow|localtime|gmtime|ctime|strftime)\(|\btime\.time\b|\bfrom time import\b"
)
"""In the code of a test, or of a checker: it may pass today and fail tomorrow."""
_REMEMBERED: Final = 256
_MAY_CHANGE: Final = {Verdict.TIME_LIMIT, Verdict.MEMORY_LIMIT, Verdict.SANDBOX_ERROR, Verdict.UNKNOWN}
_KILLED: Final = "ended by SIGKILL"

_log = logging.getLogger(__name__)


def cache_settings(cache: bool | str | Path | None, *, reads: bool = True) -> CacheSettings | None:
    """For `Options.cache`. `cache`: a folder; True: the one in the user's cache directory; False or None: no cache."""
    if cache is None or cache is False:
        return None
    try:
        folder = cache_folder("grades") if cache is True else Path(cache).expanduser()
    except RuntimeError as error:  # there is no home
        _log.warning("the cache of grades is not used: %s", error)
        return None
    return CacheSettings(folder=os.path.abspath(folder), run=secrets.token_hex(8), reads=reads)  # noqa: PTH100


class CachedGrades:
    """A worker's access to the cache. For one thread at a time. Tasks must not change meanwhile."""

    def __init__(self, options: Options, settings: CacheSettings) -> None:
        self._options = replace(options, cache=None)
        self._reads = settings.reads
        self._cache = GradeCache(Path(settings.folder), most_bytes=settings.most_bytes, run=settings.run)
        self._layers: tuple[str, ...] = ()
        """Those in the last key."""
        self._run: tuple[object, bytes] | None = None
        self._tasks: OrderedDict[int, tuple[Task, bytes]] = OrderedDict()

    def key(self, task: Task, rollout: Rollout, grader: Grader, sandbox: Sandbox) -> bytes | None:
        """None for a grade that must not be kept, or of which something can't be digested.

        Raises `SandboxUnavailable` and `FaultError`: the sandbox's layers are proved.
        """
        if grader.kept_by is None or not grader.runs_code:
            return None
        sandbox.require_proof()
        self._layers = sandbox.layers
        try:
            more = _json(grader.kept_by(task, rollout))
            parts = (self._of_run(sandbox), self._of_task(task), more, str(rollout.kind).encode())
            completion = rollout.completion.encode("utf-8", "surrogatepass")
        except (OSError, TypeError, ValueError, RecursionError):
            return None
        digest = hashlib.blake2b(b"".join(map(_digest, parts)), digest_size=KEY_BYTES)
        digest.update(completion)
        return digest.digest()

    def get(self, key: bytes, rollout: Rollout) -> Grade | None:
        """The grade with this key, as this rollout's."""
        found = self._cache.get(key) if self._reads else None
        if found is not None:
            found.task_id, found.sample_id, found.cached = rollout.task_id, rollout.sample_id, True
        return found

    def put(self, key: bytes, grade: Grade) -> None:
        """Keeps a grade that will not change, right after `key` and the grading."""
        if _will_be_the_same(grade) and grade.layers in ((), self._layers):
            self._cache.put(key, replace(grade, task_id="", sample_id=""))

    def close(self) -> None:
        """Writes what is not yet written."""
        self._cache.close()

    def _of_run(self, sandbox: Sandbox) -> bytes:
        which = (sandbox.settings, sandbox.layers)
        if self._run is None or self._run[0] != which:
            options = msgspec.to_builtins(self._options)
            options["grader"] = _spec(self._options.grader)
            options["sandbox"] = msgspec.to_builtins(sandbox.settings)
            python = fingerprint(sandbox.settings.python)
            parts = (options, list(sandbox.layers), python, sys.version, msgspec.__version__, _source())
            self._run = which, _digest(_json(parts))
        return self._run[1]

    def _of_task(self, task: Task) -> bytes:
        """Raises `ValueError` for one whose grades are of their day."""
        known = self._tasks.get(id(task))
        if known is not None:  # it holds the task, so no other one has its id
            return known[1]
        if any(code is not None and _CLOCK.search(code) for code in (task.test, task.checker_code)):
            raise ValueError("its test looks at the clock")
        fields = {name: getattr(task, name) for name in _DECIDING}
        fields |= {"grader": _spec(task.grader), "libs": task.metadata.get("libs"), "of_leetcode": is_of_leetcode(task)}
        digest = _digest(_json(msgspec.to_builtins(fields)))
        self._tasks[id(task)] = task, digest
        if len(self._tasks) > _REMEMBERED:
            self._tasks.popitem(last=False)
        return digest


def _will_be_the_same(grade: Grade) -> bool:
    verdicts = {grade.verdict, *(case.verdict for case in grade.cases), *(part.verdict for part in grade.components)}
    return (
        grade.reward is not None
        and grade.disagreement is None
        and verdicts.isdisjoint(_MAY_CHANGE)
        and all(_KILLED not in (case.error_message or "") for case in grade.cases)  # perhaps by the machine
    )


@cache
def _source() -> str:
    """A digest of the files of this package. Raises `OSError` where it has none of its own."""
    names = sorted(path.relative_to(_PACKAGE) for path in _PACKAGE.rglob("*") if path.is_file())
    deciding = [name for name in names if not _COPIED.intersection(name.parts)]
    if not deciding:
        raise OSError(f"{_PACKAGE}: no files")
    digest = hashlib.blake2b()
    for name in deciding:
        digest.update(_digest(str(name).encode()) + _digest((_PACKAGE / name).read_bytes()))
    return digest.hexdigest()


def _spec(grader: str | None) -> JsonValue:
    """A grader with its options, however they are written. Raises `GraderError`."""
    return None if grader is None else msgspec.to_builtins(parse_spec(grader))


def _json(value: JsonValue) -> bytes:
    """In ASCII, which holds every text and number; the keys of objects are sorted. Raises `TypeError`, `ValueError`."""
    return json.dumps(value, sort_keys=True).encode("ascii")


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=32).digest()
