"""Runs and judges a completion like ColossalAI's `run_test`, for its grader and its entry point."""
