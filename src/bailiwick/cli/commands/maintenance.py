"""``bailiwick maintenance``: when machines are maintained, once or by a calendar.

Rules:

- Before a window is planned it is shown who would have to go, and somebody says yes to that. With
  ``--dry-run`` it is only shown.
- Times are UTC unless they say otherwise; a calendar names its own zone.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.maintenance.calendars import app as calendar
from bailiwick.cli.maintenance.options import DryRunOption, OutputOption, YesOption, ask_as
from bailiwick.cli.shared.ask import Ask, noun, path_word, verb
from bailiwick.cli.shared.completions import complete_nodes
from bailiwick.cli.shared.flags import with_options
from bailiwick.cli.shared.output import Columns, Format, draw_details
from bailiwick.cli.shared.periods import parse_until
from bailiwick.cli.shared.screen import make_console, print_rows
from bailiwick.phrases.amounts import plural, span
from bailiwick.phrases.times import moment
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.units import parse_span

if TYPE_CHECKING:
    from bailiwick.wire.maintenance import MaintenanceWindow, WindowSet

app = noun("Maintenance: windows in which machines are worked on, and calendars.")
app.add_typer(calendar, name="calendar")

_WindowName = Annotated[str, typer.Argument(metavar="WINDOW", help="Its name.")]
_WINDOWS: Columns[MaintenanceWindow] = Columns(
    ("window", "phase", "from", "until", "nodes", "late", "text*"),
    lambda w: (
        w.window,
        w.phase.value,
        moment(w.starts_ms),
        moment(w.ends_ms),
        str(len(w.nodes)),
        str(len(w.late)) if w.late else "-",
        w.text or "-",
    ),
    lambda w: w.window,
    numbers=("nodes", "late"),
    empty="no maintenance is planned",
)


@verb(app, "list", lists=True)
def list_windows(ask: Ask) -> None:
    """The windows that are planned or on.

    Example: bailiwick maintenance list
    """
    from bailiwick.wire.actions.maintenance import WINDOW_LIST

    ask.list(WINDOW_LIST, columns=_WINDOWS)


@verb(app, "show")
def show_window(ask: Ask, window: _WindowName) -> None:
    """One window: which nodes, from when until when, and how far it has come.

    Example: bailiwick maintenance show fans-20261205
    """
    from bailiwick.wire.actions.maintenance import WINDOW_READ

    found = ask.client.send(WINDOW_READ, path=_path(window))
    ask.printer.thing(found, name=found.window, draw=lambda: _draw(found))


def _draw(found: MaintenanceWindow) -> None:
    draw_details(
        "window",
        found.window,
        rows=[
            ("phase", found.phase.value),
            ("nodes closed", f"{span(found.lead_ms)} before"),
            ("from", moment(found.starts_ms)),
            ("until", moment(found.ends_ms)),
            ("nodes", ", ".join(found.nodes)),
            ("not empty yet", ", ".join(found.late) or "-"),
            ("calendar", found.calendar or "-"),
            ("text", found.text or "-"),
        ],
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class WindowOptions:
    """What ``bailiwick maintenance plan`` can be told."""

    window: _WindowName
    node: Annotated[
        list[str],
        typer.Option("--node", metavar="NODE", help="Repeat it.", autocompletion=complete_nodes),
    ]
    since: Annotated[
        str, typer.Option("--from", metavar="TIME", help="2026-12-05T02:00Z, or +8h from now.")
    ]
    length: Annotated[str, typer.Option("--for", metavar="SPAN", help="How long, such as 4h.")]
    lead: Annotated[
        str, typer.Option("--lead", metavar="SPAN", help="How long before the nodes are closed.")
    ] = "15m"
    text: Annotated[str, typer.Option("--text", help="What for; everybody may read it.")] = ""
    yes: YesOption = False
    dry_run: DryRunOption = False
    output: OutputOption = Format.TABLE


@app.command("plan")
@with_options(WindowOptions)
def plan_window(options: WindowOptions) -> None:
    """Announce a window, after showing who would have to go for it.

    From now on nothing starts there that would not have ended before. What still runs when the
    nodes are closed is warned, and has to be gone at the beginning; critical work is waited for.

    Example: bailiwick maintenance plan fans --node n1 --from 2026-12-05T02:00Z --for 4h --dry-run
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.maintenance import WINDOW_PLAN
    from bailiwick.wire.maintenance import NewWindow

    ask = ask_as(options.output, yes=options.yes, dry_run=options.dry_run)
    starts_ms = parse_until("--from", options.since)
    length_ms = parse_span("--for", options.length)
    if not length_ms:
        raise InvalidValue("--for", options.length, "longer than nothing")
    body = make_body(
        NewWindow,
        window=options.window,
        nodes=options.node,
        starts_ms=starts_ms,
        ends_ms=starts_ms + length_ms,
        lead_ms=parse_span("--lead", options.lead),
        text=options.text,
    )
    ask.foresee(WINDOW_PLAN, body=body, tell=_draw_consequence)
    nodes, begins = plural(len(options.node), "node"), moment(starts_ms)
    ask.confirm(f"Announce {options.window} for {nodes} from {begins}?")
    told = f"window {options.window} is planned from {begins}"
    ask.change(WINDOW_PLAN, body=body, told=told, tell=_draw_consequence)


def _draw_consequence(done: WindowSet) -> None:
    found = done.consequence
    if found is None:
        return
    beside = f", {found.elsewhere} of them on other nodes" if found.elsewhere else ""
    ends = f"would end {plural(found.leaving, 'lease')}{beside}" if found.leaving else ""
    typer.echo(ends or "would end no lease that runs now")
    if found.staying:
        typer.echo(f"would wait for {plural(found.staying, 'critical lease')}")
    if found.waiting:
        waits = plural(found.waiting, "waiting request")
        typer.echo(f"{waits} could not start there before: the terms are too long")
    if found.leases:
        rows = [
            (
                "-" if each.lease_id is None else f"lease-{each.lease_id}",
                each.tenant,
                each.node,
                moment(each.until_ms),
            )
            for each in found.leases
        ]
        title = "Would be ended"
        print_rows(make_console(), ("lease", "of", "on", "by"), rows=rows, title=title)
        if found.leaving > len(found.leases):
            typer.echo(f"and {found.leaving - len(found.leases)} more")


@verb(app, "cancel", changes=True)
def cancel_window(ask: Ask, window: _WindowName) -> None:
    """Call a window off; one that is on is over, and its nodes take work again.

    Example: bailiwick maintenance cancel fans -y
    """
    from bailiwick.wire.actions.maintenance import WINDOW_CANCEL

    ask.confirm(f"Cancel {window}? Who was warned for it goes all the same.")
    ask.change(WINDOW_CANCEL, path=_path(window), told=f"window {window} is cancelled")


def _path(window: str) -> dict[str, str]:
    return {"window": path_word("WINDOW", window)}
