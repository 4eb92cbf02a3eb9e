"""Completion of commands and options: a few lines for the shell, which ask the command itself what fits."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, NamedTuple

from evaluator.commands.options import COMMANDS, EVERYWHERE
from evaluator.commands.output import CommandError, Exit


class _Shell(NamedTuple):
    script: str
    place: str
    """Below the home."""
    needs: str


_SHELLS: Final = {
    "bash": _Shell(
        """_rollscope() {
    local IFS=$'\\n'
    COMPREPLY=($(rollscope --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _rollscope rollscope
""",
        ".local/share/bash-completion/completions/rollscope",
        "new shells have it; without the package bash-completion, add to ~/.bashrc: source {place}",
    ),
    "zsh": _Shell(
        """#compdef rollscope
local -a found
found=("${(@f)$(rollscope --complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
[[ -n $found ]] && compadd -a found || _files
""",
        ".zfunc/_rollscope",
        "add to ~/.zshrc: fpath+=~/.zfunc; autoload -Uz compinit; compinit",
    ),
    "fish": _Shell(
        """complete -c rollscope -a '(rollscope --complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
""",
        ".config/fish/completions/rollscope.fish",
        "new shells have it",
    ),
}


def install(shell: str = "") -> int:
    """Write the file that a shell, by default the user's, reads for completion."""
    name = shell or Path(os.environ.get("SHELL", "")).name
    if name not in _SHELLS:
        raise CommandError(f"no completion for the shell {name!r}: give --install-completion bash, zsh or fish")
    script, place, needs = _SHELLS[name]
    path = Path.home() / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(script)
    print(f"{path}: {needs.format(place=path)}")
    return Exit.DONE


def complete(*words: str) -> int:
    """Print what the last word may become, one to a line; nothing where that is a file."""
    *before, begun = words or ("",)
    for candidate in _candidates(before):
        if candidate.startswith(begun) and (begun or not candidate.startswith("-")):
            print(candidate)
    return Exit.DONE


def _candidates(before: list[str]) -> list[str]:
    if not before:
        return [*COMMANDS, "--help", "--version", "--install-completion"]
    if before[0] not in COMMANDS:
        return list(_SHELLS) if before == ["--install-completion"] else []
    options = (*COMMANDS[before[0]].options, *EVERYWHERE)
    choices = {flag: settings.get("choices", ()) for flags, settings in options for flag in flags}
    if choices.get(before[-1]):
        return list(choices[before[-1]])
    flags = [flags[-1] for flags, _ in options if flags[-1].startswith("--")]
    words = [word for flag, of in choices.items() if not flag.startswith("-") for word in of]
    return [*(words if len(before) == 1 else []), *flags]
