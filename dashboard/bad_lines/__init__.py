"""The page Bad lines: what could not be used of the input files?"""
