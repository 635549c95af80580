"""What is supposed about a waiting request, as it is typed; and what would become of it, in words.

>>> parse_supposed(["quota.gpus=+8", "nodes=+1", "generation=nvidia_hopper"])
{'quota': {'gpu_count': 8}, 'nodes': 1, 'generation': 'nvidia_hopper'}
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, assert_never

import typer

from bailiwick.cli.shared.denials import phrase_denial
from bailiwick.cli.shared.quota_words import parse_limit
from bailiwick.phrases.amounts import milli, plural, size
from bailiwick.phrases.reasons import REASONS
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.units import parse_generation

if TYPE_CHECKING:
    from bailiwick.wire.foreseen import NewNodeKind, WhatIf

_EXPECTED = "quota.gpus=+8 (or cpus, mem, block, vram, leases), nodes=+1 or generation=WORD"
_MORE = re.compile(r"\+?([0-9].*)")


def parse_supposed(texts: Iterable[str]) -> dict[str, Any]:
    """The body that these changes mean."""
    found: dict[str, Any] = {}
    for text in texts:
        name, _, value = text.partition("=")
        head, _, word = name.partition(".")
        more = _MORE.fullmatch(value)
        if name == "generation":
            found["generation"] = parse_generation(name, value).value
        elif more is None:
            raise InvalidValue("CHANGE", text, _EXPECTED)
        elif name == "nodes" and more[1].isdecimal():
            found["nodes"] = int(more[1])
        elif head == "quota":
            table, dimension, amount = parse_limit(f"{word}={more[1]}")
            if table != "limits":
                raise InvalidValue("CHANGE", text, _EXPECTED)
            found.setdefault("quota", {})[dimension] = amount
        else:
            raise InvalidValue("CHANGE", text, _EXPECTED)
    return found


def draw_what_if(found: WhatIf) -> None:
    """What would become of it."""
    from bailiwick.cli.commands.explain import draw_entry

    if found.supposed.nodes:
        typer.echo(f"new nodes: {_kind(found.new_node)}")
    result = found.result
    match result.outcome:
        case "starts":
            where = f", {result.on_new_nodes} of them on new nodes" if result.on_new_nodes else ""
            typer.echo(f"it would start at once: {plural(result.members, 'lease')}{where}")
        case "waits":
            typer.echo("it would still wait:")
            draw_entry(result.entry)
        case "refused":
            denied = result.denied
            typer.echo(f"it would be refused: {REASONS[denied.reason]}: {phrase_denial(denied)}")
        case "ends":
            typer.echo(f"it would leave the queue without having run: {result.cause}")
        case _:
            assert_never(result.outcome)


def _kind(kind: NewNodeKind | None) -> str:
    if kind is None:
        return "none, because no machine of the fleet could hold a member of it"
    gpus = f"{len(kind.gpus)} x {kind.gpus[0].generation.value}, " if kind.gpus else ""
    return f"{gpus}{milli(kind.resources.cpu_milli)} cores, {size(kind.resources.mem_bytes)} each"
