"""ColossalAI's code reward on Rollscope's sandbox: change the import, get the same answers.

    from evaluator.interop.colossalai import run_test, reliability_guard

What differs, with and without `strict_compat()`: docs/integrations/colossalai.md.
"""

from evaluator.graders.colossalai_testing.run import InOutsError
from evaluator.interop.colossalai.testing_util import (
    CODE_TYPE,
    Capturing,
    call_method,
    check_correctness,
    check_correctness_code_api,
    clean_traceback,
    custom_compare_,
    reliability_guard,
    run_test,
    strict_compat,
    stripped_string_compare,
    truncatefn,
)

__all__ = [
    "CODE_TYPE", "Capturing", "InOutsError", "call_method", "check_correctness", "check_correctness_code_api",
    "clean_traceback", "custom_compare_", "reliability_guard", "run_test", "strict_compat", "stripped_string_compare",
    "truncatefn",
]  # fmt: skip
