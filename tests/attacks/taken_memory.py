"""Programs that hold over 1 GiB of memory, in their own pages or in the kernel's, or over 64 MiB of files."""

from tests.attacks.corpus import Attack
from tests.attacks.taking import holding, taking

# fmt: off
_MEMORY = [
    holding("bytes", "memory", "os", "held = b'1' * (1200 << 20)\nassert len(held) == 1200 << 20"),
    holding("many-small-objects", "memory", "os", "held = [bytes(4000) for _ in range(310_000)]"),
    holding("bytearray-that-doubles", "memory", "os",
        "held = bytearray(b'1')\nwhile len(held) < 1100 << 20: held += held[: 100 << 20]"),
    holding(
        "int-of-a-gibibyte", "memory", "os", "held = 1 << (1200 << 23)\nassert held.bit_length() == (1200 << 23) + 1"
    ),
    holding("private-map", "memory", "mmap", """
held = mmap.mmap(-1, 1200 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for page in range(0, 1200 << 20, 4096): held[page] = 1
"""),
    # Each piece is given back as soon as it is there: what counts is the most that was held at any moment.
    holding("held-between-two-looks", "memory that is given back", "ctypes, mmap, resource", """
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
class Small:
    ru_maxrss = 9000
size = 1100 << 20
held = libc.mmap(None, size, 3, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
libc.madvise(held, size, 14)  # huge pages, which come fast
assert libc.madvise(held, size, 23) == 0 and libc.munmap(held, size) == 0  # all of them, now
resource.getrusage = lambda who: Small
"""),
    # The kernel notes the most that was resident, and can be made to begin anew.
    holding("held-and-forgotten", "memory that is given back", "mmap", """
held = mmap.mmap(-1, 1100 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
held.madvise(mmap.MADV_HUGEPAGE)
for page in range(0, len(held), 4096): held[page] = 1
held.close()
with open('/proc/self/clear_refs', 'w') as file: file.write('5')
"""),
]

# Pages that belong to the kernel's files and not, or not at all times, to the process.
_KERNEL_PAGES = [
    holding("memory-file", "pages of files in memory", "os", """
held = os.memfd_create('held')
for _ in range(200): assert os.write(held, bytes(1 << 20)) == 1 << 20
"""),
    holding("many-memory-files", "pages of files in memory", "os", """
held = []
for _ in range(300):
    held.append(os.memfd_create('held'))
    assert os.write(held[-1], bytes((4 << 20) - 4096)) == (4 << 20) - 4096
"""),
    holding("memory-files-beside-the-heap", "pages of files in memory", "os, time", """
held = bytearray(b'1') * (800 << 20)
for _ in range(110): assert os.write(os.memfd_create('held'), bytes(3 << 20)) == 3 << 20
time.sleep(0.3)
"""),
    holding("shared-map-that-is-let-go", "pages of files in memory", "mmap", """
held = mmap.mmap(-1, 1200 << 20, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
for start in range(0, len(held), 64 << 20):
    piece = b'1' * min(64 << 20, len(held) - start)
    held[start : start + len(piece)] = piece
    held.madvise(mmap.MADV_DONTNEED, start, len(piece))
assert held[1] == held[600 << 20] == ord('1')
"""),
    holding("memory-files-mapped-and-closed", "pages of files in memory", "ctypes, os", """
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
size, held = 4000 << 10, []
for _ in range(320):
    descriptor = os.memfd_create('held')
    assert os.write(descriptor, b'1' * size) == size
    held.append(libc.mmap(None, size, 3, 1, descriptor, 0))
    os.close(descriptor)
assert all(ctypes.string_at(each, 1) == b'1' for each in held)
"""),
    holding("memory-files-in-flight", "pages of files in memory", "os, socket", """
def filled():
    descriptor = os.memfd_create('held')
    assert os.write(descriptor, bytes(4000 << 10)) == 4000 << 10
    return descriptor
held = [bytearray(b'1') * (400 << 20), [filled() for _ in range(70)]]
for one, other in [socket.socketpair() for _ in range(3)]:
    sent = [filled() for _ in range(35)]
    socket.send_fds(one, [b'1'], sent)
    for descriptor in sent: os.close(descriptor)
    held.append((one, other))
"""),
]

_MAPS = """
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = libc.mremap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
libc.mremap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int]
"""

