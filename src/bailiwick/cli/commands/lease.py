"""``bailiwick lease``: holds on resources, each with a term, and their tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.commands.plan import tell_plan
from bailiwick.cli.shared.ask import Ask, noun, verb
from bailiwick.cli.shared.completions import complete_leases
from bailiwick.cli.shared.flags import with_options
from bailiwick.cli.shared.options import RequestOptions, ask_of, wish_of
from bailiwick.cli.shared.output import Columns, Format, draw_details, emit
from bailiwick.cli.shared.screen import owner
from bailiwick.cli.shared.units import parse_id
from bailiwick.phrases.amounts import amount, milli, span
from bailiwick.phrases.times import moment
from bailiwick.vocab.transitions import RevokeState
from bailiwick.vocab.trust import Operation
from bailiwick.vocab.units import parse_span

if TYPE_CHECKING:
    from bailiwick.wire.answers import Granted, Queued
    from bailiwick.wire.fleet import Held
    from bailiwick.wire.trust import IssuedLeaseToken
    from bailiwick.wire.work import Lease

app = noun("Leases: holds on resources, each with a term.")

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


def _path(lease: str) -> dict[str, int]:
    return {"lease_id": parse_id("lease", lease)}


@verb(app, "list", lists=True)
def list_leases(ask: Ask) -> None:
    """The leases that you may see, oldest first.

    Example: bailiwick lease list -o name
    """
    from bailiwick.wire.actions.leases import LEASE_LIST

    ask.list(LEASE_LIST, columns=LEASES)


@verb(app, "show")
def show_lease(ask: Ask, lease: _LeaseId) -> None:
    """One lease.

    Example: bailiwick lease show lease-12
    """
    from bailiwick.wire.actions.leases import LEASE_READ

    found = ask.client.send(LEASE_READ, path=_path(lease))
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
            ("caches", _caches(found)),
            ("priority", found.priority.value),
            ("class", found.lease_class.value),
            ("state", found.state.value),
            ("generation", str(found.generation)),
            ("granted", moment(found.granted_ms)),
            ("expires", moment(found.expires_ms)),
            ("node maintained", _maintained(found)),
            ("gang", "-" if found.gang is None else str(found.gang)),
            ("job labels", ", ".join(found.job_labels) or "-"),
        ],
    )


def _maintained(found: Lease) -> str:
    """From when on its node is maintained: the term does not grow beyond that."""
    return "-" if found.maintained_ms is None else f"from {moment(found.maintained_ms)}"


def _caches(found: Lease) -> str:
    """How many of its cores lie under which cache of the node."""
    if found.cores is None:
        return "not known"
    return ", ".join(f"{milli(c.cores_milli)} under {c.cache}" for c in found.cores) or "-"


@app.command("request")
@with_options(RequestOptions)
def request_lease(options: RequestOptions) -> None:
    """Ask for a lease without a job; what runs under it is your business.

    Example: bailiwick lease request --gpus 1 --ttl 30m --no-wait
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.tools.job_files.words import body_of
    from bailiwick.wire.actions.leases import LEASE_REQUEST
    from bailiwick.wire.work import LeaseRequest

    ask = ask_of(options, dry_run=options.dry_run)
    wish = wish_of(options, ask, defaults=False)
    body = make_body(LeaseRequest, **body_of(wish, is_job=False))
    if options.dry_run:
        tell_plan(ask, ask.client.plan(LEASE_REQUEST, body=body), ttl_ms=body.ttl_ms)
    _tell_lease(ask, ask.client.send(LEASE_REQUEST, body=body))


def _tell_lease(ask: Ask, found: Granted | Queued) -> None:
    from bailiwick.cli.shared.denials import phrase_denial
    from bailiwick.phrases.times import moment
    from bailiwick.wire.answers import Granted, Queued

    if ask.output in (Format.JSON, Format.YAML):
        ask.printer.document(found)
    elif isinstance(found, Granted):
        for lease_id, node in zip(found.lease_ids, found.nodes, strict=True):
            until = f" on {node}, until {moment(found.expires_ms)}"
            emit(f"lease-{lease_id}" + ("" if ask.output is Format.NAME else until))
    else:
        why = "others are before it" if found.denied is None else phrase_denial(found.denied)
        told = "" if ask.output is Format.NAME else f" waits: {why}"
        emit(f"entry-{found.entry_id}{told}")
    if isinstance(found, Queued):
        raise typer.Exit(ExitCode.PENDING)


@verb(app, "explain")
def explain(ask: Ask, lease: _LeaseId) -> None:
    """What became of a lease and why, from the queue to its end.

    Example: bailiwick lease explain lease-12
    """
    from bailiwick.cli.commands.explain import explain_lease

    explain_lease(ask, parse_id("lease", lease))


