"""Fills the holes in the allocators' memory, so that what a forked process allocates lies side by side.

A forked process copies each page that it writes to: new objects in holes all over the interpreter's memory would cost
it a page each.
"""

from __future__ import annotations

import ctypes

_STEP, _LARGEST_IN_POOL = 16, 512
"""Python's allocator has pools for objects of each multiple of 16 bytes up to 512."""

_POOL, _POOL_HEADER = 16 * 1024, 48
_LARGEST_FREED, _LARGEST_SMALL = 256 * 1024, 1024

_kept: list[object] = []


class _Usage(ctypes.Structure):
    """`struct mallinfo2` of glibc."""

    _fields_ = (("counts", ctypes.c_size_t * 9), ("top", ctypes.c_size_t))


def fill() -> None:
    """Takes what is free in pools that are in use, and the blocks of the C library that have been freed."""
    for size in range(_STEP, _LARGEST_IN_POOL + 1, _STEP):
        _fill_pools(size)
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallinfo2"):
        _fill_heap(libc)


def _fill_pools(size: int) -> None:
    """Takes objects of this size until a new pool begins."""
    before = 0
    while True:
        taken: object = object() if size == 16 else float(size) if size == 32 else bytes(size - bytes.__basicsize__)
        _kept.append(taken)
        if id(taken) == before + size and before % _POOL == _POOL_HEADER:
            return
        before = id(taken)


def _fill_heap(libc: ctypes.CDLL) -> None:
    """Takes blocks of each size, from large to small, until one comes from the unused end of the heap."""
    libc.malloc.restype = libc.sbrk.restype = ctypes.c_void_p
    libc.malloc.argtypes = (ctypes.c_size_t,)
    libc.free.argtypes = (ctypes.c_void_p,)
    libc.mallinfo2.restype = _Usage
    size = _LARGEST_FREED
    while size >= _STEP:
        end = libc.sbrk(0) - libc.mallinfo2().top
        block = libc.malloc(size)
        if block >= end:
            libc.free(block)
            size = (size * 7 // 8 if size > _LARGEST_SMALL else size - _STEP) // _STEP * _STEP
