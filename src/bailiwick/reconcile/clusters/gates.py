"""A node is closed here or in its cluster: what follows for the other side.

Rules:

- What the cluster closed is closed here (a cordon: what runs may end), and opened again when the
  cluster opens it, unless an operator of ours has done more with it since.
- What an operator of ours closed is closed in the cluster, and opened there again with it.
- What others closed in the cluster is never opened from here.
- A node that is fenced stays as it is on both sides: only a person knows.

>>> agree(NodeMode.ACCEPTING, NodeGate.CLOSED, is_noted=False)
<Agreement.CLOSE_HERE: 'close_here'>
>>> agree(NodeMode.DRAINED, NodeGate.OPEN, is_noted=False)
<Agreement.CLOSE_THERE: 'close_there'>
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from bailiwick.executors.clusters import NodeGate
from bailiwick.vocab.transitions import NodeMode


class Agreement(StrEnum):
    """What is to be done so that both sides agree."""

    NOTHING = "nothing"
    CLOSE_HERE = "close_here"
    OPEN_HERE = "open_here"
    CLOSE_THERE = "close_there"
    OPEN_THERE = "open_there"


_CLOSED: Final = (
    NodeMode.CORDONED,
    NodeMode.DRAINING,
    NodeMode.DRAINED,
    NodeMode.MAINTENANCE,
)


def agree(mode: NodeMode, gate: NodeGate, *, is_noted: bool) -> Agreement:
    """The next step for a node; ``is_noted``: ours was closed because the cluster had closed it."""
    if mode is NodeMode.ACCEPTING:
        if gate is NodeGate.CLOSED:
            return Agreement.CLOSE_HERE
        return Agreement.OPEN_THERE if gate is NodeGate.CLOSED_BY_US else Agreement.NOTHING
    if mode in _CLOSED and gate is NodeGate.OPEN:
        if is_noted and mode is not NodeMode.MAINTENANCE:
            return Agreement.OPEN_HERE
        return Agreement.CLOSE_THERE
    if mode is NodeMode.RETURNING and is_noted and gate is NodeGate.OPEN:
        return Agreement.OPEN_HERE
    return Agreement.NOTHING
