"""What graders in common use do with a program that they run in their own process, one habit a class."""

from __future__ import annotations

import builtins
import io
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import types
from collections.abc import Callable

from tests.attacks.careful_grader import CarefulGrader, Failed

_OWN_NAMES = frozenset(dir(builtins))


class StdinIsText(CarefulGrader):
    """A `StringIO` for `sys.stdin`; descriptor 0 is the grader's own."""

    def streams(self, given: str) -> None:
        super().streams(given)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        sys.stdin = io.StringIO(given)


class StdoutIsText(CarefulGrader):
    """A `StringIO` for `sys.stdout`, and only that is read."""

    def streams(self, given: str) -> None:
        super().streams(given)
        sys.stdout = self._text = io.StringIO()

    def written(self, stdout: io.BufferedRandom) -> str:
        return self._text.getvalue()


class MockedReading(StdinIsText):
    """Each way of reading has a copy of the input of its own."""

    def streams(self, given: str) -> None:
        super().streams(given)
        lines = iter(given.splitlines(keepends=True))
        sys.stdin.readline = lambda *_: next(lines, "")  # type: ignore[method-assign]
        sys.stdin.read = lambda *_: given  # type: ignore[method-assign]
        sys.stdin.readlines = lambda *_: given.splitlines(keepends=True)  # type: ignore[method-assign]


class NotMain(CarefulGrader):
    module_name = "solution"


class UnregisteredModule(CarefulGrader):
    """A namespace that `sys.modules` does not know by its name."""

    def namespace(self) -> dict[str, object]:
        return {"__name__": "completion"}


class TwoNamespaces(CarefulGrader):
    """`exec` with globals and locals apart: functions do not see each other."""

    def load(self) -> dict[str, object]:
        names: dict[str, object] = {}
        exec(self.source(), {"__name__": "__main__"}, names)
        return names


class IndentedIntoFunction(CarefulGrader):
    """The code becomes the body of a function, so that it can be called for each test case."""

    def source(self) -> str:
        body = "".join(f"    {line}\n" for line in self.code.split("\n"))
        return f"def code():\n{body}    return locals()\n"

    def load(self) -> dict[str, object]:
        return super().load()["code"]()  # type: ignore[operator, no-any-return]


class ImportsPrepended(CarefulGrader):
    def source(self) -> str:
        return f"import math\nfrom typing import *\nfrom collections import *\n{self.code}"


class EscapesDecoded(CarefulGrader):
    """Decodes the backslashes in the code, as where it is pasted into a template's string."""

    def source(self) -> str:
        return self.code.encode("utf-8", "surrogatepass").decode("unicode_escape")


class ReliabilityGuard(CarefulGrader):
    """Sets to None what could do harm."""

    def prepare(self) -> None:
        builtins.exit = builtins.quit = None  # type: ignore[assignment]
        for name in (
            "kill system putenv remove removedirs rmdir fchdir setuid fork forkpty killpg rename renames truncate "
            "replace unlink fchmod fchown chmod chown chroot lchown getcwd chdir"
        ).split():
            setattr(os, name, None)
        shutil.rmtree = shutil.move = shutil.chown = None  # type: ignore[assignment]
        subprocess.Popen = None  # type: ignore[assignment, misc]
        builtins.help = None  # type: ignore[assignment]
        for name in ("ipdb", "joblib", "resource", "psutil", "tkinter"):
            sys.modules[name] = None  # type: ignore[assignment]


class NoFiles(CarefulGrader):
    def load(self) -> dict[str, object]:
        def refuse(*_: object, **__: object) -> None:
            raise PermissionError("files are not allowed")

        namespace = self.namespace()
        code = compile(self.source(), "main.py", "exec", dont_inherit=True)
        builtins.open = io.open = os.open = refuse  # type: ignore[assignment]
        exec(code, namespace)
        return namespace


