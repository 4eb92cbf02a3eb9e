"""The usage example of AgentFly's page "Code Execution Reward", as it stands there.

Source: the documentation of AgentFly (https://github.com/Agent-One-Lab/AgentFly, Apache-2.0), API reference of
`src/agentfly/rewards/code_reward.py`. The comments after `print` are the documented results.
"""

EXAMPLE = """\
from agentfly.core import Context
from agentfly.rewards.code_reward import code_reward_test

# Inside a rollout, `context` is injected and passed through to rewards.
result = await code_reward_test(
    prediction="print('Hello, World!')",
    context=context,
)
print(result)
# {"reward": 1.0, "output": "Hello, World!"}

result = await code_reward_test(
    prediction="print(undefined_variable)",
    context=context,
)
print(result)
# {"reward": 0.0, "output": "NameError: name 'undefined_variable' is not defined"}
"""
