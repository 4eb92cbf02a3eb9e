"""The parser of a command's options. Its errors are ours: one line."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NoReturn

from evaluator.commands.options import EVERYWHERE, Command, Option
from evaluator.commands.output import CommandError
from evaluator.package_modules import near

_WIDTH: Final = 80


class Parser(argparse.ArgumentParser):
    """Raises `CommandError` for bad arguments."""

    def error(self, message: str) -> NoReturn:
        unknown = re.match(r"unrecognized arguments: (--[\w-]+)", message)
        flags = [flag for action in self._actions for flag in action.option_strings]
        raise CommandError(f"{message}{near(unknown[1], flags) if unknown else ''} (see {self.prog} --help)")


def parser_of(name: str, command: Command) -> Parser:
    """The parser of a command. Each switch has an opposite, which the help leaves out: `--no-fail-fast`."""
    width = max(map(len, command.words), default=0)
    parser = Parser(
        f"rollscope {name}",
        description=textwrap.fill(command.about, _WIDTH),
        epilog="\n".join(f"  {word:{width}}  {text}" for word, text in command.words.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    groups: dict[str, argparse._ArgumentGroup] = {}
    for option in (*command.options, *EVERYWHERE):
        title = option[1].get("group")
        if title and title not in groups:
            groups[title] = parser.add_argument_group(title)
        add_option(groups[title] if title else parser, option)
    return parser


def add_option(parser: argparse._ActionsContainer, option: Option) -> None:
    """Adds the option, and a switch's opposite."""
    flags, settings = option
    action = parser.add_argument(*flags, **{name: value for name, value in settings.items() if name != "group"})
    if is_switch(option):
        parser.add_argument(
            opposite(flags[-1]), dest=action.dest, action="store_false", default=argparse.SUPPRESS,
            help=argparse.SUPPRESS,
        )  # fmt: skip


def is_switch(option: Option) -> bool:
    """Whether the option takes no value."""
    return option[1].get("action") == "store_true"


def opposite(flag: str) -> str:
    """The flag that takes a switch back."""
    return f"--{flag[5:]}" if flag.startswith("--no-") else f"--no-{flag[2:]}"


def with_new_names(words: Sequence[str], renamed: Mapping[str, str]) -> Iterator[str]:
    """The words of a command line with the present names of options."""
    for word in words:
        name, equals, value = word.partition("=")
        yield renamed.get(name, name) + equals + value
