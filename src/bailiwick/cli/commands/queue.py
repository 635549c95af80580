"""``bailiwick queue``: the requests that wait, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.shared.ask import Ask, noun, verb
from bailiwick.cli.shared.completions import complete_entries
from bailiwick.cli.shared.output import Columns
from bailiwick.cli.shared.screen import asked, owner
from bailiwick.cli.shared.units import parse_id
from bailiwick.phrases.times import clock

if TYPE_CHECKING:
    from bailiwick.wire.work import QueueEntry

app = noun("The queue: requests that wait, and why.")
_EntryId = Annotated[
    str, typer.Argument(metavar="ENTRY", help="3 or entry-3.", autocompletion=complete_entries)
]


def _entry_row(entry: QueueEntry) -> tuple[str, ...]:
    from bailiwick.cli.shared.denials import phrase_denial
    from bailiwick.phrases.reasons import phrase_turn
    from bailiwick.phrases.times import age

    first = min(entry.blockers, key=lambda b: b.reason.rank, default=None)
    why = phrase_turn(entry.position) if first is None else phrase_denial(first)
    starts = entry.estimate.starts_ms
    return (
        f"entry-{entry.entry_id}",
        "-" if entry.job_id is None else f"job-{entry.job_id}",
        owner(entry.tenant, entry.project),
        f"{entry.position}{'+' if entry.is_further else ''}",
        age(entry.submitted_ms),
        asked(entry.request),
        why,
        "-" if starts is None else clock(starts).replace(" ", "\n"),
    )


ENTRIES: Columns[QueueEntry] = Columns(
    ("entry", "job", "owner*", "pos", "waits", "asks for*", "first obstacle*", "may start"),
    _entry_row,
    lambda e: f"entry-{e.entry_id}",
    numbers=("pos", "waits"),
    empty="nothing waits that you may see",
)


@verb(app, "list", lists=True)
def list_queue(ask: Ask) -> None:
    """The waiting requests that you may see, oldest first.

    Example: bailiwick queue list --watch
    """
    from bailiwick.wire.actions.leases import QUEUE_LIST

    ask.list(QUEUE_LIST, columns=ENTRIES, page_rows=50)


@verb(app, "show")
def show_entry(ask: Ask, entry: _EntryId) -> None:
    """One waiting request: where it stands, and everything that is in its way.

    Example: bailiwick queue show entry-3
    """
    from bailiwick.cli.commands.explain import draw_entry
    from bailiwick.wire.actions.leases import QUEUE_READ

    number = parse_id("entry", entry)
    found = ask.client.send(QUEUE_READ, path={"entry_id": number})
    ask.printer.thing(found, name=f"entry-{number}", draw=lambda: draw_entry(found))


@verb(app, "whatif")
def what_if(
    ask: Ask,
    entry: _EntryId,
    *,
    changes: Annotated[
        list[str],
        typer.Argument(
            metavar="CHANGE...",
            help="quota.gpus=+8 (or cpus, mem, block, vram, leases), nodes=+1,"
            " generation=nvidia_hopper",
        ),
    ],
) -> None:
    """What would become of a waiting request with more quota, more nodes, other GPUs.

    It is tried on a copy of the state: nothing is changed.

    Example: bailiwick queue whatif entry-3 quota.gpus=+8 nodes=+1
    """
    from bailiwick.cli.outlook.what_if import draw_what_if, parse_supposed
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.leases import QUEUE_WHATIF
    from bailiwick.wire.foreseen import Supposed

    number, body = parse_id("entry", entry), make_body(Supposed, **parse_supposed(changes))
    found = ask.client.send(QUEUE_WHATIF, path={"entry_id": number}, body=body)
    ask.printer.thing(found, name=found.result.outcome, draw=lambda: draw_what_if(found))


@verb(app, "cancel", changes=True)
def cancel_entry(ask: Ask, entry: _EntryId) -> None:
    """Take a waiting request out of the queue.

    Example: bailiwick queue cancel entry-3
    """
    from bailiwick.wire.actions.leases import QUEUE_CANCEL

    number = parse_id("entry", entry)
    ask.change(QUEUE_CANCEL, path={"entry_id": number}, told=f"entry-{number} waits no more")
