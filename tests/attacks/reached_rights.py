"""Programs that reach for other processes, other programs, more rights and the kernel's other doors."""

from tests.attacks.corpus import Attack
from tests.attacks.reaching import NUMBER, X86_64, calling, marking, reaching

# fmt: off
_PROCESSES = [
    reaching("environment-of-its-parent", "other processes", "os",
        "assert b'=' in open(f'/proc/{os.getppid() or 1}/environ', 'rb').read()"),
    reaching("command-lines-of-others", "other processes", "os", """
def command(number):
    try: return open(f'/proc/{number}/cmdline', 'rb').read()
    except OSError: return b''
own = command('self')
assert [n for n in os.listdir('/proc') if n.isdigit() and command(n) not in (b'', own)]
"""),
    reaching("memory-of-the-parent", "other processes", "os", """
parent = os.getppid() or 1
first = open(f'/proc/{parent}/maps').readline().split('-')[0]
with open(f'/proc/{parent}/mem', 'rb') as memory:
    memory.seek(int(first, 16))
    assert memory.read(4)
"""),
    reaching("descriptors-of-the-parent", "other processes", "os",
        "assert os.readlink(f'/proc/{os.getppid() or 1}/fd/0')"),
    calling("memory-of-the-parent-by-a-call", "other processes", f"""
parent = os.getppid() or 1
first = int(open(f'/proc/{{parent}}/maps').readline().split('-')[0], 16)
room = ctypes.create_string_buffer(4)
here = (ctypes.c_size_t * 2)(ctypes.addressof(room), 4)
there = (ctypes.c_size_t * 2)(first, 4)
assert call({NUMBER["process_vm_readv"]}, parent, ctypes.byref(here), 1, ctypes.byref(there), 1, 0) == 4
"""),
    calling("tracing", "other processes", f"call({NUMBER['ptrace']}, 0, 0, 0, 0)"),
]

_SIGNALS = [
    reaching("signal-to-all", "signals to others", "os", "os.kill(-1, 0)"),
    reaching("signal-to-the-parent", "signals to others", "os", "os.kill(os.getppid() or 1, 0)"),
    reaching("signal-to-its-group", "signals to others", "os", "os.killpg(0, 0)"),
    calling("signal-by-a-descriptor", "signals to others",
        "held = call(434, os.getppid() or 1, 0)\ncall(424, held, 0, 0, 0)\nos.close(held)"),
    reaching("signals-of-a-pipe-for-the-parent", "signals to others", "fcntl, os", """
reads, writes = os.pipe()
fcntl.fcntl(reads, fcntl.F_SETOWN, os.getppid() or 1)
os.close(reads)
os.close(writes)
"""),
    calling("limits-of-the-parent", "signals to others", f"room = (ctypes.c_ulong * 2)()\n"
        f"call({NUMBER['prlimit64']}, os.getppid() or 1, 7, None, ctypes.byref(room))\nassert room[1]"),
]

# Each is set to what it is: that takes the right to change it.
_PACE = [
    reaching("priority-of-the-parent", "pace of others", "os",
        "parent = os.getppid() or 1\nos.setpriority(os.PRIO_PROCESS, parent, os.getpriority(os.PRIO_PROCESS, parent))"),
    reaching("priority-of-its-group", "pace of others", "os",
        "os.setpriority(os.PRIO_PGRP, 0, os.getpriority(os.PRIO_PGRP, 0))"),
    reaching("processors-of-the-parent", "pace of others", "os",
        "parent = os.getppid() or 1\nos.sched_setaffinity(parent, os.sched_getaffinity(parent))"),
]

_DESCRIPTORS = [
    calling("descriptor-of-the-parent", "handles",
        "held = call(434, os.getppid() or 1, 0)\nos.close(call(438, held, 2, 0))\nos.close(held)"),
    calling("descriptor-of-a-process", "handles", "os.close(call(434, os.getpid(), 0))"),
    calling("handle-of-a-file", "handles", f"""
handle = ctypes.create_string_buffer(136)
handle[0] = b'\\x80'
call({NUMBER["name_to_handle_at"]}, -100, b'/', ctypes.byref(handle), ctypes.byref(ctypes.c_int()), 0)
"""),
    calling("handle-opened", "handles", f"""
handle, mount = ctypes.create_string_buffer(136), ctypes.c_int()
handle[0] = b'\\x80'
root = os.open('/', os.O_RDONLY)
call({NUMBER["name_to_handle_at"]}, -100, b'/', ctypes.byref(handle), ctypes.byref(mount), 0)
os.close(call({NUMBER["open_by_handle_at"]}, root, ctypes.byref(handle), 0))
os.close(root)
"""),
    calling("tree-of-mounts", "handles", "os.close(call(428, -100, b'/', 0o2000000))"),
]

