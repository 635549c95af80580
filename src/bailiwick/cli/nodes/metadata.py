"""What is said of a node beside its inventory (trust, labels, notes), as verbs of its noun."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.nodes.chosen import EveryNode, NodeStep, Selector, choose, for_each
from bailiwick.cli.shared.ask import Ask, path_word, verb
from bailiwick.cli.shared.completions import complete_nodes
from bailiwick.cli.shared.output import draw_details
from bailiwick.cli.shared.screen import make_console, print_rows
from bailiwick.phrases.amounts import span
from bailiwick.phrases.times import age, moment
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import EvidenceKind
from bailiwick.vocab.units import parse_span

if TYPE_CHECKING:
    from bailiwick.wire.answers import Done
    from bailiwick.wire.foreseen import LabelMoved, LabelsSet
    from bailiwick.wire.trust import KindStanding, NodeAttestation

_NodeName = Annotated[
    str, typer.Argument(metavar="NODE", help="Its name.", autocompletion=complete_nodes)
]


def add_node_verbs(nodes: typer.Typer) -> None:
    """What ``bailiwick node`` says about trust, labels and notes."""
    verb(nodes, "label", changes=True)(label_node)
    verb(nodes, "note", changes=True)(note_node)
    verb(nodes, "note-end", changes=True)(end_note)
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
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="NODE... KEY=VALUE|KEY-",
            help="Names of nodes, then labels: pool=a gives one, pool- takes it.",
            autocompletion=complete_nodes,
        ),
    ],
    *,
    selector: Selector = None,
    every: EveryNode = False,
) -> None:
    """Give nodes labels that requests can ask for (--label), or take them away again.

    They count more than what the machine says itself. What runs there goes on.

    Example: bailiwick node label n1 pool=fast tier- --dry-run
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.nodes import NODE_LABEL
    from bailiwick.wire.fleet import NodeLabels

    names, labels = part_labels(words, named=not (selector or every))
    put = [text for text in labels if "=" in text]
    drop = [text.removesuffix("-") for text in labels if "=" not in text]
    if not labels:
        raise InvalidValue("KEY=VALUE", None, "a label such as pool=a, or pool- to take it away")
    step = NodeStep(
        NODE_LABEL,
        lambda node: f"labels of {node} are changed",
        body=make_body(NodeLabels, put=put, drop=drop),
        told_after=told_labels,
    )
    for_each(ask, choose(ask, names, selector=selector, every=every), step=step)


def told_labels(node: str, done: LabelsSet) -> str:
    """What each label said before, and says now.

    >>> from bailiwick.wire.foreseen import LabelMoved, LabelsSet
    >>> pool = LabelMoved(key="pool", was="slow", now="fast")
    >>> same = LabelMoved(key="a", was="1", now="1")
    >>> told_labels("n1", LabelsSet(answer="done", seq=7, labels=[pool, same]))
    'n1: pool was slow, is fast; a is 1 already'
    >>> told_labels("n1", LabelsSet(answer="done", seq=None, labels=[same]))
    'n1: a is 1 already; nothing changed'
    """
    if not done.labels:  # an older server does not tell
        return f"labels of {node} are changed"
    told = "; ".join(_told_label(each) for each in done.labels)
    same = all(each.was == each.now for each in done.labels)
    return f"{node}: {told}{'; nothing changed' if same and done.seq is None else ''}"


def _told_label(each: LabelMoved) -> str:
    if each.was == each.now:
        return f"{each.key} is {each.now} already" if each.now else f"{each.key} is not there"
    was = f"was {each.was}, is" if each.was is not None else "is"
    return f"{each.key} {was} {each.now or 'gone'}"


def part_labels(words: list[str], *, named: bool) -> tuple[list[str], list[str]]:
    """What was typed, parted into names of nodes and labels; the first is a name, if any is.

    >>> part_labels(["n1", "n2", "pool=a", "tier-"], named=True)
    (['n1', 'n2'], ['pool=a', 'tier-'])
    """
    first = 1 if named else 0
    is_label = [at >= first and ("=" in w or w.endswith("-")) for at, w in enumerate(words)]
    begin = is_label.index(True) if True in is_label else len(words)
    if not all(is_label[begin:]):
        wrong = words[begin + is_label[begin:].index(False)]
        raise InvalidValue("KEY=VALUE", wrong, "a label such as pool=a, or pool- to take it away")
    return words[:begin], words[begin:]


def note_node(
    ask: Ask,
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="NODE... TEXT",
            help="Names of nodes, and one line.",
            autocompletion=complete_nodes,
        ),
    ],
    *,
    selector: Selector = None,
    every: EveryNode = False,
    span: Annotated[
        str, typer.Option("--for", metavar="SPAN", help="How long it stands, such as 3d.")
    ] = "7d",
) -> None:
    """Write a line about nodes for others who run the fleet; you are its author, and it expires.

    Example: bailiwick node note n1 "fan 2 is loud, spare ordered" --for 3d
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.nodes import NODE_NOTE_ADD
    from bailiwick.wire.fleet import NewNote

    *names, text = words
    step = NodeStep(
        NODE_NOTE_ADD,
        lambda node: f"{node} has the note",
        body=make_body(NewNote, text=text, ttl_ms=parse_span("--for", span)),
        told_after=_told_note,
    )
    for_each(ask, choose(ask, names, selector=selector, every=every), step=step)


def _told_note(node: str, done: Done) -> str:
    if done.seq is None:  # a dry run writes none down
        return f"{node} has the note"
    return f"{node} has note {done.seq}; take it away: bailiwick node note-end {node} {done.seq}"


def end_note(
    ask: Ask,
    node: _NodeName,
    *,
    note: Annotated[int, typer.Argument(metavar="NOTE", help="Its number; node show tells it.")],
) -> None:
    """Take a note about a node away before it expires.

    Example: bailiwick node note-end n1 4711
    """
    from bailiwick.wire.actions.nodes import NODE_NOTE_END

    path = {**_path(node), "note_id": str(note)}
    ask.change(NODE_NOTE_END, path=path, told=f"note {note} of {node} is ended")
