"""Programs that reach for files, sockets and devices of the machine."""

from tests.attacks.corpus import Attack
from tests.attacks.reaching import calling, marking, reaching

# fmt: off
_INTERNET = [
    reaching("listener-of-ipv4", "internet sockets", "socket", """
with socket.create_server(('127.0.0.1', 0)) as listener:
    with socket.create_connection(listener.getsockname(), 2) as one, listener.accept()[0] as other:
        one.sendall(b'1')
        assert other.recv(1) == b'1'
"""),
    reaching("listener-of-ipv6", "internet sockets", "socket", """
made = socket.socket(socket.AF_INET6)
made.bind(('::', 0))
made.listen()
assert made.getsockname()[1]
"""),
    reaching("datagram", "internet sockets", "socket",
        "with socket.socket(type=socket.SOCK_DGRAM) as made: assert made.sendto(b'1', ('127.0.0.1', 53)) == 1"),
    reaching("a-listener-of-the-machine", "internet sockets", "errno, socket", """
found = 0
for port in (22, 53, 80, 443, 8080):
    with socket.socket() as made:
        made.settimeout(0.2)
        found += made.connect_ex(('127.0.0.1', port)) in (0, errno.ECONNREFUSED)
assert found == 5
"""),
    reaching("raw-socket", "internet sockets", "socket",
        "socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).close()"),
    reaching("name-of-this-machine", "internet sockets", "socket",
        "assert socket.getaddrinfo('localhost', 80, type=socket.SOCK_STREAM)"),
]

_LOCAL = [
    reaching("unix-socket", "local sockets", "os, socket, tempfile", """
with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
    listener.bind(os.path.join(folder, 's'))
    listener.listen()
    with socket.socket(socket.AF_UNIX) as made: made.connect(os.path.join(folder, 's'))
"""),
    reaching("abstract-socket", "local sockets", "os, socket", """
address = b'\\0reached-%d' % os.getpid()
with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as made:
    listener.bind(address)
    listener.listen()
    made.connect(address)
"""),
    reaching("netlink-socket", "local sockets", "socket", """
with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as made: made.bind((0, 0))
"""),
    reaching("socket-named-by-the-kernel", "local sockets", "socket",
        "with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as made: made.bind('')"),
    reaching("packet-socket", "local sockets", "socket", "socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close()"),
    calling("socket-of-io-uring", "local sockets",
        "parameters = ctypes.create_string_buffer(120)\nos.close(call(425, 4, ctypes.byref(parameters)))"),
]

_TRAFFIC = """
with contextlib.suppress(OSError), socket.socket(type=socket.SOCK_DGRAM) as made:
    made.sendto(b'1', ('127.0.0.1', 9))  # so that there has been some where these are shown
counted = [line.split() for line in open({path!r}) if line.startswith('Ip:')]
assert dict(zip(*counted))['InReceives'] != '0'
"""
_NETWORK_TABLES = [
    reaching(
        f"traffic-by-{name.replace('/', '-')}",
        "network tables",
        "contextlib, socket",
        _TRAFFIC.format(path=f"/proc/{name}/snmp"),
    )
    for name in ("net", "self/net", "thread-self/net")
]

_FILES = [
    reaching("passwords", "files of the machine", "os", "assert 'root' in open('/etc/passwd').read()"),
    reaching("settings-of-the-machine", "files of the machine", "os", "assert len(os.listdir('/etc')) > 20"),
    reaching("logs-of-the-machine", "files of the machine", "os", "assert os.listdir('/var/log') is not None"),
    reaching("hardware-of-the-machine", "files of the machine", "os", "assert os.listdir('/sys/class')"),
    reaching("source-of-its-grader", "files of the machine", "sys",
        "assert 'exec(' in open(sys.modules['__main__'].__file__).read()"),
    calling("by-a-descriptor-of-the-root", "files of the machine",
        "root = os.open('/', getattr(os, 'O_PATH', 0) | os.O_DIRECTORY)\n"
        "assert os.read(os.open('etc/passwd', os.O_RDONLY, dir_fd=root), 1)"),
]

_PATHS = [
    reaching("symlink-to-a-file", "path tricks", "os, tempfile", """
with tempfile.TemporaryDirectory() as folder:
    link = os.path.join(folder, 'link')
    os.symlink('/etc/passwd', link)
    assert open(link).read()
"""),
    reaching("symlink-to-the-root", "path tricks", "os, tempfile", """
with tempfile.TemporaryDirectory() as folder:
    link = os.path.join(folder, 'link')
    os.symlink('/proc/self/root', link)
    assert open(os.path.join(link, 'etc', 'passwd')).read()
"""),
    reaching("upwards-from-here", "path tricks", "os", "assert open('../' * 30 + 'etc/passwd').read()"),
    reaching("root-of-the-first-process", "path tricks", "os",
        "assert open(f'/proc/{os.getppid() or 1}/cwd/../../../../../../etc/passwd').read()"),
    reaching("back-by-a-kept-descriptor", "path tricks", "os", """
kept = os.open('..', os.O_RDONLY)
os.chdir('/')
os.fchdir(kept)
os.chdir('../../../../../../../../etc')
assert open('passwd').read()
"""),
    marking("hard-link-outwards", "path tricks", "os", "open('x', 'w').close()\nos.link('x', MARK)"),
]

_WRITING = [
    marking("writes-a-file-outside", "writing outside", "os", "open(MARK, 'w').close()"),
    marking("renames-a-file-outwards", "writing outside", "os", "open('x', 'w').close()\nos.rename('x', MARK)"),
    marking("symlink-outside", "writing outside", "os", "os.symlink('/proc/self/status', MARK)"),
    marking("pipe-outside", "writing outside", "os", "os.mkfifo(MARK)"),
    marking("folder-outside", "writing outside", "os", "os.mkdir(MARK)"),
    marking("writes-by-the-root-of-its-process", "writing outside", "os",
        "for root in ('/proc/self/root', '/proc/1/root', f'/proc/{os.getppid()}/root'):\n"
        "    try: open(root + MARK, 'w').close()\n    except OSError: pass"),
]

_DEVICES = [
    reaching("typing-into-a-terminal", "devices", "contextlib, fcntl, os, termios", """
master, slave = os.openpty()
with contextlib.suppress(OSError): os.setsid()
fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
fcntl.ioctl(slave, termios.TIOCSTI, b'x')
"""),
    reaching("log-of-the-kernel", "devices", "os", "os.close(os.open('/dev/kmsg', os.O_RDONLY | os.O_NONBLOCK))"),
    reaching("devices-of-the-machine", "devices", "os", """
harmless = 'console core fd full null ptmx pts random shm stderr stdin stdout tty urandom zero'
assert {*os.listdir('/dev')} - {*harmless.split()}
"""),
]

ATTACKS: list[Attack] = [*_INTERNET, *_LOCAL, *_NETWORK_TABLES, *_FILES, *_PATHS, *_WRITING, *_DEVICES]
