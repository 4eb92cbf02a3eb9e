"""The code that is sent into the sandbox when an interpreter starts: our modules, and their loader."""

from __future__ import annotations

import importlib.util
import marshal
import re
from functools import cache
from graphlib import TopologicalSorter
from importlib import resources
from importlib.machinery import SourceFileLoader
from types import CodeType

from evaluator.sandbox.host.launch.settings import Runner

_IMPORT = re.compile(r"^from evaluator\.([\w.]+) import (\([^)]*\)|.*)", re.MULTILINE)

_IMPORT_OF_LIBRARY = re.compile(r"^(?:import|from) (?!evaluator|__future__)([\w.]+)", re.MULTILINE)

_FOLDERS = ("sandbox.guest", "suites.guest")
"""What may be sent in. The second is named, not imported: it belongs to what uses the sandbox."""

BOOT = """
import _socket, builtins, contextlib, marshal, os, sys, types
control = _socket.socket(fileno=int(sys.argv[1]))
size = int.from_bytes(control.recv(4, _socket.MSG_WAITALL), "big")
bundle = marshal.loads(control.recv(size, _socket.MSG_WAITALL)[1:])
for name in ("", ".sandbox", ".sandbox.guest", ".suites", ".suites.guest"):
    sys.modules["evaluator" + name] = types.ModuleType("evaluator" + name)
register_at_fork = os.register_at_fork
os.register_at_fork = lambda **_: None  # until everything is imported: see zygote.main
sys.path[:] = bundle["settings"]["path"]
for name in bundle["imports"]:
    with contextlib.suppress(Exception):  # a completion that imports it will see why
        __import__(name)
own_builtins = dict(builtins.__dict__)  # so that a program's patches don't reach us
for name, code in bundle["modules"]:
    full = "evaluator." + name
    module = sys.modules[full] = types.ModuleType(full)
    package, _, last = full.rpartition(".")
    setattr(sys.modules[package], last, module)
    module.__builtins__ = own_builtins
    if isinstance(code, str):
        code = compile(code, "<sandbox " + name + ">", "exec", dont_inherit=True)
    exec(code, module.__dict__)
sys.modules["evaluator.sandbox.guest.zygote"].main(control, bundle["settings"], register_at_fork)
"""


def bundle(
    settings: dict[str, object], preload: list[str], runner: Runner | None, *, suites: bool, own_python: bool
) -> bytes:
    """The input of `BOOT`: the modules, with that of `runner` last, and the settings of `zygote.main`.

    `preload`: modules that are imported before these, and what these import. `suites`: with what test suites need.
    `own_python`: it goes to this process's own Python, which can run what this one has compiled.
    """
    ours = _compiled() if own_python else _sources()
    modules: list[tuple[str, str | CodeType]] = [each for each in ours if suites or each[0].startswith(_FOLDERS[0])]
    if runner:
        modules.append(("sandbox.guest.runner", runner.source))
    sent = {name for name, _ in modules}
    imports = [name for own, text in _sources() if own in sent for name in _IMPORT_OF_LIBRARY.findall(text)]
    return marshal.dumps({"imports": [*preload, *dict.fromkeys(imports)], "modules": modules, "settings": settings})


@cache
def _compiled() -> list[tuple[str, str | CodeType]]:
    """Like `_sources`, compiled, which Python does once and keeps beside each file: it takes a tenth of a second."""
    return [(name, _from_cache(name) or source) for name, source in _sources()]


def _from_cache(name: str) -> CodeType | None:
    full = f"evaluator.{name}"
    spec = importlib.util.find_spec(full)
    if spec is None or not isinstance(spec.loader, SourceFileLoader):
        return None
    code = spec.loader.get_code(full)
    return None if code is None else _in_file(code, f"<sandbox {name}>")


def _in_file(code: CodeType, file: str) -> CodeType:
    """The code without this machine's path of its file, which is none of a completion's business."""
    constants = tuple(_in_file(each, file) if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.replace(co_filename=file, co_consts=constants)


@cache
def _sources() -> list[tuple[str, str]]:
    """The modules by dotted name, each after the ones it imports."""
    texts = {
        f"{folder}.{file.name.removesuffix('.py')}": file.read_text("utf-8")
        for folder in _FOLDERS
        for file in resources.files(f"evaluator.{folder}").iterdir()
        if file.name.endswith(".py") and file.name != "__init__.py"
    }
    imports = {name: _imported(text) & texts.keys() for name, text in texts.items()}
    return [(name, texts[name]) for name in TopologicalSorter(imports).static_order()]


def _imported(text: str) -> set[str]:
    """The modules that a module imports at its top."""
    modules: set[str] = set()
    for package, names in _IMPORT.findall(text):
        modules.add(package)
        modules.update(f"{package}.{name}" for name in re.findall(r"\w+", names))
    return modules
