"""Rewards by name, called with keywords alone."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

_registry: dict[str, Callable[..., Any]] = {}


def register_reward(reward_name: str, reward_function: Callable[..., Any]) -> None:
    _registry[reward_name.lower()] = reward_function


def get_reward_from_name(reward_name: str) -> Callable[..., Any]:
    return _registry[reward_name.lower()]


def list_available_rewards() -> list[str]:
    return list(_registry)


async def calculate_reward(reward_fn: Callable[..., Any], **given: Any) -> tuple[float, dict[str, Any]]:
    """The reward, and what else was said."""
    told = reward_fn(**given)
    told = await told if inspect.isawaitable(told) else told
    return float(told["reward"]), {name: value for name, value in told.items() if name != "reward"}
