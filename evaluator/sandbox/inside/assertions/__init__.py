"""Runs a test suite inside the sandbox: in a process of its own beside the completion's, or together with it.

Like all of `inside`, this is sent into the sandbox as text and uses the standard library alone.
"""
