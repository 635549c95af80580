"""Commands that are imported when they are called, so that the first help screen is quick.

Rules:

- The list of commands and one line about each are known without importing any of them.
- Calling a command, asking for its own help or completing its words imports that one module, which
  has the word's name. It has a ``command``, or an ``app`` that is a group of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperGroup


class Word(NamedTuple):
    """What follows ``bailiwick``: the line that tells of it, and its panel."""

    help: str
    panel: str


COMMANDS: dict[str, Word] = {}
"""Every word of the first level, in the order in which the help screen shows them."""


class LazyGroup(TyperGroup):
    """The first level of the command line."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All names."""
        return [*COMMANDS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A placeholder that knows its name and its line; enough for a list."""
        word = COMMANDS.get(cmd_name)
        if word is None:
            return None
        return TyperGroup(name=cmd_name, help=word.help, rich_help_panel=word.panel)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command itself, which is now needed."""
        # The suggestions for a mistyped name are made from this mapping.
        self.commands = dict.fromkeys(COMMANDS)  # type: ignore[assignment]
        name, found, rest = super().resolve_command(ctx, args)
        return name, None if found is None or name is None else load_command(name), rest


def module_of(name: str) -> str:
    """Where a word's command is: in the module of its name."""
    return f"bailiwick.cli.commands.{name.replace('-', '_')}"


def load_command(name: str) -> Any:
    """A command or group of commands, imported now."""
    module = import_module(module_of(name))
    alone = getattr(module, "command", None)
    if alone is not None:
        command = typer.main.get_command(alone)
        command.name = name
        return command
    root = typer.Typer(add_completion=False)
    root.callback()(_nothing)  # with it the root is a group, however few its commands are
    root.add_typer(module.app, name=name)
    group = typer.main.get_command(root)
    assert isinstance(group, TyperGroup)
    return group.commands[name]


def _nothing() -> None:
    """The first level itself does nothing."""
