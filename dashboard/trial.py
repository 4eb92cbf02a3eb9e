"""Runs any code against a task's test cases, in the sandbox that grades; nothing is written to the run."""

from __future__ import annotations

from typing import Any

import msgspec
import streamlit as st

from dashboard import case_view, code_view, diff_view, facts, plain, sandbox_check
from dashboard.controls import Screen
from dashboard.queries import listing, records
from evaluator.graders import GraderError, traits
from evaluator.graders.spec import names_file
from evaluator.model import NO_REASON, CaseResult, Grade, Kind, Mode, Task

_RESULT = "trial_result"


def offer(screen: Screen, record: dict[str, Any], index: int | None) -> None:
    """The editor, prefilled, and its two buttons; off with the reason where code may not be run."""
    if index is None:
        facts.note("Nothing to run code against here: the task has no test case that can be run.")
        return
    task, asked = msgspec.json.decode(record["task"], type=Task), tried_by(screen.run.run.manifest.grader)
    graded = traits(task, asked)
    if graded.waits:
        facts.note("Nothing is tried here: others would have to be asked for its reward. Use `rollscope grade`.")
        return
    facts.section("Run any code against the test cases" if graded.runs_code else "Hold any answer against the task")
    refusal = sandbox_check.refusal() if graded.runs_code else None
    if refusal:
        facts.banner(refusal, warn=True)
    sources = _sources(screen, record)
    # The result stands between the buttons and the editor, so that it comes into view where the click was.
    with st.container(horizontal=True, vertical_alignment="bottom"):
        part = listing.samples(screen.run, record["task_id"]).part("rollout")
        label = f"Start from ({part})" if part else "Start from"
        source = st.selectbox(label, list(sources), format_func=sources.__getitem__, key="trial_source")
        one = st.button(f"Run test {index}", disabled=bool(refusal), key="trial_one", type="primary")
        every = st.button("Run all test cases", disabled=bool(refusal), key="trial_all")
    result = st.container()
    with st.container(key="trial_editor"):
        # Filled by its own default: the browser may never hear of a text that is put into the session's state.
        key, filled = f"trial_{record['task_id']}_{source}", _source(screen, record, source)
        text = st.text_area("Code", filled, key=key, height=190, label_visibility="collapsed")
    with result:
        if plain.text(text) != text:
            facts.note("Some characters in the editor are not seen, or reorder others: the code view draws them.")
        if one or every:
            chosen = index if one else None
            with st.spinner("Running in the sandbox"):
                st.session_state[_RESULT] = (task.task_id, chosen, text, tried(task, asked, text, chosen))
        _result(record["task_id"], record["mode"])


def _sources(screen: Screen, record: dict[str, Any]) -> dict[str, str]:
    found = {"reference": "the reference"} if record["reference"] else {}
    found["empty"] = "an empty page"
    for sample, verdict, model in listing.samples(screen.run, record["task_id"]).rows:
        found[f"sample:{sample}"] = plain.text(f"{verdict}: {sample}" + (f" ({model})" if model else ""))
    return found


def _source(screen: Screen, record: dict[str, Any], chosen: str) -> str:
    if chosen == "reference":
        return str(record["reference"])
    if chosen.startswith("sample:"):
        rollout = records.rollout(screen.run, record["task_id"], chosen.removeprefix("sample:"))
        taken = "completion" if record["mode"] == Mode.ANSWER else "code"
        return str((rollout or {}).get(taken) or "")
    return f"def {record['entry_point']}():\n    ...\n" if record["entry_point"] else ""


def tried_by(asked: str | None) -> str | None:
    """The run's grader; not one in a file: a run that came from elsewhere must not decide what is loaded here."""
    try:
        return None if asked is None or names_file(asked) else asked
    except GraderError:
        return None


def tried(task: Task, asked: str | None, text: str, index: int | None) -> Grade:
    """The grade of a text by the run's grader, on one test case where that can be taken alone."""
    from evaluator import grade

    if index is not None and task.mode in (Mode.CALL, Mode.STDIN):
        task = msgspec.structs.replace(task, cases=tuple(c for c in task.cases if c.index == index), weights=None)
    return grade(task, text, grader=asked, kind=Kind.FULL)


def _result(task_id: str, mode: str) -> None:
    found = st.session_state.get(_RESULT)
    if found is None or found[0] != task_id:
        return
    _, index, text, result = found
    _headline(result)
    shown = [case for case in result.cases if index is None or case.index == index]
    if len(shown) > 1:
        _strip(shown)
    failing = next((case for case in shown if case.verdict != "passed"), shown[0] if shown else None)
    if failing is None:
        return
    _case(failing, text, mode)


def _strip(cases: list[CaseResult]) -> None:
    """One letter a test case, as in the grid."""
    cells = [facts.chip_html(case.verdict.value, f"test {case.index}: {case.verdict.value}") for case in cases]
    st.html(f'<div class="rs-mono" style="max-height:6em;overflow:auto;line-height:1.7">{" ".join(cells)}</div>')


def _headline(result: Grade) -> None:
    reward = "none" if result.reward is None else f"{result.reward:g}"
    found = [("reward", reward), ("tests passed", f"{result.tests_passed} of {result.tests_total}")]
    if result.error_type or result.error_message:
        found.append((result.error_type or "message", (result.error_message or "").split("\n", 1)[0][:200]))
    if not result.verified:
        found.append(("not verified", result.unverified_reason or NO_REASON))
    facts.line(found, title=result.verdict.value, chip=result.verdict.value)


def _case(case: CaseResult, text: str, mode: str) -> None:
    facts.line(
        [
            ("test", str(case.index)),
            ("verdict", case.verdict.value),
            ("wall", facts.seconds(case.wall_s)),
            ("memory", facts.mebibytes(case.memory_mb)),
        ]
    )
    if case.traceback:
        lines = {frame.line for frame in case.traceback.frames}
        said = f"{case.traceback.type}: {case.traceback.message}"[:90] if case.traceback.type else "stopped here"
        st.html(
            code_view.code(
                text,
                failing=case.error_line or case.traceback.line,
                frames=lines,
                note=said,
                prefix="T",
                height="220px",
            )
        )
    difference = case.difference.message if case.difference else None
    case_view.expected_and_actual(case.verdict, case.expected, case.actual, difference, mode)
    for name, output in (("stdout", case.stdout), ("stderr", case.stderr)):
        if output:
            facts.section(name)
            st.html(diff_view.text_block(output))
