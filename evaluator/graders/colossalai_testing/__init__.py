"""Runs and judges a completion as ColossalAI's `run_test` does, for its grader and for its entry point."""
