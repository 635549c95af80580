"""Which nodes have which label, as sets that the search can read.

Rules:

- Labels of the inventory are indexed when a node joins, and those of an operator when he gives
  them: of one key a node has his, and its own again once he takes it away.
- Labels that attestation gives are indexed from the first time somebody asks for one: a node
  attests much, and much of it is new every time. So are those that follow from what a node is: each
  has a name of its own.
- A set that was handed out stays the one that is kept up to date.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from bailiwick.fleet.node import ATTESTED_PREFIX, IMPLIED_LABELS
from bailiwick.scheduler.node_set import NodeSet
from bailiwick.scheduler.node_state import NodeEntry
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import NodeId, check_name

Label: TypeAlias = tuple[str, str]


class LabelIndex:
    """The nodes of one ledger by label."""

    def __init__(self, entries: Mapping[NodeId, NodeEntry]) -> None:
        self._entries = entries
        self._sets: dict[Label, NodeSet] = {}

    def nodes_with(self, label: Label) -> NodeSet:
        """The nodes with that label, now and from now on."""
        found = self._sets.get(label)
        if found is None:
            found = self._sets[label] = NodeSet()
            key, value = label
            is_late = key.startswith(ATTESTED_PREFIX) or key in IMPLIED_LABELS
            for entry in self._entries.values() if is_late else ():
                if entry.attested.get(key, entry.implied.get(key)) == value:
                    found.add(entry.handle)
        return found

    def enter(self, entry: NodeEntry) -> None:
        """A node joined, with the labels of its inventory."""
        for label in entry.capacity.labels.items():
            if label[0] not in IMPLIED_LABELS:
                self.nodes_with(label).add(entry.handle)
        for label in entry.implied.items():
            if label in self._sets:
                self._sets[label].add(entry.handle)

    def leave(self, entry: NodeEntry) -> None:
        """A node is gone."""
        for members in self._sets.values():
            members.discard(entry.handle)

    def give(self, entry: NodeEntry, given: Mapping[str, str]) -> None:
        """An operator says this of a node: these labels, and of those he gave before no others."""
        before, entry.given = entry.labels.items(), dict(given)
        after = entry.labels.items()
        for label in before - after:
            if label[0] not in IMPLIED_LABELS:
                self.nodes_with(label).discard(entry.handle)
        for label in after - before:
            if label[0] not in IMPLIED_LABELS:
                self.nodes_with(label).add(entry.handle)

    def attest(self, entry: NodeEntry, labels: Mapping[str, str]) -> None:
        """A node has proven this: these labels, and of those it had before no others."""
        for key, value in labels.items():
            check_name(f"labels[{key}]", value)
            if not check_name("labels key", key).startswith(ATTESTED_PREFIX):
                raise InvalidValue("labels", key, f"keys that begin with {ATTESTED_PREFIX}")
        before, entry.attested = entry.attested.items(), dict(labels)
        for label in before - labels.items():
            if label in self._sets:
                self._sets[label].discard(entry.handle)
        for label in labels.items() - before:
            if label in self._sets:
                self._sets[label].add(entry.handle)
