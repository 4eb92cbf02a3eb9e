"""The pieces of the completion page: where it stands, its test cases, its code, why it failed."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import msgspec
import streamlit as st

from dashboard import case_view, code_view, controls, conversation, diff_view, facts, scroll, state
from dashboard import strip as case_strip
from dashboard.controls import Screen
from dashboard.plain import html
from dashboard.queries import listing, orders, records
from dashboard.state import View
from dashboard.wording import counted
from evaluator.model import NO_REASON, Disagreement, Mode, Traceback, Verdict

Record = dict[str, Any]

_PANES = {"code": "Code", "raw": "Raw completion", "prompt": "Prompt"}
_PANES_OF_ANSWER = {"code": "Completion", "prompt": "Prompt"}
_LINE = re.compile(r"\bline (\d{1,7})\b")
_LINE_LINK = r'<a href="#L\1">line \1</a>'
_CASES_SHOWN = 3
_CODE_HEIGHT = "max(300px, calc(100vh - 232px))"

_WHY: dict[Verdict, str] = {
    Verdict.PASSED: "passed",
    Verdict.WRONG_ANSWER: "no exception of its own ended the test: what it gave differs from what is expected",
    Verdict.TIME_LIMIT: "no traceback: the program was killed when its time was up",
    Verdict.MEMORY_LIMIT: "no traceback: the program was killed when it took more memory than it may",
    Verdict.OUTPUT_LIMIT: "the program printed more than it may",
    Verdict.NO_CODE: "no code could be extracted from the completion, or no answer found in it",
    Verdict.REJECTED: "the program broke the protocol with the sandbox, or was caught tampering with it",
    Verdict.SANDBOX_ERROR: "the sandbox failed: not the completion's fault, so it has no reward",
    Verdict.UNKNOWN: "it could not be graded, so it has no reward",
    Verdict.NOT_RUN: "not run: an earlier test case had failed or timed out",
    Verdict.RUNTIME_ERROR: "no traceback: its process ended before the test case did",
    Verdict.COMPILE_ERROR: "the program does not load",
}


_STOPPED: dict[Verdict, str] = {
    Verdict.TIME_LIMIT: "where it was when its time was up",
    Verdict.MEMORY_LIMIT: "where it was when it took more memory than it may",
}


def find(screen: Screen) -> Record:
    """The rollout that the view names, or the first in the filter. Ends the page when there is none."""
    view, run = screen.view, screen.run
    if not view.task:
        found = orders.first(run, view.filter, view.sort)
        if found is None:
            controls.require_rows(screen)
            st.stop()
        state.name("completion", view.but(task=found[0], sample=found[1]))
        return records.rollout(run, *found) or {}
    state.name("completion", view)
    sample = view.sample or _first_sample(screen)
    record = records.rollout(run, view.task, sample) if sample else None
    if record is None:
        _unknown(screen)
        st.stop()
    return record


def head(screen: Screen, rollout: Record) -> None:
    """Which rollout it is, what came of it, and the way to the next one inside the filter."""
    left, right = st.columns([3, 2], vertical_alignment="center")
    with left:
        facts.line([], title=_title(rollout), chip=rollout["verdict"])
    with right:
        _walk(screen, rollout)
    facts.line(_head_facts(rollout))
    if not rollout["verified"]:
        _unverified(screen, rollout)
    if rollout["disagreement"]:
        _disagreement(rollout["disagreement"])


def strip(screen: Screen, rollout: Record) -> Record | None:
    """The test cases as letters. Returns the result of the one that is looked at; None when there are none."""
    verdicts = records.verdicts_of(screen.run, rollout["task_id"], rollout["sample_id"])
    if not verdicts:
        return None
    current = _current_test(screen.view, rollout, verdicts)
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container(width="stretch"):
            here = screen.view.but(task=rollout["task_id"], sample=rollout["sample_id"])
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
    return records.case(screen.run, rollout["task_id"], rollout["sample_id"], current)


def code(screen: Screen, rollout: Record, test: Record | None) -> None:
    """The code that was run with its failing line, or the raw completion, or the prompt."""
    task = records.task(screen.run, rollout["task_id"]) or {}
    panes = _PANES_OF_ANSWER if rollout["code"] is None and task.get("mode") == Mode.ANSWER else _PANES
    shown = controls.choice("Pane", panes, screen.view, key="w_pane", default="code")
    trace = _traceback(test)
    line = _marked(test or rollout, trace)
    identity = f"{screen.run.key}|{rollout['task_id']}|{rollout['sample_id']}|{(test or {}).get('test_index')}|{shown}"
    if shown == "prompt":
        prompt = task.get("prompt") or "The dataset has no prompt for it."
        st.html(diff_view.text_block(prompt, height=_CODE_HEIGHT))
        return
    if shown == "raw" or rollout["code"] is None:
        st.html(_raw(rollout, line, is_answer=panes is _PANES_OF_ANSWER))
        scroll.to(f"R{line + rollout['line_offset']}" if line else None, key=identity)
        return
    frames = {frame.line for frame in trace.frames} if trace else set()
    message = _said(test or rollout) or ("stopped here" if trace and not trace.type else "")
    st.html(code_view.code(rollout["code"], failing=line, frames=frames, note=message, height=_CODE_HEIGHT))
    scroll.to(f"L{line}" if line else None, key=identity)


def error(rollout: Record, test: Record | None) -> None:
    """The exception and its frames, each a link to its line; or why there is none."""
    if rollout["verdict"] == Verdict.NO_CODE or (rollout.get("components") and _no_test_has_it(rollout)):
        test = None  # no one test case has the reason
    result = test or rollout
    verdict = _verdict(result)
    trace = _traceback(test)
    if verdict is Verdict.PASSED:
        return
    type_, message = result.get("error_type"), result.get("error_message")
    head = f'{facts.chip_html(verdict.value)} <span class="type">{html(type_ or verdict.value)}</span>'
    if test is None and verdict in (Verdict.NO_CODE, Verdict.UNKNOWN):
        head += f" <span>{html(_WHY[verdict])}</span>"
    body = f'<span class="msg">{html(message)}</span>' if message else ""
    if (trace is None or not trace.type) and not (test is None and verdict in (Verdict.NO_CODE, Verdict.UNKNOWN)):
        body += f' <span class="rs-soft">{html(_reason(verdict, rollout, message or "", trace))}</span>'
    st.html(f'<div class="rs-error">{head}{body}{_frames(trace)}</div>')


def _no_test_has_it(rollout: Record) -> bool:
    """Whether a reward of several parts is what it is for a part that has no test case, or for none of them."""
    return rollout["verdict"] == Verdict.UNKNOWN or rollout["tests_passed"] == rollout["tests_total"]


def flags(rollout: Record) -> None:
    """What was seen beside the verdict, each with its evidence; its line numbers are those of the code."""
    words, evidence = rollout["flags"] or [], rollout["flag_evidence"] or []
    if words:
        rows = "".join(
            f"<b>{html(word)}</b><span>{_LINE.sub(_LINE_LINK, html(told))}</span>"
            for word, told in itertools.zip_longest(words, evidence, fillvalue="")
        )
        st.html(f'<div class="rs-flags" role="group" aria-label="flags">{rows}</div>')


def case(screen: Screen, rollout: Record, test: Record | None) -> None:
    """The exact input, and expected beside actual with the first difference located."""
    if test is None:
        return
    task = records.task(screen.run, rollout["task_id"])
    given = _input(task, test["test_index"])
    if given is not None:
        _shown_input(task or {}, given, test["test_index"])
    mode = (task or {}).get("mode", "")
    case_view.expected_and_actual(_verdict(test), test["expected"], test["actual"], test["difference"], mode)


def metadata(rollout: Record) -> None:
    """What the rollouts file said beside the completion; runs of older versions do not keep it."""
    text = rollout.get("metadata")
    if not text or text == "{}":
        return
    with st.expander("Metadata of the rollout", expanded=False):
        st.html(diff_view.text_block(_indented(text, without=_shown_apart(rollout)), height="240px"))


def _shown_apart(rollout: Record) -> str | None:
    return "conversation" if conversation.of(rollout) else None


def _indented(text: str, *, without: str | None) -> str:
    try:
        kept = json.loads(text)
        if isinstance(kept, dict):
            kept.pop(without, None)
        return json.dumps(kept, indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def streams(test: Record | None) -> None:
    """What the test case printed, with true sizes: only head and tail of long output are kept."""
    if test is None:
        return
    ran = test["wall_s"] is not None or test["verdict"] == Verdict.NOT_RUN
    for name in ("stdout", "stderr"):
        text, size = test.get(name) or "", test.get(f"{name}_bytes") or 0
        if not text and not size:
            if ran:
                facts.note(f"{name}: nothing")
            continue
        kept = len(text.encode("utf-8", "replace"))
        part = f", head and tail kept: {facts.size(kept)}" if kept < size else ""
        title = name if ran else "said by the judge"
        with st.expander(f"{title}: {facts.size(size)}{part}", expanded=name == "stderr" or len(text) < 400):
            facts.verbatim(text[: case_view.SHOWN], height=min(240, 60 + 20 * text.count("\n")))
            if len(text) > case_view.SHOWN:
                facts.note(f"The first {case_view.SHOWN:,} of {counted(len(text), 'character')}.")
                st.download_button(f"Download {name}", text, f"{name}.txt", on_click="ignore", key=f"dl_{name}")


# --- Where it stands ----------------------------------------------------------------------------


def _title(rollout: Record) -> str:
    return f"{rollout['verdict']} · {rollout['task_id']} / sample {rollout['n_of_task']} of {rollout['in_task']}"


def _head_facts(rollout: Record) -> list[tuple[str, str]]:
    found = [("reward", "none" if rollout["reward"] is None else f"{rollout['reward']:g}")]
    given = rollout.get("given_reward")
    if given is not None and given != rollout["reward"]:
        found.append(("given reward", f"{given:g}"))
    if rollout["tests_total"]:
        found.append(("tests passed", f"{rollout['tests_passed']} of {rollout['tests_total']}"))
    found += [
        ("wall", facts.seconds(rollout["wall_s"])),
        ("memory", facts.mebibytes(rollout["memory_mb"])),
        ("sample", rollout["sample_id"]),
    ]
    grader = rollout["grader"] if rollout["grader"] != "tests" else None
    optional = [
        ("model", rollout["model"]),
        ("grader", grader),
        ("checker", rollout["checker"]),
        ("same code as", rollout["duplicate_of"]),
    ]
    found += [(name, str(value)) for name, value in optional if value]
    if "degraded" in (rollout["layers"] or ()):
        found.append(("sandbox", "degraded"))
    return found


def _unverified(screen: Screen, rollout: Record) -> None:
    """Why it is not verified, and what that has to do with its reward."""
    asked = screen.run.run.manifest.unverified
    meant = ""
    if rollout["reward"] is not None:
        meant = " It keeps its verdict and reward; with --unverified unknown it would be unknown and have none."
    elif rollout["verdict"] == Verdict.UNKNOWN and asked == "unknown":
        meant = " So it is unknown and has no reward; with --unverified keep its test cases would decide."
    why = (rollout["unverified_reason"] or NO_REASON).removesuffix(".")
    facts.banner(f"not verified: {why}.{meant}", warn=True)


def _disagreement(told: str) -> None:
    """Both outcomes of the test suite, side by side, and what its test did last with an object of the completion's."""
    try:
        found = msgspec.json.decode(told, type=Disagreement)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return
    apart, plain = st.columns(2, gap="small")
    with apart:
        facts.section("With the test in a process of its own")
        facts.line([("last", found.last_operation)] if found.last_operation else [], chip=found.apart.value)
        for case in found.cases[:_CASES_SHOWN]:
            facts.verbatim(
                f"test {case.index}: {case.apart}: {case.apart_message or 'nothing said'}", height=80, wrap=True
            )
    with plain:
        facts.section("With the test in the completion's process")
        facts.line([], chip=found.plain.value)
        for case in found.cases[:_CASES_SHOWN]:
            facts.verbatim(
                f"test {case.index}: {case.plain}: {case.plain_message or 'no failure'}", height=80, wrap=True
            )
    if len(found.cases) > _CASES_SHOWN:
        facts.note(f"{len(found.cases) - _CASES_SHOWN:,} more test cases differ")


