"""The reference of the command line, from the commands themselves.

A command's example is the one in its help, else the one in the manual (``docs/cli.md``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import bailiwick.cli.main  # noqa: F401  # it fills the list of commands
from bailiwick.cli.lazy import COMMANDS, load_command
from docs.tools.markdown import anchor, code, table, text

MANUAL = Path(__file__).resolve().parents[1] / "cli.md"

OPENING = """\
# Commands

Every command, with its arguments and options, as `--help` shows them. How commands end, what they
print and how to log in is in the manual: [the command line](../cli.md).
"""


def make() -> str:
    """The page."""
    parts = [OPENING]
    for panel, names in groupby(COMMANDS, key=lambda name: COMMANDS[name].panel):
        rows = [(_link(name), text(COMMANDS[name].help)) for name in names]
        parts += [f"**{panel}**\n", table(("command", "what it does"), rows) + "\n"]
    for name in COMMANDS:
        command = load_command(name)
        parts += _group(name, command) if hasattr(command, "commands") else _command(name, command)
    return "\n".join(parts)


def _link(name: str) -> str:
    return f"[`{name}`](#{anchor('bailiwick ' + name)})"


def _group(name: str, group: Any) -> Iterator[str]:
    yield f"## bailiwick {name}\n"
    yield text(group.help or COMMANDS[name].help) + "\n"
    for verb, command in group.commands.items():
        if hasattr(command, "commands"):
            for inner, leaf in command.commands.items():
                yield from _command(f"{name} {verb} {inner}", leaf)
        else:
            yield from _command(f"{name} {verb}", command)


def _command(name: str, command: Any) -> Iterator[str]:
    yield f"{'##' if ' ' not in name else '###'} bailiwick {name}\n"
    paragraphs = [part for part in (command.help or "").split("\n\n") if part.strip()]
    examples = []
    for part in paragraphs:
        lead, found, example = part.partition("bailiwick ")
        is_example = found and (not lead or lead.endswith(":  "))
        if not is_example:
            yield text(part) + "\n"
            continue
        examples += [*([f"# {' '.join(lead.split())}"] if lead else []), found + _line(example)]
    yield from _usage(name, command)
    examples = examples or _example_of(name)
    if examples:
        yield "For example:\n\n```bash\n" + "\n".join(examples) + "\n```\n"


def _line(words: str) -> str:
    return " ".join(words.split())


def _usage(name: str, command: Any) -> Iterator[str]:
    params = [one for one in command.params if not getattr(one, "hidden", False)]
    arguments = [one for one in params if one.param_type_name == "argument"]
    options = [one for one in params if one.param_type_name == "option" and one.name != "help"]
    typed = [_argument(one) for one in arguments]
    words = " ".join([f"bailiwick {name}", *(["[OPTIONS]"] if options else []), *typed])
    yield f"```text\n{words}\n```\n"
    rows = [(code(_argument(one)), text(one.help or "")) for one in arguments]
    rows += [(_option(one), text(_help(one))) for one in options]
    if rows:
        yield table(("argument or option", "meaning"), rows) + "\n"


def _argument(one: Any) -> str:
    word = one.metavar or one.name.upper()
    word = word.strip("[]{}")
    if one.nargs == -1 and not word.endswith("..."):
        word += "..."
    return word if one.required else f"[{word}]"


def _option(one: Any) -> str:
    names = [*one.opts, *one.secondary_opts]
    return ", ".join(code(each) for each in names) + _value(one)


def _value(one: Any) -> str:
    if one.is_flag:
        return ""
    kind = one.type_descriptor
    if one.metavar:
        return f" {code(one.metavar)}"
    if kind.is_choice:
        return " " + code("|".join(str(getattr(each, "value", each)) for each in kind.choices))
    bare = re.sub(r"^list\[(.*)\]$", r"\1", one.bare_type())
    return " " + code({"str": "TEXT", "int": "NUMBER", "float": "NUMBER", "Path": "PATH"}[bare])


def _help(one: Any) -> str:
    told = one.help or ""
    default = one.default
    is_told = default not in (None, False, True, (), [], "") and not callable(default)
    if one.required:
        told += " Required."
    elif is_told and "default" not in told.lower():
        told += f" Default: `{getattr(default, 'value', default)}`."
    return told


@cache
def _manual() -> dict[str, str]:
    """From the manual's tables: the example of each command."""
    rows = re.findall(
        r"^\| `([a-z -]+)`[^|]*\| `(bailiwick [^`]+)`", MANUAL.read_text("utf-8"), re.M
    )
    return {name: example.replace("\\|", "|") for name, example in rows}


def _example_of(name: str) -> list[str]:
    example = _manual().get(name)
    return [example] if example else []
