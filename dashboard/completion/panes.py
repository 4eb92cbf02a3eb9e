"""The Completion page's two halves: the text on the left, and on the right what happened when it ran."""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from dashboard import escape, facts, meanings, state, theme, widgets
from dashboard.completion import completion, completion_view, not_graded, repro, rerun, transcript
from dashboard.components import scroll
from dashboard.controls import Screen
from dashboard.queries import records, search
from dashboard.queries.records import CaseRecord, RolloutRecord, TaskRecord, decoded
from dashboard.text import case_view, code_view, diff_view, tables_view
from dashboard.why import siblings, smallest, why
from evaluator.model import Kind, Mode, Traceback, Verdict
from evaluator.tasks import long_numbers

_LONGEST = 200

_WHY: dict[Verdict, str] = meanings.VERDICTS | {
    Verdict.PASSED: "passed",
    Verdict.WRONG_ANSWER: "no exception: the result differs from what is expected",
    Verdict.TIME_LIMIT: "no traceback: the program was killed at its time limit",
    Verdict.MEMORY_LIMIT: "no traceback: the program was killed at its memory limit",
    Verdict.NOT_RUN: "nothing ran here",
    Verdict.RUNTIME_ERROR: "no traceback: its process ended before the test case did",
    Verdict.COMPILE_ERROR: "the program does not load",
}
_STOPPED: dict[Verdict, str] = {
    Verdict.TIME_LIMIT: "where it was at its time limit",
    Verdict.MEMORY_LIMIT: "where it was at its memory limit",
}


def traceback(test: CaseRecord | None) -> Traceback | None:
    """The exception's frames, or where a stopped program was."""
    return decoded(test.traceback, Traceback) if test else None


def line_of(rollout: RolloutRecord, test: CaseRecord | None) -> int | None:
    """The line of the code to look at first."""
    trace = traceback(test)
    return (test or rollout).error_line or (trace.line if trace else None)


def summary(result: RolloutRecord | CaseRecord) -> str:
    """The exception in one short line, shown after the failing line of code."""
    if not result.error_type:
        return ""
    text = f"{result.error_type}: {result.error_message or ''}".split("\n", 1)[0].rstrip(": ")
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def no_test_decides(rollout: RolloutRecord) -> bool:
    """Whether no single test case explains the verdict, or a reward of several parts."""
    undecided = rollout.verdict == Verdict.UNKNOWN or rollout.tests_passed == rollout.tests_total
    return rollout.verdict == Verdict.NO_CODE or (bool(rollout.components) and undecided)


def explained(verdict: Verdict) -> str:
    """The general sentence of a verdict."""
    return _WHY[verdict]


def reason(verdict: Verdict, rollout: RolloutRecord, message: str, trace: Traceback | None) -> str:
    """The general sentence of a verdict, with the limit or the part of the reward that it is about."""
    if rollout.grader == "stored":
        return "the stored verdict: nothing ran here"
    limits: dict[str, float] = json.loads(rollout.limits or "{}")
    words = {
        Verdict.TIME_LIMIT: _time_limit(limits, message),
        Verdict.MEMORY_LIMIT: f" (limit: {limits.get('memory_mb', 0):g} MiB)",
        Verdict.OUTPUT_LIMIT: f" (limit: {limits.get('output_mb', 0):g} MiB)",
    }
    if rollout.components and no_test_decides(rollout):
        return "a part of its reward that no test case decides: see the table"
    if verdict is Verdict.WRONG_ANSWER and rollout.code is None:
        return "the answer differs from what is expected"
    why = _STOPPED.get(verdict, _WHY[verdict]) if trace and trace.frames else _WHY[verdict]
    return why + words.get(verdict, "")


def _time_limit(limits: dict[str, float], message: str) -> str:
    """Which of the two limits it was, if the message says."""
    wall, cpu = f"{limits.get('wall_s', 0):g} s wall time", f"{limits.get('cpu_s', 0):g} s CPU time"
    if "CPU" in message:
        return f" (limit: {cpu})"
    return f" (limit: {wall})" if "wall" in message else f" (limits: {wall}, {cpu})"


