"""The Completion page: the rollout and its neighbours, its test cases, its code, why it failed."""

from __future__ import annotations

import itertools
import json
import re

import streamlit as st

from dashboard import case_strip, case_view, code_view, controls, conversation, diff_view, facts, scroll, state, theme
from dashboard.controls import Screen
from dashboard.escape import html
from dashboard.queries import listing, orders, records
from dashboard.queries.records import CaseRecord, RolloutRecord, TaskRecord, decoded
from dashboard.state import View
from dashboard.wording import counted
from dashboard.workspace import OpenRun
from evaluator.model import NO_REASON, Disagreement, Mode, Traceback, Verdict

_PANES = {"code": "Code", "raw": "Raw completion", "prompt": "Prompt"}
_PANES_OF_ANSWER = {"code": "Completion", "prompt": "Prompt"}
_LINE = re.compile(r"\bline (\d{1,7})\b")
_LINE_LINK = r'<a href="#L\1">line \1</a>'
_CASES_SHOWN = 3
_CODE_HEIGHT = "max(300px, calc(100vh - 232px))"

_WHY: dict[Verdict, str] = {
    Verdict.PASSED: "passed",
    Verdict.WRONG_ANSWER: "no exception: the result differs from what is expected",
    Verdict.TIME_LIMIT: "no traceback: the program was killed at its time limit",
    Verdict.MEMORY_LIMIT: "no traceback: the program was killed at its memory limit",
    Verdict.OUTPUT_LIMIT: "the program printed more than its output limit",
    Verdict.NO_CODE: "no code or answer was found in the completion",
    Verdict.REJECTED: "the program broke the sandbox's protocol, or tampered with it",
    Verdict.SANDBOX_ERROR: "the sandbox failed, which is not the completion's fault, so it has no reward",
    Verdict.UNKNOWN: "it could not be graded, so it has no reward",
    Verdict.NOT_RUN: "not run, as an earlier test case failed or timed out",
    Verdict.RUNTIME_ERROR: "no traceback: its process ended before the test case did",
    Verdict.COMPILE_ERROR: "the program does not load",
}
_STOPPED: dict[Verdict, str] = {
    Verdict.TIME_LIMIT: "where it was at its time limit",
    Verdict.MEMORY_LIMIT: "where it was at its memory limit",
}


def find(screen: Screen) -> RolloutRecord:
    """The rollout that the view names, or the first in the filter. Ends the page when there is none."""
    view, run = screen.view, screen.run
    if not view.task:
        controls.require_rows(screen)
        if found := orders.first(run, view.filter, view.sort):
            view = view.but(task=found[0], sample=found[1])
    state.name("completion", view)
    sample = view.sample or _first_sample(screen.run, view.task)
    record = records.rollout(run, view.task, sample) if sample else None
    if record is None:
        _unknown(screen)
        st.stop()
    return record


def head(screen: Screen, rollout: RolloutRecord) -> None:
    """The rollout, its verdict and figures, and buttons to its neighbours in the filter."""
    left, right = st.columns([3, 2], vertical_alignment="center")
    with left:
        facts.line([], title=_title(rollout), chip=rollout.verdict)
    with right:
        _walk(screen, rollout)
    facts.line(_head_facts(rollout))
    if not rollout.verified:
        _unverified(screen, rollout)
    if rollout.disagreement:
        _disagreement(rollout.disagreement)


def strip(screen: Screen, rollout: RolloutRecord) -> CaseRecord | None:
    """The test cases as letters. Returns the result of the current one; None when there are none."""
    verdicts = records.verdicts_of(screen.run, rollout.task_id, rollout.sample_id)
    if not verdicts:
        return None
    current = _current_test(screen.view, rollout, verdicts)
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container(width="stretch"):
            here = screen.view.but(task=rollout.task_id, sample=rollout.sample_id)
            case_strip.show(verdicts, current, lambda index: state.write(here.but(test=index)))
        following = _next_failing(verdicts, current)
        st.button(
            "Next failing test",
            key="next_failing",
            shortcut="N",
            disabled=following is None,
            on_click=state.write,
            args=(here.but(test=following),),
        )
    return records.case(screen.run, rollout.task_id, rollout.sample_id, current)


