"""``bailiwick quota``: what a tenant or project may hold, and how that stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bailiwick.cli.shared.ask import Ask, noun, verb
from bailiwick.cli.shared.output import Columns
from bailiwick.cli.shared.quota_words import name_of, parse_burst, parse_limit, split_ceiling
from bailiwick.cli.shared.screen import make_console, owner, print_rows
from bailiwick.phrases.amounts import amount, milli, size, span
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.units import parse_span
from bailiwick.vocab.words import Dimension

if TYPE_CHECKING:
    from bailiwick.wire.fleet import QuotaState, Room

app = noun("Quotas: what a tenant or project may hold at once.")

_LISTED = (Dimension.GPU_COUNT, Dimension.CPU_MILLI, Dimension.MEM_BYTES, Dimension.LEASE_COUNT)


def _listed(found: QuotaState) -> tuple[str, ...]:
    cells = [owner(found.tenant, found.project)]
    for word in _LISTED:
        limit, used, left = _room(word, found.dimensions[word])
        cells += [f"{used} of {limit}" if limit != "-" else used, left]
    return (*cells, "-" if found.burst_left is None else _credit(found, found.burst_left))


_QUOTAS: Columns[QuotaState] = Columns(
    ("of", "gpus", "left", "cores", "left", "memory", "left", "leases", "left", "burst credit*"),
    _listed,
    lambda q: owner(q.tenant, q.project),
    numbers=("gpus", "left", "cores", "memory", "leases"),
    empty="no tenant or project whose quota you may see",
)


@verb(app, "list", lists=True, scope="tenant")
def list_quotas(ask: Ask) -> None:
    """Who may hold how much, and what is used and left of it: tenants and projects you may see.

    ``left`` is what can still be taken there; of a project never more than its tenant has left.

    Example: bailiwick quota list --tenant lab
    """
    from bailiwick.wire.actions.tenants import QUOTA_LIST

    typed = ask.given.get("tenant")
    ask.list(QUOTA_LIST, columns=_QUOTAS, query=None if typed is None else {"tenant": ask.tenant})


@verb(app, "show", scope="project")
def show_quota(ask: Ask) -> None:
    """What a tenant (or with --project a project) may hold, and how that stands.

    Example: bailiwick quota show --tenant lab --project vision
    """
    from bailiwick.wire.actions.tenants import PROJECT_QUOTA_READ, TENANT_QUOTA_READ

    action = ask.of_scope(TENANT_QUOTA_READ, PROJECT_QUOTA_READ)
    found = ask.client.send(action, path=ask.scope)
    ask.printer.thing(found, name=ask.scope_name, draw=lambda: _draw_quota(found, ask.scope_name))


def _draw_quota(found: QuotaState, name: str) -> None:
    rows = [(name_of(word), *_room(word, room)) for word, room in found.dimensions.items()]
    rows += [
        (word.value, *_room(Dimension.GPU_COUNT, room)) for word, room in found.generations.items()
    ]
    print_rows(
        make_console(),
        ("limit on", "limit", "used", "left"),
        rows=rows,
        title=f"Quota of {name}",
        numbers=("limit", "used", "left"),
    )
    most = found.ceiling
    classes = ", ".join(each.value for each in most.lease_classes) or "none"
    typer.echo(
        f"\nmay ask for: priority up to {most.priority_max.value}; classes {classes}; terms up to "
        f"{span(most.term_max_ms)}; {most.waiting_max:,} requests that wait"
    )
    if found.is_default:
        typer.echo("nobody set a quota here: all of this is the default (bailiwick settings show)")
    burst = found.quota.burst
    if burst is not None:
        unit = _burst_unit(burst.dimension)
        typer.echo(
            f"\nburst: up to {amount(unit, burst.ceiling)} above the limit; when full the credit "
            f"pays for {amount(unit, burst.capacity // 3600)} for an hour, and an hour within the "
            f"limit gives {amount(unit, burst.refill_per_s)} for an hour back"
        )
    if found.burst_left is not None:
        typer.echo(f"burst credit now: {_credit(found, found.burst_left)}")


def _burst_unit(word: Dimension) -> str:
    # A burst counts shares of GPUs, where the limit itself counts whole ones.
    return "gpu_milli" if word is Dimension.GPU_COUNT else word.value


def _credit(found: QuotaState, left: int) -> str:
    """What credit still pays for, as an amount above the limit for an hour."""
    burst = found.quota.burst
    unit = "" if burst is None else _burst_unit(burst.dimension)
    return f"{amount(unit, left // 3600)} for an hour"


def _room(word: Dimension, room: Room) -> tuple[str, ...]:
    def shown(value: int | None) -> str:
        return "-" if value is None else _short(word, value)

    return shown(room.limit), shown(room.used), shown(room.left)


def _short(word: Dimension, value: int) -> str:
    if word == Dimension.CPU_MILLI:
        return milli(value)
    if word in (Dimension.MEM_BYTES, Dimension.BLOCK_BYTES, Dimension.GPU_VRAM):
        return size(value)
    return f"{value:,}"


_Burst = Annotated[
    str | None,
    typer.Option(
        "--burst",
        metavar="WORD=MOST:FOR[:BACK]",
        help="gpus=2:1h:1d: up to 2 GPUs above the limit, for an hour when the credit is full; an"
        " empty one is full again after a day (the default) within the limit; none.",
    ),
]


@verb(app, "set", changes=True, scope="project")
def set_quota(
    ask: Ask,
    limits: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[WORD=LIMIT...]",
            help="cpus=64 mem=512GiB block=2TiB gpus=8 vram=640GiB leases=20 nvidia_hopper=4;"
            " what may be asked for: priority_max=high classes=standard,spot term_max=7d"
            " waiting_max=100, and ceiling=none for what is inherited again",
        ),
    ] = None,
    *,
    burst: _Burst = None,
    keep: Annotated[
        bool, typer.Option("--keep/--replace", help="Keep the limits that are not named.")
    ] = True,
) -> None:
    """Set limits of a tenant (or with --project a project), and what it may ask for.

    WORD=none lifts one limit; ceiling=none all of what may be asked for:
    then that of the settings counts again, or of a project's tenant.

    Example: bailiwick quota set gpus=8 mem=512GiB leases=none --burst gpus=2:1h --tenant lab
    """
    from bailiwick.cli.outlook.consequences import draw_quota
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.tenants import (
        PROJECT_QUOTA_READ,
        PROJECT_QUOTA_SET,
        TENANT_QUOTA_READ,
        TENANT_QUOTA_SET,
    )
    from bailiwick.wire.fleet import Quota

    if not limits and burst is None:
        raise InvalidValue("WORD=LIMIT", None, "at least one, or --burst")
    wanted: dict[str, Any] = {"limits": {}, "gpu_limits": {}}
    reading = ask.of_scope(TENANT_QUOTA_READ, PROJECT_QUOTA_READ)
    found, etag = ask.client.send_tagged(reading, path=ask.scope)
    if keep:
        wanted = found.quota.model_dump(mode="json")
        if found.is_default:  # a ceiling that nobody set goes on being that of the settings
            wanted["ceiling"] = None
    asked, named = split_ceiling(limits or ())
    if asked != {}:  # a ceiling is whole: what is not named stays as it is now
        held = wanted.get("ceiling") or found.ceiling.model_dump(mode="json")
        wanted["ceiling"] = None if asked is None else held | asked
    for text in named:
        table, word, value = parse_limit(text)
        if value is None:
            wanted[table].pop(word, None)
        else:
            wanted[table][word] = value
    if burst is not None:
        wanted["burst"] = parse_burst(burst)
    body, told = make_body(Quota, **wanted), f"quota of {ask.scope_name} is set"
    setting = ask.of_scope(TENANT_QUOTA_SET, PROJECT_QUOTA_SET)
    tag = etag if keep else None
    ask.change(setting, path=ask.scope, body=body, etag=tag, told=told, tell=draw_quota)


@verb(app, "rebalance", changes=True, scope="project")
def rebalance_quota(
    ask: Ask,
    *,
    grace: Annotated[
        str | None,
        typer.Option("--grace", metavar="SPAN", help="How long they may still run: 30s, 5m."),
    ] = None,
) -> None:
    """End the cheapest leases that a tenant (or --project) holds above its quota.

    Guaranteed leases stay, and so does what burst credit carries.

    Example: bailiwick quota rebalance --tenant lab --project vision --grace 10m --dry-run
    """
    from bailiwick.cli.outlook.consequences import draw_rebalance
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.tenants import PROJECT_QUOTA_REBALANCE, TENANT_QUOTA_REBALANCE
    from bailiwick.wire.fleet import Rebalance

    grace_ms = None if grace is None else parse_span("--grace", grace)
    body = make_body(Rebalance, grace_ms=grace_ms)
    action = ask.of_scope(TENANT_QUOTA_REBALANCE, PROJECT_QUOTA_REBALANCE)
    ask.foresee(action, path=ask.scope, body=body, tell=draw_rebalance)
    name = ask.scope_name
    ask.confirm(f"Bring {name} back inside its quota? Who goes is warned, then ended.")
    told = f"{name} is brought back inside its quota"
    ask.change(action, path=ask.scope, body=body, told=told, tell=draw_rebalance)
