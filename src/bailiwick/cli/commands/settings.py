"""``bailiwick settings``: how the kernel places, evicts, orders and remembers.

Rules:

- A change names only what it changes. What it was made from is checked: if somebody was faster,
  it ends with 6 and nothing is changed.
"""

from __future__ import annotations

import json
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bailiwick.cli.shared.ask import Ask, noun, verb
from bailiwick.cli.shared.output import draw_details
from bailiwick.phrases.amounts import span
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.units import parse_span

if TYPE_CHECKING:
    from bailiwick.wire.settings import Settings

app = noun("Settings: how the kernel places, evicts, orders and remembers.")


@verb(app, "show")
def show_settings(ask: Ask) -> None:
    """All settings.

    Example: bailiwick settings show
    """
    from bailiwick.wire.actions.server import SETTINGS_READ

    found = ask.client.send(SETTINGS_READ)
    ask.printer.thing(found, name="settings", draw=lambda: _draw(found))


def _draw(found: Settings) -> None:
    rows = [(name, _shown(name, value)) for name, value in found.model_dump(mode="json").items()]
    draw_details("setting", "value", rows=rows)


def _shown(name: str, value: Any) -> str:
    if name.endswith("_ms") and isinstance(value, int):
        return span(value)
    if isinstance(value, dict):
        return ", ".join(f"{key} {each:,}" for key, each in value.items() if each) or "-"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "-" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


@verb(app, "set", changes=True)
def set_settings(
    ask: Ask,
    values: Annotated[
        list[str],
        typer.Argument(metavar="NAME=VALUE...", help="grace_ms=30s preempt_from=high ..."),
    ],
    *,
    if_match: Annotated[
        str | None,
        typer.Option("--if-match", metavar="ETAG", help="Only if they are still these."),
    ] = None,
) -> None:
    """Change settings; those that are not named stay as they are.

    Example: bailiwick settings set grace_ms=45s preempt_from=high
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.server import SETTINGS_READ, SETTINGS_SET
    from bailiwick.wire.settings import Settings

    found, etag = ask.client.send_tagged(SETTINGS_READ)
    wanted = found.model_dump(mode="json") | dict(parse_setting(text, found) for text in values)
    body = make_body(Settings, **wanted)
    told = "settings are changed: " + ", ".join(values)
    ask.change(SETTINGS_SET, body=body, etag=if_match or etag, told=told)


def parse_setting(text: str, found: Settings) -> tuple[str, Any]:
    """One setting as it was typed; times may have a unit."""
    name, equals, value = text.partition("=")
    known = [*type(found).model_fields]
    if not equals or name not in known:
        near = get_close_matches(name, known, 1)
        hint = f"such as {near[0]}" if near else "one of " + ", ".join(known)
        raise InvalidValue("setting", text, f"NAME=VALUE with a name {hint}")
    if name.endswith("_ms") and not value.isdigit():
        return name, parse_span(name, value)
    if isinstance(getattr(found, name), list) and not value.startswith("["):
        return name, value.split(",")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
