"""The trusted side of the process that runs a test suite."""
