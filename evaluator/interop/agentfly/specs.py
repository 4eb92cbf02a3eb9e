"""Resource specs with AgentFly's fields, so that each accepts the other's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class ResourceSpec(Protocol):
    """The fields that Rollscope reads; AgentFly's own specs have them."""

    @property
    def category(self) -> str: ...

    @property
    def image(self) -> str | None: ...

    @property
    def max_global_num(self) -> int | None: ...


@dataclass(frozen=True, kw_only=True)
class ContainerResourceSpec:
    """The kind of a resource, and how many may exist. The container's fields are for AgentFly's engine alone."""

    category: str
    image: str | None = None
    ports: dict[str, int | None] | None = None
    environment: dict[str, str] | None = None
    mount: dict[str, str] | None = None
    container_port: int | None = None
    start_timeout: float | None = None
    host_ip: str | None = None
    max_global_num: int | None = None
    """How many may exist at once, in use or free; None: unlimited."""


PythonSandboxSpec = ContainerResourceSpec(
    category="python_env",
    image="reasonwang/python-http-env:latest",
    ports={"8000/tcp": None},
    container_port=8000,
    start_timeout=60,
    host_ip="127.0.0.1",
    max_global_num=16,
)
"""Runs Python programs in Rollscope's sandbox. AgentFly starts the image; Rollscope never fetches it."""
