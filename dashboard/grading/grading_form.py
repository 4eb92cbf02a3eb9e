"""How a file is to be graded: the settings of `rollscope grade` that are chosen most, with the command's defaults."""

from __future__ import annotations

import os

import msgspec
import streamlit as st

from dashboard import sandbox_state
from evaluator.checkers import known_checkers
from evaluator.graders import GraderError, known_graders
from evaluator.model import Limits, RecordError
from evaluator.options import Options, limits_of

STORED = "stored"
"""The grader of rewards that rollouts came with, which has a button of its own."""
_KEYS = ("grader", "checker", "timeout", "memory", "workers", "limit")


class SettingsError(ValueError):
    """A setting that can't be used. The message is one line."""


class Settings(msgspec.Struct, frozen=True):
    """Arguments of `grade_file`; None where its default holds."""

    options: Options = Options()
    workers: int | None = None
    limit: int | None = None
    """Only the first so many rollouts."""

    def facts(self) -> list[tuple[str, str]]:
        """What they mean, as (name, value)."""
        return [
            ("grader", self.options.grader or "tests"),
            ("checker", self.options.checker or "the task's own"),
            ("time-out", f"{self.options.limits.wall_s:g} s per test"),
            ("memory", f"{self.options.limits.memory_mb:,.0f} MiB"),
            ("workers", str(self.workers or _cpus())),
            *([("only the first", f"{self.limit:,}")] if self.limit else []),
        ]


def popover(*, disabled: bool) -> None:
    """The button that opens the settings."""
    usual = Limits()
    with st.popover("Settings", key="grade_settings", disabled=disabled):
        left, right = st.columns(2)
        left.selectbox(
            "Grader", [name for name in known_graders() if name != STORED], index=None, placeholder="tests",
            accept_new_options=True, key=_key("grader"), help="A name, or NAME:option=value.",
        )  # fmt: skip
        right.selectbox(
            "Checker", list(known_checkers()), index=None, placeholder="the task's own", key=_key("checker")
        )
        _number(left, "Time-out per test, s", "timeout", usual.wall_s)
        _number(right, "Memory, MiB", "memory", usual.memory_mb)
        _number(left, "Workers", "workers", _cpus())
        _number(right, "Only the first rollouts", "limit", "all")


def chosen() -> Settings:
    """What the form says. Raises `SettingsError`."""
    grader, checker, timeout, memory, workers, limit = (st.session_state.get(_key(name)) for name in _KEYS)
    for name, value in (("Workers", workers), ("Only the first rollouts", limit)):
        if value is not None and (value < 1 or value != int(value)):
            raise SettingsError(f"{name} is {value:g}: give a whole number from 1")
    try:
        return Settings(
            Options(grader=_grader(grader), checker=checker, limits=limits_of(timeout, memory)),
            int(workers) if workers else None,
            int(limit) if limit else None,
        )
    except (GraderError, RecordError) as error:
        raise SettingsError(" ".join(str(error).split())) from None


def _grader(text: str | None) -> str | None:
    if not text or not text.strip():
        return None
    if refused := sandbox_state.grader_refusal(text.strip()):
        raise SettingsError(refused)
    return text.strip()


def _number(place: st.delta_generator.DeltaGenerator, label: str, name: str, usual: object) -> None:
    shown = f"{usual:,g}" if isinstance(usual, float) else str(usual)
    place.number_input(label, value=None, step=1.0, format="%g", placeholder=shown, key=_key(name))


def _key(name: str) -> str:
    return f"grade_{name}"


def _cpus() -> int:
    return len(os.sched_getaffinity(0))
