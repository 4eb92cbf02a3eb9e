"""A completion's process, forked from the zygote: confines itself, compiles the code, then answers the parent."""

from __future__ import annotations

import _socket
import os
import resource
from collections.abc import Callable
from types import CodeType
from typing import Any, NamedTuple

from evaluator.sandbox.guest import (
    calls,
    channel,
    failures,
    folders,
    linux,
    new_processes,
    programs,
    reusable,
    sharing,
)

_CHANNEL = channel.CHANNEL
_PLACES = list(range(channel.MOST_DESCRIPTORS))
"""0, 1 and 2, the parent's connection, the files for a stack and for answers, the connection to another process."""

_MOST_DESCRIPTORS = 4096
_HIGH = 100
"""Above every descriptor that we use, below the limit of open files."""

_NOT_COMPILED = ("suite", "suites", "runner")
"""Roles without code to compile at first, or that compile it themselves."""

_BROKEN = 70
"""Exit status of a process that could not continue."""


class Confinement(NamedTuple):
    """The restrictions of a process."""

    filters: dict[str, linux.SeccompFilter]
    """For a completion, a template and its forks; the first two also with a listener."""
    landlock_abi: int
    """0: the kernel has none."""
    landlock_rules: list[tuple[str, int]]
    namespaces: bool
    """Whether there are namespaces: then it gets its own mounts."""
    shared: bool
    """Whether others use the same namespaces before and after it (see `sharing`)."""
    cores: set[int]
    """Those that the zygote had at first."""
    counts_tasks: bool
    """Whether the kernel counts processes and threads separately for this zygote."""


class Parts(NamedTuple):
    """Modules that only some interpreters have."""

    suites: Any
    """`suites.guest.suite_roles`, or None."""
    runner: Any
    """That of a `settings.Runner`, or None."""


def server(confinement: Confinement, parts: Parts, restrict: Callable[[], int] | None) -> Callable[[list[int]], None]:
    """What a process does with its descriptors, those that become the first ones, as in `_PLACES`: it never returns.

    `restrict`: the prepared Landlock rules, if the namespaces are shared.
    """

    def serve(descriptors: list[int]) -> None:
        if restrict is not None and restrict() < 0:
            os._exit(_BROKEN)
        _arrange(descriptors)
        answer(confinement, parts)

    return serve


def answer(confinement: Confinement, parts: Parts, *, rehearses: bool = False) -> None:
    """Never returns. `rehearses`: in the zygote itself, with code of ours; see `rehearsal`.

    Sends `H`; reads the order; sends `L`, unless inputs came with it, or `C` if the code does not compile. Until then
    none of it has run.
    """
    try:
        channel.send(_CHANNEL, b"H")
        _, order = channel.receive(_CHANNEL)
        _confine(order, confinement)
        _filter(order, confinement, rehearses=rehearses)
        code, preamble = (None, None) if order["role"] in _NOT_COMPILED else _compiled(order)
    except channel.ClosedError:
        os._exit(0)
    except BaseException as error:
        channel.send(_CHANNEL, b"!", repr(error).encode())
        os._exit(1)
    try:
        _run(order, code, preamble, confinement, parts)
    except BaseException:  # the parent has ended, or the program broke what we need
        os._exit(_BROKEN)


def _arrange(descriptors: list[int]) -> None:
    """Moves the descriptors to their numbers, unless they are there, and closes all others."""
    if descriptors != _PLACES[: len(descriptors)]:
        for place, descriptor in enumerate(descriptors):
            os.dup2(descriptor, _HIGH + place)
        for place in range(len(descriptors)):
            os.dup2(_HIGH + place, place)
    os.closerange(len(descriptors), _MOST_DESCRIPTORS)


def _arrange_in_fork(descriptors: list[int], confinement: Confinement) -> None:
    """In a template's fork, which is confined already, except for the template's own rights."""
    _arrange(descriptors)
    confinement.filters["fork"].install()
    channel.send(_CHANNEL, b"H")


def _confine(order: dict[str, Any], confinement: Confinement) -> None:
    if confinement.shared:
        linux.set_dumpable(True)  # the one before it has ended
    else:
        _confine_alone(order, confinement)
    sharing.set_limit(resource.RLIMIT_AS, order["virtual_bytes"])
    sharing.set_limit(resource.RLIMIT_FSIZE, order["output_bytes"])
    sharing.set_limit(resource.RLIMIT_CPU, order["cpu_s"])
    if confinement.counts_tasks:
        sharing.set_limit(resource.RLIMIT_NPROC, order["tasks"])


