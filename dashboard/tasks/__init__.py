"""The Tasks page: is the task itself right?"""
