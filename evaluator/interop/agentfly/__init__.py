"""AgentFly's rewards, contexts and Python environment on Rollscope's sandbox. See docs/integrations/agentfly.md."""

from evaluator.interop.agentfly.environment import (
    CodeError,
    ContainerResourceSpec,
    PythonSandboxEnv,
    PythonSandboxSpec,
    SandboxFault,
    as_observed,
)
from evaluator.interop.agentfly.installation import install
from evaluator.interop.agentfly.resources import AcquireTimeout, Context, ResourceEngine
from evaluator.interop.agentfly.rewards import (
    REWARD_REGISTRY,
    BaseReward,
    RewardResult,
    calculate_reward,
    code_reward_test,
    get_reward_from_name,
    get_rewards_from_names,
    list_available_rewards,
    register_reward,
    reward,
)
from evaluator.sandbox import SandboxUnavailable

__all__ = [
    "REWARD_REGISTRY", "AcquireTimeout", "BaseReward", "CodeError", "ContainerResourceSpec", "Context",
    "PythonSandboxEnv", "PythonSandboxSpec", "ResourceEngine", "RewardResult", "SandboxFault", "SandboxUnavailable",
    "as_observed", "calculate_reward", "code_reward_test", "get_reward_from_name", "get_rewards_from_names",
    "install", "list_available_rewards", "register_reward", "reward",
]  # fmt: skip
