"""Trust in nodes and tokens of leases, as verbs of ``bailiwick node`` and ``bailiwick lease``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bailiwick.cli.asking import Ask, path_word, verb
from bailiwick.cli.completing import complete_leases, complete_nodes
from bailiwick.cli.output import Format, draw_details
from bailiwick.cli.phrases import age, moment
from bailiwick.cli.screen import make_console, print_rows, span
from bailiwick.cli.units import parse_span
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import EvidenceKind, Operation

if TYPE_CHECKING:
    from bailiwick.wire.trust import IssuedLeaseToken, KindStanding, NodeAttestation

_NodeName = Annotated[
    str, typer.Argument(metavar="NODE", help="Its name.", autocompletion=complete_nodes)
]
_OwnLease = Annotated[
    str,
    typer.Argument(
        metavar="LEASE",
        envvar="BAILIWICK_LEASE_ID",
        help="12 or lease-12; inside a job its own.",
        autocompletion=complete_leases,
    ),
]


def add_node_verbs(nodes: typer.Typer) -> None:
    """What ``bailiwick node`` says about trust."""
    verb(nodes, "attestation")(show_attestation)
    verb(nodes, "enrolment-withdraw", changes=True)(withdraw_enrolment)
    verb(nodes, "lift", changes=True)(lift_quarantine)
    verb(nodes, "trust", changes=True, hidden=True)(
        lift_quarantine
    )  # its name before there was more


def add_lease_verbs(leases: typer.Typer) -> None:
    """What ``bailiwick lease`` says about tokens."""
    verb(leases, "token", changes=True)(make_token)


# -- nodes -----------------------------------------------------------------------------------


def _path(node: str) -> str:
    return f"/v1/nodes/{path_word('NODE', node)}"


def show_attestation(ask: Ask, node: _NodeName) -> None:
    """How far a node is trusted and why, and by which keys it is known."""
    from bailiwick.wire.trust import NodeAttestation

    found = ask.client.read(f"{_path(node)}/attestation", NodeAttestation)
    ask.printer.thing(found, name=found.node, draw=lambda: _draw(found))


def _draw(found: NodeAttestation) -> None:
    asked = "nothing: no pool names it"
    if found.pool is not None and found.max_age_ms is not None:
        asked = f"{found.require}, every {span(found.max_age_ms)} (pool {found.pool})"
    due = "at once" if found.refresh_ms is None else moment(found.refresh_ms)
    enrolled = [f"{each.kind.value} {each.identity[:16]}" for each in found.enrolments]
    rows = [
        ("attestation", found.state.value),
        ("quarantined", "yes" if found.quarantined else "no"),
        ("asked of it", asked),
        ("due", "-" if found.pool is None else due),
        ("enrolled", ", ".join(enrolled) or "-"),
    ]
    draw_details("node", found.node, rows=rows)
    if found.standing:
        print_rows(
            make_console(),
            ("kind", "verdict", "reason", "judged", "holds until", "claims*"),
            rows=[_standing(each) for each in found.standing],
            title="Evidence",
        )


def _standing(held: KindStanding) -> tuple[str, ...]:
    claims = (f"{name}={value}" for name, value in sorted(held.claims.items()))
    return (
        held.kind.value,
        held.verdict,
        "-" if held.reason is None else held.reason.value,
        f"{age(held.at_ms)} ago",
        "-" if held.valid_until_ms is None else moment(held.valid_until_ms),
        ", ".join(claims) or "-",
    )


def withdraw_enrolment(
    ask: Ask,
    node: _NodeName,
    *,
    kind: Annotated[EvidenceKind, typer.Option("--kind", help="Keys of which kind.")],
) -> None:
    """Have a node's keys count no more: another machine may then take its name, or it another."""
    ask.confirm(
        f"Withdraw the {kind.value} keys of {node}? It takes no lease until it enrols anew."
    )
    path = f"{_path(node)}/enrolment"
    _delete(ask, path, {"kind": kind.value}, told=f"the {kind.value} keys of {node} count no more")


def lift_quarantine(
    ask: Ask,
    node: _NodeName,
    *,
    override: Annotated[
        bool, typer.Option("--override", help="Although it has not proven itself since; needs why.")
    ] = False,
    note: Annotated[
        str | None, typer.Option("--note", metavar="TEXT", help="Why; it is sealed in the journal.")
    ] = None,
) -> None:
    """Lift a node's quarantine, once it has proven itself again."""
    if override and not (note or "").strip():
        raise InvalidValue("--note", "nothing", "why the node is opened without evidence")
    if override:
        ask.confirm(f"Open {node} although it has not proven itself? That is on record.")
    query = {"override": "true" if override else None, "note": note}
    told = f"node {node} is trusted again"
    if override:
        told = (
            f"node {node} is open again; where proof is asked of it, it takes no lease before that"
        )
    _delete(ask, f"{_path(node)}/quarantine", query, told=told)


def _delete(ask: Ask, path: str, query: dict[str, str | None], *, told: str) -> None:
    from bailiwick.wire.answers import Done

    if ask.dry_run:
        query = query | {"dry_run": "true"}
    ask.tell_done(ask.client.call("DELETE", path, kind=Done, query=query), told)


# -- leases ----------------------------------------------------------------------------------


def make_token(
    ask: Ask,
    lease: _OwnLease,
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
    """Make a token with which work may use what a lease holds; it is shown this once."""
    from bailiwick.cli.leases import parse_id
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.trust import IssuedLeaseToken, TokenWish

    given: dict[str, Any] = {"audience": audience, "generation": generation}
    body = make_body(
        TokenWish,
        operations=operation,
        ttl_ms=parse_span("--ttl", ttl),
        **{name: value for name, value in given.items() if value is not None},
    )
    path = f"/v1/leases/{parse_id('lease', lease)}/tokens"
    query = {"dry_run": "true"} if ask.dry_run else None
    found: IssuedLeaseToken = ask.client.call(
        "POST", path, kind=IssuedLeaseToken, body=body, query=query
    )
    _tell_token(ask, found)


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
