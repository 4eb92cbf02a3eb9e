"""What each command does; `evaluator.cli` has their options."""
