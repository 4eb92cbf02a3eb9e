"""The cache of grades as a worker uses it: which grades are kept, and what is new in one that was kept.

A grade is kept if the same completion would get it again: see `evaluator.workers.grade_keys` for what that depends on.
Limits of time and memory also depend on the machine, so a grade with such a test case is not; nor is one without a
reward, or one whose test suite was answered in two ways.
"""

from __future__ import annotations

import logging
import os
import secrets
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from evaluator.graders.grader import Grader
from evaluator.model import Grade, Rollout, Task, Verdict
from evaluator.options import CacheSettings, Options
from evaluator.runs.grade_cache import GradeCache
from evaluator.sandbox import Sandbox
from evaluator.user_files import cache_folder
from evaluator.workers.grade_keys import Keys

_MAY_CHANGE: Final = {Verdict.TIME_LIMIT, Verdict.MEMORY_LIMIT, Verdict.SANDBOX_ERROR, Verdict.UNKNOWN}
_CHANGED: Final = "differs_between_runs"
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
    """A worker's access to the cache. For one thread at a time."""

    def __init__(self, options: Options, settings: CacheSettings) -> None:
        self._keys = Keys(options)
        self._reads = settings.reads
        self._cache = GradeCache(Path(settings.folder), most_bytes=settings.most_bytes, run=settings.run)
        self._layers: tuple[str, ...] = ()
        """Those in the last key."""

    def key(self, task: Task, rollout: Rollout, grader: Grader, sandbox: Sandbox) -> bytes | None:
        """None for a grade that is not kept. Raises `SandboxUnavailable` and `FaultError`: its layers are proved."""
        if grader.kept_by is None or not grader.runs_code:
            return None
        sandbox.require_proof()
        self._layers = sandbox.layers
        return self._keys.key(task, rollout, grader, sandbox)

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


def _will_be_the_same(grade: Grade) -> bool:
    verdicts = {grade.verdict, *(case.verdict for case in grade.cases), *(part.verdict for part in grade.components)}
    return (
        grade.reward is not None
        and grade.disagreement is None
        and verdicts.isdisjoint(_MAY_CHANGE)
        and all(flag.word != _CHANGED for flag in grade.flags)
        and all(_KILLED not in (case.error_message or "") for case in grade.cases)  # perhaps by the machine
    )
