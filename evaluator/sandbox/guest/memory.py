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


_HUGE = 2 * 2**20
_PROT_READ, _PROT_WRITE, _PROT_EXEC = 1, 2, 4
_MAP_PRIVATE, _MAP_ANONYMOUS = 2, 32
_MREMAP_MAYMOVE, _MREMAP_FIXED = 1, 2
_MADV_COLLAPSE = 25


def enlarge_code_pages() -> int:
    """Puts the interpreter's machine code into pages of 2 MiB, as far as it fills them; returns how many.

    Else each forked process maps it anew, bit by bit.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = libc.mremap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
    libc.mremap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p)
    libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    done = 0
    for place in _code_blocks():
        room = libc.mmap(None, 2 * _HUGE, _PROT_READ | _PROT_WRITE, _MAP_PRIVATE | _MAP_ANONYMOUS, -1, 0)
        copy = -(-room // _HUGE) * _HUGE
        ctypes.memmove(copy, place, _HUGE)
        if libc.madvise(copy, _HUGE, _MADV_COLLAPSE) or libc.mprotect(copy, _HUGE, _PROT_READ | _PROT_EXEC):
            break
        if libc.mremap(copy, _HUGE, _HUGE, _MREMAP_MAYMOVE | _MREMAP_FIXED, place) != place:
            break
        done += 1
    return done


def _code_blocks() -> list[int]:
    """Addresses of the 2 MiB that hold nothing but what the interpreter's file has in there, for reading."""
    inside = ctypes.cast(ctypes.pythonapi.Py_IncRef, ctypes.c_void_p).value or 0
    with open("/proc/self/maps", encoding="utf-8") as file:
        maps = [line.split(None, 5) for line in file]
    ranges = [tuple(int(each, 16) for each in fields[0].split("-")) for fields in maps]
    (own,) = (place for place, (first, last) in enumerate(ranges) if first <= inside < last)
    start, end = ranges[own]
    for fields, (first, last) in zip(maps[own + 1 :], ranges[own + 1 :], strict=True):
        if first != end or "w" in fields[1] or fields[5] != maps[own][5]:
            break
        end = last
    for fields, (first, last) in zip(maps[:own][::-1], ranges[:own][::-1], strict=True):
        if last != start or "w" in fields[1] or fields[5] != maps[own][5]:
            break
        start = first
    return list(range(-(-start // _HUGE) * _HUGE, end - _HUGE + 1, _HUGE))
