"""Our server's classes by the names that code_gen's tests import."""

from __future__ import annotations

from evaluator.interop.nemo_gym.server import (
    EvaluatorResourcesServer,
    EvaluatorResourcesServerConfig,
    EvaluatorVerifyRequest,
    EvaluatorVerifyResponse,
)

CompCodingResourcesServer = EvaluatorResourcesServer
CompCodingResourcesServerConfig = EvaluatorResourcesServerConfig
CompCodingVerifyRequest = EvaluatorVerifyRequest
CompCodingVerifyResponse = EvaluatorVerifyResponse
