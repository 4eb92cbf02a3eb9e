"""What a task says that it needs of the machine: to start processes, or to speak to itself by loopback."""

from __future__ import annotations

import ast
from enum import StrEnum

from evaluator.assertions.reading import Reading
from evaluator.model import Task


class Need(StrEnum):
    """What a completion may do beside what every one may."""

    PROCESSES = "new processes"
    LOOPBACK = "the loopback interface"


_MODULES = {
    Need.PROCESSES: frozenset("multiprocessing pexpect psutil sh subprocess".split()),
    Need.LOOPBACK: frozenset("ftplib http smtplib socket socketserver ssl wsgiref xmlrpc".split()),
}
_NAMES = {"ProcessPoolExecutor": Need.PROCESSES}


def needs_of(task: Task, reading: Reading) -> frozenset[Need]:
    """By the libraries that the dataset lists for the task (`libs`), and by what prompt, preamble and test import."""
    modules = {origin.partition(".")[0] for origin in reading.imports.origins.values()}
    modules.update(_listed(task.metadata.get("libs")))
    names = {need for name, need in _NAMES.items() if name in reading.imports.origins}
    return frozenset(names | {need for need, wanted in _MODULES.items() if wanted & modules})


def forks(task: Task, reading: Reading) -> bool:
    """Whether what is started may be copies of the completion's own process, with all that is in it."""
    modules = {origin.partition(".")[0] for origin in reading.imports.origins.values()}
    return "multiprocessing" in modules | set(_listed(task.metadata.get("libs"))) or any(
        name in reading.imports.origins for name in _NAMES
    )


def _listed(libs: object) -> list[str]:
    """BigCodeBench writes a list as the text of one."""
    if isinstance(libs, str):
        try:
            libs = ast.literal_eval(libs)
        except (ValueError, SyntaxError):
            return libs.replace(",", " ").split() if isinstance(libs, str) else []
    return [name.partition(".")[0] for name in libs if isinstance(name, str)] if isinstance(libs, list) else []