def _walk(screen: Screen, rollout: Record) -> None:
    view = screen.view
    place = orders.place(screen.run, view.filter, view.sort, rollout["row"])
    inside = f"{place.position:,} of {place.total:,}" if place.inside else f"not among the {place.total:,}"
    with st.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center", gap="small"):
        st.button("Up", key="up", shortcut="U", on_click=state.go, args=("rollouts", view.above()))
        st.button(
            "Previous", key="previous", shortcut="K", disabled=place.previous is None, **_to(view, place.previous)
        )
        st.html(f'<span class="rs-mono" title="place inside the filter">{html(inside)}</span>', width="content")
        st.button("Next", key="next", shortcut="J", disabled=place.following is None, **_to(view, place.following))


def _to(view: View, target: tuple[str, str] | None) -> dict[str, Any]:
    if target is None:
        return {}
    return {"on_click": state.write, "args": (view.but(task=target[0], sample=target[1], test=None),)}


def _first_sample(screen: Screen) -> str:
    known = listing.samples(screen.run, screen.view.task, 1).rows
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


def _current_test(view: View, rollout: Record, verdicts: list[tuple[int, str]]) -> int:
    known = [index for index, _ in verdicts]
    if view.test in known:
        return int(view.test)
    first = rollout["first_failing_test"]
    return first if first in known else known[0]