WIDE = ("transcript",)
"""Panes that need both halves."""
EDIT = "edit"
"""In `view=`: the code in an editor."""

_PANES = {"code": "Code", "raw": "Raw", "prompt": "Prompt", "transcript": "Transcript", "json": "JSON"}
_PANES_OF_ANSWER = {"code": "Completion", "prompt": "Prompt", "transcript": "Transcript", "json": "JSON"}
_TABS = {"result": "Result", "why": "Why", "siblings": "Siblings", "output": "Output"}
_HEIGHT = "max(300px, calc(100vh - 222px))"
_INPUT_HEIGHT = 300
_TURNS_SHOWN = 200
_JSON_TEXT = 4_000
"""The most characters of one text in the JSON that is shown; the download has all."""
_JSON_SHOWN = 200_000


def left(screen: Screen, rollout: RolloutRecord, test: CaseRecord | None) -> None:
    """The code with its failing line, or its editor, or another text of the rollout."""
    task = records.task(screen.run, rollout.task_id)
    panes = _PANES_OF_ANSWER if rollout.code is None and task and task.mode == Mode.ANSWER else _PANES
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        shown = widgets.choice("Pane", panes, screen.view, key="w_pane", default="code")
        _buttons(screen, rollout, task, test)
    anchor = None
    if screen.view.view == EDIT:
        case = not_graded.chosen(screen, task)
        rerun.editor(screen, rollout, task, test.test_index if test else case.index if case else None)
    elif shown == "prompt":
        prompt = (task and task.prompt) or (screen.run.recorded and records.prompt_in_file(screen.run, rollout))
        missing = f"The {'file' if screen.run.recorded else 'dataset'} has no prompt for it."
        st.html(diff_view.text_block(prompt or missing, height=_HEIGHT))
    elif shown == "transcript":
        _transcript(rollout, task)
    elif shown == "json":
        _json(screen, rollout, test)
    else:
        raw = shown == "raw" or rollout.code is None
        anchor = _code(screen, rollout, test, raw=raw, is_answer=panes is _PANES_OF_ANSWER)
    ids = screen.run.key, rollout.task_id, rollout.sample_id, test and test.test_index
    identity = "|".join(map(str, (*ids, screen.view.view, screen.view.filter.find)))
    scroll.to(anchor, key=identity, on_task=lambda: completion.open_task(screen, rollout))


def right(screen: Screen, rollout: RolloutRecord, test: CaseRecord | None) -> None:
    """The result, or another view of the same test case. Only the tab that is shown does any work."""
    shown = widgets.choice("Tab", _TABS, screen.view, key="w_tab", default="result", field="tab")
    if shown == "why" and screen.run.recorded:
        not_graded.what_to_do(screen, "Nothing ran here, so there is nothing to replay.")
    elif shown == "why":
        why.show(screen, rollout, test, rerun.edit(screen, rollout), editing=screen.view.view == EDIT)
    elif shown == "siblings":
        siblings.show(screen, rollout, test)
    elif shown == "output" and screen.run.recorded:
        not_graded.what_to_do(screen, "Nothing ran here, so no output is known.")
    elif shown == "output":
        _output(test)
    else:
        _result(screen, rollout, test)


def _buttons(screen: Screen, rollout: RolloutRecord, task: TaskRecord | None, test: CaseRecord | None) -> None:
    editing, edited = screen.view.view == EDIT, rerun.edit(screen, rollout) is not None
    label, look = "Close" if editing else "Edited" if edited else "Edit", "primary" if edited else "secondary"
    about = None if editing else f"Edit and run again. The {'file' if screen.run.recorded else 'run'} stays as it is."
    widgets.button(label, "edit", state.write, screen.view.but(view="" if editing else EDIT), shortcut="E",
                   type="secondary" if editing else look, help=about)  # fmt: skip
    text = rerun.edit(screen, rollout) or rollout.code
    if task is not None and test is not None and text is not None and st.button("Repro", key="repro"):
        repro.show(task, rollout, test, text)


