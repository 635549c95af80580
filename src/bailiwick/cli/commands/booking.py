"""``bailiwick booking``: whole nodes for a project, from one time to another, once or in a series.

Rules:

- ``--dry-run`` tells which nodes would be kept, and decides the same.
- Times are UTC unless they say otherwise; a series names its own zone.
"""

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
from bailiwick.cli.bookings.series import app as series
from bailiwick.cli.shared.ask import Ask, noun, verb
from bailiwick.cli.shared.flags import with_options
from bailiwick.cli.shared.output import Columns, draw_details
from bailiwick.cli.shared.periods import parse_until
from bailiwick.cli.shared.screen import owner, printable
from bailiwick.phrases.amounts import plural
from bailiwick.phrases.times import moment
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.units import parse_span

if TYPE_CHECKING:
    from bailiwick.wire.bookings import BookingMade, ProjectBooking

app = noun("Bookings: whole nodes that are kept for a project from one time to another.")
app.add_typer(series, name="series")

_BookingName = Annotated[str, typer.Argument(metavar="BOOKING", help="Its name.")]
_ROWS: Columns[ProjectBooking] = Columns(
    ("booking", "for", "phase", "from", "until", "nodes", "gpus", "text*"),
    lambda b: (
        b.booking,
        owner(b.tenant, b.project),
        b.phase.value,
        moment(b.starts_ms),
        moment(b.ends_ms),
        str(len(b.nodes)),
        str(b.gpu_count),
        printable(b.asked.text) or "-",
    ),
    lambda b: b.booking,
    numbers=("nodes", "gpus"),
    empty="nothing is booked",
)


@verb(app, "list", lists=True, scope="tenant")
def list_bookings(ask: Ask) -> None:
    """The bookings of your tenants that are ahead or on.

    Example: bailiwick booking list --tenant lab
    """
    from bailiwick.wire.actions.bookings import BOOKING_LIST

    ask.list(BOOKING_LIST, columns=_ROWS, query=query_of(ask))


@verb(app, "show", scope="project")
def show_booking(ask: Ask, booking: _BookingName) -> None:
    """One booking: which nodes, from when until when, and what was given back.

    Example: bailiwick booking show class-20261124 --project course
    """
    from bailiwick.wire.actions.bookings import BOOKING_READ

    found = ask.client.send(BOOKING_READ, path=path_of(ask, booking=booking))
    ask.printer.thing(found, name=found.booking, draw=lambda: _draw(found))


def _draw(found: ProjectBooking) -> None:
    rows = [
        ("for", owner(found.tenant, found.project)),
        ("phase", found.phase.value),
        ("from", moment(found.starts_ms)),
        ("until", moment(found.ends_ms)),
        ("asked for", spell_wish(found.asked)),
        ("nodes", ", ".join(found.nodes) or "-"),
        ("gpus", str(found.gpu_count)),
        ("unused nodes", f"given back {spell_wait(found.asked.wait_ms)}"),
        ("given back", ", ".join(found.given_back) or "-"),
        ("series", found.series or "-"),
        ("text", printable(found.asked.text) or "-"),
    ]
    if found.lacking:
        rows.append(("take no work now", plural(found.lacking, "node")))
    draw_details("booking", found.booking, rows=rows)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BookByHandOptions(BookingOptions):
    """What ``bailiwick booking create`` can be told."""

    booking: _BookingName
    since: Annotated[
        str, typer.Option("--from", metavar="TIME", help="2026-11-24T09:00Z, or +8h from now.")
    ]
    length: Annotated[str, typer.Option("--for", metavar="SPAN", help="How long, such as 2h.")]


@app.command("create")
@with_options(BookByHandOptions)
def create_booking(options: BookByHandOptions) -> None:
    """Keep whole nodes for a project; nobody is ended for it.

    Only nodes count on which nothing of others reaches into that time. From now on nothing of
    others starts there that would not have ended before. What is not used is given back.

    Example: bailiwick booking create due --from 2026-11-24T09:00Z --for 2h --gpus 16 --dry-run
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.bookings import BOOKING_CREATE
    from bailiwick.wire.bookings import NewBooking

    ask = options.ask
    starts_ms = parse_until("--from", options.since)
    length_ms = parse_span("--for", options.length)
    if not length_ms:
        raise InvalidValue("--for", options.length, "longer than nothing")
    times = {"starts_ms": starts_ms, "ends_ms": starts_ms + length_ms}
    body = make_body(NewBooking, booking=options.booking, **times, **options.wish)
    told = f"{options.booking} is booked from {moment(starts_ms)}"
    ask.change(BOOKING_CREATE, path=path_of(ask), body=body, told=told, tell=_draw_outlook)


def _draw_outlook(done: BookingMade) -> None:
    found = done.consequence
    if found is not None:
        nodes, gpus = plural(len(found.nodes), "node"), plural(found.gpu_count, "GPU")
        typer.echo(f"would keep {nodes} with {gpus}: {', '.join(found.nodes)}")
        typer.echo(f"unused nodes would be given back {spell_wait(found.wait_ms)}")
        if found.waiting:
            waits = plural(found.waiting, "waiting request")
            typer.echo(f"{waits} of others could not start there before: the terms are too long")


@verb(app, "cancel", changes=True, scope="project")
def cancel_booking(ask: Ask, booking: _BookingName) -> None:
    """Call a booking off; one that is on is over, and what runs there goes on to its term's end.

    Example: bailiwick booking cancel class-20261124 --project course -y
    """
    from bailiwick.wire.actions.bookings import BOOKING_CANCEL

    path = path_of(ask, booking=booking)
    ask.confirm(f"Cancel {booking}? Others may have its nodes then.")
    ask.change(BOOKING_CANCEL, path=path, told=f"{booking} is cancelled")
