"""Starts the interpreters that run untrusted code, in one of two ways, with access to nothing that they don't need."""
