"""The modes of nodes as verbs of ``bailiwick node``, each for one node or for many.

Rules:

- A cordon takes no new work and leaves what runs alone; a drain ends it. Both say so before.
- Back to work is one verb, wherever the node is: the server goes the way that the modes allow.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bailiwick.cli.nodes.chosen import (
    Chosen,
    EveryNode,
    NodeNames,
    NodeStep,
    Selector,
    choose,
    for_each,
)
from bailiwick.cli.shared.ask import Ask, path_word, verb
from bailiwick.cli.shared.completions import complete_nodes
from bailiwick.phrases.amounts import plural
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.units import parse_span

if TYPE_CHECKING:
    from bailiwick.wire.foreseen import ModeSet

NodeName = Annotated[
    str, typer.Argument(metavar="NODE", help="Its name.", autocompletion=complete_nodes)
]
Grace = Annotated[
    str | None,
    typer.Option("--grace", metavar="SPAN", help="How long work may still take, such as 5m."),
]


def add_mode_verbs(nodes: typer.Typer) -> None:
    """What ``bailiwick node`` does with modes."""
    for name, command in (
        ("drain", drain),
        ("cordon", cordon),
        ("maintenance", maintenance),
        ("clear-fence", clear_fence),
        ("return", return_node),
        ("uncordon", uncordon),
    ):
        verb(nodes, name, changes=True)(command)


def grace_ms(grace: str | None) -> int | None:
    """The grace that was typed, if any was."""
    return None if grace is None else parse_span("--grace", grace)


def _step_to(mode: NodeMode, *, there: tuple[NodeMode, ...] = (), **more: Any) -> NodeStep:
    from bailiwick.cli.outlook.consequences import draw_mode
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.nodes import NODE_MODE
    from bailiwick.wire.fleet import ModeChange

    given = {name: value for name, value in more.items() if value is not None}
    return NodeStep(
        NODE_MODE,
        lambda node: f"node {node} is {mode.value}",
        body=make_body(ModeChange, mode=mode.value, **given),
        tell=draw_mode,
        there=(mode, *there),
    )


def drain(
    ask: Ask,
    node: NodeNames = None,
    *,
    selector: Selector = None,
    every: EveryNode = False,
    reason: Annotated[
        str,
        typer.Option(
            "--reason",
            help="operator_drain, maintenance_window, operator_mig_profile_change or "
            "policy_violation_recovery.",
        ),
    ] = "operator_drain",
    grace: Grace = None,
) -> None:
    """Take no new work there, and evict what runs, with a warning and a grace period.

    Example: bailiwick node drain -l rack=r7 --reason maintenance_window --grace 10m --dry-run
    """
    done = (NodeMode.DRAINED, NodeMode.MAINTENANCE)
    step = _step_to(NodeMode.DRAINING, there=done, reason=reason, grace_ms=grace_ms(grace))
    chosen = choose(ask, node, selector=selector, every=every)
    _foresee(ask, chosen, step)
    ask.confirm(f"Drain {chosen.told}? What runs there is warned, then ended.")
    for_each(ask, chosen, step=step)


def _foresee(ask: Ask, chosen: Chosen, step: NodeStep) -> None:
    """Before somebody is asked: what a drain would end, of one node or of many together."""
    if chosen.one and step.tell is not None:
        ask.foresee(step.action, path={"node": chosen.names[0]}, body=step.body, tell=step.tell)
        return
    if ask.yes or ask.dry_run or not sys.stdin.isatty():
        return
    trial = replace(ask, dry_run=True)
    left = [name for name in chosen.names if chosen.modes.get(name) not in step.there]
    ends = sum(_ended(trial, name, step=step) for name in left)
    typer.echo(f"ends up to {plural(ends, 'lease')} on {plural(len(left), 'node')}", err=True)


def _ended(trial: Ask, node: str, *, step: NodeStep) -> int:
    from bailiwick.client.errors import Refusal

    try:
        found: ModeSet = step.send(trial, node)
    except Refusal:  # it will be told when its turn comes
        return 0
    return 0 if found.consequence is None else found.consequence.leaving


def cordon(
    ask: Ask,
    node: NodeNames = None,
    *,
    selector: Selector = None,
    every: EveryNode = False,
) -> None:
    """Take no new work there; what runs may be renewed, and goes on to its end.

    Example: bailiwick node cordon -l rack=r7
    """
    closed = (NodeMode.DRAINING, NodeMode.DRAINED, NodeMode.MAINTENANCE, NodeMode.FENCE_LOST)
    step = replace(_step_to(NodeMode.CORDONED, there=closed), told_after=_cordoned)
    for_each(ask, choose(ask, node, selector=selector, every=every), step=step)


def _cordoned(name: str, done: ModeSet) -> str:
    if done.seq is None and done.consequence is None:
        return f"node {name} is cordoned already; nothing changed"
    return f"node {name} is cordoned"


def maintenance(
    ask: Ask,
    node: NodeNames = None,
    *,
    selector: Selector = None,
    every: EveryNode = False,
) -> None:
    """Say that a drained (or fenced) node is being worked on.

    Example: bailiwick node maintenance n1 n2
    """
    chosen = choose(ask, node, selector=selector, every=every)
    for_each(ask, chosen, step=_step_to(NodeMode.MAINTENANCE))


def clear_fence(ask: Ask, node: NodeName) -> None:
    """Say that a node whose teardown failed was looked after; it goes to maintenance first.

    Example: bailiwick node clear-fence n1 -y
    """
    from bailiwick.wire.actions.nodes import NODE_READ

    name = path_word("NODE", node)
    mode = ask.client.send(NODE_READ, path={"node": name}).mode
    if mode is not NodeMode.FENCE_LOST:
        raise InvalidValue("NODE", node, f"a node that is fence_lost; it is {mode.value}")
    ask.confirm(f"Has somebody made sure that nothing is left running on {node}?")
    for_each(ask, Chosen((name,), one=True), step=_step_to(NodeMode.MAINTENANCE))


def return_node(
    ask: Ask,
    node: NodeNames = None,
    *,
    selector: Selector = None,
    every: EveryNode = False,
) -> None:
    """Say that the work on a node is over, and let no lease on it yet: uncordon does that.

    Example: bailiwick node return n1
    """
    chosen = choose(ask, node, selector=selector, every=every)
    for_each(ask, chosen, step=_step_to(NodeMode.RETURNING, there=(NodeMode.ACCEPTING,)))


def uncordon(
    ask: Ask,
    node: NodeNames = None,
    *,
    selector: Selector = None,
    every: EveryNode = False,
    untested: Annotated[
        bool, typer.Option("--untested", help="Take it as it is, without its test.")
    ] = False,
) -> None:
    """Let new leases on a node again: cordoned, draining, drained, in maintenance or returning.

    A node whose agent can test it is tested first. Where proof is asked of it, it takes no lease
    before it has proven itself.

    Example: bailiwick node uncordon -l rack=r7 --dry-run

    Example: bailiwick node uncordon n1 --untested
    """
    from bailiwick.cli.outlook.consequences import draw_mode
    from bailiwick.wire.actions.nodes import NODE_OPEN

    open_again = NodeStep(
        NODE_OPEN,
        lambda name: f"node {name} is accepting",
        tell=draw_mode,
        there=(NodeMode.ACCEPTING,),
        query={"untested": "true"} if untested else None,
        told_after=_opened,
    )
    chosen = choose(ask, node, selector=selector, every=every)
    if untested:
        ask.confirm(f"Let {chosen.told} take work without a test?")
    for_each(ask, chosen, step=open_again)


def _opened(name: str, done: ModeSet) -> str:
    if done.mode is NodeMode.RETURNING:
        return f"node {name} is returning, and takes work when it has passed its test"
    return f"node {name} is accepting"
