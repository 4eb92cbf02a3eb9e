"""The trusted side of a test suite's own process."""
