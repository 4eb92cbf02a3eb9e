"""The command: what its first word means. The options are in `commands.options`; what each command does is in
`evaluator.commands`.

Nothing heavy is imported before a command needs it, so `rollscope --help` answers at once.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack, redirect_stderr
from importlib import import_module
from pathlib import Path
from typing import Final

from evaluator.commands.options import COMMANDS
from evaluator.commands.output import CommandError, Exit, Messages, fail, report
from evaluator.commands.parsing import parser_of, with_new_names
from evaluator.package_modules import near
from evaluator.tasks import long_numbers

_ABOUT: Final = "Grades the code that language models write, and shows why each completion passed or failed."
_MORE: Final = """
  rollscope FILE                  opens rollouts, a run or a folder
  rollscope COMMAND --help        shows a command's options
  rollscope --install-completion  completes words in bash, zsh or fish
  rollscope --version             shows the version

Exit status: 0 done; 1 a finding; 2 bad arguments or input; 3 no sandbox; 130 stopped."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit with its status."""
    long_numbers.allow()
    gc.set_threshold(100_000)  # rows have no cycles: looking for them took a quarter of the time of a large file
    try:
        status = _run(sys.argv[1:] if arguments is None else list(arguments))
        sys.stdout.flush()
        sys.exit(status)
    except BrokenPipeError:  # the reader of the pipe closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: list[str]) -> int:
    with ExitStack() as redirected:
        try:
            return _do(redirected, *arguments)
        except KeyboardInterrupt:
            return fail("stopped", Exit.STOPPED)
        except BrokenPipeError:
            raise
        except Exception as error:
            if (status := report(error)) is None:
                raise
            return status


def _do(redirected: ExitStack, name: str = "--help", *arguments: str) -> int:
    match name:
        case "-h" | "--help":
            return _print_help()
        case "--version":
            from evaluator.version import VERSION

            print(f"rollscope {VERSION}")
            return Exit.DONE
        case "--install-completion" | "--complete":
            from evaluator.commands import completion

            return completion.install(*arguments) if name != "--complete" else completion.complete(*arguments)
    if name not in COMMANDS:
        name, arguments = "view", (_openable(name), *arguments)
    command = COMMANDS[name]
    words = list(with_new_names(arguments, command.renamed))
    if name != "config" and {"-h", "--help"}.isdisjoint(words):
        from evaluator.commands.configuration import words_of

        words = [*words_of(name), *words]
    given = vars(parser_of(name, command).parse_intermixed_args(words))
    quiet, log_json = given.pop("quiet"), given.pop("log_json")
    if quiet or log_json:
        redirected.enter_context(redirect_stderr(Messages(sys.stderr, quiet=quiet, as_json=log_json)))
    module, function = command.function.split(":")
    status: int = getattr(import_module(f"evaluator.commands.{module}"), function)(**given)
    return status


def _print_help() -> int:
    width = max(map(len, COMMANDS))
    print(f"Usage: rollscope COMMAND [OPTION]...\n\n{_ABOUT}\n")
    for each, command in COMMANDS.items():
        print(f"  {each:{width}}  {command.about.partition('. ')[0].removesuffix('.')}")
    print(_MORE)
    return Exit.DONE


def _openable(word: str) -> str:
    """The first word, where it is no command but something to open. Raises `CommandError`."""
    if "://" in word or "*" in word or word == "-" or ("\0" not in word and Path(word).exists()):
        return word
    raise CommandError(f"no such command or file: {word}{near(word, COMMANDS)} (see rollscope --help)")


if __name__ == "__main__":
    main()
