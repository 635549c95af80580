"""What operators say of nodes: labels beside those that a machine has when it joins.

Rules:

- Of one key a node has the operator's label, and its own again once that is taken away: no machine
  says anything against it, whatever it reports when it comes back.
- Keys of the platform, those that only attestation gives, and those that say what a machine is and
  where it stands are no operator's to give (:func:`bailiwick.fleet.inventory.check_given`).
- They stay when the machine departs, and count again when it is back. So they can also be taken
  away from a node that is gone.
- What runs there goes on, whatever labels it asked for; what waits is judged by those of now.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bailiwick.fleet.node import LABELS_MAX
from bailiwick.kernel.fleet import commands as cmd
from bailiwick.kernel.fleet import events as ev
from bailiwick.kernel.spelling import labels_body, labels_from
from bailiwick.kernel.state import State
from bailiwick.vocab.errors import Conflict, LimitReached, NotFound

LABELLED_MAX: Final = 1_000_000
"""Nodes with labels that operators gave, those that are gone among them."""


def decide(state: State, command: cmd.LabelNode) -> Iterator[ev.NodeLabelled]:
    """The labels of a node after the command, and before."""
    held = state.node_labels.get(command.node, {})
    if command.put or not held:
        state.ledger.entry(command.node)  # there must be such a node, but to clear up after one
    missing = [key for key in command.drop if key not in held]
    if missing:
        raise NotFound("label", missing[0], hint="what a machine says itself it says when it joins")
    kept = {key: value for key, value in held.items() if key not in command.drop}
    after = kept | labels_from(command.put)
    if len(after) > LABELS_MAX:
        raise LimitReached(f"labels of {command.node}", LABELS_MAX)
    if not held and len(state.node_labels) >= LABELLED_MAX:
        raise LimitReached("nodes with labels", LABELLED_MAX)
    if after == held:
        raise Conflict("node", command.node, "has these labels already")
    now, before = labels_body(after), labels_body(held)
    yield ev.NodeLabelled(command.node, tuple(now), tuple(before))


def apply(state: State, event: ev.NodeLabelled, at_ms: int) -> None:
    """The state after one more record."""
    del at_ms
    state.node_labels.pop(event.node, None)
    if event.labels:
        state.node_labels[event.node] = labels_from(event.labels)
    use_labels(state, event.node)


def use_labels(state: State, node: str) -> None:
    """Let the ledger know what operators say of a node, if there is such a machine now."""
    given = state.node_labels.get(node, {})
    if node in state.ledger and state.ledger.entry(node).given != given:
        state.ledger.labelled.give(state.ledger.entry(node), given)


def cause_of(event: ev.NodeLabelled) -> cmd.LabelNode:
    """The command that such an event follows from."""
    now, before = labels_from(event.labels), labels_from(event.before)
    put = {key: value for key, value in now.items() if before.get(key) != value}
    return cmd.LabelNode(event.node, tuple(labels_body(put)), tuple(sorted({*before} - {*now})))
