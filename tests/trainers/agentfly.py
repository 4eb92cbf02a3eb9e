"""Our reward and Python environment in rollouts of AgentFly's own code agent, after `install()`.

It is on no package index: AGENTFLY=/path/to/checkout says where it is; without that nothing is tried. Its backend
`client` asks an OpenAI server, here one that answers with the rows' programs. vLLM, which it imports for another
backend, is an empty module. Its own environment is a container, so the rewards are compared to what the rows expect.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from comparing import answering, compared, functions, timed

from evaluator.interop.agentfly import install

PACKAGES = (
    "chat-bricks==0.1.3", "torch==2.13.0", "transformers", "datasets", "ray", "wandb", "openai", "google-genai",
    "docker", "enroot-py", "redis", "omegaconf", "beautifulsoup4", "chess", "pillow", "termcolor",
)  # fmt: skip
"""What its modules import. Of chat-bricks a later version has other templates."""

CHECKOUTS = ("AGENTFLY",)
Message = dict[str, Any]


def main() -> None:
    find_agentfly(os.environ["AGENTFLY"])
    install()
    rows = functions()
    programs = {row["id"]: program(row) for row in rows}
    with answering(lambda request: chat(answer(programs, request["messages"]))) as url:
        rollouts(url, rows[:5])  # it starts its sandboxes
        done, seconds = timed(lambda: rollouts(url, rows))
    for row, trajectory in zip(rows, done, strict=True):
        check(row, trajectory)
    expected = [float(row["expected"]) for row in rows]
    compared("agentfly", "rollouts, by the rows", rows, [one.reward for one in done], expected, seconds, 0)


def program(row: dict[str, Any]) -> str:
    before = row["prompt"] if row["kind"] == "continuation" else ""
    return f"{row['preamble']}\n{before}{row['completion']}\n{row['test']}\ncheck({row['entry_point']})"


# --- its agent


def find_agentfly(checkout: str) -> None:
    os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp()  # it makes folders there
    os.environ["HF_HUB_OFFLINE"] = "1"  # it looks for a tokenizer of the server's model
    sys.path.insert(0, str(Path(checkout, "src")))
    vllm = sys.modules["vllm"] = ModuleType("vllm")
    for name in ("AsyncEngineArgs", "AsyncLLMEngine", "SamplingParams"):
        setattr(vllm, name, type(name, (), {}))


def rollouts(url: str, rows: list[dict[str, Any]]) -> list[Any]:
    """Its trajectory of each row."""
    from agentfly.agents import AutoAgent

    settings = {
        "agent_type": "code",
        "model_name_or_path": "qwen2.5",  # the server takes any; it is also the name of a chat template
        "backend_config": {"backend": "client", "base_url": f"{url}/v1"},
        "tools": ["code_interpreter"],
        "reward_name": "code_reward_test",
        "monitors": [],
    }
    agent = AutoAgent.from_config(settings)
    prompts = [{**row, "messages": [{"role": "user", "content": row["id"]}]} for row in rows]
    return list(asyncio.run(agent.run(prompts, max_turns=3, num_chains=1)))


def check(row: dict[str, Any], trajectory: Any) -> None:
    """Its reward is that of the last answer, which has the same program as the tool ran."""
    [messages] = trajectory.segments
    roles = [message["role"] for message in messages]
    assert roles == ["system", "user", "assistant", "tool", "assistant"], f"{row['id']}: the turns are {roles}"
    observed = messages[3]["content"][0]["text"].removesuffix("\n")
    output = trajectory.metrics["output"]
    assert observed == output, f"{row['id']}: the tool said {observed!r}, the reward {output!r}"
    assert trajectory.reward == row["expected"], f"{row['id']}: its reward is {trajectory.reward}: {output}"


# --- its model


def answer(programs: dict[str, str], messages: list[Message]) -> str:
    """First the program for the tool, which takes `python` fences; then the same program as the last answer."""
    question = next(one for one in messages if one["role"] == "user")["content"][0]["text"]
    language = "" if messages[-1]["role"] == "tool" else "python"
    return f"```{language}\n{programs[question]}\n```"


def chat(text: str) -> dict[str, Any]:
    """An OpenAI server's answer."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    return {"id": "0", "object": "chat.completion", "created": 0, "model": "", "choices": [choice]}


if __name__ == "__main__":
    main()
