"""Who runs the grading. `local`: this machine's workers."""
