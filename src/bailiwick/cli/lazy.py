"""Commands that are imported when they are called, so that the first help screen is quick.

Rules:

- The list of commands and one line about each are known without importing any of them.
- Calling a command, asking for its own help or completing its words imports that one module.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperGroup


class Later(NamedTuple):
    """Where a command is (``module:name``), the line that tells of it, and its panel."""

    where: str
    help: str
    panel: str


COMMANDS: dict[str, Later] = {}
"""Every command of the first level, in the order in which the help screen shows them."""


class LazyGroup(TyperGroup):
    """The first level of the command line."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All names."""
        return [*COMMANDS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A placeholder that knows its name and its line; enough for a list."""
        later = COMMANDS.get(cmd_name)
        if later is None:
            return None
        return TyperGroup(name=cmd_name, help=later.help, rich_help_panel=later.panel)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command itself, which is now needed."""
        # The suggestions for a mistyped name are made from this mapping.
        self.commands = dict.fromkeys(COMMANDS)  # type: ignore[assignment]
        name, found, rest = super().resolve_command(ctx, args)
        return name, None if found is None or name is None else load_command(name), rest


def load_command(name: str) -> Any:
    """A command or group of commands, imported now."""
    where, _, attribute = COMMANDS[name].where.partition(":")
    module = import_module(where)
    found = getattr(module, attribute)
    if attribute.endswith("_app"):  # one command, not a group
        command = typer.main.get_command(found)
        command.name = name
        return command
    root = typer.Typer(add_completion=False)
    root.callback()(_nothing)  # with it the root is a group, however few its commands are
    if isinstance(found, typer.Typer):
        root.add_typer(found, name=name)
    else:
        root.command(name, help=getattr(module, "HELP", None))(found)
    group = typer.main.get_command(root)
    assert isinstance(group, TyperGroup)
    return group.commands[name]


def _nothing() -> None:
    """The first level itself does nothing."""