# --- Left ---------------------------------------------------------------------------------------


def _code(screen: Screen, rollout: RolloutRecord, test: CaseRecord | None, *, raw: bool, is_answer: bool) -> str | None:
    """The code or the whole completion, with what the filter looks for marked.

    Returns the anchor of the line to look at first.
    """
    trace, line, find = traceback(test), line_of(rollout, test), screen.view.filter.find
    offset = rollout.line_offset or 0
    if raw or rollout.code is None:
        found = search.spans(screen.run, find, rollout.completion)
        st.html(completion_view.raw(rollout, line, is_answer=is_answer, height=_HEIGHT, found=found))
        first = code_view.line_of(rollout.completion, found) or (line and line + offset)
        return f"R{first}" if first else None
    found = search.spans(screen.run, find, rollout.code)
    if find and not found and search.spans(screen.run, find, rollout.completion):
        state.link("completion", screen.view.but(view="raw"), "The text that was searched for is outside the code: Raw")
    frames = {frame.line for frame in trace.frames} if trace else set()
    message = summary(test or rollout) or ("stopped here" if trace and not trace.type else "")
    st.html(code_view.code(rollout.code, failing=line, frames=frames, note=message, height=_HEIGHT,
                           found=found))  # fmt: skip
    line = code_view.line_of(rollout.code, found) or line
    own = 1 - offset if rollout.kind == Kind.CONTINUATION and offset < 0 else None
    return f"L{line or own}" if line or own else None


def _transcript(rollout: RolloutRecord, task: TaskRecord | None) -> None:
    turns = transcript.turns(rollout, task)
    facts.line([("turns", f"{len(turns):,}"), *transcript.tokens(rollout.metadata)])
    st.html(completion_view.transcript(turns[:_TURNS_SHOWN], max(0, len(turns) - _TURNS_SHOWN)))


def _json(screen: Screen, rollout: RolloutRecord, test: CaseRecord | None) -> None:
    """The rollout's row, with its metadata, and the test case's row."""
    index = test.test_index if test else None
    stored = records.whole(screen.run, rollout.task_id, rollout.sample_id, index)
    found = {name: {key: _tree(value) for key, value in row.items()} for name, row in stored.items()}
    whole = json.dumps(found, indent=2, ensure_ascii=False)
    st.html(diff_view.text_block(json.dumps(_shortened(found), indent=2, ensure_ascii=False), height=_HEIGHT,
                                 limit=_JSON_SHOWN))  # fmt: skip
    name = escape.file_name(f"{rollout.sample_id}.json")
    data = whole.encode("utf-8", "backslashreplace")
    st.download_button(f"Download the JSON, {facts.size(len(data))}", data, name, "application/json",
                       on_click="ignore", type="tertiary", key="dl_json")  # fmt: skip


def _tree(value: Any) -> Any:
    """A column's value; what a column holds as JSON, as an object or a list."""
    if not isinstance(value, str) or not value.startswith(("{", "[")):
        return value
    try:
        return long_numbers.loads(value)
    except ValueError:
        return value


