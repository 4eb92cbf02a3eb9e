"""Test suites: their runs, and the rule that derives a grade from them."""
