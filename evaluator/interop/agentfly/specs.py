"""What a resource is asked for by: the fields that AgentFly's own specs have, so that either takes the other's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class ResourceSpec(Protocol):
    """What is read of a spec here; AgentFly's own have it."""

    @property
    def category(self) -> str: ...

    @property
    def image(self) -> str | None: ...

    @property
    def max_global_num(self) -> int | None: ...


@dataclass(frozen=True, kw_only=True)
class ContainerResourceSpec:
    """A resource's kind and its bounds. What only a container has is kept for AgentFly's engine, and unused by ours."""

    category: str
    image: str | None = None
    ports: dict[str, int | None] | None = None
    environment: dict[str, str] | None = None
    mount: dict[str, str] | None = None
    container_port: int | None = None
    start_timeout: float | None = None
    host_ip: str | None = None
    max_global_num: int | None = None
    """How many may exist at once, in use or free; None: any number."""


PythonSandboxSpec = ContainerResourceSpec(
    category="python_env",
    image="reasonwang/python-http-env:latest",
    ports={"8000/tcp": None},
    container_port=8000,
    start_timeout=60,
    host_ip="127.0.0.1",
    max_global_num=16,
)
"""Runs Python programs. Here it is Rollscope's sandbox; the image is what AgentFly starts, and is not fetched."""
