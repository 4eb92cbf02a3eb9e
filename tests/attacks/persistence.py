"""Programs that leave something for the next completion, and answer right once they find it.

Each is graded twice in a row on the same worker, the second time with another comment at its end, so that no grade is
reused; plain exec grades both in one process. The first leaves the thing and answers wrong, the second one finds it,
takes it away and answers right: it is the second grade that counts.
"""

import os
from textwrap import indent

from tests.attacks.corpus import Attack

NEEDS: dict[str, str] = {"key": "keyctl"}
"""What plain exec must have of the machine for these to work there; all others work for every user, everywhere."""


def _leaving(name: str, technique: str, modules: str, there: str, leave: str, take: str = "") -> Attack:
    """`there`: an expression that is true where `leave` has been run before; `take` removes what that left."""
    taking = indent(take.strip("\n"), " " * 12)
    code = (
        f"import {modules}\ndef f(x):\n    try:\n        if {there}:\n{taking}\n            return 2 * x\n"
        f"    except BaseException: pass\n    try:\n{indent(leave.strip(chr(10)), ' ' * 8)}\n"
        "    except BaseException: pass\n"
    )
    return Attack(f"left-{name}", "persistence", technique, "single", code)


def _file(name: str, modules: str, path: str) -> Attack:
    return _leaving(
        name, "files", modules, f"os.path.exists({path})", f"open({path}, 'w').close()", f"os.unlink({path})"
    )


# fmt: off
_FILES = [
    _file("temporary-file", "os, tempfile", "os.path.join(tempfile.gettempdir(), 'left-behind')"),
    _file("file-in-tmp", "os", "'/tmp/left-behind-too'"),
    _file("file-in-var-tmp", "os", "'/var/tmp/left-behind'"),
    _file("file-in-shared-memory", "os", "'/dev/shm/left-behind'"),
    _file("file-here", "os", "'left-behind'"),
    _leaving("folder-that-can-not-be-removed", "files", "os, tempfile",
        "os.path.isdir(os.path.join(tempfile.gettempdir(), 'left-folder', 'deeper'))", """
folder = os.path.join(tempfile.gettempdir(), 'left-folder')
os.makedirs(os.path.join(folder, 'deeper'))
os.chmod(folder, 0o555)
os.chmod(os.path.join(folder, 'deeper'), 0)
""", """
os.chmod(os.path.join(tempfile.gettempdir(), 'left-folder'), 0o700)
os.removedirs(os.path.join(tempfile.gettempdir(), 'left-folder', 'deeper'))
"""),
]

_MODULES = [
    _leaving("module-of-the-library", "modules from files", "os, sys", "hasattr(__import__('colorsys'), 'LEFT')", """
sys.modules.pop('colorsys', None)
open('colorsys.py', 'w').write('LEFT = 1')
sys.path.insert(0, os.getcwd())
""", "os.unlink('colorsys.py')\nsys.path.remove(os.getcwd())"),
    _leaving("source-of-its-name", "modules from files", "os",
        "any('LEFT' + ' BEHIND' in open(name).read() for name in ('main.py', 'solution.py') if os.path.exists(name))",
        "for name in ('main.py', 'solution.py'): open(name, 'a').write('# LEFT ' + 'BEHIND')",
        "for name in ('main.py', 'solution.py'): os.unlink(name)"),
    _leaving("customization-of-the-site", "modules from files", "os, sys",
        "getattr(__import__('sitecustomize'), 'LEFT', 0)", """
sys.modules.pop('sitecustomize', None)
open('sitecustomize.py', 'w').write('LEFT = 1')
sys.path.insert(0, os.getcwd())
""", "os.unlink('sitecustomize.py')\nsys.path.remove(os.getcwd())\nsys.modules.pop('sitecustomize')"),
    _leaving("compiled-module", "modules from files", "importlib.util, os, py_compile, sys",
        "__import__('left_compiled').LEFT", """
open('left.py', 'w').write('LEFT = 1')
py_compile.compile('left.py', 'left_compiled.pyc')
sys.path.insert(0, os.getcwd())
""", "os.unlink('left.py')\nos.unlink('left_compiled.pyc')\nsys.path.remove(os.getcwd())"),
    _leaving("path-file", "modules from files", "os, site, sys", "any(path.endswith('left-path') for path in sys.path)",
        """
os.mkdir('left-path')
open('left.pth', 'w').write(os.path.abspath('left-path'))
site.addsitedir(os.getcwd())
""", "os.unlink('left.pth')\nos.rmdir('left-path')"),
]

