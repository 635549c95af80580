"""Where members of instances may run: regions and SKUs of nodes, as the lines about an app say.

Rules:

- A request of an instance says so by a label of its work (:data:`INSTANCE_LABEL`), which nobody
  who asks from outside can give. It only ever narrows: with the label of another project's
  instance, or of one that is gone, nothing is open at all.
- A node's region is its label ``region``. Its SKUs are its label ``sku`` and the generations and
  models of its GPUs. A value that is denied closes the node; where there is a list, one of the
  node's values must be on it. A node that does not say is on no list.
- A member of what several projects share is on no node whose jobs may do what its executor may:
  who has that node has all of what is shared.
- What is open follows the lines that are in force. A lease where they would not let it begin is not
  renewed there.
- It stands guard only while there are instances, and lines about regions or SKUs or something that
  is shared. Then it costs
  other requests one look at their labels.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from bailiwick.apps.places import (
    REGION_LABEL,
    SKU_LABEL,
    NodeFacts,
    PlaceRule,
)
from bailiwick.fleet.node import NodeCapacity, gives_root
from bailiwick.iam import Scope
from bailiwick.kernel.apps.book import AppBook
from bailiwick.kernel.guards import HeldLease
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.state import State
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.node_set import NodeSet
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.app_uses import INSTANCE_LABEL

RULES_MAX: Final = 4_096
"""Rules, and scopes whose rule is known, that are kept."""

NO_INSTANCE: Final = "app-instance"
"""The rule that closes all nodes to who names an instance that is not there."""


class _Asker(NamedTuple):
    """Who asks: whose it is, and the instance that it names."""

    owner: Owner
    instance: str


def facts_of(capacity: NodeCapacity) -> NodeFacts:
    """What a machine says of itself, by its labels and its inventory."""
    labels, gpus = capacity.labels, capacity.gpus
    named = {labels[SKU_LABEL]} if SKU_LABEL in labels else set[str]()
    built = {gpu.generation.value for gpu in gpus} | {gpu.model for gpu in gpus if gpu.model}
    regions = {labels[REGION_LABEL]} if REGION_LABEL in labels else set[str]()
    return NodeFacts(frozenset(regions), frozenset(named | built), gives_root(labels))


class AppPlaceGuard:
    """The lines about regions and SKUs between requests of instances and nodes."""

    def __init__(self, book: AppBook, ledger: CapacityLedger) -> None:
        self._book, self._ledger = book, ledger
        self._where: dict[int, tuple[_Asker, str]] = {}
        self._rules: dict[tuple[str, Scope, bool], PlaceRule] = {}
        self._open: dict[PlaceRule, NodeSet] = {}
        self._facts: dict[int, NodeFacts] = {}
        self._handles: dict[str, int] = {}
        self._nowhere = NodeSet()
        for name in ledger.entries:
            self._join(str(name))

    # -- being told --------------------------------------------------------------------------

    def look(self, now_ms: int) -> None:
        """Nothing here depends on time."""

    def granted(self, lease_id: int, held: HeldLease) -> None:
        """A lease began, or (below zero) room is kept for one that is to begin."""
        named = held.job_labels.get(INSTANCE_LABEL)
        if named is not None:
            self._where[lease_id] = _Asker(held.owner, named), held.node

    def ended(self, lease_id: int) -> None:
        """What a lease held is free."""
        self._where.pop(lease_id, None)

    def lines_changed(self) -> None:
        """What the lines say is asked for again."""
        self._rules.clear()

    def fleet_changed(self, node: str) -> None:
        """The node came or went."""
        handle = self._handles.pop(node, None)
        if handle is not None:
            del self._facts[handle]
            for nodes in self._open.values():
                nodes.discard(handle)
        if node in self._ledger.entries:
            self._join(node)

    def _join(self, node: str) -> None:
        entry = self._ledger.entry(node)
        handle = self._handles[node] = entry.handle
        self._facts[handle] = facts = facts_of(entry.capacity)
        for rule, nodes in self._open.items():
            if rule.broken_by(facts) is None:
                nodes.add(handle)

    # -- asking ------------------------------------------------------------------------------

    def nodes_for(
        self, request: PlacementRequest, *, without: Collection[int] = ()
    ) -> NodeSet | None:
        """Where the request may run; ``None`` for everywhere. Who else runs makes no difference."""
        del without
        asker = _asker(request)
        if asker is None:
            return None
        rule = self._rule_of(asker)
        if rule is None:
            return self._nowhere
        return self._nodes(rule) if rule.narrows else None

    def nodes_ever(self, request: PlacementRequest) -> NodeSet | None:
        """The same: no waiting changes what a node is."""
        return self.nodes_for(request)

    def nodes_beside(
        self, request: PlacementRequest, placed: Sequence[int], *, without: Collection[int] = ()
    ) -> NodeSet | None:
        """Members of one gang are not in each other's way."""
        del request, placed, without
        return None

    def closed_by(self, request: PlacementRequest) -> Mapping[str, int]:
        """How many nodes each rule closes to the request, by the rule's name."""
        asker = _asker(request)
        if asker is None:
            return {}
        rule, found = self._rule_of(asker), dict[str, int]()
        if rule is None:
            return {NO_INSTANCE: len(self._facts)}
        for facts in self._facts.values():
            name = rule.broken_by(facts)
            if name is not None:
                found[name] = found.get(name, 0) + 1
        return found

    def renewal_breaks(self, lease_id: int, *, ttl_ms: int) -> str | None:
        """The rule that a lease would break if it stayed where it is."""
        del ttl_ms
        known = self._where.get(lease_id)
        if known is None:
            return None
        asker, node = known
        rule = self._rule_of(asker)
        return NO_INSTANCE if rule is None else rule.broken_by(self._facts[self._handles[node]])

    def _rule_of(self, asker: _Asker) -> PlaceRule | None:
        """What the lines say to who asks; ``None`` if it names no instance of its own."""
        number = asker.instance
        held = self._book.instances.held.get(int(number)) if number.isdecimal() else None
        if held is None or not held.is_held_by(asker.owner):
            return None
        is_shared = self._book.shared.behind(held.instance.id) is not None
        key = held.instance.app, Scope(*asker.owner), is_shared
        found = self._rules.get(key)
        if found is None:
            if len(self._rules) >= RULES_MAX:
                self._rules.clear()
            policy = self._book.policy(*key[:2])
            found = self._rules[key] = PlaceRule.of(policy, is_shared=is_shared)
        return found

    def _nodes(self, rule: PlaceRule) -> NodeSet:
        found = self._open.get(rule)
        if found is None:
            if len(self._open) >= RULES_MAX:
                self._open.clear()
            found = self._open[rule] = NodeSet(len(self._ledger.by_handle))
            for handle, facts in self._facts.items():
                if rule.broken_by(facts) is None:
                    found.add(handle)
        return found


def _asker(request: PlacementRequest) -> _Asker | None:
    named = request.job_labels.get(INSTANCE_LABEL)
    return None if named is None else _Asker(Owner(request.tenant, request.project), named)


def stand_guard(state: State) -> None:
    """Guard what there is to guard, and nothing else."""
    book, guards = state.apps, state.guards
    standing = [each for each in guards.policies if isinstance(each, AppPlaceGuard)]
    is_needed = bool((book.narrowing or book.shared.held) and book.instances.held)
    if is_needed and not standing:
        guards.add(_guard_of(state))
    for each in standing:
        each.lines_changed()
        if not is_needed:
            guards.drop(each)


def _guard_of(state: State) -> AppPlaceGuard:
    """A guard that knows of every lease of an instance."""
    guard = AppPlaceGuard(state.apps, state.ledger)
    for lease_id, labels in state.job_labels.items():
        if INSTANCE_LABEL in labels and lease_id in state.leases:
            held = HeldLease(state.owner_of(lease_id), labels, state.node_of(lease_id), 0)
            guard.granted(lease_id, held)
    return guard
