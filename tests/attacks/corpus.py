"""The attacks and the honest programs, and the small tasks that they pretend to answer."""

import importlib
from typing import Any, NamedTuple

from evaluator.model import Mode, Task, TestCase

GROUPS = ("reward_hack", "timeout", "resource", "escape", "persistence", "source")

MARK = "@MARK@"
"""Stands in an attack's code for the path of a file that it makes when no sandbox holds it."""


class Attack(NamedTuple):
    """A program that gets a reward only where what it tries succeeds."""

    name: str
    group: str
    technique: str
    task: str
    code: str
    shown: str = "reward"
    """What it does to a grader without a sandbox: `reward`, `hangs` (outlives its limit) or `mark`."""

    @property
    def grades(self) -> int:
        """How many times in a row it is graded; the last one counts. One that leaves something must find it again."""
        return 2 if self.group == "persistence" else 1


class Honest(NamedTuple):
    """A right answer that a naive guard or grader fails."""

    name: str
    task: str
    code: str
    guard: str
    """What fails it, in a word."""


def make_task(name: str, entry_point: str | None, wall_s: float, *cases: tuple[str, str]) -> Task:
    """A task of inputs and expected outputs: for a function, or for a program if there is no entry point."""
    return Task(
        task_id=name,
        mode=Mode.CALL if entry_point else Mode.STDIN,
        entry_point=entry_point,
        cases=tuple(TestCase(index, given, expected) for index, (given, expected) in enumerate(cases)),
        limits={"wall_s": wall_s, "cpu_s": wall_s},
    )


_BRIEF_S, _PATIENT_S = 0.5, 5.0

TASKS: dict[str, Task] = {
    task.task_id: task
    for task in (
        # f(x) is twice x.
        make_task("double", "f", _PATIENT_S, ("2", "4"), ("21", "42"), ("-7", "-14")),
        make_task("single", "f", _BRIEF_S, ("5021", "10042")),
        make_task("single_patient", "f", _PATIENT_S, ("5021", "10042")),
        # f(items) is the sorted list.
        make_task(
            "sort_list", "f", _PATIENT_S, ("[3, 1, 2]", "[1, 2, 3]"), ("[9, -4]", "[-4, 9]"), ("[5, 5, 0]", "[0, 5, 5]")
        ),
        # f(text) is the text in capitals.
        make_task("word", "f", _PATIENT_S, ('"heron"', '"HERON"'), ('"Wren"', '"WREN"'), ('"owl"', '"OWL"')),
        # f(text) has each letter with its number.
        make_task("tally", "f", _PATIENT_S, ('"aab"', '{"a": 2, "b": 1}'), ('"xyx"', '{"x": 2, "y": 1}')),
        # f(x) is half of x.
        make_task("half", "f", _PATIENT_S, ("3", "1.5"), ("-1", "-0.5"), ("20", "10.0")),
        # f(x) says whether x is even.
        make_task("even", "f", _PATIENT_S, ("4", "true"), ("7", "false"), ("0", "true")),
        # Reads one int, prints twice that.
        make_task("single_stdin", None, _BRIEF_S, ("6007\n", "12014\n")),
        # Prints the sum of the ints of each line.
        make_task(
            "sum_line", None, _PATIENT_S, ("1 2 3\n4 5\n", "6\n9\n"), ("10 -4\n", "6\n"), ("7\n8 80\n0\n", "7\n88\n0\n")
        ),
        # Prints its input.
        make_task(
            "echo", None, _PATIENT_S, ("heron\n", "heron\n"), ("two\nlines\n", "two\nlines\n"), ("3.50\n", "3.50\n")
        ),
    )
}


def tasks() -> dict[str, Task]:
    """All tasks: those above, and what the honest programs have besides."""
    theirs: dict[str, Task] = _found("honest_programs").HONEST_TASKS
    return TASKS | theirs


def family(group: str, technique: str, task: str, codes: dict[str, str]) -> list[Attack]:
    """Attacks of one technique on one task, by name, each of which plain `exec` pays."""
    return [Attack(name, group, technique, task, code) for name, code in codes.items()]


MODULES = (
    "lying_values lying_subclasses stolen_answers patched_graders forged_results early_ends odd_sources endless_loops "
    "endless_calls taken_memory taken_counts escapes persistence"
).split()


def attacks() -> list[Attack]:
    return [attack for name in MODULES for attack in _found(name).ATTACKS]


def honest() -> list[Honest]:
    return list(_found("honest_programs").HONEST)


def _found(module: str) -> Any:
    """These import this module."""
    return importlib.import_module(f"{__package__}.{module}")
