"""Stdin programs that lean on the header before them, or change what it gave them; each to be run three times.

Every one prints what a second run would see of the first. Those of `SHARED` run in one process; for the others one of
their names, or what they leave, asks for a process each time.
"""

# ruff: noqa: E501 - a line a program

from __future__ import annotations

SHARED: dict[str, str] = {
    "nothing of it": "print(len(input()))",
    "names that it does not import itself": (
        "heap = [3, 1]\nheapify(heap)\nseen = defaultdict(list)\nseen[input()].append(gcd(12, 18))\n"
        "x: List[int] = [sqrt(16), inf, MOD]\nprint(heap, dict(seen), x, Counter('aab').most_common(1))"
    ),
    "a recursion under a cache": (
        "@lru_cache(None)\ndef up(n): return 0 if n == 0 else 1 + up(n - 1)\nprint(input(), up(300), up.cache_info().misses)"
    ),
    "a deep recursion": "def up(n): return 0 if n == 0 else 1 + up(n - 1)\nprint(input(), up(20000))",
    "the recursion limit": "print(input(), sys.getrecursionlimit())\nsetrecursionlimit(5000)\nprint(getrecursionlimit())",
    "the limit on digits": "print(input(), len(str(10 ** 4000)))\nset_int_max_str_digits(0)\nprint(len(str(10 ** 5000)))",
    "a name deleted": "print(input(), List[int])\ndel List\ntry: List\nexcept NameError as error: print(error)",
    "a constant overwritten": "print(input(), inf, MOD)\ninf = MOD = 5",
    "a module overwritten": "print(input(), math.pi)\nmath = None",
    "a builtin overwritten": "input = sys.stdin.readline\nprint(repr(input()))",
    "a builtin that flushes": "print = functools.partial(print, flush=True)\nprint(input())",
    "a builtin wrapped": "def print(*values, real=print): real('mine', *values)\nprint(input())",
    "open and int of the header's": "print(open(0).read().split(), int(len('abc')))",
    "stdin": "print(repr(stdin.readline()), stdin is sys.stdin, stdin.name)\nstdout.write('by stdout\\n')\nstderr.write('told\\n')",
    "stdin's lines": "for line in stdin: print(repr(line))",
    "stdin's bytes": "print(stdin.buffer.read(), stdin.fileno())",
    "stdin replaced": "sys.stdin = io.StringIO('from memory')\nprint(input(), repr(stdin.readline()), stdin is sys.stdin)",
    "stdout replaced": "sys.stdout = StringIO()\nprint('kept', input())\nstdout.write(sys.stdout.getvalue())",
    "the import path": "print(input(), 'mine' in path)\npath.append('mine')\nsys.path.insert(0, 'also mine')",
    "the arguments": "argv.append(input())\nprint(argv, sys.argv is argv)",
    "random numbers": "print(input(), randint(1, 10 ** 9), random.random() if hasattr(random, 'random') else random())\nseed(7)",
    "shuffled": "a = list(range(20))\nshuffle(a)\nprint(input(), a)",
    "names listed": "print(input(), len(dir()), 'List' in dir(), 'mine' in dir())\nmine = 1",
    "a name that only a text has": (
        "from typing import get_type_hints as hints_of, get_type_hints\n"
        "def f(x: 'List[int]', y: 'typing.Deque') -> 'Counter': pass\nprint(input(), hints_of(f))"
    ),
    "a field that only a text says is none": (
        "from dataclasses import dataclass, fields\n@dataclass\nclass P:\n    x: 'typing.ClassVar[int]' = 1\n"
        "print(input(), len(fields(P)))\nimport typing as t"
    ),
    "a name deleted that it did not bind": "del input, sqrt\nprint(sys.stdin.readline(), input)\ntry: sqrt\nexcept NameError as error: print(error)",
    "a name of two modules": "print(input(), pow(2, 3), pow.__module__, count(1) if callable(count) else 0, open)",
    "the main guard": "def main(): print(__name__, input(), __doc__)\nif __name__ == '__main__': main()",
    "its own docstring": "'''What it is.'''\nprint(__doc__, input())",
    "annotations": "x: List[int] = [1]\nprint(__annotations__, input())",
    "annotations as text": (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass P:\n    x: List[int]\n"
        "print(P([1]), P.__annotations__, get_type_hints(P), input())"
    ),
    "a named tuple": "class P(NamedTuple):\n    x: int\nprint(P(len(input())))",
    "an exit": "print(input())\nexit(3)",
    "an exception in its third line": "word = input()\ndef f(x):\n    return json.loads(x)\nf('{')",
    "a copy": "a = [[input()]]\nb = deepcopy(a)\nc = copy.copy(a) if hasattr(copy, 'copy') else copy(a)\nprint(b, c)",
    "a thread nobody waits for": (
        "import threading\nt = threading.Thread(target=lambda: None)\nt.start()\nwhile threading.active_count() > 1: pass\nprint(input())"
    ),
    "a thread's name": (
        "import threading\nt = threading.Thread(target=lambda: print(input(), threading.current_thread().name))\nt.start()\nt.join()"
    ),
}

NOT_SHARED: dict[str, str] = {
    "stdin closed": "print(stdin.read())\nstdin.close()\nprint(stdin.closed, sys.stdin.closed)",
    "globals by a computed name": "print(input(), getattr(math, 'p' + 'i'))\ngetattr(math, '__di' + 'ct__')['pi'] = 3",
    "its globals": "names = globals()\nprint(input(), len(names), list(names)[:9], 'mine' in names)\nmine = 1",
    "a module by its globals": "print(input(), globals()['math'].pi)\nglobals()['math'].pi = 3",
    "the modules": "print(input(), 'mine' in modules)\nmodules['mine'] = 1",
    "a tracing function": "print(input(), sys.gettrace())\nsettrace(lambda *_: None)",
    "an attribute of a module": "print(input(), math.pi)\nmath.pi = 3",
    "an attribute of a module, under another name": "def set_pi(module): module.pi = 3\nprint(input(), math.pi)\nset_pi(math)",
    "an attribute of a class": (
        "def mark(kind):\n    seen = getattr(kind, 'seen', 0)\n    kind.seen = seen + 1\n    return seen\nprint(input(), mark(Counter))"
    ),
    "a module's names": "print(input(), 'mine' in string.__dict__)\nstring.__dict__['mine'] = 1",
    "a patched builtin": "import builtins\nprint(input(), len('four'))\nbuiltins.len = lambda _: 99",
    "a builtin patched through another": "n = len(input())\ngetattr(print, '__self__').__dict__['len'] = lambda _: 99\nprint(n)",
    "the environment": "import os\nprint(input(), os.environ.get('MINE'))\nos.environ['MINE'] = '1'",
    "a file by the header's open": "print(input())\nwith open('left.txt', 'a+') as file:\n    print('x', file=file)\n    print(file.tell())",
    "a file of the header's": "print(input())\nwith FileIO('left.txt', 'a+') as file:\n    file.write(b'x')\n    print(file.tell())",
}