def _shortened(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shortened(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_shortened(inner) for inner in value]
    return diff_view.cut(value, _JSON_TEXT) if isinstance(value, str) else value


# --- Right --------------------------------------------------------------------------------------


def _result(screen: Screen, rollout: RolloutRecord, test: CaseRecord | None) -> None:
    """What differs and why, expected beside actual, the exact input, and the rest of the grade."""
    task = records.task(screen.run, rollout.task_id)
    if screen.view.view == EDIT and rerun.result(screen, rollout, task, test):
        return
    if screen.run.recorded:
        not_graded.result(screen, rollout, task)
        return
    mode = task.mode if task else ""
    _failure(screen, rollout, test, mode)
    if test is not None:
        said = not no_test_decides(rollout) and test.verdict != Verdict.PASSED
        case_view.expected_and_actual(case_view.sides_of(test, mode, rollout.checker), introduced=said)
        if task is not None:
            smallest.offer(screen, rollout, task, test)
            _input(screen, task, test.test_index)
    if rollout.flags:
        st.html(completion_view.flags(rollout))
    tables_view.reward_parts(rollout)


def _failure(screen: Screen, rollout: RolloutRecord, test: CaseRecord | None, mode: str) -> None:
    """What differs, the exception and its frames, each a link to its line; or why there is none."""
    if no_test_decides(rollout):
        test = None  # no single test case has the reason
    result = test or rollout
    verdict, trace = theme.verdict(result.verdict), traceback(test)
    if verdict is Verdict.PASSED:
        return
    first, message = "", result.error_message or ""
    if test is not None:
        first = rollout.loading or case_view.first_difference(case_view.sides_of(test, mode, rollout.checker))
    quiet = ""
    if test is None and verdict in (Verdict.NO_CODE, Verdict.UNKNOWN):
        quiet = explained(verdict)
    elif trace is None or not trace.type:
        quiet = reason(verdict, rollout, message, trace)
    name = result.error_type or verdict.value
    st.html(completion_view.failure(verdict.value, name, first=first, message=message if message != first else "",
                                    quiet=quiet, trace=trace, q=screen.view.filter.q))  # fmt: skip
    if test is not None and verdict is Verdict.TIME_LIMIT:
        if found := why.in_time_out(screen, rollout, test):
            facts.banner(found)
        elif test.wall_s is not None:
            ids = {"task": rollout.task_id, "sample": rollout.sample_id, "test": test.test_index}
            widgets.button("Does it loop?", "loops", state.write, screen.view.but(**ids, tab="why"),
                           help="Replay it, to see whether it loops or is merely slow.")  # fmt: skip
    if test is not None and (skipped := completion.not_run(screen, rollout)):
        facts.note(skipped)


def _input(screen: Screen, task: TaskRecord, index: int) -> None:
    text = next((case.input for case in records.test_cases(task) if case.index == index), None)
    if text is None:
        return
    data = text.encode("utf-8", "replace")
    with st.container(horizontal=True, vertical_alignment="center"):
        facts.section(f"Input of test {index}: {case_view.name_of_input(task.mode)}, {facts.size(len(data))}")
        st.download_button("Download", data, f"input-{index}.txt", on_click="ignore", type="tertiary", key="dl_input")
        if task.mode not in (Mode.ANSWER, Mode.UNITTEST):
            state.link("tasks", screen.view.place().but(task=task.task_id, test=index, tab="new"), "Edit this test")
    case_view.show_input(text, task.mode, height=_INPUT_HEIGHT)
    case_view.note_cut(text)


def _output(test: CaseRecord | None) -> None:
    """What the test case printed, with true sizes: of long output only head and tail are stored."""
    if test is None:
        facts.note("No test case ran, so nothing was printed.")
        return
    ran = test.wall_s is not None or test.verdict == Verdict.NOT_RUN
    for name, output, size in (
        ("stdout", test.stdout, test.stdout_bytes or 0),
        ("stderr", test.stderr, test.stderr_bytes or 0),
    ):
        text = output or ""
        if not text and not size:
            facts.note(f"{name}: nothing" if ran else f"{name}: not known, as nothing ran")
            continue
        stored = len(text.encode("utf-8", "replace"))
        part = f", head and tail stored: {facts.size(stored)}" if stored < size else ""
        facts.section(f"{name if ran else 'the judge’s reply'}: {facts.size(size)}{part}")
        facts.verbatim(text[: case_view.SHOWN], height=min(320, 60 + 20 * text.count("\n")))
        if case_view.note_cut(text):
            st.download_button(f"Download {name}", text, f"{name}.txt", on_click="ignore", key=f"dl_{name}")
