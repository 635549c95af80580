"""``bailiwick lease`` and ``queue``: holds on resources, and the requests that wait for one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bailiwick.cli.asking import Ask, noun, verb
from bailiwick.cli.completing import complete_entries, complete_leases
from bailiwick.cli.output import Columns, draw_details
from bailiwick.cli.phrases import amount, clock, moment
from bailiwick.cli.screen import owner, span
from bailiwick.cli.submit import request_lease
from bailiwick.cli.trust import add_lease_verbs
from bailiwick.cli.units import parse_span
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.transitions import RevokeState

if TYPE_CHECKING:
    from bailiwick.wire.fleet import Held
    from bailiwick.wire.work import Lease, QueueEntry

leases = noun("Leases: holds on resources, each with a term.")
queue = noun("The queue: requests that wait, and why.")

_LeaseId = Annotated[
    str, typer.Argument(metavar="LEASE", help="12 or lease-12.", autocompletion=complete_leases)
]
_OwnLeaseId = Annotated[
    str,
    typer.Argument(
        metavar="LEASE",
        envvar="BAILIWICK_LEASE_ID",
        help="12 or lease-12; inside a job its own.",
        autocompletion=complete_leases,
    ),
]
_EntryId = Annotated[
    str, typer.Argument(metavar="ENTRY", help="3 or entry-3.", autocompletion=complete_entries)
]


def parse_id(kind: str, text: str) -> int:
    """The number of something, with or without its word.

    >>> parse_id("job", "job-7"), parse_id("job", "7")
    (7, 7)
    """
    found = re.fullmatch(rf"(?:{kind}-)?([1-9][0-9]{{0,15}})", text)
    if found is None:
        raise InvalidValue(kind.upper(), text, f"{kind}-7 or 7")
    return int(found[1])


def held(resources: Held) -> str:
    """What a lease holds, as short as can be."""
    parts = [
        amount(unit, value)
        for unit, value in (
            ("gpu_milli", resources.gpu_milli),
            ("cpu_milli", resources.cpu_milli),
            ("mem_bytes", resources.mem_bytes),
            ("block_bytes", resources.block_bytes),
        )
        if value
    ]
    return ", ".join(parts) or "nothing"


def _left(lease: Lease) -> str:
    from time import time

    if lease.state is RevokeState.FENCED:
        return "fenced"  # until an operator says that it is clean
    left = lease.expires_ms - int(time()) * 1000
    return span(left) if left > 0 else "over"


LEASES: Columns[Lease] = Columns(
    ("lease", "owner", "node", "holds*", "priority", "class", "state", "left"),
    lambda a: (
        f"lease-{a.lease_id}",
        owner(a.tenant, a.project),
        a.node,
        held(a.resources),
        a.priority.value,
        a.lease_class.value,
        a.state.value,
        _left(a),
    ),
    lambda a: f"lease-{a.lease_id}",
    numbers=("left",),
    empty="no lease that you may see",
)


def _entry_row(entry: QueueEntry) -> tuple[str, ...]:
    from bailiwick.cli.phrases import REASONS, age, phrase_denial

    first = min(entry.blockers, key=lambda b: b.reason.rank, default=None)
    why = REASONS[entry.reason] if first is None else phrase_denial(first)
    starts = entry.estimate.starts_ms
    return (
        f"entry-{entry.entry_id}",
        owner(entry.tenant, entry.project),
        str(entry.position),
        age(entry.submitted_ms),
        entry.reason.value,
        why,
        "-" if starts is None else clock(starts),
    )


ENTRIES: Columns[QueueEntry] = Columns(
    ("entry", "owner", "position", "waits", "reason", "first obstacle*", "may start"),
    _entry_row,
    lambda e: f"entry-{e.entry_id}",
    numbers=("position", "waits"),
    empty="nothing waits that you may see",
)


def _path(lease: str) -> str:
    return f"/v1/leases/{parse_id('lease', lease)}"


@verb(leases, "list", lists=True)
def list_leases(ask: Ask) -> None:
    """The leases that you may see, oldest first."""
    from bailiwick.wire.work import Lease

    ask.list("/v1/leases", Lease, columns=LEASES)


@verb(leases, "show")
def show_lease(ask: Ask, lease: _LeaseId) -> None:
    """One lease."""
    from bailiwick.wire.work import Lease

    found = ask.client.read(_path(lease), Lease)
    name = f"lease-{found.lease_id}"
    ask.printer.thing(found, name=name, draw=lambda: _draw(found))


def _draw(found: Lease) -> None:
    devices = ", ".join(str(device) for device in found.devices) or "-"
    draw_details(
        "lease",
        f"lease-{found.lease_id}",
        rows=[
            ("owner", owner(found.tenant, found.project)),
            ("node", found.node),
            ("holds", held(found.resources)),
            ("devices", devices),
            ("priority", found.priority.value),
            ("class", found.lease_class.value),
            ("state", found.state.value),
            ("generation", str(found.generation)),
            ("granted", moment(found.granted_ms)),
            ("expires", moment(found.expires_ms)),
            ("gang", "-" if found.gang is None else str(found.gang)),
        ],
    )


leases.command("request")(request_lease)


@verb(leases, "explain")
def explain(ask: Ask, lease: _LeaseId) -> None:
    """What became of a lease and why, from the queue to its end."""
    from bailiwick.cli.explain import explain_lease

    explain_lease(ask, parse_id("lease", lease))


@verb(leases, "renew", changes=True)
def renew(
    ask: Ask,
    lease: _OwnLeaseId,
    *,
    ttl: Annotated[str, typer.Option("--ttl", help="The new term, from now.")] = "1h",
    generation: Annotated[
        int | None,
        typer.Option("--generation", min=1, help="Only if the lease is still at it; else 6."),
    ] = None,
) -> None:
    """Hold a lease for another term from now."""
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.work import Renewal

    given = {} if generation is None else {"generation": generation}
    body = make_body(Renewal, ttl_ms=parse_span("--ttl", ttl), **given)
    path = _path(lease)
    number = path.rpartition("/")[2]
    ask.change("POST", f"{path}/renew", body=body, told=f"lease-{number} holds for {ttl} from now")


@verb(leases, "release", changes=True)
def release(ask: Ask, lease: _LeaseId) -> None:
    """Give a lease back."""
    path = _path(lease)
    ask.change("DELETE", path, told=f"lease-{path.rpartition('/')[2]} is given back")


@verb(leases, "checkpoint", changes=True)
def checkpoint(ask: Ask, lease: _OwnLeaseId) -> None:
    """Say that the work under a lease is saved; during grace this ends it now."""
    path = _path(lease)
    told = f"the work under lease-{path.rpartition('/')[2]} is saved"
    ask.change("POST", f"{path}/checkpoint", told=told)


@verb(leases, "evict", changes=True)
def evict(
    ask: Ask,
    lease: _LeaseId,
    *,
    reason: Annotated[
        str,
        typer.Option(
            "--reason",
            help="operator_drain, maintenance_window, operator_mig_profile_change or "
            "policy_violation_recovery.",
        ),
    ] = "operator_drain",
    grace: Annotated[
        str | None, typer.Option("--grace", metavar="SPAN", help="How long it may still take.")
    ] = None,
) -> None:
    """End a lease against its holder's wish, with a warning and a grace period."""
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.fleet import Eviction

    given: dict[str, Any] = {"reason": reason}
    if grace is not None:
        given["grace_ms"] = parse_span("--grace", grace)
    path = _path(lease)
    name = f"lease-{path.rpartition('/')[2]}"
    ask.confirm(f"Evict {name}? Its work is warned, then ended.")
    ask.change("POST", f"{path}/evict", body=make_body(Eviction, **given), told=f"{name} must go")