class FewBuiltins(CarefulGrader):
    """Without the builtins by which code is made from text."""

    def namespace(self) -> dict[str, object]:
        refused = {"eval", "exec", "compile", "globals", "locals", "vars", "open", "breakpoint"}
        kept = {name: getattr(builtins, name) for name in _OWN_NAMES - refused}
        return super().namespace() | {"__builtins__": kept}


class ExitIsFailure(CarefulGrader):
    def exited(self) -> None:
        raise Failed("the program exited")


class TakenAtOnce(CarefulGrader):
    """Reads the output after the last line: not what threads and callbacks at exit still write."""

    ends_like_python = False


class AlarmKept(CarefulGrader):
    """A time limit by `signal.alarm`, and no program may touch it."""

    def prepare(self) -> None:
        signal.signal(signal.SIGALRM, _time_out)
        signal.alarm(20)

    def run(self) -> None:
        super().run()
        if signal.getsignal(signal.SIGALRM) is not _time_out or not signal.alarm(0):
            raise Failed("the time limit was removed")

    def judge_value(self, expected: object, actual: object) -> None:
        super().judge_value(expected, actual)
        if signal.getsignal(signal.SIGALRM) is not _time_out or not signal.alarm(0):
            raise Failed("the time limit was removed")


def _time_out(*_: object) -> None:
    raise TimeoutError


class FixedRecursionLimit(CarefulGrader):
    def prepare(self) -> None:
        sys.setrecursionlimit(1000)
        sys.setrecursionlimit = lambda limit: None


class OwnArguments(CarefulGrader):
    """The program sees the grader's command line."""

    def prepare(self) -> None:
        sys.argv = ["grader.py", "--problem", "3"]


class BuiltinsKept(CarefulGrader):
    """A program that replaces a builtin or a stream is taken for one that cheats."""

    def run(self) -> None:
        before = {name: getattr(builtins, name) for name in _OWN_NAMES}, sys.stdin, sys.stdout
        super().run()
        if before != ({name: getattr(builtins, name, None) for name in _OWN_NAMES}, sys.stdin, sys.stdout):
            raise Failed("the program replaced what is not its own")


class NoThreads(CarefulGrader):
    def prepare(self) -> None:
        def refuse(*_: object) -> None:
            raise RuntimeError("can't start new thread")

        threading.Thread.start = refuse  # type: ignore[method-assign, assignment]


class TopLevelFunction(CarefulGrader):
    def function_in(self, namespace: dict[str, object]) -> Callable[..., object]:
        return namespace[self.entry_point or ""]  # type: ignore[return-value]


class LastFunction(CarefulGrader):
    """Calls what was defined last, whatever its name."""

    def function_in(self, namespace: dict[str, object]) -> Callable[..., object]:
        return [each for each in namespace.values() if isinstance(each, types.FunctionType)][-1]


class PlainFunction(CarefulGrader):
    """Takes nothing but a function that `def` made."""

    def function_in(self, namespace: dict[str, object]) -> Callable[..., object]:
        found = super().function_in(namespace)
        if not isinstance(found, types.FunctionType) or found.__name__ != self.entry_point:
            raise Failed(f"{self.entry_point} is no function of that name")
        return found


class JsonResult(CarefulGrader):
    """The result travels as JSON."""

    def judge_value(self, expected: object, actual: object) -> None:
        super().judge_value(expected, json.loads(json.dumps(actual)))


class PickledResult(CarefulGrader):
    """The result travels between processes, the other of which does not know the program."""

    def judge_value(self, expected: object, actual: object) -> None:
        sent = pickle.dumps(actual)
        sys.modules.pop(self.module_name)
        super().judge_value(expected, pickle.loads(sent))


class PrintedResult(CarefulGrader):
    """The result is printed and read back."""

    def judge_value(self, expected: object, actual: object) -> None:
        if repr(actual) != repr(expected):
            raise Failed(f"{actual!r:.80} is not {expected!r:.80}")


