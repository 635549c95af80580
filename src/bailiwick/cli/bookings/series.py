"""``bailiwick booking series``: rules by which nodes are booked again and again."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.bookings.options import (
    BookingOptions,
    path_of,
    query_of,
    spell_wait,
    spell_wish,
)
from bailiwick.cli.shared.ask import Ask, noun, verb
from bailiwick.cli.shared.flags import with_options
from bailiwick.cli.shared.output import Columns, draw_details
from bailiwick.cli.shared.screen import make_console, owner, print_rows, printable
from bailiwick.phrases.times import moment, with_own_dates

if TYPE_CHECKING:
    from bailiwick.wire.bookings import (
        ProjectSeries,
        SeriesMade,
        SeriesStanding,
        SeriesTimeOutlook,
        UnbookedTime,
    )

app = noun("Series: nodes that are booked again and again, in plain words.")

_SeriesName = Annotated[str, typer.Argument(metavar="SERIES", help="Its name.")]
_ROWS: Columns[ProjectSeries] = Columns(
    ("series", "for", "rule*", "keeps", "booked"),
    lambda s: (
        s.series,
        owner(s.tenant, s.project),
        s.wish.rule,
        spell_wish(s.wish),
        str(len(s.booked_ms)),
    ),
    lambda s: s.series,
    numbers=("booked",),
    empty="no series: nodes are booked by hand alone",
)


@verb(app, "list", lists=True, scope="tenant")
def list_series(ask: Ask) -> None:
    """The series of your tenants.

    Example: bailiwick booking series list
    """
    from bailiwick.wire.actions.bookings import BOOKING_SERIES_LIST

    ask.list(BOOKING_SERIES_LIST, columns=_ROWS, query=query_of(ask))


@verb(app, "show", scope="project")
def show_series(ask: Ask, series: _SeriesName) -> None:
    """One series: which of its times are booked, and why others cannot be yet.

    Example: bailiwick booking series show class --project course
    """
    from bailiwick.wire.actions.bookings import BOOKING_SERIES_READ

    found = ask.client.send(BOOKING_SERIES_READ, path=path_of(ask, series=series))
    ask.printer.thing(found, name=found.series, draw=lambda: _draw(found))


def _draw(found: SeriesStanding) -> None:
    wish = found.wish
    rows = [
        ("for", owner(found.tenant, found.project)),
        ("rule", wish.rule),
        ("keeps", spell_wish(wish)),
        ("given back", spell_wait(wish.wait_ms)),
        ("booked ahead", f"{wish.ahead_days}d"),
        ("text", printable(wish.text) or "-"),
    ]
    if found.trouble:
        rows.append(("is not booked", found.trouble))
    draw_details("series", found.series, rows=rows)
    if found.booked_ms:
        times = [(moment(at_ms),) for at_ms in found.booked_ms]
        print_rows(make_console(), ("from",), rows=times, title="Booked (or cancelled since)")
    if found.unbooked:
        lacking = [(moment(each.starts_ms), _why(each)) for each in found.unbooked]
        title = "Not booked; it is tried again until it begins"
        print_rows(make_console(), ("from", "why"), rows=lacking, title=title)
    if found.unbooked_more:
        typer.echo(f"and {found.unbooked_more} more that are not booked")


def _why(time: UnbookedTime) -> str:
    times = {"starts_ms": time.starts_ms, "earliest_ms": time.earliest_ms}
    return with_own_dates(time.why, times) or "it can be, and is at the leader's next look"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SeriesOptions(BookingOptions):
    """What ``bailiwick booking series set`` can be told."""

    series: _SeriesName
    rule: Annotated[
        str,
        typer.Option(
            "--rule",
            metavar="RULE",
            help="Such as 'weekly on tue at 09:00 for 2h in Europe/Berlin'.",
        ),
    ]
    ahead: Annotated[
        int, typer.Option("--ahead", metavar="DAYS", help="How far ahead nodes are booked.")
    ] = 28


@app.command("set")
@with_options(SeriesOptions)
def set_series(options: SeriesOptions) -> None:
    """Book nodes by a rule from now on; what is ahead by another rule of the name is off.

    Also: 'monthly on 2nd tue at 22:30 for 90m in America/New_York', 'daily at ...'. What a rule
    means is told by bailiwick maintenance calendar when.

    Example: bailiwick booking series set class --rule "daily at 09:00 for 2h in UTC" --nodes 4
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.bookings import BOOKING_SERIES_SET
    from bailiwick.wire.bookings import SeriesWish

    ask = options.ask
    body = make_body(SeriesWish, rule=options.rule, ahead_days=options.ahead, **options.wish)
    told = f"nodes are booked by {options.series} from now"
    path = path_of(ask, series=options.series)
    ask.change(BOOKING_SERIES_SET, path=path, body=body, told=told, tell=_draw_outlook)


def _draw_outlook(done: SeriesMade) -> None:
    found = done.consequence
    if found is None:
        return
    rows = [(moment(each.starts_ms), _foreseen(each)) for each in found.times]
    if rows:
        title = "Its next times, as they could be booked now"
        print_rows(make_console(), ("from", "would keep"), rows=rows, title=title)
    else:
        typer.echo("it never comes again")


def _foreseen(time: SeriesTimeOutlook) -> str:
    times = {"starts_ms": time.starts_ms, "earliest_ms": time.earliest_ms}
    return ", ".join(time.nodes) or f"nothing: {with_own_dates(time.why, times)}"


@verb(app, "withdraw", changes=True, scope="project")
def withdraw_series(ask: Ask, series: _SeriesName) -> None:
    """Book nothing by it any more; what is ahead by it is off, and what is on goes on.

    Example: bailiwick booking series withdraw class --project course -y
    """
    from bailiwick.wire.actions.bookings import BOOKING_SERIES_WITHDRAW

    path = path_of(ask, series=series)
    ask.confirm(f"Withdraw {series}, and call off what is ahead by it?")
    ask.change(BOOKING_SERIES_WITHDRAW, path=path, told=f"nothing is booked by {series} any more")
