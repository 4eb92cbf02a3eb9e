"""Why a test case fails: its replay step by step, and the nearest sample that passes."""
