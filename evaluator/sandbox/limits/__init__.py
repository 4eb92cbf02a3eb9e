"""Watches what a completion uses and what it is refused, and judges which limit it has passed."""
