"""Collects rollouts: asks a model, makes its tool calls, and has a resources server verify the answers."""