def _filter(order: dict[str, Any], confinement: Confinement, *, rehearses: bool) -> None:
    if not order["memory_counted"]:
        confinement.filters["uncounted"].install()
    if order["shares_files"] == "gives":
        confinement.filters["unlinked"].install()
    starts_processes = order["forks"] or order["processes"]
    name = f"{'loopback ' * order['loopback']}{'template' if starts_processes else 'completion'}"
    if order["reports_calls"]:
        _hand_over(b"N", confinement.filters[f"reporting {name}"].install_with_listener())
        if not starts_processes:
            confinement.filters["last"].install()
    else:
        confinement.filters[name].install(rehearses=rehearses)


def _confine_alone(order: dict[str, Any], confinement: Confinement) -> None:
    """What a process of a shared zygote has before its order comes."""
    linux.be_killed_first()
    if order["processes"]:
        os.sched_setaffinity(0, confinement.cores)
    if order["loopback"]:
        linux.start_loopback()
    if confinement.namespaces:
        _mount(order["shares_files"])
    os.chdir(folders.home)
    sharing.set_common_limits()
    linux.set_no_new_privileges()
    if confinement.landlock_abi:
        linux.landlock(confinement.landlock_abi, confinement.landlock_rules, tcp=order["loopback"])
    linux.drop_capabilities()


def _hand_over(kind: bytes, descriptor: int) -> None:
    """Sends the parent a descriptor, and closes ours."""
    channel.send_descriptor(_CHANNEL, kind, descriptor)
    os.close(descriptor)


def _mount(shares_files: str) -> None:
    """`shares_files`: "gives" its /tmp to another process through the parent, "takes" that of another, or ""."""
    linux.unshare(linux.CLONE_NEWNS)
    if shares_files == "takes":
        connection = _socket.socket(fileno=_CHANNEL)
        _, (descriptor,) = channel.receive_with_descriptors(connection, 1, 5)
        connection.detach()
        linux.put_mount(descriptor, b"/tmp")
    else:
        linux.mount_memory(b"/tmp", folders.FILES_MB, linux.MS_NOSYMFOLLOW if shares_files else 0)
    linux.mount_memory(b"/dev/shm", folders.SHARED_MEMORY_MB)
    if shares_files == "gives":
        _hand_over(b"M", linux.mount_again(b"/tmp"))
    linux.mount_own_proc()


def _compiled(order: dict[str, Any]) -> tuple[CodeType, CodeType | None]:
    """The code and the preamble. If one does not compile, reports the error and ends the process."""
    source: str = order["source"]
    name = failures.SOURCE_NAMES[order["entry_point"] is not None or order["role"] != "program"]
    _write_source(name, source)
    try:
        preamble = None
        if order["preamble"] and order["header"] is None:
            preamble = _compiled_preamble(order)
        return compile(source, name, "exec", dont_inherit=True), preamble
    except Exception as error:
        channel.send(_CHANNEL, b"C", channel.as_json({"failure": failures.report(error)}))
        os._exit(0)


def _compiled_preamble(order: dict[str, Any]) -> CodeType:
    code: CodeType = compile(order["preamble"], "preamble.py", "exec", dont_inherit=True)
    return code


def _write_source(name: str, source: str) -> None:
    """A program may read its own source, unless that is longer than a file may be."""
    try:
        file = os.open(name, os.O_WRONLY | os.O_CREAT, 0o644)
        os.write(file, source.encode("utf-8", "surrogatepass"))
        os.close(file)
    except OSError:
        return


def _run(
    order: dict[str, Any], code: CodeType | None, preamble: CodeType | None, confinement: Confinement, parts: Parts
) -> None:
    if order["processes"]:
        new_processes.allow(_CHANNEL, *([channel.PEER_DESCRIPTOR] if order["role"] == "server" else []))
    if order["inputs"] is None:
        channel.send(_CHANNEL, b"L")
    if order["role"] == "runner":
        parts.runner.serve(_CHANNEL, order)
    elif order["role"] != "program":
        parts.suites.serve(_CHANNEL, order, code, preamble, lambda given: _arrange_in_fork(given, confinement))
    elif code is None:
        raise LookupError
    elif order["entry_point"] is None:
        program = _reusable(order, code)
        if program is None and order["header"]:
            preamble = _compiled_preamble(order)
        programs.serve(_CHANNEL, code, preamble, order, program)
    else:
        bound = reusable.header_for(code, order["header"]) if order["header"] else None
        if bound is not None and bound.run():
            calls.serve(_CHANNEL, code, bound, order)  # does not return
        if order["header"]:
            preamble = _compiled_preamble(order)
        calls.serve(_CHANNEL, code, preamble, order)


def _reusable(order: dict[str, Any], code: CodeType) -> reusable.Reusable | None:
    """The program, with what it uses of the header, if its test cases may share this process."""
    if order["header"] is None:
        return None
    program = reusable.examine(code, order["header"])
    return program if isinstance(program, reusable.Reusable) and program.header.run() else None
