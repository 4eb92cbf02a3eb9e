"""What grading a completion takes, in counts that no other load changes. Needs neither root nor another program.

- processes: numbers that the kernel gave out in the sandbox's pid namespace (threads have numbers, too).
- pages and bytes: the kernel's own counts for the sandbox's processes, which an ended one leaves to its parent. Bytes
  are those of all reads and writes: messages, stdin and stdout, the program's own file.
- calls: system calls of the grading thread, by the C functions that make one each (strace finds a few more), and
  those among them that wait for the sandbox (poll).
- functions: those of Python that the grading thread enters.
- switches: how often the kernel let another thread run because the grading one had to wait.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import FrameType, ModuleType
from typing import NamedTuple

from evaluator.model import Limits, Rollout, Task
from evaluator.options import Options
from evaluator.sandbox import Program, Sandbox, Settings, Way, encoded_call
from evaluator.workers.worker import Worker
from tests.workers.processes import descendants, zygotes_below

_WARM_UP = 20
_PROBE = Program("def f():\n    return 1\n", "f")
_MODULES = ("posix", "fcntl")
"""Every function of these is a system call, but for `_NO_CALL`."""
_NO_CALL = frozenset("fspath waitstatus_to_exitcode WIFEXITED WIFSIGNALED WEXITSTATUS WTERMSIG".split())
_OWNERS = frozenset("socket poll epoll FileIO _socket time select".split())
"""Types and modules of whose functions `_CALL`s are system calls."""
_CALL = frozenset(
    """accept bind clock_gettime close connect listen poll read readall readinto recv recv_into recvfrom recvmsg
    recvmsg_into select send sendall sendmsg sendto setblocking setsockopt shutdown sleep socketpair truncate
    write""".split()
)


class Counts(NamedTuple):
    """Per completion."""

    processes: float
    pages: float
    bytes: float
    calls: float
    waits: float
    functions: float
    switches: float


class Slope(NamedTuple):
    """What a completion takes besides its test cases, and what each of these takes."""

    completion: Counts
    test: Counts


_FEW, _MANY = 2, 12


def slope(of: Callable[[int], Counts]) -> Slope:
    """The line through completions with 2 and with 12 test cases; `of` counts those with so many."""
    few, many = of(_FEW), of(_MANY)
    test = Counts(*((high - low) / (_MANY - _FEW) for low, high in zip(few, many, strict=True)))
    return Slope(Counts(*(low - _FEW * each for low, each in zip(few, test, strict=True))), test)


def counted(tasks: Iterable[Task], rollouts: Sequence[Rollout], options: Options | None = None) -> Counts:
    """Grades the rollouts one by one, and counts after the first twenty. All are right and share a warm interpreter."""
    by_id = {task.task_id: task for task in tasks}
    options = options or Options()
    others = set(zygotes_below())
    with Sandbox(Settings(way=Way.NAMESPACES)) as sandbox:
        sandbox.warm_up()
        (zygote,) = set(zygotes_below()) - others
        worker = Worker(options, sandbox=sandbox)

        def grade(some: Sequence[Rollout]) -> None:
            for rollout in some:
                result = worker.grade(by_id[rollout.task_id], rollout)
                assert result.passed, (result.task_id, result.verdict, result.error_message)

        grade(rollouts[:_WARM_UP])
        number = len(rollouts) - _WARM_UP
        before, calls, switches = _Sandboxed.now(sandbox, zygote), _Calls(), _switches()
        with calls:
            grade(rollouts[_WARM_UP:])
        waited = _switches() - switches
        after = _Sandboxed.now(sandbox, zygote)
    return Counts(
        (after.first - before.last - 1) / number,
        (after.pages - before.pages) / number,
        (after.bytes - before.bytes) / number,
        calls.all / number,
        calls.waits / number,
        calls.functions / number,
        waited / number,
    )


class _Sandboxed(NamedTuple):
    """The counts of the warm interpreter and its ended processes, and the numbers of a probe's processes in there."""

    pages: int
    bytes: int
    first: int
    last: int

    @classmethod
    def now(cls, sandbox: Sandbox, zygote: int) -> _Sandboxed:
        folder = Path("/proc", str(zygote))
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        moved = dict(line.split(": ") for line in (folder / "io").read_text().splitlines())
        depth = len(_numbers(zygote)) - 1
        with sandbox.execute(_PROBE, Limits()) as execution:
            execution.run(encoded_call([], {}), wall_s=30)
            found = [_numbers(number)[depth:] for number in descendants(zygote)]
        numbers = [each[0] for each in found if each]
        return cls(
            int(fields[7]) + int(fields[8]), int(moved["rchar"]) + int(moved["wchar"]), min(numbers), max(numbers)
        )


def _numbers(process: int) -> list[int]:
    """A process's numbers in the pid namespaces that it is in, outermost first."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next([int(number) for number in line.split()[1:]] for line in lines if line.startswith("NSpid:"))


def _switches() -> int:
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw


class _Calls:
    """Counts this thread's system calls, and its calls of Python's functions, for the length of a `with`."""

    def __init__(self) -> None:
        self.all = 0
        self.functions = 0
        self.waits = 0

    def __enter__(self) -> None:
        sys.setprofile(self._count)

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _count(self, _: FrameType, event: str, function: object) -> None:
        self.functions += event == "call"
        if event != "c_call":
            return
        name, owner = getattr(function, "__name__", ""), getattr(function, "__self__", None)
        of = owner.__name__ if isinstance(owner, ModuleType) else type(owner).__name__
        if name in _CALL if of in _OWNERS else of in _MODULES and name not in _NO_CALL:
            self.all += 1
            self.waits += name == "poll" and not isinstance(owner, ModuleType)
