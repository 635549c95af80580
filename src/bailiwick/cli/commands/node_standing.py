"""What counts of a node beside its inventory (trust, labels), as verbs of ``bailiwick node``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.shared.ask import Ask, path_word, verb
from bailiwick.cli.shared.completions import complete_nodes
from bailiwick.cli.shared.output import draw_details
from bailiwick.cli.shared.screen import make_console, print_rows
from bailiwick.phrases.amounts import span
from bailiwick.phrases.times import age, moment
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import EvidenceKind

if TYPE_CHECKING:
    from bailiwick.wire.trust import KindStanding, NodeAttestation

_NodeName = Annotated[
    str, typer.Argument(metavar="NODE", help="Its name.", autocompletion=complete_nodes)
]


def add_node_verbs(nodes: typer.Typer) -> None:
    """What ``bailiwick node`` says about trust and labels."""
    verb(nodes, "label", changes=True)(label_node)
    verb(nodes, "attestation")(show_attestation)
    verb(nodes, "enrolment-withdraw", changes=True)(withdraw_enrolment)
    verb(nodes, "lift", changes=True)(lift_quarantine)
    verb(nodes, "trust", changes=True, hidden=True)(
        lift_quarantine
    )  # its name before there was more


def _path(node: str) -> dict[str, str]:
    return {"node": path_word("NODE", node)}


def show_attestation(ask: Ask, node: _NodeName) -> None:
    """How far a node is trusted and why, and by which keys it is known.

    Example: bailiwick node attestation n1
    """
    from bailiwick.wire.actions.nodes import NODE_ATTESTATION

    found = ask.client.send(NODE_ATTESTATION, path=_path(node))
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
    """Have a node's keys count no more: another machine may then take its name, or it another.

    Example: bailiwick node enrolment-withdraw n1 --kind tpm2 -y
    """
    from bailiwick.wire.actions.nodes import NODE_WITHDRAW

    ask.confirm(
        f"Withdraw the {kind.value} keys of {node}? It takes no lease until it enrols anew."
    )
    told = f"the {kind.value} keys of {node} count no more"
    ask.change(NODE_WITHDRAW, path=_path(node), query={"kind": kind.value}, told=told)


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
    """Lift a node's quarantine, once it has proven itself again.

    Example: bailiwick node lift n1
    """
    from bailiwick.wire.actions.nodes import NODE_LIFT

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
    ask.change(NODE_LIFT, path=_path(node), query=query, told=told)


def label_node(
    ask: Ask,
    node: _NodeName,
    *,
    labels: Annotated[
        list[str],
        typer.Argument(metavar="KEY=VALUE|KEY-...", help="pool=a gives a label, pool- takes it."),
    ],
) -> None:
    """Give a node labels that requests can ask for (--label), or take them away again.

    They count more than what the machine says itself. What runs there goes on.

    Example: bailiwick node label n1 pool=fast tier- --dry-run
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.nodes import NODE_LABEL
    from bailiwick.wire.fleet import NodeLabels

    put = [text for text in labels if "=" in text]
    drop = [text.removesuffix("-") for text in labels if "=" not in text and text.endswith("-")]
    if len(put) + len(drop) < len(labels):
        wrong = next(text for text in labels if "=" not in text and not text.endswith("-"))
        raise InvalidValue("KEY=VALUE", wrong, "a label such as pool=a, or pool- to take it away")
    body = make_body(NodeLabels, put=put, drop=drop)
    path = {"node": path_word("NODE", node)}
    ask.change(NODE_LABEL, path=path, body=body, told=f"labels of {node} are changed")