def code(screen: Screen, rollout: RolloutRecord, test: CaseRecord | None) -> None:
    """The code with its failing line, or the raw completion, or the prompt."""
    task = records.task(screen.run, rollout.task_id)
    panes = _PANES_OF_ANSWER if rollout.code is None and task and task.mode == Mode.ANSWER else _PANES
    shown = controls.choice("Pane", panes, screen.view, key="w_pane", default="code")
    trace = _traceback(test)
    line = (test or rollout).error_line or (trace.line if trace else None)  # of a stopped program, where it was
    identity = f"{screen.run.key}|{rollout.task_id}|{rollout.sample_id}|{test and test.test_index}|{shown}"
    if shown == "prompt":
        prompt = (task and task.prompt) or "The dataset has no prompt for it."
        st.html(diff_view.text_block(prompt, height=_CODE_HEIGHT))
        return
    if shown == "raw" or rollout.code is None:
        st.html(_raw(rollout, line, is_answer=panes is _PANES_OF_ANSWER))
        scroll.to(f"R{line + (rollout.line_offset or 0)}" if line else None, key=identity)
        return
    frames = {frame.line for frame in trace.frames} if trace else set()
    message = _summary(test or rollout) or ("stopped here" if trace and not trace.type else "")
    st.html(code_view.code(rollout.code, failing=line, frames=frames, note=message, height=_CODE_HEIGHT))
    scroll.to(f"L{line}" if line else None, key=identity)


def error(rollout: RolloutRecord, test: CaseRecord | None) -> None:
    """The exception and its frames, each a link to its line; or why there is none."""
    if rollout.verdict == Verdict.NO_CODE or (rollout.components and _no_test_decides(rollout)):
        test = None  # no single test case has the reason
    result = test or rollout
    verdict = theme.verdict(result.verdict)
    trace = _traceback(test)
    if verdict is Verdict.PASSED:
        return
    message = result.error_message
    head = f'{facts.chip_html(verdict.value)} <span class="type">{html(result.error_type or verdict.value)}</span>'
    if test is None and verdict in (Verdict.NO_CODE, Verdict.UNKNOWN):
        head += f" <span>{html(_WHY[verdict])}</span>"
    body = f'<span class="msg">{html(message)}</span>' if message else ""
    if (trace is None or not trace.type) and not (test is None and verdict in (Verdict.NO_CODE, Verdict.UNKNOWN)):
        body += f' <span class="rs-soft">{html(_reason(verdict, rollout, message or "", trace))}</span>'
    st.html(f'<div class="rs-error">{head}{body}{_frames(trace)}</div>')


def _no_test_decides(rollout: RolloutRecord) -> bool:
    """Whether no test case explains a reward of several parts."""
    return rollout.verdict == Verdict.UNKNOWN or rollout.tests_passed == rollout.tests_total


def flags(rollout: RolloutRecord) -> None:
    """The flags with their evidence; line numbers in it link to the code."""
    if rollout.flags:
        rows = "".join(
            f"<b>{html(word)}</b><span>{_LINE.sub(_LINE_LINK, html(evidence))}</span>"
            for word, evidence in itertools.zip_longest(rollout.flags, rollout.flag_evidence or (), fillvalue="")
        )
        st.html(f'<div class="rs-flags" role="group" aria-label="flags">{rows}</div>')


def case(screen: Screen, rollout: RolloutRecord, test: CaseRecord | None) -> None:
    """The exact input, and expected beside actual with the first difference marked."""
    if test is None:
        return
    task = records.task(screen.run, rollout.task_id)
    if task is not None:
        _input(task, test.test_index)
    mode = task.mode if task else ""
    case_view.expected_and_actual(
        theme.verdict(test.verdict), test.expected, test.actual, test.difference, mode, test.diff_line
    )


def metadata(rollout: RolloutRecord) -> None:
    """The other fields of the rollouts file; runs of older versions do not store them."""
    if not rollout.metadata or rollout.metadata == "{}":
        return
    with st.expander("Metadata of the rollout", expanded=False):
        st.html(diff_view.text_block(_indented(rollout.metadata), height="240px"))


