"""What the programs that take more than they may are made of."""

from __future__ import annotations

from textwrap import indent

from tests.attacks.corpus import Attack


def bombing(name: str, technique: str, code: str, task: str = "single") -> Attack:
    return Attack(name, "resource", technique, task, code.lstrip("\n"))


def taking(name: str, technique: str, modules: str, body: str, task: str = "single") -> Attack:
    """`body` raises where it did not get what it wanted."""
    tried = indent(body.strip("\n"), " " * 8)
    return bombing(
        name,
        technique,
        f"import {modules}\ndef f(x):\n    try:\n{tried}\n    except BaseException: return None\n    return 2 * x\n",
        task,
    )


def holding(name: str, technique: str, modules: str, body: str) -> Attack:
    """As `taking`, with the time that filling so much memory takes."""
    return taking(name, technique, modules, body, "single_patient")
