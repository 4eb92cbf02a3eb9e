"""Watches what a completion uses and what it is refused, and says which limit it exceeded."""
