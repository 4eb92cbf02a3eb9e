"""Grading from the page, and what the pages say about how a run was graded."""