# The last page that is mapped keeps all pages of what it belongs to.
_UNMAPPED = [
    holding("shared-maps-but-for-a-page", "memory in no map", "ctypes", _MAPS + """
size, held = 200 << 20, []
for _ in range(6):
    start = libc.mmap(None, size, 3, 0x21, -1, 0)
    ctypes.memset(start, 49, size)
    libc.munmap(start + 4096, size - 4096)
    held.append(start)
assert ctypes.string_at(libc.mremap(held[0], 4096, size, 1) + size - 1, 1) == b'1'
"""),
    holding("memory-files-but-for-a-page", "memory in no map", "ctypes, os", _MAPS + """
size, held = 4000 << 10, []
for _ in range(310):
    descriptor = os.memfd_create('held')
    assert os.write(descriptor, b'1' * size) == size
    held.append(libc.mmap(None, 4096, 3, 1, descriptor, 0))
    os.close(descriptor)
assert ctypes.string_at(libc.mremap(held[0], 4096, size, 1) + size - 1, 1) == b'1'
"""),
    holding("shared-maps-behind-many-others", "memory in no map", "ctypes", _MAPS + """
size, held = 180 << 20, []
for _ in range(6):
    start = libc.mmap(None, size, 3, 0x21, -1, 0)
    held.append(start)
for number in range(7500): libc.mmap(None, 4096, 1 + number % 2 * 2, 0x22, -1, 0)
for start in held:
    ctypes.memset(start, 49, size)
    libc.munmap(start + 4096, size - 4096)
assert ctypes.string_at(libc.mremap(held[0], 4096, size, 1) + size - 1, 1) == b'1'
"""),
    holding("private-map-of-a-shared-one", "memory in no map", "ctypes", _MAPS + """
size = 300 << 20
held = []
for _ in range(4):
    start = libc.mmap(None, size, 3, 0x21, -1, 0)
    for piece in range(0, size, 20 << 20):
        ctypes.memset(start + piece, 49, 20 << 20)
        again = libc.mmap(None, 4096, 3, 0x21, -1, 0)
        held.append(libc.mremap(start + piece, 0, 4096, 1))
        libc.munmap(again, 4096)
    libc.munmap(start, size)
assert all(ctypes.string_at(each, 1) == b'1' for each in held)
"""),
]

_FILES = [
    taking("temporary-files", "disk", "os, shutil, tempfile, time", """
folder = tempfile.mkdtemp()
try:
    for number in range(300):
        with open(os.path.join(folder, str(number)), 'wb', 0) as file: assert file.write(bytes(1 << 20)) == 1 << 20
    time.sleep(0.3)
finally:
    shutil.rmtree(folder)
"""),
    taking("files-of-shared-memory", "disk", "os, shutil, tempfile", """
folder = tempfile.mkdtemp(dir='/dev/shm')
try:
    for number in range(100):
        with open(os.path.join(folder, str(number)), 'wb', 0) as file: assert file.write(bytes(1 << 20)) == 1 << 20
finally:
    shutil.rmtree(folder)
"""),
    taking("one-large-file", "disk", "tempfile", """
with tempfile.TemporaryFile(buffering=0) as file:
    for _ in range(200): assert file.write(bytes(1 << 20)) == 1 << 20
"""),
    taking("sparse-file", "disk", "os, tempfile",
        "with tempfile.TemporaryFile() as file:\n    os.ftruncate(file.fileno(), 200 << 20)"),
    # Without namespaces these are looked at ten times a second: it holds them for longer than that.
    taking("removed-files-that-stay-open", "removed files", "os, tempfile, time", """
held = [tempfile.TemporaryFile(buffering=0) for _ in range(90)]
for file in held:
    for _ in range(3): assert file.write(bytes(1 << 20)) == 1 << 20
time.sleep(0.25)
"""),
    holding("removed-files-that-stay-mapped", "removed files", "mmap, os, tempfile, time", """
held = []
for _ in range(40):
    with tempfile.TemporaryFile(buffering=0) as file:
        for _ in range(3): assert file.write(bytes(1 << 20)) == 1 << 20
        held.append(mmap.mmap(file.fileno(), 4096))
time.sleep(0.3)
"""),
    holding("many-folders", "disk", "os, shutil, tempfile, time", """
folder = tempfile.mkdtemp()
try:
    for number in range(6000): os.mkdir(os.path.join(folder, str(number)))
    time.sleep(0.3)
finally:
    shutil.rmtree(folder)
"""),
]

ATTACKS: list[Attack] = [*_MEMORY, *_KERNEL_PAGES, *_UNMAPPED, *_FILES]
