"""Pieces of source that several attacks begin with."""

_TRUE_OF_ALL = """
    __hash__ = object.__hash__
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __contains__(self, other): return True
"""
LIAR = "\nclass Liar:" + _TRUE_OF_ALL
"""A class whose objects are equal to all."""
LIES = "\nclass Lies:" + _TRUE_OF_ALL
"""The same, to be derived from beside another class."""

FRAMES = """
import os
PASSED = b'{"passed": true}'
def frame(kind, payload=PASSED): return (len(payload) + 1).to_bytes(4, "big") + kind + payload
def to_all(data):
    for descriptor in range(3, 65):
        try: os.write(descriptor, data)
        except OSError: pass
VALUE = frame(b"V", bytes(8) + b'[0, "%s"]' % PASSED)
END = frame(b"D", b'{"exit_status": 0, "memory_kib": 1, "clean": true, "passed": true}')
"""
"""Writes frames of this project's protocol, which also hold what a naive grader looks for."""
