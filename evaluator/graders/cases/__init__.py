"""A completion on its test cases: one run for each in the sandbox, and its result."""
