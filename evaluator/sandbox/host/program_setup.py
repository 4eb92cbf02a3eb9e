"""How a program's processes are made: decided once, from the program and what it is to run on."""

from __future__ import annotations

from typing import Literal

import msgspec

from evaluator.model import Limits
from evaluator.options import Way
from evaluator.sandbox.guest.header import Import
from evaluator.sandbox.host.launch import own_folder
from evaluator.sandbox.host.limits.refusals import may_try
from evaluator.sandbox.host.preambles import header_of
from evaluator.sandbox.host.program import Program

_MIB = 2**20

Forking = Literal["never", "once it ended", "always"]


class ProgramSetup(msgspec.Struct, frozen=True, kw_only=True):
    """What holds for all processes of one program."""

    program: Program
    limits: Limits
    """Those of the program, without new processes where these could be left behind."""
    is_call: bool
    """Whether an input is a call, which is answered with a value; else it is a program's stdin."""
    header: tuple[Import | str, ...] | None
    """The preamble as steps, where a process may run those that the program needs; None: it runs the preamble."""
    runs_ahead: bool
    """Whether inputs may be sent with the program."""
    forking: Forking
    """When each input gets a fork of a template: also once a run has ended the process that was for all inputs."""
    shared: bool
    """Whether processes follow one another in the zygote's own namespaces; else each gets new ones."""
    loopback: bool
    shares_files: bool
    """Whether it shares its /tmp with the process of its test suite."""
    reports_calls: bool
    """Whether the kernel asks us about calls that are refused."""

    @property
    def output_bytes(self) -> int:
        return int(self.limits.output_mb * _MIB)


def setup_for(program: Program, limits: Limits, way: Way, *, reuse: bool, several: bool) -> ProgramSetup:
    """`reuse`: whether a process may run on several inputs. `several`: whether more than one will come."""
    namespaces, suite = way is Way.NAMESPACES, program.suite
    if not namespaces:
        limits = msgspec.structs.replace(limits, processes=0)
    alone = limits.processes == 0
    bare = suite is None and program.runner is None
    is_call = not bare or program.entry_point is not None
    may_fork = several and alone and not is_call
    uses_header = bare if is_call else may_fork and reuse
    header = header_of(program.preamble) if uses_header else None
    loopback = program.loopback and namespaces
    forks = may_fork and not reuse
    return ProgramSetup(
        program=program,
        limits=limits,
        is_call=is_call,
        header=header,
        runs_ahead=reuse and alone and bare and (is_call or header is not None or not several),
        forking="always" if forks else "once it ended" if may_fork else "never",
        shared=namespaces and alone and bare and not (forks or loopback or program.system),
        loopback=loopback,
        shares_files=suite is not None and not program.shares_process and "files" in suite.uses,
        reports_calls=(not namespaces and not own_folder.has_users()) or may_try(program.source),
    )
