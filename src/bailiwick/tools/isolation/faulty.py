"""Kernels that are wrong on purpose: a wrong guard where the right one stands.

Rules:

- A wrong guard comes through the port that every policy comes through
  (:class:`bailiwick.kernel.guards.PolicyGuard`); nothing else of the kernel is changed. But for
  labels that change: no guard notices them, so there the kernel's own look at what runs knows
  nothing of the rules about nodes.
- Each fault is the twin of one of the model (:mod:`bailiwick.isolation.model.faults`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import assert_never

from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.model.faults import Fault, FaultWord
from bailiwick.isolation.policy import (
    Dedicated,
    Distrust,
    Linger,
    NeverShare,
    OnlyOn,
    Policy,
    Rule,
    Spread,
)
from bailiwick.journal.fields import INTEGER_MAX
from bailiwick.kernel import State
from bailiwick.kernel.guards import HeldLease
from bailiwick.kernel.isolation.guard import IsolationGuard
from bailiwick.scheduler.node_set import NodeSet
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.transitions import RevokeState


def seed_fault(state: State, fault: Fault) -> None:
    """From now on the policy in force is kept by a wrong guard; nothing runs yet."""
    assert not state.leases, "a guard is told of leases as they begin"
    book = state.isolation
    guard = WrongGuard(state, _seen(book.policy, fault), fault)
    for each in state.guards.policies:
        state.guards.drop(each)
    state.guards.add(guard)
    if fault.word is FaultWord.RELABEL_UNNOTICED:
        rules = tuple(rule for rule in book.policy.rules if not isinstance(rule, OnlyOn))
        book.policy = replace(book.policy, rules=rules)


class WrongGuard(IsolationGuard):
    """A guard with one fault."""

    def __init__(self, state: State, policy: Policy, fault: Fault) -> None:
        books = state.isolation, state.cores
        super().__init__(policy, state.ledger, book=books[0], cores=books[1], ids=state.ids)
        self._state, self._fault = state, fault.word

    def nodes_for(
        self, request: PlacementRequest, *, without: Collection[int] = ()
    ) -> NodeSet | None:
        """Where the request may run, as far as this guard sees."""
        if self._fault is FaultWord.FREES_EARLY:
            leaving = (
                lease_id
                for lease_id in self._state.leases
                if self._state.phase(lease_id) is not RevokeState.ACTIVE
            )
            without = {*without, *leaving}
        return super().nodes_for(request, without=without)

    def nodes_ever(self, request: PlacementRequest) -> NodeSet | None:
        """Where it might run if nothing else did."""
        if self._fault is FaultWord.GANG_UNCOUNTED:
            request = replace(request, gang_size=1)
        return super().nodes_ever(request)

    def nodes_beside(
        self, request: PlacementRequest, placed: Sequence[int], *, without: Collection[int] = ()
    ) -> NodeSet | None:
        """Where a further member of a gang may run."""
        if self._fault is FaultWord.GANG_UNCOUNTED:
            return None
        return super().nodes_beside(request, placed, without=without)

    def granted(self, lease_id: int, held: HeldLease) -> None:
        """A lease began, or (below zero) room is kept for one that is to begin."""
        if lease_id >= 0 or self._fault is not FaultWord.CLAIM_UNCOUNTED:
            super().granted(lease_id, held)

    def ended(self, lease_id: int) -> None:
        """What a lease held is free."""
        if lease_id >= 0 or self._fault is not FaultWord.CLAIM_UNCOUNTED:
            super().ended(lease_id)


def _seen(policy: Policy, fault: Fault) -> Policy:
    """What the guard knows of the policy."""
    if fault.kind is not None:
        rules = (_blind(rule, fault.kind) for rule in policy.rules)
        return replace(policy, rules=tuple(rule for rule in rules if rule is not None))
    if fault.word is FaultWord.RESIDUE_FORGOTTEN:
        kept = tuple(rule for rule in policy.rules if not isinstance(rule, Linger))
        return replace(policy, rules=kept)
    if fault.word is FaultWord.EXPIRY_IGNORED:
        endless = tuple(replace(each, until_ms=INTEGER_MAX) for each in policy.exceptions)
        return replace(policy, exceptions=endless)
    return policy


def _blind(rule: Rule, kind: DomainKind) -> Rule | None:
    """The rule without one kind of domain; nothing if it is about no other."""
    match rule:
        case NeverShare(kinds=kinds) | Distrust(kinds=kinds):
            left = tuple(each for each in kinds if each is not kind)
            return replace(rule, kinds=left) if left else None
        case Dedicated() | Spread():
            return None if rule.kind is kind else rule
        case OnlyOn() | Linger():
            return rule
        case _:
            assert_never(rule)
