"""Random data for the inputs of the programs and functions."""

from __future__ import annotations

from random import Random


def numbers(rng: Random, count: int, low: int = -50, high: int = 50) -> list[int]:
    return [rng.randint(low, high) for _ in range(count)]


def words(rng: Random, count: int) -> list[str]:
    return ["".join(rng.choices("abcde", k=rng.randint(1, 6))) for _ in range(count)]