def _next_failing(verdicts: list[tuple[int, str]], current: int) -> int | None:
    failing = [index for index, word in verdicts if word not in ("passed", "not_run") and index != current]
    return next((index for index in failing if index > current), failing[0] if failing else None)


# --- Why it failed ------------------------------------------------------------------------------


def _verdict(result: Record) -> Verdict:
    try:
        return Verdict(result["verdict"])
    except ValueError:
        return Verdict.UNKNOWN


def _traceback(test: Record | None) -> Traceback | None:
    if test is None or not test.get("traceback"):
        return None
    try:
        return msgspec.json.decode(test["traceback"], type=Traceback)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return None


def _marked(result: Record, trace: Traceback | None) -> int | None:
    """The line that failed; of a program that was stopped, the line where it was."""
    line: int | None = result.get("error_line")
    return line or (trace.line if trace else None)


def _said(result: Record) -> str:
    """The exception in one short line, to stand behind the failing line of code."""
    if not result.get("error_type"):
        return ""
    text = f"{result['error_type']}: {result.get('error_message') or ''}".split("\n", 1)[0].rstrip(": ")
    return text if len(text) <= 90 else f"{text[:89]}…"


def _reason(verdict: Verdict, rollout: Record, message: str, trace: Traceback | None) -> str:
    if rollout["grader"] == "stored":
        return "as it was stored: nothing was run here"
    limits = json.loads(rollout["limits"] or "{}")
    words = {
        Verdict.TIME_LIMIT: _time_limit(limits, message),
        Verdict.MEMORY_LIMIT: f" (limit: {limits.get('memory_mb', 0):g} MiB)",
        Verdict.OUTPUT_LIMIT: f" (limit: {limits.get('output_mb', 0):g} MiB)",
    }
    if rollout.get("components") and _no_test_has_it(rollout):
        return "a part of its reward, which no test case decides: see the table"
    if verdict is Verdict.WRONG_ANSWER and rollout["code"] is None:
        return "what was found is not what is expected"
    why = _STOPPED.get(verdict, _WHY[verdict]) if trace and trace.frames else _WHY[verdict]
    return why + words.get(verdict, "")


