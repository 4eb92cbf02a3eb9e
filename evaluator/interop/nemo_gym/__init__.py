"""NeMo Gym's resource servers with Rollscope's grading. See docs/integrations/nemo-gym.md."""

from evaluator.extras import needs

with needs("serve", "NeMo Gym's servers need fastapi and more"):
    from evaluator.interop.nemo_gym.base_server import BaseResourcesServer, ToolError
    from evaluator.interop.nemo_gym.code_server import CodeResourcesServer
    from evaluator.interop.nemo_gym.config import ConfigError, ServerConfig
    from evaluator.interop.nemo_gym.wire import (
        AggregateMetrics,
        AggregateMetricsRequest,
        BaseVerifyRequest,
        BaseVerifyResponse,
        ReverifyMode,
        VerifyRequest,
        VerifyResponse,
    )

__all__ = [
    "AggregateMetrics", "AggregateMetricsRequest", "BaseResourcesServer", "BaseVerifyRequest", "BaseVerifyResponse",
    "CodeResourcesServer", "ConfigError", "ReverifyMode", "ServerConfig", "ToolError", "VerifyRequest",
    "VerifyResponse",
]  # fmt: skip
