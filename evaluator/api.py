"""`grade`, `grade_all`, `agrade`, `configure`: the library's front door. `grade_file` is in `file_grading`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Unpack

import msgspec

from evaluator.formats import load_task
from evaluator.graders import with_known_names
from evaluator.model import Grade, JsonValue, Kind, Rollout, Task
from evaluator.options import Given, Options, options_of, with_preamble
from evaluator.workers import grade_stream, pool
from evaluator.workers.cached_grades import cache_settings
from evaluator.workers.engine import EngineName, Place
from evaluator.workers.locks import MACHINE_WIDE
from evaluator.workers.single import agrade_one, engine_for, grade_one
from evaluator.workers.worker_count import WORKERS


def configure(*, workers: int | None = None, machine_wide: bool | None = None) -> None:
    """Says how many completions run at once, for this process and those that it starts from here on.

    It sets the environment variables `ROLLSCOPE_WORKERS` and `ROLLSCOPE_MACHINE_WIDE`, which may as well be set before.
    Worker processes that are warm are ended, and calls that are under way get `FaultError`; so call it first.

    Args:
        workers: How many for single calls, for reward functions, and for `grade_all` where it is not told. None: as
            it was; without it one per CPU, within the control group's quota and the free memory.
        machine_wide: Whether single calls and reward functions of all processes of this user share these workers'
            slots, so that 16 reward processes together run no more at once than one would. None: as it was; without
            it they do. `grade_all`, `grade_file` and `rollscope grade` never do.

    Raises:
        ValueError: `workers` is no whole number from 1.
    """
    if workers is not None:
        if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
            raise ValueError(f"workers is {workers!r}: give a whole number from 1")
        os.environ[WORKERS] = str(workers)
    if machine_wide is not None:
        os.environ[MACHINE_WIDE] = "yes" if machine_wide else "no"
    pool.close()


TaskLike = Task | Mapping[str, JsonValue]
"""A task, or its row in any format that `load_task` reads."""


def grade(
    task: TaskLike,
    completion: str,
    *,
    kind: Kind | str | None = None,
    engine: EngineName = "local",
    address: str | None = None,
    options: Options | None = None,
    **given: Unpack[Given],
) -> Grade:
    """Grades one completion of a task.

    >>> from evaluator import Task, grade
    >>> in_outs = {"fn_name": "add", "inputs": [[1, 2]], "outputs": [3]}
    >>> task = Task.from_row({"task_id": "add", "mode": "call", "in_outs": in_outs})
    >>> result = grade(task, "def add(a, b): return a - b")
    >>> result.verdict.value, result.reward, result.cases[0].actual
    ('wrong_answer', 0.0, '-1')
    >>> result
    <Grade add#0: wrong_answer, reward 0.0, 0 of 1 tests passed, 'expected 3, got -1'>

    Several threads may call it; as many completions run at once as `grade_all` has workers, and the others wait.
    Worker processes stay warm between calls: the first call takes about half a second, a later one some milliseconds.
    Every call grades anew: unlike `grade_all` it has no cache of grades.

    The reward is None for the verdicts `unknown` and `sandbox_error`; leave these out of means. What is wrong with the
    task is no exception but `unknown`, with the reason in `error_message`: no test cases, or a checker or grader of
    its own that does not exist. An empty completion, or one without code, is `no_code` and has the reward 0.

    Args:
        task: What decides; see `Task.from_row`. Or a row in any format that `load_task` reads. Its own `limits`,
            checker and `grader` win over those given here.
        completion: The model's text: a program, what follows the prompt, or prose with fenced code.
        limits: Seconds and MiB, as `Limits` or some of its fields, such as `{"wall_s": 2}`. None: `Limits()`, which is
            10 s and 1,024 MiB per test case, 60 s in all.
        timeout, memory: As the command's options: wall and CPU seconds, and resident MiB, per test case. They win over
            `limits`.
        time_factor: Times the task's `time_limit`, which its dataset states for compiled programs: so much time a test
            case has at least. By default 5.
        checker: The comparison rule, such as "floats". None: `floats` for stdin, `value` for call.
        grader: A name with options, such as "tests:reward=fraction", or "FILE.py:FUNCTION". None: `tests`, for a task
            with an answer instead of tests `exact_match`.
        preamble: Code before every completion, in place of what the tasks say. None: what they say; "": nothing.
        kind: What the text is: "full", "continuation" or "chat". None: it is detected.
        sandbox: How strict it is, and the Python whose packages completions see, as `Settings`. None: strict, and this
            Python with numpy alone.
        python: That Python's path alone, such as `"env/bin/python"`.
        unverified: Whether a grade that could only be made inside the completion's process (`verified` is false)
            keeps its reward ("keep") or is `unknown` and has none ("unknown").
        disagreement: A test suite that fails in a process of its own and passes in the completion's is `unknown`
            ("unknown"), is passed and not verified ("keep"), or fails ("fail").
        unfinished_thinking: A completion that ends while the model is thinking has no code ("no_code"), or the code in
            its thoughts ("grade").
        fail_fast, isolation: As in `grade_all`.
        engine, address: As in `grade_all`. With "ray" the machines are taken at the first call, and kept.
        options: All of these in one record; those that are given beside it win.

    Raises:
        SandboxUnavailable: No sandbox can be had on this machine; `rollscope doctor` says why. A sandbox that fails
            later is no exception but `sandbox_error`.
        InterpreterError: `sandbox` names a Python that completions can't run on (a `ValueError`).
        EngineError, MissingExtraError: As in `grade_all`.
        GraderError, CheckerError: `grader` or `checker` names none, or has options that it does not take (both are
            `ValueError`s).
        ValueError: `kind` is none of the three, a limit is wrong, or `load_task` can't read the row.
    """
    options = with_known_names(options_of(options, given))
    task = _task(task, options)
    return grade_one(task, _rollout(task, completion, kind), options, Place(engine, address))


def _task(task: TaskLike, options: Options) -> Task:
    return with_preamble(task if isinstance(task, Task) else load_task(task), options)


def _rollout(task: Task, completion: str, kind: Kind | str | None) -> Rollout:
    return Rollout(
        task_id=task.task_id,
        sample_id=f"{task.task_id}#0",
        completion=completion,
        kind=Kind(kind) if kind else None,
    )


async def agrade(
    task: TaskLike,
    completion: str,
    *,
    kind: Kind | str | None = None,
    engine: EngineName = "local",
    address: str | None = None,
    options: Options | None = None,
    **given: Unpack[Given],
) -> Grade:
    """`grade`, for `await`: the same arguments, result and exceptions, and the event loop runs on meanwhile.

    >>> import asyncio
    >>> from evaluator import Task, agrade
    >>> task = Task.from_row({"task_id": "echo", "in_outs": {"inputs": ["7"], "outputs": ["7"]}})
    >>> async def rewards():
    ...     return [each.reward for each in await asyncio.gather(agrade(task, "print(7)"), agrade(task, "print(8)"))]
    >>> asyncio.run(rewards())
    [1.0, 0.0]

    It takes no thread of the loop, unless its grader runs no code. A call that is cancelled ends at once, and its
    completion is ended too.
    """
    options = with_known_names(options_of(options, given))
    task = _task(task, options)
    return await agrade_one(task, _rollout(task, completion, kind), options, Place(engine, address))


def grade_all(
    tasks: Mapping[str, TaskLike] | Iterable[TaskLike],
    rollouts: Iterable[Rollout],
    *,
    workers: int | None = None,
    engine: EngineName = "local",
    address: str | None = None,
    cache: bool | str | Path | None = True,
    options: Options | None = None,
    **given: Unpack[Given],
) -> Iterator[Grade]:
    """Grades many rollouts, as a stream: yields each grade when it is done, so not in the order of the rollouts.

    >>> from evaluator import Rollout, Task, grade_all
    >>> tasks = [Task.from_row({"task_id": "echo", "in_outs": {"inputs": ["7"], "outputs": ["7"]}})]
    >>> rollouts = (Rollout(task_id="echo", completion=f"print({n})") for n in (7, 8, 7))
    >>> sorted((each.sample_id, each.reward) for each in grade_all(tasks, rollouts, workers=2))
    [('echo#0', 1.0), ('echo#1', 0.0), ('echo#2', 1.0)]

    Nothing happens before the first `next`. Memory stays flat however many rollouts there are: a few are read ahead of
    the workers. Leaving the loop early gives up those under way. A rollout of a task that is not in `tasks` is
    `unknown`. Completions of one task that are the same are run once, and the other grades say `duplicate_of`, unless
    their grader says that they may differ.

    Args:
        tasks: By task_id, or just the tasks; all of them are held in memory. Each may be a row, as in `grade`.
        rollouts: Any iterable, also an endless one. One without `sample_id` gets `<task_id>#<n>`, n counting the
            task's rollouts from 0.
        workers: How many are graded at once, each in a process of its own. None: one per CPU that this process may
            use, or fewer where its control group's quota or the free memory allow no more; for graders that run no
            code but wait for others (a judge), as many as these take at once, where that is more. With ray: on each
            machine; None: as many as it has CPUs free.
        engine: Where completions run: "local", on this machine, or "ray", on the machines of a Ray cluster; see
            docs/how-to/ray.md. What runs no code is graded here.
        address: The head of the cluster, as HOST:PORT. None: the one that this process is connected to, else the one
            that runs on this machine or that RAY_ADDRESS names.
        fail_fast: Skip a completion's test cases after its first failure; these are `not_run`.
        isolation: "completion": the test cases of a stdin program may share a process, which is faster; "test": each
            has a process of its own.
        limits, timeout, memory, time_factor, checker, grader, preamble, sandbox, python: As in `grade`.
        unverified, disagreement, unfinished_thinking, options: As in `grade`.
        cache: Where grades are kept, and looked for: a folder; True: `rollscope/grades` in the user's cache directory;
            None or False: nowhere. A grade from there is `cached`, and its times are those of the run that made it.

    Raises:
        SandboxUnavailable, InterpreterError: As in `grade`, before the first grade; with ray if no machine has one.
        EngineError: The cluster does not answer, or none of its machines is free; or, later, all of them are lost.
        MissingExtraError: Ray is not installed.
        GraderError, CheckerError, ValueError: As in `grade`; or `workers` is negative. What `rollouts` raises while it
            is read is raised here too.
    """
    options = with_known_names(msgspec.structs.replace(options_of(options, given), cache=cache_settings(cache)))
    found_engine = engine_for(engine, address, options, workers)
    own_names = tasks.items() if isinstance(tasks, Mapping) else ((None, task) for task in tasks)
    found = ((name, _task(task, options)) for name, task in own_names)
    by_id = {task.task_id if name is None else name: task for name, task in found}
    graded = grade_stream.grade_all(by_id, rollouts, options, workers=workers, engine=found_engine)
    return (each.grade for each in graded)
