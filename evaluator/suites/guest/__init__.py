"""Runs a test suite inside the sandbox: in a separate process next to the completion's, or in the same process.

Like all of `inside`, this is sent into the sandbox as text and uses only the standard library.
"""
