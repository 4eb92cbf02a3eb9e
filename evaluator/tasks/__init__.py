"""What a task's row says: its parts, the tests that are given in it, long numbers, and usual imports."""
