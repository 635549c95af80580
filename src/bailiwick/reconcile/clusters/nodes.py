"""The machines of a cluster as nodes of the fleet: they join, are heard through it, and are missed.

Rules:

- The cluster is asked now and then. What it lists takes part, under the label of its executor, with
  what the cluster says it has. What it lists no more is not heard any more, and departs in time.
- A cluster that does not answer, or not yet, has lost no node: those heard last are heard.
- A name that another already has is not taken: that is said, and the machine stays out. Another
  cluster of the same kind is another.
- What is closed there is closed here, and the other way round (:mod:`.gates`).
- A node that changed stays as it was while leases are held on it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import assert_never

from bailiwick.executors.clusters import ClusterHands, ClusterLook, NodeGate
from bailiwick.fleet.inventory import is_same_machine
from bailiwick.fleet.node import EXECUTOR_LABEL, HEARTBEAT_LABEL, NodeCapacity
from bailiwick.kernel import ChangeMode, DepartNode, Envelope, RegisterNode
from bailiwick.reconcile.clusters.gates import Agreement, agree
from bailiwick.runtime.replica import View
from bailiwick.runtime.runner import Runner
from bailiwick.services.beats import Beats
from bailiwick.vocab.errors import BailiwickError, Unavailable
from bailiwick.vocab.transitions import WAYS_OPEN, NodeMode

ACTOR = "clusters"


class ClusterNodes:
    """The duty of a server that runs jobs on one cluster."""

    def __init__(
        self,
        hands: ClusterHands,
        runner: Runner,
        *,
        beats: Beats,
        say: Callable[[str], None],
        others: Sequence[ClusterHands] = (),
    ) -> None:
        self._hands, self._runner, self._beats, self._say = hands, runner, beats, say
        self._others = tuple(each for each in others if each is not hands)
        self._labels = {EXECUTOR_LABEL: hands.name, HEARTBEAT_LABEL: "server"}
        self._every_s = beats.rule.beat_ms / 1000
        self._heard: tuple[str, ...] = ()
        self._said: dict[str, str] = {}

    @property
    def name(self) -> str:
        """What it is called in the log."""
        return f"nodes-of-{self._hands.name}"

    def run(self, stop: threading.Event) -> None:
        """Ask every now and then, until told to stop."""
        self._heard = self._runner.read(self._taking_part)  # another may have led since
        silent = threading.Event()
        name = f"{self.name}-beat"
        beating = threading.Thread(target=self._beat, args=(silent,), name=name, daemon=True)
        beating.start()
        try:
            while True:  # until told to stop
                self.once()
                if stop.wait(self._every_s):
                    return
        finally:
            silent.set()
            beating.join()

    def _beat(self, silent: threading.Event) -> None:
        """Have those be heard that were: a cluster may take longer to answer than a node has."""
        while not silent.wait(self._every_s):
            for node in self._heard:
                self._beats.beat(node)

    def once(self) -> tuple[str, ...]:
        """Ask the cluster; the nodes that were heard through it."""
        hands = self._hands
        try:
            self._take_up()
            hands.look = ClusterLook.answered(self._beats.now_ms(), len(self._heard))
            self._tell("", f"{hands.name}: {len(self._heard)} nodes of the cluster are heard")
        except Unavailable as error:
            hands.look = hands.look.failed(self._beats.now_ms(), str(error))
            self._tell("", f"{hands.name}: {error}")
        for node in self._heard:
            self._beats.beat(node)
        return self._heard

    def _taking_part(self, view: View) -> tuple[str, ...]:
        entries = view.state.ledger.entries.values()
        mine = (e for e in entries if e.capacity.labels.get(EXECUTOR_LABEL) == self._hands.name)
        return tuple(str(entry.id) for entry in mine if self._hands.has(str(entry.id)))

    def _take_up(self) -> None:
        found = self._hands.executor.nodes()
        heard = []
        for node, told in found.items():
            has = told.capacity
            capacity = replace(has, labels={**has.labels, **self._labels})
            try:
                is_ours = self._join(node, capacity)
                if is_ours:
                    self._agree(node, told.gate)
            except Unavailable:
                raise
            except BailiwickError as error:
                self._tell(node, f"node {node} of {self._hands.name} cannot take part: {error}")
                continue
            if is_ours:
                heard.append(node)
        self._heard = tuple(heard)

    def _join(self, node: str, capacity: NodeCapacity) -> bool:
        """Have a machine take part as it is; whether it does."""

        def known(view: View) -> tuple[NodeCapacity | None, int]:
            state = view.state
            if node not in state.ledger:
                return None, 0
            return state.ledger.entry(node).capacity, len(state.leases_on(node))

        before, leases = self._runner.read(known)
        is_anothers = not self._hands.has(node) and any(each.has(node) for each in self._others)
        label = None if before is None else before.labels.get(EXECUTOR_LABEL)
        if is_anothers or (before is not None and label != self._hands.name):
            self._tell(node, f"node {node} is of {self._hands.name}, but another has that name")
            return False
        self._hands.add((node,))  # before anything can be granted there
        if before is not None and (is_same_machine(before, capacity) or leases):
            return True
        joins = Envelope(RegisterNode(node, capacity), ACTOR, f"joins-{node}")
        if before is None:
            self._runner.execute(joins)
        else:  # nobody is told meanwhile that there is no such machine, and never was
            departs = Envelope(DepartNode(node), ACTOR, f"changed-{node}")
            self._runner.execute_in_turn(departs, joins)
        return True

    def _agree(self, node: str, gate: NodeGate) -> None:
        """Have both sides of a node agree whether it takes new work."""
        hands = self._hands
        mode = self._runner.read(lambda view: view.state.ledger.entry(node).mode)
        step = agree(mode, gate, is_noted=hands.is_closed_there(node))
        match step:
            case Agreement.NOTHING:
                pass
            case Agreement.CLOSE_HERE:
                hands.note_closed(node, is_closed=True)  # before: whoever dies between opens it
                self._change(ChangeMode(node, NodeMode.CORDONED))
            case Agreement.OPEN_HERE:
                for each in WAYS_OPEN[mode]:
                    self._change(ChangeMode(node, each))
                hands.note_closed(node, is_closed=False)
            case Agreement.CLOSE_THERE | Agreement.OPEN_THERE:
                hands.note_closed(node, is_closed=False)
                try:
                    hands.executor.set_open(node, is_open=step is Agreement.OPEN_THERE)
                except Unavailable as error:  # we may not, for one
                    self._tell(node, f"node {node} stays as it is in {hands.name}: {error}")
            case _:
                assert_never(step)

    def _change(self, change: ChangeMode) -> None:
        self._runner.execute(Envelope(change, ACTOR, f"as-in-{self._hands.name}-{change.node}"))

    def _tell(self, about: str, text: str) -> None:
        """Say what has changed, and only that."""
        if self._said.get(about) != text:
            self._said[about] = text
            self._say(text)
