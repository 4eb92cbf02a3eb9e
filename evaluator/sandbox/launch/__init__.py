"""Starts the interpreters that run untrusted code, in one of two ways, out of reach of whatever they don't need."""
