"""The Trouble page: what could not be used of the input files?"""