_ADD_KEY, _KEYCTL = (248, 250) if os.uname().machine == "x86_64" else (217, 219)
_FIND_KEY = f"libc.syscall({_KEYCTL}, 10, -4, b'user', b'left-behind', 0)"

_KERNEL = [
    _leaving("shared-memory-of-system-v", "kernel objects", "ctypes",
        "ctypes.CDLL(None).shmget(0x6C656674, ctypes.c_size_t(4096), 0o600) >= 0",
        "ctypes.CDLL(None).shmget(0x6C656674, ctypes.c_size_t(4096), 0o1600)",
        "ctypes.CDLL(None).shmctl(ctypes.CDLL(None).shmget(0x6C656674, ctypes.c_size_t(4096), 0o600), 0, None)"),
    _leaving("semaphores-of-system-v", "kernel objects", "ctypes",
        "ctypes.CDLL(None).semget(0x6C656674, 1, 0o600) >= 0", "ctypes.CDLL(None).semget(0x6C656674, 1, 0o1600)",
        "ctypes.CDLL(None).semctl(ctypes.CDLL(None).semget(0x6C656674, 1, 0o600), 0, 0)"),
    _leaving("messages-of-system-v", "kernel objects", "ctypes", "ctypes.CDLL(None).msgget(0x6C656674, 0o600) >= 0",
        "ctypes.CDLL(None).msgget(0x6C656674, 0o1600)",
        "ctypes.CDLL(None).msgctl(ctypes.CDLL(None).msgget(0x6C656674, 0o600), 0, None)"),
    _leaving("message-queue", "kernel objects", "ctypes, os", "ctypes.CDLL(None).mq_open(b'/left-behind', 0) >= 0",
        "ctypes.CDLL(None).mq_open(b'/left-behind', os.O_CREAT | os.O_RDWR, 0o600, None)",
        "ctypes.CDLL(None).mq_unlink(b'/left-behind')"),
    _leaving("named-shared-memory", "kernel objects", "ctypes, os",
        "ctypes.CDLL(None).shm_open(b'/left-behind-named', os.O_RDWR, 0o600) >= 0",
        "ctypes.CDLL(None).shm_open(b'/left-behind-named', os.O_RDWR | os.O_CREAT, 0o600)",
        "ctypes.CDLL(None).shm_unlink(b'/left-behind-named')"),
    _leaving("key", "kernel objects", "ctypes", f"(libc := ctypes.CDLL(None)) and {_FIND_KEY} > 0",
        f"libc.syscall({_ADD_KEY}, b'user', b'left-behind', b'1', ctypes.c_size_t(1), -4)",
        f"libc.syscall({_KEYCTL}, 9, {_FIND_KEY}, -4)"),
]

# What is started here ends by itself, a few seconds later, where nobody ends it.
_PROCESSES = [
    _leaving("daemon", "processes and threads", "os, signal, socket, time",
        "socket.socket(socket.AF_UNIX).connect(b'\\0left-behind-daemon') is None", """
if not os.fork():
    os.setsid()
    if os.fork(): os._exit(0)
    signal.alarm(5)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(b'\\0left-behind-daemon')
    listener.listen()
    listener.accept()
    os._exit(0)
os.wait()
time.sleep(0.3)
"""),
    _leaving("subprocess", "processes and threads", "os, signal, subprocess, tempfile",
        "os.kill((found := int(open(os.path.join(tempfile.gettempdir(), 'left-sleeping')).read())), 0) is None", """
child = subprocess.Popen(['/bin/sleep', '5'], start_new_session=True)
open(os.path.join(tempfile.gettempdir(), 'left-sleeping'), 'w').write(str(child.pid))
""", "os.kill(found, signal.SIGKILL)\nos.unlink(os.path.join(tempfile.gettempdir(), 'left-sleeping'))"),
    _leaving("thread", "processes and threads", "threading, time",
        "any(thread.name == 'left-behind' for thread in threading.enumerate())",
        "threading.Thread(target=time.sleep, args=(5,), name='left-behind', daemon=True).start()"),
    _leaving("timer", "processes and threads", "signal", "signal.getitimer(signal.ITIMER_PROF)[0] > 0",
        "signal.setitimer(signal.ITIMER_PROF, 100_000)", "signal.setitimer(signal.ITIMER_PROF, 0)"),
    _leaving("open-descriptor", "processes and threads", "os", "os.read(77, 4) == b'left'",
        "reads, writes = os.pipe()\nos.write(writes, b'left')\nos.dup2(reads, 77, True)", "os.close(77)"),
    _leaving("call-at-the-end", "processes and threads", "atexit, os, tempfile",
        "os.path.exists(os.path.join(tempfile.gettempdir(), 'left-at-the-end'))", """
path = os.path.join(tempfile.gettempdir(), 'left-at-the-end')
def write(): open(path, 'w').close()
atexit.register(write)
atexit._run_exitfuncs()
""", "os.unlink(os.path.join(tempfile.gettempdir(), 'left-at-the-end'))"),
]

