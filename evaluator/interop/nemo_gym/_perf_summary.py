"""`perf_summary`: tokens, turns and latency of the rollouts with `ng_perf`, masked ones included."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from pydantic import JsonValue

from evaluator.interop.nemo_gym._rollout_numbers import Row, finite
from evaluator.interop.nemo_gym._spread import deviation_of, finite_of, mean_of, quantile

Statistics = dict[str, Callable[[Sequence[float]], float]]

_TOKENS: Final = ("prompt_tokens", "cached_prompt_tokens", "completion_tokens", "reasoning_tokens")
_MIDDLE: Final[Statistics] = {"mean": mean_of, "median": partial(quantile, share=0.5)}
_OF_TOKENS: Final[Statistics] = {**_MIDDLE, "total": sum}
_OF_TURNS: Final[Statistics] = {
    **_MIDDLE,
    "std": deviation_of,
    "min": min,
    "p90": partial(quantile, share=0.9),
    "max": max,
}
_OF_LATENCY: Final[Statistics] = {
    "mean": mean_of,
    "p50": partial(quantile, share=0.5),
    "p90": partial(quantile, share=0.9),
    "p99": partial(quantile, share=0.99),
}


def perf_summary(rows: Sequence[Row]) -> dict[str, JsonValue] | None:
    """The block, without figures that no rollout has numbers for; None if no rollout has `ng_perf`."""
    records = [perf for row in rows if isinstance(perf := row.get("ng_perf"), dict)]
    if not records:
        return None
    with_tokens = [value for value in _values(records, "token_observability_coverage") if value > 0]
    summary: dict[str, JsonValue] = {
        "overall_observability_coverage": len(records) / len(rows),
        "token_observability_coverage": len(with_tokens) / len(rows),
    }
    for field in _TOKENS:
        summary |= _figures(_values(records, field), _OF_TOKENS, f"{{}}_{field}")
    summary |= _figures(_values(records, "num_turns"), _OF_TURNS, "{}_num_turns")
    per_turn = [ratio for record in records if (ratio := _tokens_per_turn(record)) is not None]
    summary |= _figures(per_turn, _MIDDLE, "{}_tokens_per_turn")
    return summary | _figures(_values(records, "total_latency_ms"), _OF_LATENCY, "total_latency_{}_ms")


def _values(records: Sequence[Row], field: str) -> list[float]:
    return [value for record in records if (value := finite(record.get(field))) is not None]


def _tokens_per_turn(record: Row) -> float | None:
    tokens, turns = finite(record.get("completion_tokens")), finite(record.get("num_turns"))
    return None if tokens is None or turns is None or turns <= 0 else tokens / turns


def _figures(values: list[float], statistics: Statistics, name: str) -> dict[str, JsonValue]:
    if not values:
        return {}
    return {**finite_of({name.format(each): statistic(values) for each, statistic in statistics.items()})}