class SameType(CarefulGrader):
    def judge_value(self, expected: object, actual: object) -> None:
        if type(actual) is not type(expected):
            raise Failed(f"a {type(actual).__name__}, not a {type(expected).__name__}")
        super().judge_value(expected, actual)


class SmallIntegers(CarefulGrader):
    """Looks at the digits of numbers with Python's limit for them."""

    def judge_text(self, expected: str, actual: str) -> None:
        sys.set_int_max_str_digits(4300)
        if list(map(int, actual.split())) != list(map(int, expected.split())):
            raise Failed("the numbers differ")

    def judge_value(self, expected: object, actual: object) -> None:
        sys.set_int_max_str_digits(4300)
        if str(actual) != str(expected):
            raise Failed("the numbers differ")


class NumbersAreFloats(CarefulGrader):
    """Compares numbers with a tolerance, whatever their size."""

    def judge_value(self, expected: object, actual: object) -> None:
        super().judge_value(expected, actual)
        if isinstance(actual, int) and abs(float(actual) - float(expected)) > 1e-6:  # type: ignore[arg-type]
            raise Failed("the numbers differ")


class ArgumentsKept(CarefulGrader):
    """Holds it against a function that it changed its arguments."""

    def function_in(self, namespace: dict[str, object]) -> Callable[..., object]:
        function = super().function_in(namespace)

        def called(*arguments: object) -> object:
            before = repr(arguments)
            result = function(*arguments)
            if repr(arguments) != before:
                raise Failed("an argument was changed")
            return result

        return called


class ResultOnStdout(CarefulGrader):
    """Prints the result and reads all of stdout as that."""

    def prepare(self) -> None:
        if self.entry_point is not None:
            sys.stdout = self._printed = io.StringIO()

    def judge_value(self, expected: object, actual: object) -> None:
        super().judge_value(expected, actual)
        print(json.dumps(expected))
        json.loads(self._printed.getvalue())


class CutAtFirstReturn(CarefulGrader):
    """Takes a function to end with its first `return`."""

    def source(self) -> str:
        lines = self.code.split("\n")
        returns = [place for place, line in enumerate(lines) if line.strip().startswith("return")]
        return "\n".join(lines[: returns[0] + 1] if returns else lines)


class SharedInterpreter(StdoutIsText):
    """All test cases in one process: what a run set up is still there in the next, over an output that has gone."""


HABITS: dict[str, type[CarefulGrader]] = {
    "careful": CarefulGrader,
    "stdin_is_text": StdinIsText,
    "stdout_is_text": StdoutIsText,
    "mocked_reading": MockedReading,
    "not_main": NotMain,
    "unregistered_module": UnregisteredModule,
    "two_namespaces": TwoNamespaces,
    "indented_into_function": IndentedIntoFunction,
    "imports_prepended": ImportsPrepended,
    "escapes_decoded": EscapesDecoded,
    "reliability_guard": ReliabilityGuard,
    "no_files": NoFiles,
    "few_builtins": FewBuiltins,
    "exit_is_failure": ExitIsFailure,
    "taken_at_once": TakenAtOnce,
    "alarm_kept": AlarmKept,
    "fixed_recursion_limit": FixedRecursionLimit,
    "own_arguments": OwnArguments,
    "builtins_kept": BuiltinsKept,
    "no_threads": NoThreads,
    "top_level_function": TopLevelFunction,
    "last_function": LastFunction,
    "plain_function": PlainFunction,
    "json_result": JsonResult,
    "pickled_result": PickledResult,
    "printed_result": PrintedResult,
    "same_type": SameType,
    "small_integers": SmallIntegers,
    "numbers_are_floats": NumbersAreFloats,
    "arguments_kept": ArgumentsKept,
    "result_on_stdout": ResultOnStdout,
    "cut_at_first_return": CutAtFirstReturn,
    "shared_interpreter": SharedInterpreter,
}
