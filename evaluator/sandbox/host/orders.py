"""What a process is sent first: its role and its limits, and for a completion's process the program."""

from __future__ import annotations

import marshal
import math

from evaluator.model import Limits
from evaluator.sandbox.host.program import SuiteNeeds
from evaluator.sandbox.host.program_setup import ProgramSetup

_MIB = 2**20
_BACKSTOP_CPU_S = 2
SPARE_TASKS = 4
"""The process itself, its namespace's first process, and the threads that libraries start."""


def program_order(setup: ProgramSetup, *, ahead: bool, forks: bool, memory_counted: bool) -> bytes:
    """For a completion's process. `ahead`: inputs come with it. `forks`: it becomes a template."""
    program = setup.program
    order = {
        **confinement(setup.limits, memory_counted=memory_counted, forks=forks, spare_tasks=SPARE_TASKS),
        **_role(setup),
        "source": program.source,
        "entry_point": program.entry_point,
        "preamble": program.preamble,
        "header": setup.header,
        "ahead": ahead,
        "reports_calls": setup.reports_calls,
        "loopback": setup.loopback,
        "audits": program.audits,
        "shares_files": "gives" if setup.shares_files else "",
    }
    return marshal.dumps(order, 2)


def _role(setup: ProgramSetup) -> dict[str, object]:
    """The role of the process, and what is specific to it."""
    program = setup.program
    if program.suite is None:
        return {"role": "runner" if program.runner else "program"}
    if program.shares_process:
        return {"role": "shared_process"}
    return {"role": "server", **{name: getattr(program.suite, name) for name in SuiteNeeds.__struct_fields__}}


def confinement(limits: Limits, *, memory_counted: bool, forks: bool, spare_tasks: int) -> dict[str, object]:
    """What the kernel allows a process. `memory_counted`: whether a control group counts its memory."""
    return {
        "forks": forks,
        "ahead": False,
        "reports_calls": False,
        "memory_counted": memory_counted,
        "processes": limits.processes,
        "loopback": False,
        "virtual_bytes": int(limits.virtual_mb * _MIB),
        "output_bytes": int(limits.output_mb * _MIB),
        "cpu_s": math.ceil(limits.total_s) + _BACKSTOP_CPU_S,
        "tasks": limits.threads + limits.processes + spare_tasks + forks,
    }
