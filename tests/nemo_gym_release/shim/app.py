"""Our server's classes by the names that code_gen's tests import."""

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
