"""``bailiwick app entitlement``: who may use which app how, and where each line comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bailiwick.cli.shared.ask import Ask, noun, verb
from bailiwick.cli.shared.output import Columns, emit
from bailiwick.cli.shared.screen import make_console, owner, print_rows
from bailiwick.vocab.apps import PolicyAxis, PolicyLimit
from bailiwick.vocab.errors import InvalidValue

if TYPE_CHECKING:
    from bailiwick.wire.apps import EffectivePolicy, Entitlement

app = noun("Who may use which app how; a line only narrows those above it.")

FleetOption = Annotated[
    bool, typer.Option("--fleet", help="Over the whole fleet, and not at a tenant or project.")
]
_AppName = Annotated[
    str, typer.Argument(metavar="APP", help="hello, or lab.hello for one of the tenant lab.")
]


def _where(tenant: str | None, project: str | None) -> str:
    return "fleet" if tenant is None else owner(tenant, project)


_LINES: Columns[Entitlement] = Columns(
    ("app", "where", "may be used", "narrows*", "revision"),
    lambda e: (
        e.app,
        _where(e.tenant, e.project),
        "yes" if e.is_enabled else "no",
        ", ".join(e.overlay.model_dump(exclude_none=True)) or "nothing",
        str(e.revision),
    ),
    lambda e: f"{e.app}@{_where(e.tenant, e.project)}",
    numbers=("revision",),
    empty="no line that you may see",
)


@verb(app, "show", lists=True)
def show_lines(ask: Ask) -> None:
    """The lines that were set, at every place that you may see.

    Example: bailiwick app entitlement show
    """
    from bailiwick.wire.actions.apps import ENTITLEMENT_LIST

    ask.list(ENTITLEMENT_LIST, columns=_LINES)


@verb(app, "explain", scope="project")
def explain_lines(ask: Ask, name: _AppName, *, fleet: FleetOption = False) -> None:
    """What counts for an app at a tenant or project, and which line says so.

    Example: bailiwick app entitlement explain hello --tenant lab --project vision
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.apps import ENTITLEMENT_EXPLAIN
    from bailiwick.wire.apps import EntitlementPlace

    body = make_body(EntitlementPlace, app=name, **place_of(ask, fleet=fleet))
    found = ask.client.send(ENTITLEMENT_EXPLAIN, body=body)
    told = "enabled" if found.is_enabled else "disabled"
    ask.printer.thing(found, name=told, draw=lambda: _draw_policy(found))


def _draw_policy(found: EffectivePolicy) -> None:
    rows = [
        (
            each.rule,
            each.what,
            "anything" if each.values is None else ", ".join(each.values) or "nothing",
            ", ".join(each.sources),
        )
        for each in found.lines
    ]
    where = _where(found.tenant, found.project)
    may = "may be used" if found.is_enabled else "may not be used"
    headings = ("rule", "of", "what*", "said by")
    print_rows(make_console(), headings, rows=rows, title=f"{found.app} {may} at {where}")
    if found.host_granted:
        emit(f"granted the host: {', '.join(found.host_granted)}")


@verb(app, "set", changes=True, scope="project")
def set_line(
    ask: Ask,
    name: _AppName,
    *,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[WORD=VALUE]...",
            help="regions=east,west, deny_versions=1.1.0, instances_max=3; what is left out is "
            "not narrowed.",
        ),
    ] = None,
    enable: Annotated[
        bool, typer.Option("--enable/--disable", help="Whether the app may be used there.")
    ] = True,
    fleet: FleetOption = False,
    if_revision: Annotated[
        int | None, typer.Option("--if-revision", min=0, help="Only if it is still so; 0: none.")
    ] = None,
) -> None:
    """Replace the line about an app at a tenant, a project, or the fleet.

    Example: bailiwick app entitlement set hello regions=east instances_max=3 --tenant lab
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.apps import ENTITLEMENT_SET
    from bailiwick.wire.apps import EntitlementChange, Overlay

    overlay = make_body(Overlay, **dict(_narrowing(each) for each in words or ()))
    place = place_of(ask, fleet=fleet)
    where = _where(place.get("tenant"), place.get("project"))
    if not enable:
        ask.confirm(f"Disable {name} at {where}, and at everything inside?")
    body = make_body(EntitlementChange, app=name, **place, is_enabled=enable, overlay=overlay)
    etag = None if if_revision is None else f'"{if_revision}"'
    told = f"{name} is {'enabled' if enable else 'disabled'} at {where}"
    ask.change(ENTITLEMENT_SET, body=body, etag=etag, told=told)


def place_of(ask: Ask, *, fleet: bool) -> dict[str, str]:
    """The tenant and perhaps the project that are meant; nothing for the fleet."""
    if fleet:
        if any(ask.given.values()):
            raise InvalidValue("--fleet", "with --tenant or --project", "one of them")
        return {}
    return {name: str(word) for name, word in ask.scope.items()}


def _narrowing(text: str) -> tuple[str, Any]:
    """One word of an overlay, and its list or number."""
    word, sign, value = text.partition("=")
    known = [*PolicyAxis, *(f"deny_{axis}" for axis in PolicyAxis), *PolicyLimit]
    if not sign or word not in known:
        raise InvalidValue("WORD", text, "one of " + ", ".join(known) + ", with = and its value")
    if word not in list(PolicyLimit):
        return word, [part for part in value.split(",") if part]
    if not value.isdecimal() or len(value) > 9:
        raise InvalidValue(word, value, "a whole number")
    return word, int(value)
