"""What a grade says beside its verdict: words for what was seen, each with the evidence for it.

A flag never changes a verdict or a reward. It is raised for what an honest program has no use for, and names the
line that shows it. The code is parsed here and never run; how the test cases ended comes from their results, and what
the sandbox itself saw comes with its outcomes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from evaluator.flags import _endings, _escapes, _invisible_text, _patches
from evaluator.flags._source import MAX_PARSED, Source
from evaluator.flags.hard_coded import LONGEST, Answers, Example, Given, written_down
from evaluator.model import CaseResult, Flag, Mode, Task

__all__ = ["LONGEST", "WORDS", "Answers", "Example", "Given", "flags_of"]

WORDS = (
    "early_exit",
    "frame_walking",
    "gc_walking",
    "ctypes",
    "patched_builtins",
    "refused_call",
    "subclass",
    "differs_between_runs",
    "missing_package",
    "hard_coded",
    "invisible_text",
)
"""Every flag, in the order in which a grade has them. Those of the sandbox that are not named here come last."""

_SHOWN = 3
_FINDERS: dict[str, Callable[[Source], Iterable[int]]] = {
    "early_exit": _escapes.early_exits,
    "frame_walking": _escapes.frames,
    "gc_walking": _escapes.collector,
    "ctypes": _escapes.memory,
    "patched_builtins": _patches.patches,
}


def flags_of(
    task: Task, code: str, cases: Sequence[CaseResult], notes: Iterable[Flag] = (), answers: Answers | None = None
) -> tuple[Flag, ...]:
    """The flags of a graded completion, each word once.

    `notes` are those that the sandbox raised; `answers` are the task's, to be looked for in the code.
    """
    found: dict[str, list[str]] = {}
    for flag in (*_in_code(task, code, cases), *_endings.flags(task, code, cases), *notes):
        found.setdefault(flag.word, []).append(flag.evidence)
    if unseen := _invisible_text.evidence(code):
        found["invisible_text"] = unseen
    told = written_down(task, code, answers) if answers is not None else None
    if told is not None:
        found["hard_coded"] = [told]
    return tuple(Flag(word, _told(found[word])) for word in sorted(found, key=_place))


def _in_code(task: Task, code: str, cases: Sequence[CaseResult]) -> list[Flag]:
    if len(code) > MAX_PARSED or not (_escapes.worth_a_look(code) or _patches.worth_a_look(code)):
        return []
    source = Source(code, main_runs=task.mode is Mode.STDIN)
    found: list[Flag] = []
    for word, find in _FINDERS.items():
        if word == "early_exit" and task.mode is Mode.STDIN and not _endings.silent(cases):
            continue  # what it printed before is what it is judged by
        try:
            found += [Flag(word, source.evidence(line)) for line in sorted(set(find(source)))]
        except RecursionError:
            continue
    return found


def _told(evidence: list[str]) -> str:
    several = list(dict.fromkeys(evidence))
    more = f"; and {len(several) - _SHOWN} more" if len(several) > _SHOWN else ""
    return "; ".join(several[:_SHOWN]) + more


def _place(word: str) -> tuple[int, str]:
    return (WORDS.index(word) if word in WORDS else len(WORDS), word)
