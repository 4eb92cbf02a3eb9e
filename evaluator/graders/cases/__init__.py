"""A completion on its test cases: one run each in the sandbox, and what its result says."""