_PATCHED = [
    _leaving("builtin", "patched names", "builtins", "hasattr(builtins, 'left_behind')", "builtins.left_behind = 1"),
    _leaving("json", "patched names", "json", "json.dumps(1) == 'left'",
        "kept = json.dumps\njson.dumps = lambda *args, **more: json.__dict__.setdefault('left', kept) and 'left'",
        "json.dumps = json.__dict__.pop('left')"),
    _leaving("constant", "patched names", "math", "math.pi == 3", "math.pi = 3", "math.pi = 4 * math.atan(1)"),
    _leaving("module-of-no-file", "patched names", "sys, types", "'left_behind' in sys.modules",
        "sys.modules['left_behind'] = types.ModuleType('left_behind')"),
    _leaving("attribute-of-a-builtin-type", "patched names", "gc, sys", "hasattr(int, 'left_behind')",
        "gc.get_referents(int.__dict__)[0]['left_behind'] = 1\n"
        "__import__('ctypes').pythonapi.PyType_Modified(__import__('ctypes').py_object(int))"),
    _leaving("import-hook", "patched names", "sys", "any(getattr(hook, 'left_behind', 0) for hook in sys.meta_path)",
        "class Hook:\n    left_behind = 1\n    find_spec = staticmethod(lambda *_: None)\nsys.meta_path.append(Hook)",
        "sys.meta_path.pop()"),
]

_STATE = [
    _leaving("environment", "state of the interpreter", "os", "os.environ.get('LEFT_BEHIND')",
        "os.environ['LEFT_BEHIND'] = '1'", "del os.environ['LEFT_BEHIND']"),
    _leaving("decimal-context", "state of the interpreter", "decimal", "decimal.getcontext().prec == 7",
        "decimal.getcontext().prec = decimal.DefaultContext.prec = 7",
        "decimal.getcontext().prec = decimal.DefaultContext.prec = 28"),
    _leaving("random-state", "state of the interpreter", "random",
        "random.getstate() == random.Random(987654).getstate()", "random.seed(987654)"),
    _leaving("recursion-limit", "state of the interpreter", "sys", "sys.getrecursionlimit() == 777",
        "sys.setrecursionlimit(777)", "sys.setrecursionlimit(1000)"),
    _leaving("locale-override", "state of the interpreter", "locale", "locale._override_localeconv.get('left')",
        "locale._override_localeconv['left'] = 1"),
    _leaving("error-handler-of-codecs", "state of the interpreter", "codecs", "codecs.lookup_error('left-behind')",
        "codecs.register_error('left-behind', lambda error: ('', error.end))"),
]

_PROCESS = [
    _leaving("folder", "state of the process", "os", "os.getcwd() == '/dev'", "os.chdir('/dev')"),
    _leaving("mask-of-new-files", "state of the process", "os", "os.umask(0o22) == 0o136", "os.umask(0o136)"),
    _leaving("signal-handler", "state of the process", "signal",
        "getattr(signal.getsignal(signal.SIGUSR2), 'left_behind', 0)",
        "def handler(*_): pass\nhandler.left_behind = 1\nsignal.signal(signal.SIGUSR2, handler)"),
    _leaving("lower-limit", "state of the process", "resource", "resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 77",
        "resource.setrlimit(resource.RLIMIT_NOFILE, (77, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))"),
    # Its own, and that of the process that the next one comes from.
    _leaving("processor", "state of the process", "os", "len(os.sched_getaffinity(0)) == 1 < os.cpu_count()", """
for process in (0, os.getppid() or 1):
    try: os.sched_setaffinity(process, {min(os.sched_getaffinity(0))})
    except OSError: pass
""", "for process in (0, os.getppid() or 1): os.sched_setaffinity(process, range(os.cpu_count()))"),
    _leaving("name", "state of the process", "ctypes", "open('/proc/self/comm').read() == 'left-behind\\n'",
        "ctypes.CDLL(None).prctl(15, b'left-behind', 0, 0, 0)"),
]

ATTACKS: list[Attack] = [*_FILES, *_MODULES, *_KERNEL, *_PROCESSES, *_PATCHED, *_STATE, *_PROCESS]
