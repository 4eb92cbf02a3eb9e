"""The Audit page: is the reward right?"""
