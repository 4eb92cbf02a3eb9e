"""Reads a dataset's test code as data: its test cases, their needs, where they can run. Runs nothing."""
