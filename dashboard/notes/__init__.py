"""Notes and tags on rollouts and tasks."""
