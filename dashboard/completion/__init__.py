"""The Completion page: one rollout, its code and what happened when it ran."""