@verb(app, "renew", changes=True)
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
    """Hold a lease for another term from now.

    Example: bailiwick lease renew lease-12 --ttl 2h --generation 1
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.leases import LEASE_RENEW
    from bailiwick.wire.work import Renewal

    given = {} if generation is None else {"generation": generation}
    body = make_body(Renewal, ttl_ms=parse_span("--ttl", ttl), **given)
    path = _path(lease)
    told = f"lease-{path['lease_id']} holds for {ttl} from now"
    ask.change(LEASE_RENEW, path=path, body=body, told=told)


@verb(app, "release", changes=True)
def release(ask: Ask, lease: _LeaseId) -> None:
    """Give a lease back.

    Example: bailiwick lease release lease-12
    """
    from bailiwick.wire.actions.leases import LEASE_RELEASE

    path = _path(lease)
    ask.change(LEASE_RELEASE, path=path, told=f"lease-{path['lease_id']} is given back")


@verb(app, "checkpoint", changes=True)
def checkpoint(ask: Ask, lease: _OwnLeaseId) -> None:
    """Say that the work under a lease is saved; during grace this ends it now.

    Example: bailiwick lease checkpoint lease-12
    """
    from bailiwick.wire.actions.leases import LEASE_CHECKPOINT

    path = _path(lease)
    told = f"the work under lease-{path['lease_id']} is saved"
    ask.change(LEASE_CHECKPOINT, path=path, told=told)


@verb(app, "evict", changes=True)
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
    """End a lease against its holder's wish, with a warning and a grace period.

    Example: bailiwick lease evict lease-12 --reason maintenance_window --grace 5m
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.leases import LEASE_EVICT
    from bailiwick.wire.fleet import Eviction

    given: dict[str, Any] = {"reason": reason}
    if grace is not None:
        given["grace_ms"] = parse_span("--grace", grace)
    path = _path(lease)
    name = f"lease-{path['lease_id']}"
    ask.confirm(f"Evict {name}? Its work is warned, then ended.")
    body = make_body(Eviction, **given)
    ask.change(LEASE_EVICT, path=path, body=body, told=f"{name} must go")


@verb(app, "clear-fence", changes=True)
def clear_fence(ask: Ask, lease: _LeaseId) -> None:
    """Say that what a fenced lease held was looked after and is free.

    Example: bailiwick lease clear-fence lease-12 -y
    """
    from bailiwick.wire.actions.leases import LEASE_CLEAR_FENCE

    path = _path(lease)
    name = f"lease-{path['lease_id']}"
    ask.confirm(f"Has somebody made sure that nothing of {name} is left running?")
    ask.change(LEASE_CLEAR_FENCE, path=path, told=f"what {name} held is free again")


@verb(app, "token", changes=True)
def make_token(
    ask: Ask,
    lease: _OwnLeaseId,
    *,
    operation: Annotated[
        list[Operation], typer.Option("--operation", help="What it allows; repeat it.")
    ],
    ttl: Annotated[str, typer.Option("--ttl", help="How long it counts; at most 5m.")] = "5m",
    audience: Annotated[
        str | None,
        typer.Option("--audience", metavar="NODE", help="Who is to accept it; the lease's node."),
    ] = None,
    generation: Annotated[
        int | None, typer.Option("--generation", min=1, help="Only if the lease is still at it.")
    ] = None,
) -> None:
    """Make a token with which work may use what a lease holds; it is shown this once.

    Example: bailiwick lease token lease-12 --operation mem_read --ttl 1m
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.leases import LEASE_TOKEN
    from bailiwick.wire.trust import TokenWish

    given: dict[str, Any] = {"audience": audience, "generation": generation}
    body = make_body(
        TokenWish,
        operations=operation,
        ttl_ms=parse_span("--ttl", ttl),
        **{name: value for name, value in given.items() if value is not None},
    )
    path = _path(lease)
    _tell_token(ask, ask.client.send(LEASE_TOKEN, path=path, body=body, dry_run=ask.dry_run))


def _tell_token(ask: Ask, found: IssuedLeaseToken) -> None:
    if ask.output not in (Format.TABLE, Format.NAME):
        ask.printer.document(found)
        return
    claims = found.claims
    what = f"lease-{claims.lease_id} on {claims.audience} until {moment(claims.expires_ms)}"
    if ask.dry_run:
        typer.echo(f"a token for {what} would be made (dry run: nothing was changed)")
        return
    typer.echo(claims.token_id if ask.output is Format.NAME else found.token)
    typer.echo(f"token {claims.token_id} is for {what}; kept nowhere", err=True)
