"""``bailiwick maintenance calendar``: rules by which windows come back."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.maintenance.options import DryRunOption, OutputOption, ask_as
from bailiwick.cli.shared.ask import Ask, noun, path_word, verb
from bailiwick.cli.shared.flags import with_options
from bailiwick.cli.shared.output import Columns, Format, emit
from bailiwick.phrases.amounts import span
from bailiwick.phrases.times import moment
from bailiwick.vocab.units import parse_span

if TYPE_CHECKING:
    from bailiwick.wire.maintenance import MaintenanceCalendar

app = noun("Calendars: windows of maintenance that come back, in plain words.")

_CalendarName = Annotated[str, typer.Argument(metavar="CALENDAR", help="Its name.")]
_Rule = Annotated[
    str,
    typer.Argument(
        metavar="RULE", help="Such as 'weekly on sat,sun at 02:00 for 4h in Europe/Berlin'."
    ),
]
_CALENDARS: Columns[MaintenanceCalendar] = Columns(
    ("calendar", "rule*", "for", "lead", "announced ahead"),
    lambda c: (
        c.calendar,
        c.rule,
        ", ".join(c.labels) or f"{len(c.nodes)} by name",
        span(c.lead_ms),
        f"{c.ahead_days}d",
    ),
    lambda c: c.calendar,
    empty="no calendar: windows are planned by hand alone",
)


@verb(app, "list", lists=True)
def list_calendars(ask: Ask) -> None:
    """The calendars by which windows are planned.

    Example: bailiwick maintenance calendar list
    """
    from bailiwick.wire.actions.maintenance import CALENDAR_LIST

    ask.list(CALENDAR_LIST, columns=_CALENDARS)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CalendarOptions:
    """What ``bailiwick maintenance calendar set`` can be told."""

    name: _CalendarName
    rule: _Rule
    node: Annotated[
        list[str] | None, typer.Option("--node", metavar="NODE", help="By name; repeat it.")
    ] = None
    label: Annotated[
        list[str] | None,
        typer.Option("--label", metavar="KEY=VALUE", help="Nodes with all of these labels."),
    ] = None
    lead: Annotated[
        str, typer.Option("--lead", metavar="SPAN", help="How long before nodes are closed.")
    ] = "15m"
    ahead: Annotated[
        int, typer.Option("--ahead", metavar="DAYS", help="How far ahead windows are announced.")
    ] = 28
    text: Annotated[str, typer.Option("--text", help="What for; everybody may read it.")] = ""
    dry_run: DryRunOption = False
    output: OutputOption = Format.TABLE


@app.command("set")
@with_options(CalendarOptions)
def set_calendar(options: CalendarOptions) -> None:
    """Plan windows by a rule from now on; what is ahead by another rule of the name is off.

    Also: 'monthly on 2nd tue at 22:30 for 90m in America/New_York', 'daily at ...', and
    'once on 2026-12-24 at 20:00 for 12h in UTC'.

    Example: bailiwick maintenance calendar set fans "daily at 02:00 for 4h in UTC" --node n1
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.maintenance import CALENDAR_SET
    from bailiwick.wire.maintenance import CalendarWish

    ask = ask_as(options.output, dry_run=options.dry_run)
    body = make_body(
        CalendarWish,
        rule=options.rule,
        nodes=options.node or [],
        labels=options.label or [],
        lead_ms=parse_span("--lead", options.lead),
        ahead_days=options.ahead,
        text=options.text,
    )
    told = f"windows come by {options.name} from now"
    ask.change(CALENDAR_SET, path=_path(options.name), body=body, told=told)


@verb(app, "withdraw", changes=True)
def withdraw_calendar(ask: Ask, name: _CalendarName) -> None:
    """Plan nothing by it any more; what is ahead by it is off, and what is on goes on.

    Example: bailiwick maintenance calendar withdraw fans -y
    """
    from bailiwick.wire.actions.maintenance import CALENDAR_WITHDRAW

    ask.confirm(f"Withdraw {name}, and call off what is ahead by it?")
    ask.change(CALENDAR_WITHDRAW, path=_path(name), told=f"nothing is planned by {name} any more")


@verb(app, "when")
def show_times(
    ask: Ask,
    rule: _Rule,
    *,
    days: Annotated[
        int, typer.Option("--days", metavar="DAYS", min=1, max=800, help="How far to look.")
    ] = 60,
) -> None:
    """When a rule comes, by this machine's table of time zones; nothing is planned.

    Example: bailiwick maintenance calendar when "daily at 02:30 for 4h in Europe/Berlin"
    """
    from time import time

    from bailiwick.calendars import occurrences, parse_rule

    del ask
    now_ms = int(time() * 1000)
    for each in occurrences(parse_rule(rule), now_ms, until_ms=now_ms + days * 86_400_000):
        emit(f"{each.date.isoformat()}  from {moment(each.starts_ms)} until {moment(each.ends_ms)}")


def _path(name: str) -> dict[str, str]:
    return {"calendar": path_word("CALENDAR", name)}
