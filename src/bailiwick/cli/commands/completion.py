"""``bailiwick completion``: the script by which a shell completes our words, for a file or a pipe.

Rules:

- The shell is named, not guessed: so a package, an image or a colleague's machine can be served.
- Nothing is written but to stdout; where the script belongs is in the help, for each shell.
- The script only asks ``bailiwick`` itself, so it stays right when commands are added.
"""

from __future__ import annotations

import contextlib
import io
import os
from enum import StrEnum
from typing import Annotated, Final

import typer

ASK: Final = "_BAILIWICK_COMPLETE"
"""The variable by which Typer is asked for a script, and the script asks for words."""

command = typer.Typer(add_completion=False)


class Shell(StrEnum):
    """Shells that can be served."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


# Loaded by its name from $fpath, the file is itself the first call: without this it says nothing.
_ZSH_FIRST_CALL = 'if [ "$funcstack[1]" = "_bailiwick" ]; then _bailiwick_completion; fi'


@command.command()
def completion(
    shell: Annotated[Shell, typer.Argument(help="Whose script.", show_default=False)],
) -> None:
    """Print the script by which a shell completes commands, options and names.

    For this session: source <(bailiwick completion bash)

    For good: bailiwick completion bash > ~/.local/share/bash-completion/completions/bailiwick

    In zsh: bailiwick completion zsh > ~/.zfunc/_bailiwick, with fpath+=~/.zfunc before compinit

    In fish: bailiwick completion fish > ~/.config/fish/completions/bailiwick.fish
    """
    typer.echo(script_for(shell))


def script_for(shell: Shell) -> str:
    """The script, without blank lines around it: zsh reads the first line of the file."""
    from bailiwick.cli.main import app

    out, before = io.StringIO(), os.environ.get(ASK)
    os.environ[ASK] = f"source_{shell.value}"
    try:
        with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
            app([], prog_name="bailiwick")
    finally:
        del os.environ[ASK]
        if before is not None:
            os.environ[ASK] = before
    script = out.getvalue().strip()
    return f"{script}\n\n{_ZSH_FIRST_CALL}" if shell is Shell.ZSH else script
