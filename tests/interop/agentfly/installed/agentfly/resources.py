"""Resources by id; the runner of a backend starts them."""

from __future__ import annotations

from typing import Any, ClassVar


class Container:
    """What AgentFly would have started."""

    def __init__(self, image: str) -> None:
        self.image = image

    async def step(self, code: str) -> str:
        return f"from a container: {code}\n"

    async def end(self) -> None: ...


class LocalRunner:
    name = "local"

    def __init__(self) -> None:
        self.containers: list[str] = []

    async def start_resource(self, spec: Any, resource_id: str | None = None, timeout: float | None = None) -> Any:
        self.containers.append(spec.image)
        return Container(spec.image)

    async def end_resource(self, resource: Any) -> None:
        await resource.end()


class ResourceEngine:
    _runners: ClassVar[dict[str, Any]] = {"local": LocalRunner()}
    _acquired: ClassVar[dict[str, Any]] = {}

    @classmethod
    async def acquire(
        cls,
        id: str,  # noqa: A002
        spec: Any,
        backend: str = "local",
        timeout: float | None = 600.0,
    ) -> Any:
        if id not in cls._acquired:
            cls._acquired[id] = await cls._runners[backend].start_resource(spec, resource_id=id, timeout=timeout)
        return cls._acquired[id]

    @classmethod
    async def release(cls, id: str) -> None:  # noqa: A002
        cls._acquired.pop(id, None)
