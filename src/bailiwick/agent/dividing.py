"""The agent's part of repartitioning: it carries out one order at a time, and tells how it went.

Rules:

- An order comes with the answer to a heartbeat, as long as it is wanted. It is carried out once;
  the answer is told until it was heard.
- GPUs are numbered as the node is known: by their place in its inventory. Whoever divides is told
  of which models that is, and touches nothing where the machine has not just these: one that is
  missing, or does not answer, would move the places of those behind it.
- What the machine has afterwards goes with the answer, so that its node is what it is at once.
- An answer that nobody wants any more (an operator called it off, it took too long) is told, and
  the node goes on as it is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from bailiwick.fleet.node import NodeCapacity
from bailiwick.vocab.mig import MigFailure


class NotWanted(Exception):
    """The server does not want the answer (any more)."""


@dataclass(frozen=True, slots=True)
class GpuOrder:
    """What is to be made of which GPUs."""

    change_id: int
    gpus: tuple[int, ...]
    profiles: tuple[str, ...]


class MigServer(Protocol):
    """What dividing wants of a server."""

    def tell_divided(
        self, node: str, change_id: int, *, cause: MigFailure | None, now: NodeCapacity
    ) -> None:
        """Say how it went, and what the machine has now. Raises ``Away`` or ``NotWanted``."""


@dataclass(slots=True)
class GpuDividing:
    """Divides the GPUs of one machine when it is told to."""

    divide: Callable[[GpuOrder, Sequence[str]], MigFailure | None]
    read: Callable[[], NodeCapacity]
    say: Callable[[str], None]
    _done: tuple[int, MigFailure | None] | None = None

    def turn(
        self, node: str, server: MigServer, *, order: GpuOrder | None, known: Sequence[str]
    ) -> NodeCapacity | None:
        """Carry an order out, if there is one; what the machine was told to have, if it was.

        The node is ``known`` with GPUs of these models, in their order.
        """
        if order is None:
            self._done = None
            return None
        if self._done is None or self._done[0] != order.change_id:
            self.say(f"GPUs {spell_gpus(order)}")
            self._done = order.change_id, self.divide(order, known)
        cause, now = self._done[1], self.read()
        try:
            server.tell_divided(node, order.change_id, cause=cause, now=now)
        except NotWanted as error:
            self.say(f"nobody wants to know what became of the GPUs: {error}")
            return None
        if cause is not None:
            self.say(f"the GPUs are not divided as was asked: {cause.human_summary()}")
            return None
        self.say("the GPUs are divided as was asked")
        return now


def spell_gpus(order: GpuOrder) -> str:
    """An order in a few words.

    >>> spell_gpus(GpuOrder(7, (0, 1), ("3g.71gb",)))
    '0, 1 are to be divided into 3g.71gb'
    """
    which = ", ".join(str(gpu) for gpu in order.gpus)
    if not order.profiles:
        return f"{which} are to be whole"
    return f"{which} are to be divided into {', '.join(order.profiles)}"