def _indented(metadata: str) -> str:
    try:
        fields = json.loads(metadata)
        if conversation.items(metadata):
            fields.pop("conversation")  # which is shown above
        return json.dumps(fields, indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return metadata


def streams(test: CaseRecord | None) -> None:
    """What the test case printed, with true sizes: of long output only head and tail are stored."""
    if test is None:
        return
    ran = test.wall_s is not None or test.verdict == Verdict.NOT_RUN
    for name, output, size in (
        ("stdout", test.stdout, test.stdout_bytes or 0),
        ("stderr", test.stderr, test.stderr_bytes or 0),
    ):
        text = output or ""
        if not text and not size:
            if ran:
                facts.note(f"{name}: nothing")
            continue
        stored = len(text.encode("utf-8", "replace"))
        part = f", head and tail stored: {facts.size(stored)}" if stored < size else ""
        title = name if ran else "the judge's reply"
        with st.expander(f"{title}: {facts.size(size)}{part}", expanded=name == "stderr" or len(text) < 400):
            facts.verbatim(text[: case_view.SHOWN], height=min(240, 60 + 20 * text.count("\n")))
            if case_view.note_cut(text):
                st.download_button(f"Download {name}", text, f"{name}.txt", on_click="ignore", key=f"dl_{name}")


# --- The head -----------------------------------------------------------------------------------


def _title(rollout: RolloutRecord) -> str:
    return f"{rollout.verdict} · {rollout.task_id} / sample {rollout.number} of {rollout.samples}"


def _head_facts(rollout: RolloutRecord) -> list[tuple[str, str]]:
    given = rollout.given_reward
    optional = [
        ("reward", "none" if rollout.reward is None else f"{rollout.reward:g}"),
        ("given reward", None if given is None or given == rollout.reward else f"{given:g}"),
        ("tests passed", f"{rollout.tests_passed} of {rollout.tests_total}" if rollout.tests_total else None),
        ("wall", facts.seconds(rollout.wall_s)),
        ("memory", facts.mebibytes(rollout.memory_mb)),
        ("sample", rollout.sample_id),
        ("model", rollout.model),
        ("grader", rollout.grader if rollout.grader != "tests" else None),
        ("checker", rollout.checker),
        ("same code as", rollout.duplicate_of),
        ("sandbox", "degraded" if "degraded" in (rollout.layers or ()) else None),
    ]
    return [(name, value) for name, value in optional if value]


def _unverified(screen: Screen, rollout: RolloutRecord) -> None:
    """Why it is not verified, and the effect on its reward."""
    effect = ""
    if rollout.reward is not None:
        effect = " It keeps its verdict and reward; with --unverified unknown it would be unknown, without a reward."
    elif rollout.verdict == Verdict.UNKNOWN and screen.run.manifest.unverified == "unknown":
        effect = " So it is unknown and has no reward; with --unverified keep its test cases would decide."
    why = (rollout.unverified_reason or NO_REASON).removesuffix(".")
    facts.banner(f"not verified: {why}.{effect}", warn=True)


def _disagreement(text: str) -> None:
    """Both outcomes of the test suite, side by side."""
    found = decoded(text, Disagreement)
    if found is None:
        return
    left, right = st.columns(2, gap="small")
    last = [("last operation", found.last_operation)] if found.last_operation else []
    apart = [f"test {case.index}: {case.apart}: {case.apart_message or 'no message'}" for case in found.cases]
    plain = [f"test {case.index}: {case.plain}: {case.plain_message or 'no failure'}" for case in found.cases]
    with left:
        _outcome("The test in its own process", found.apart, last, apart)
    with right:
        _outcome("The test in the completion's process", found.plain, [], plain)
    if len(found.cases) > _CASES_SHOWN:
        facts.note(f"{len(found.cases) - _CASES_SHOWN:,} more test cases differ")


def _outcome(title: str, verdict: Verdict, last: list[tuple[str, str]], cases: list[str]) -> None:
    facts.section(title)
    facts.line(last, chip=verdict.value)
    for case in cases[:_CASES_SHOWN]:
        facts.verbatim(case, height=80, wrap=True)


def _walk(screen: Screen, rollout: RolloutRecord) -> None:
    view = screen.view
    place = orders.place(screen.run, view.filter, view.sort, rollout.row)
    inside = f"{place.position:,} of {place.total:,}" if place.inside else f"not among the {place.total:,}"
    with st.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center", gap="small"):
        st.button("Up", key="up", shortcut="U", on_click=state.go, args=("rollouts", view.above()))
        _step("Previous", "K", view, place.previous)
        st.html(f'<span class="rs-mono" title="place in the filter">{html(inside)}</span>', width="content")
        _step("Next", "J", view, place.following)


def _step(label: str, shortcut: str, view: View, target: tuple[str, str] | None) -> None:
    task, sample = target or ("", "")
    there, disabled = view.but(task=task, sample=sample, test=None), target is None
    st.button(label, key=label.lower(), shortcut=shortcut, disabled=disabled, on_click=state.write, args=(there,))


def _first_sample(run: OpenRun, task: str) -> str:
    known = listing.samples(run, task, 1).rows
    return known[0].sample_id if known else ""


def _unknown(screen: Screen) -> None:
    view, run = screen.view, screen.run
    sample = view.sample if listing.samples(run, view.task, 1).total else ""
    missing = f"sample {view.sample} of task {view.task}" if sample else f"task {view.task}"
    facts.banner(f"{missing[0].upper()}{missing[1:]} is not in this run.", warn=True)
    nearest = records.nearest(run, view.task, sample)
    if nearest:
        target = view.but(sample=nearest, test=None) if sample else view.but(task=nearest, sample="", test=None)
        state.link("completion", target, f"Nearest: {nearest}")


def _current_test(view: View, rollout: RolloutRecord, verdicts: list[tuple[int, str]]) -> int:
    known = [index for index, _ in verdicts]
    return next((test for test in (view.test, rollout.first_failing_test) if test in known), known[0])


def _next_failing(verdicts: list[tuple[int, str]], current: int) -> int | None:
    failing = [index for index, word in verdicts if word not in ("passed", "not_run") and index != current]
    return next((index for index in failing if index > current), failing[0] if failing else None)


# --- Why it failed ------------------------------------------------------------------------------


def _traceback(test: CaseRecord | None) -> Traceback | None:
    return decoded(test.traceback, Traceback) if test else None


def _summary(result: RolloutRecord | CaseRecord) -> str:
    """The exception in one short line, shown after the failing line of code."""
    if not result.error_type:
        return ""
    text = f"{result.error_type}: {result.error_message or ''}".split("\n", 1)[0].rstrip(": ")
    return text if len(text) <= 90 else f"{text[:89]}…"


def _reason(verdict: Verdict, rollout: RolloutRecord, message: str, trace: Traceback | None) -> str:
    if rollout.grader == "stored":
        return "the stored verdict: nothing ran here"
    limits: dict[str, float] = json.loads(rollout.limits or "{}")
    words = {
        Verdict.TIME_LIMIT: _time_limit(limits, message),
        Verdict.MEMORY_LIMIT: f" (limit: {limits.get('memory_mb', 0):g} MiB)",
        Verdict.OUTPUT_LIMIT: f" (limit: {limits.get('output_mb', 0):g} MiB)",
    }
    if rollout.components and _no_test_decides(rollout):
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


def _raw(rollout: RolloutRecord, line: int | None, *, is_answer: bool) -> str:
    """The whole text, with the code that ran highlighted. An answer has no code, and all of it counts."""
    total = rollout.completion.count("\n") + 1
    taken: range | None = None if is_answer else range(0)
    if rollout.code is not None:
        offset = rollout.line_offset or 0
        lines = rollout.code.removesuffix("\n").count("\n") + 1  # a final line break starts no line
        taken = range(max(1, 1 + offset), min(total, lines + offset) + 1)
    failing = line + (rollout.line_offset or 0) if line else None
    return code_view.raw(rollout.completion, taken=taken, failing=failing, height=_CODE_HEIGHT)


# --- The input ----------------------------------------------------------------------------------


def _input(task: TaskRecord, index: int) -> None:
    text = next((case.input for case in records.test_cases(task) if case.index == index), None)
    if text is None:
        return
    data = text.encode("utf-8", "replace")
    with st.container(horizontal=True, vertical_alignment="center"):
        facts.section(f"Input of test {index}: {case_view.name_of_input(task.mode)}, {facts.size(len(data))}")
        st.download_button("Download", data, f"input-{index}.txt", on_click="ignore", type="tertiary", key="dl_input")
    case_view.show_input(text, task.mode)
    case_view.note_cut(text)
