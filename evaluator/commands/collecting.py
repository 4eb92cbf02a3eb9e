"""`rollscope collect`: samples rollouts from a model, has them verified, and writes them as NeMo Gym does."""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, Final

import msgspec

from evaluator.commands.output import CommandError, Exit, counted, print_facts
from evaluator.commands.progress import FirstProblems, Meter, paced, stopping_on_signal
from evaluator.formats import Problem
from evaluator.http_calls import Backoff
from evaluator.interop.nemo_gym.collecting.collector import Request, collect
from evaluator.interop.nemo_gym.collecting.figures import Figures
from evaluator.interop.nemo_gym.collecting.service import CollectError
from evaluator.interop.nemo_gym.wire import JsonObject

_OVERRIDES: Final = ("model", "temperature", "top_p", "max_output_tokens")


def collect_rollouts(
    *,
    num_repeats: int,
    max_turns: int,
    retries: int,
    timeout: float,
    as_json: bool,
    **given: Any,
) -> int:
    """Collect and print the figures. `given`: the other fields of `Request`, and sampling options.

    Bad arguments and input raise one-line errors.
    """
    sampling = {name: given.pop(name) for name in _OVERRIDES}
    request = Request(
        repeats=num_repeats,
        overrides={name: value for name, value in sampling.items() if value is not None},
        most_turns=max_turns,
        backoff=Backoff(retries),
        timeout_s=timeout,
        **given,
    )
    try:
        figures = asyncio.run(_collect(request))
    except CollectError as error:
        raise CommandError(str(error)) from None
    if as_json:
        figures.seconds = round(figures.seconds, 3)
        print(msgspec.json.encode({"output": str(request.output), **msgspec.to_builtins(figures)}).decode())
    else:
        print_facts(_rows(request, figures))
    if figures.stopped:
        print("stopped; resume with the same command and --resume", file=sys.stderr)
        return Exit.STOPPED
    return Exit.FINDING if figures.failed else Exit.DONE


async def _collect(request: Request) -> Figures:
    with ExitStack() as stack:
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        stack.enter_context(stopping_on_signal(lambda: loop.call_soon_threadsafe(stop.set), "collected rollouts"))
        return await collect(request, _Progress(stack, request), stop)


class _Progress:
    """Reports progress on stderr."""

    def __init__(self, stack: ExitStack, request: Request) -> None:
        self._stack = stack
        self._meter = Meter(0)
        self._problems = FirstProblems(f"`rollscope formats {request.rows} --check` lists them")

    def begins(self, asked: int, done: int) -> None:
        in_words = lambda mean: "no rewards yet" if mean is None else f"mean reward {mean:.3f}"  # noqa: E731
        self._meter = self._stack.enter_context(Meter(asked - done, "collected", in_words))

    def rolled(self, record: JsonObject) -> None:
        if "_ng_failure_class" in record:
            self._meter.count_failure()
            return
        reward = record.get("reward")
        masked = record.get("mask_sample") is True
        self._meter.count(reward if isinstance(reward, float) and not masked else None)

    def bad_row(self, problem: Problem) -> None:
        self._problems(problem)

    def notice(self, line: str) -> None:
        print(line, file=sys.stderr)


def _rows(request: Request, figures: Figures) -> Iterator[tuple[str, str]]:
    yield "rollouts", f"{figures.rollouts:,} of {figures.asked:,}"
    if figures.failed:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in figures.failures.items())
        yield "failed", f"{figures.failed:,} ({kinds}); --resume retries them"
    yield "mean reward", _mean_reward(figures)
    for one in figures.pass_at_k:
        yield (
            f"pass@{one.k}",
            f"{_share(one.value)} (95 % interval {_share(one.low)} to {_share(one.high)}, n = {one.n:,})",
        )
    yield "tokens", _tokens(figures)
    if figures.cut_off:
        yield "cut off", f"{counted(figures.cut_off, 'answer')} cut by the endpoint, usually at its length limit"
    missing = f", {figures.no_such_tool:,} of them to tools the server does not have" if figures.no_such_tool else ""
    yield "tool calls", f"{figures.tool_calls:,}{missing}"
    if figures.thinking:
        yield (
            "thinking",
            f"{counted(figures.thinking, 'rollout')} with a reward set by thinking tags in the answer",
        )
    pace = paced(figures.rollouts / figures.seconds) if figures.seconds and not request.resume else ""
    retries = f"{figures.retries:,} retries" if figures.retries else ""
    yield "took", ", ".join(filter(None, [f"{figures.seconds:,.1f} s", pace, retries]))
    yield "next", f"rollscope view {shlex.quote(str(request.output))}"


def _mean_reward(figures: Figures) -> str:
    if figures.mean_reward is None:
        return "none: nothing was verified (`rollscope grade` grades the file)" if figures.unverified else "none"
    left_out = [f"{figures.masked:,} masked"] if figures.masked else []
    left_out += [f"{figures.unverified:,} without a reward"] if figures.unverified else []
    over = figures.rollouts - figures.masked - figures.unverified
    mean = f"{figures.mean_reward:.3f} over {counted(over, 'rollout')}"
    return f"{mean}; left out: {', '.join(left_out)}" if left_out else mean


def _tokens(figures: Figures) -> str:
    tokens = f"{figures.input_tokens:,} in, {figures.output_tokens:,} out"
    if figures.counted == figures.rollouts:
        return tokens
    return f"{tokens} (counted in {figures.counted:,} of {counted(figures.rollouts, 'answer')})"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"
