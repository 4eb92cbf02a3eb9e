"""Answers that are compared as text or JSON, shared by `exact_match`, `structured` and `similarity`."""
