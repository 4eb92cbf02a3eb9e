"""The rewards that come with it."""

from agentfly.rewards.code_reward import code_reward_test
from agentfly.rewards.reward_base import get_reward_from_name, list_available_rewards, register_reward

__all__ = ["code_reward_test", "get_reward_from_name", "list_available_rewards", "register_reward"]
