"""The usage examples of the page "Implementation: Hpcaitech ColossalAI Code Reward Testing Util", as they stand there.

Source: the page of that name (2026-02-09) on ColossalAI (https://github.com/hpcaitech/ColossalAI, Apache-2.0),
`applications/ColossalChat/coati/distributed/reward/code_reward/testing_util.py`. The comment is the documented result.
"""

EXAMPLE = """\
from coati.distributed.reward.code_reward.testing_util import run_test

# Call-based test
in_outs = {
    "fn_name": "add",
    "inputs": ["1\\n2", "3\\n4"],
    "outputs": ["3", "7"],
}
test_code = "def add(a, b): return a + b"
results, error_info = run_test(in_outs, test=test_code, timeout=10)
# results: [True, True], error_info: {}

# Standard input test
in_outs_stdin = {
    "fn_name": None,
    "inputs": ["5"],
    "outputs": ["25"],
}
test_code_stdin = "n = int(input())\\nprint(n * n)"
results, error_info = run_test(in_outs_stdin, test=test_code_stdin)
"""
