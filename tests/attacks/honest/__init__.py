"""The code of the honest programs, by what is odd about it. `honest_programs.py` gathers it."""