def _time_limit(limits: dict[str, float], message: str) -> str:
    """Which of the two limits it was, as far as the message says."""
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


def _raw(rollout: Record, line: int | None, *, is_answer: bool) -> str:
    """The whole text. What was run stands out in it; of an answer nothing was, and all of it counts."""
    total = rollout["completion"].count("\n") + 1
    taken: range | None = None if is_answer else range(0)
    if rollout["code"] is not None:
        offset = rollout["line_offset"] or 0
        lines = rollout["code"].removesuffix("\n").count("\n") + 1  # a last line break begins no line
        taken = range(max(1, 1 + offset), min(total, lines + offset) + 1)
    failing = line + (rollout["line_offset"] or 0) if line else None
    return code_view.raw(rollout["completion"], taken=taken, failing=failing, height=_CODE_HEIGHT)


# --- The input ----------------------------------------------------------------------------------


def _input(task: Record | None, index: int) -> str | None:
    cases = records.test_cases(task) if task else []
    return next((case.input for case in cases if case.index == index), None)


def _shown_input(task: Record, given: str, index: int) -> None:
    mode, size = task.get("mode", ""), len(given.encode("utf-8", "replace"))
    with st.container(horizontal=True, vertical_alignment="center"):
        facts.section(f"Input of test {index}: {case_view.name_of_input(mode)}, {facts.size(size)}")
        st.download_button(
            "Download",
            given.encode("utf-8", "replace"),
            f"input-{index}.txt",
            on_click="ignore",
            type="tertiary",
            key="dl_input",
        )
    case_view.given(given, mode)
    if len(given) > case_view.SHOWN:
        facts.note(f"The first {case_view.SHOWN:,} of {len(given):,} characters; download it to have all.")
