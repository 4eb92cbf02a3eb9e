"""What a task declares that it needs from the machine: to start processes, or to use the loopback interface."""

from __future__ import annotations

import ast
from enum import StrEnum

from evaluator.assertions.reading import Reading
from evaluator.model import Task


class Need(StrEnum):
    """An extra permission for a completion."""

    PROCESSES = "new processes"
    LOOPBACK = "the loopback interface"


_MODULES = {
    Need.PROCESSES: frozenset("multiprocessing pexpect psutil sh subprocess".split()),
    Need.LOOPBACK: frozenset("ftplib http smtplib socket socketserver ssl wsgiref xmlrpc".split()),
}
_NAMES = {"ProcessPoolExecutor": Need.PROCESSES}
STARTING = frozenset(
    """os.fork os.forkpty os.popen os.posix_spawn os.system subprocess.Popen subprocess.call subprocess.check_call
    subprocess.check_output subprocess.getoutput subprocess.getstatusoutput subprocess.run""".split()
)
"""The functions that start a process."""


def needs_of(task: Task, reading: Reading) -> frozenset[Need]:
    """From the dataset's list of libraries (`libs`), the imports of prompt, preamble and test, and the test's calls."""
    modules = {origin.partition(".")[0] for origin in reading.imports.origins.values()}
    modules.update(_listed(task.metadata.get("libs")))
    names = {need for name, need in _NAMES.items() if name in reading.imports.origins}
    if any(isinstance(node, ast.Call) and reading.imports.dotted(node.func) in STARTING for node in reading.nodes):
        names.add(Need.PROCESSES)
    return frozenset(names | {need for need, using in _MODULES.items() if using & modules})


def forks(task: Task, reading: Reading) -> bool:
    """Whether the new processes may be copies of the completion's own process."""
    modules = {origin.partition(".")[0] for origin in reading.imports.origins.values()}
    return "multiprocessing" in modules | set(_listed(task.metadata.get("libs"))) or any(
        name in reading.imports.origins for name in _NAMES
    )


def _listed(libs: object) -> list[str]:
    """The modules in `libs`; BigCodeBench writes the list as text."""
    if isinstance(libs, str):
        try:
            libs = ast.literal_eval(libs)
        except (ValueError, SyntaxError):
            return libs.replace(",", " ").split() if isinstance(libs, str) else []
    return [name.partition(".")[0] for name in libs if isinstance(name, str)] if isinstance(libs, list) else []
