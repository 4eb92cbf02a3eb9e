"""The zygote's memory, laid out so that its forked processes copy and map little of it.

A forked process copies each page that it writes to, and pays for each that it has, at its beginning and its end: of the
CPU time of a short completion that is half. Where the kernel or the C library lack something, it stays as it is.
"""

from __future__ import annotations

import ctypes
from typing import NamedTuple

_STEP, _LARGEST_IN_POOL = 16, 512
"""Python's allocator has pools for objects of each multiple of 16 bytes up to 512."""

_POOL, _POOL_HEADER = 16 * 1024, 48
_LARGEST_FREED, _LARGEST_SMALL = 64 * 1024, 1024
_MOST_OBJECTS, _MOST_BLOCKS = 5000, 100
"""Of each size: more than is ever free. An allocator of another kind has no pools, or no heap, to be filled."""

_HUGE = 2 * 2**20
_READ, _WRITE, _EXECUTE = 1, 2, 4
_MAP_PRIVATE, _MAP_ANONYMOUS = 2, 32
_MREMAP_MAYMOVE, _MREMAP_FIXED = 1, 2
_MADV_COLLAPSE = 25
_FAILED = 2**64 - 1

_kept: list[object] = []


class _Usage(ctypes.Structure):
    """`struct mallinfo2` of glibc."""

    _fields_ = (("counts", ctypes.c_size_t * 9), ("top", ctypes.c_size_t))


_libc = ctypes.CDLL(None)
_mmap, _munmap, _mremap, _mprotect, _madvise = (
    getattr(_libc, name) for name in ("mmap", "munmap", "mremap", "mprotect", "madvise")
)
_mmap.restype = _mremap.restype = ctypes.c_void_p
_mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
_munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
_mremap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p)
_mprotect.argtypes = _madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)


def fill() -> None:
    """Takes what is free in pools that are in use, and the blocks of the C library that have been freed.

    What a forked process allocates then lies side by side, instead of in holes all over.
    """
    for size in range(_STEP, _LARGEST_IN_POOL + 1, _STEP):
        _fill_pools(size)
    if hasattr(_libc, "mallinfo2"):
        _fill_heap()


def _fill_pools(size: int) -> None:
    """Takes objects of this size until a new pool begins."""
    before = 0
    for _ in range(_MOST_OBJECTS):
        taken: object = object() if size == 16 else float(size) if size == 32 else bytes(size - bytes.__basicsize__)
        _kept.append(taken)
        if id(taken) == before + size and before % _POOL == _POOL_HEADER:
            return
        before = id(taken)


def _fill_heap() -> None:
    """Takes blocks of each size, from large to small, until one comes from the unused end of the heap."""
    malloc, free, end_of_heap = _libc.malloc, _libc.free, _libc.sbrk
    malloc.restype = end_of_heap.restype = ctypes.c_void_p
    malloc.argtypes = (ctypes.c_size_t,)
    free.argtypes = (ctypes.c_void_p,)
    _libc.mallinfo2.restype = _Usage
    size = _LARGEST_FREED
    while size >= _STEP:
        for _ in range(_MOST_BLOCKS):
            unused = end_of_heap(0) - _libc.mallinfo2().top
            block = malloc(size)
            if block >= unused:
                free(block)
                break
        size = (size * 7 // 8 if size > _LARGEST_SMALL else size - _STEP) // _STEP * _STEP


class _Range(NamedTuple):
    """A line of /proc/self/maps."""

    first: int
    end: int
    rights: str
    file: str = ""

    def blocks(self) -> range:
        """The addresses of the 2 MiB that lie wholly in it."""
        return range(-(-self.first // _HUGE) * _HUGE, self.end - _HUGE + 1, _HUGE)


def enlarge_pages() -> None:
    """Puts what fills 2 MiB of memory into one page each: machine code of the interpreter, and objects.

    A forked process gets such a page as a whole, until it writes to it.
    """
    ranges = _ranges()
    for place in _code(ranges).blocks():
        if not _move_code(place):
            break
    for each in ranges:
        if each.rights == "rw-p" and each.file in ("", "[heap]"):
            for place in each.blocks():
                _madvise(place, _HUGE, _MADV_COLLAPSE)


def _ranges() -> list[_Range]:
    ranges = []
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            addresses, rights, _, _, _, *path = line.rstrip().split(None, 5)
            first, end = (int(each, 16) for each in addresses.split("-"))
            ranges.append(_Range(first, end, rights, *path))
    return ranges


def _code(ranges: list[_Range]) -> _Range:
    """What the interpreter's own file has in memory, without what can be written to."""
    inside = ctypes.cast(ctypes.pythonapi.Py_IncRef, ctypes.c_void_p).value or 0
    (own,) = (each for each in ranges if each.first <= inside < each.end)
    first, end = own.first, own.end
    of_file = [each for each in ranges if each.file == own.file and "w" not in each.rights]
    for each in of_file:
        end = each.end if each.first == end else end
    for each in reversed(of_file):
        first = each.first if each.end == first else first
    return own._replace(first=first, end=end)


def _move_code(place: int) -> bool:
    """Replaces the 2 MiB at this address by a copy in one page, while they run: at no time is there another content."""
    room = _mmap(None, 2 * _HUGE, _READ | _WRITE, _MAP_PRIVATE | _MAP_ANONYMOUS, -1, 0)
    if room == _FAILED:
        return False
    copy = -(-room // _HUGE) * _HUGE
    ctypes.memmove(copy, place, _HUGE)
    moved: bool = (
        _madvise(copy, _HUGE, _MADV_COLLAPSE) == 0
        and _mprotect(copy, _HUGE, _READ | _EXECUTE) == 0
        and _mremap(copy, _HUGE, _HUGE, _MREMAP_MAYMOVE | _MREMAP_FIXED, place) == place
    )
    _munmap(room, 2 * _HUGE)
    return moved
