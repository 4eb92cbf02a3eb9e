"""Test code of a dataset, read as data: what its test cases are, what they need, where they can run. Runs nothing."""