_NAMESPACES = [
    calling("user-namespace", "namespaces and mounts", f"call({NUMBER['unshare']}, 0x10000000)"),
    calling("root-in-a-user-namespace", "namespaces and mounts", f"""
call({NUMBER["unshare"]}, 0x10000000 | 0x20000)
call({NUMBER["mount"]}, b'none', b'/', None, 0x4000 | 0x40000, None)
"""),
    calling("mount-of-a-tmpfs", "namespaces and mounts", f"""
call({NUMBER["unshare"]}, 0x20000)
call({NUMBER["mount"]}, b'none', b'/', None, 0x4000 | 0x40000, None)
os.mkdir('mounted')
call({NUMBER["mount"]}, b'tmpfs', b'mounted', b'tmpfs', 0, None)
"""),
    reaching("chroot-to-a-folder", "namespaces and mounts", "os", """
root, here = os.open('/', os.O_RDONLY), os.open('.', os.O_RDONLY)
os.chroot('.')
os.fchdir(root)
os.chroot('.')
os.fchdir(here)
"""),
    calling("namespaces-of-another", "namespaces and mounts",
        f"call({NUMBER['setns']}, os.open(f'/proc/{{os.getppid() or 1}}/ns/uts', 0), 0x4000000)"),
    calling("fsopen", "namespaces and mounts", "os.close(call(430, b'tmpfs', 0))"),
]

_RIGHTS = [
    reaching("another-user", "rights", "os",
        "assert os.getuid() == 0\nos.setresuid(-1, 1, -1)\nassert os.geteuid() == 1"),
    reaching("host-name-set", "rights", "socket", "socket.sethostname(socket.gethostname())"),
    reaching("block-device-made", "rights", "os", "os.mknod('device', 0o60600, os.makedev(7, 0))\nos.unlink('device')"),
    reaching("raised-limit-of-open-files", "rights", "os, resource", """
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
os.close(os.dup2(0, 500))
"""),
    # Less than is given where they are shown, more than a completion has.
    reaching("raised-limit-of-file-size", "rights", "resource",
        "resource.setrlimit(resource.RLIMIT_FSIZE, (128 << 20, 128 << 20))"),
    reaching("raised-limit-of-memory", "rights", "resource",
        "resource.setrlimit(resource.RLIMIT_AS, (5 << 30, 5 << 30))"),
]

_PROGRAMS = [
    reaching("a-shell", "programs", "os", "assert os.popen('echo reached').read() == 'reached\\n'"),
    reaching("a-program", "programs", "subprocess",
        "assert subprocess.check_output(['/bin/echo', 'reached']) == b'reached\\n'"),
    marking("itself-replaced", "programs", "os", "os.execv('/bin/sh', ['sh', '-c', 'echo > ' + MARK])"),
    marking("program-in-memory", "programs", "os, sys", """
held = os.memfd_create('program', 0)
os.write(held, b'#!/bin/sh\\necho > ' + MARK.encode() + b'\\n')
os.execve(held, ['program'], {})
"""),
    marking("child-without-fork", "programs", "os", "os.posix_spawn('/bin/sh', ['sh', '-c', 'echo > ' + MARK], {})"),
    marking("terminal-of-its-own", "programs", "os, pty", """
child, _ = pty.fork()
if child: os.waitpid(child, 0)
else: os.execv('/bin/sh', ['sh', '-c', 'echo > ' + MARK])
"""),
]

_KERNEL = [
    calling("bpf-map", "kernel's other doors",
        f"wanted = (ctypes.c_uint * 32)(2, 4, 4, 1)\nos.close(call({NUMBER['bpf']}, 0, ctypes.byref(wanted), 72))"),
    calling("user-faults", "kernel's other doors", f"os.close(call({NUMBER['userfaultfd']}, 0o2000000 | 1))"),
    calling("keys-kept", "kernel's other doors",
        f"call({NUMBER['add_key']}, b'user', b'reached', b'1', 1, -2)\ncall({NUMBER['keyctl']}, 0, -2, 0)"),
    calling("counters-of-the-processor", "kernel's other doors", f"""
wanted = ctypes.create_string_buffer(128)
wanted[0], wanted[4], wanted[8], wanted[40] = b'\\1', b'\\x70', b'\\0', b'\\x60'
os.close(call({NUMBER["perf_event_open"]}, ctypes.byref(wanted), 0, -1, -1, 0))
"""),
    calling("watching-files", "kernel's other doors", f"os.close(call({NUMBER['fanotify_init']}, 0x200, 0))"),
    calling("clock-of-the-machine", "kernel's other doors",
        f"call({NUMBER['adjtimex']}, ctypes.byref(ctypes.create_string_buffer(208)))"),
]

# mov eax, 20 (getpid); int 0x80; ret
_OTHER_ABIS = [
    reaching("calls-of-32-bits", "other call tables", "ctypes, mmap, os", """
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(b'\\xb8\\x14\\0\\0\\0\\xcd\\x80\\xc3')
start = ctypes.addressof(ctypes.c_char.from_buffer(code))
assert ctypes.CFUNCTYPE(ctypes.c_int)(start)() == os.getpid()
"""),
]

ATTACKS: list[Attack] = [
    *_PROCESSES,
    *_SIGNALS,
    *_PACE,
    *_DESCRIPTORS,
    *_NAMESPACES,
    *_RIGHTS,
    *_PROGRAMS,
    *_KERNEL,
    *(_OTHER_ABIS if X86_64 else []),
]
