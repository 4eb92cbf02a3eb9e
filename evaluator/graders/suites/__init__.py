"""Test suites: their runs, and the rule that makes a grade of them."""
