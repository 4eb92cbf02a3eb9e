"""The Rollouts page: grid, table, search, preview."""