@verb(leases, "clear-fence", changes=True)
def clear_fence(ask: Ask, lease: _LeaseId) -> None:
    """Say that what a fenced lease held was looked after and is free."""
    path = _path(lease)
    name = f"lease-{path.rpartition('/')[2]}"
    ask.confirm(f"Has somebody made sure that nothing of {name} is left running?")
    ask.change("POST", f"{path}/clear-fence", told=f"what {name} held is free again")


add_lease_verbs(leases)


# -- the queue -------------------------------------------------------------------------------


@verb(queue, "list", lists=True)
def list_queue(ask: Ask) -> None:
    """The waiting requests that you may see, oldest first."""
    from bailiwick.wire.work import QueueEntry

    ask.list("/v1/queue", QueueEntry, columns=ENTRIES, page_rows=50)


@verb(queue, "show")
def show_entry(ask: Ask, entry: _EntryId) -> None:
    """One waiting request: where it stands, and everything that is in its way."""
    from bailiwick.cli.explain import draw_entry
    from bailiwick.wire.work import QueueEntry

    number = parse_id("entry", entry)
    found = ask.client.read(f"/v1/queue/{number}", QueueEntry)
    ask.printer.thing(found, name=f"entry-{number}", draw=lambda: draw_entry(found))


@verb(queue, "cancel", changes=True)
def cancel_entry(ask: Ask, entry: _EntryId) -> None:
    """Take a waiting request out of the queue."""
    number = parse_id("entry", entry)
    ask.change("DELETE", f"/v1/queue/{number}", told=f"entry-{number} waits no more")
