"""Work that is where the policy forbids it to be has to go: found, told, and evicted.

Rules:

- When a policy is set, or held against what runs without being set, all that runs is looked at.
  When the journal's time was repaired, the next leader does the same: a rule may have hours. When
  what a node proved changes, the work on it is held against the rules about nodes. Nothing else
  puts work in the wrong place: nobody is let in whom a rule forbids, a renewal is judged like a
  beginning, and where a node is and what it is made of changes only when it departs, with all that
  runs there.
- Who goes, :mod:`bailiwick.isolation.recovery` says. Each goes with the reason
  ``policy_violation_recovery`` and the usual grace, whatever its class; a record before that says
  which rule, which domain, and beside whom.
- A lease that is leaving does so. Who was to leave for a claim when the policy was set is not given
  its place back, should the claim come to nothing: it was not asked whether it may stay. A policy
  that is not set does not change that: who came back is found when it is held against it again.
- Where nobody has to go, nothing is sealed: to hold the same policy against the same work twice is
  to do so once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bailiwick.isolation.judge import violations
from bailiwick.isolation.language.parser import parse_policy
from bailiwick.isolation.placements import Placement
from bailiwick.isolation.policy import OnlyOn, Policy
from bailiwick.isolation.recovery import Breach, who_must_go
from bailiwick.kernel.events import Event
from bailiwick.kernel.isolation.events import IsolationEnforced, IsolationViolated
from bailiwick.kernel.isolation.placements import placements
from bailiwick.kernel.state import State
from bailiwick.kernel.trust import events as trust
from bailiwick.kernel.work.ending import ISOLATION, EvictedBy, evict_active
from bailiwick.vocab.transitions import RevokeState
from bailiwick.vocab.words import PreemptionReason


def breaches(state: State, policy: Policy, *, now_ms: int) -> list[Breach]:
    """Who would have to go of what runs now, if this were the policy; the oldest first."""
    if not policy.rules:
        return []
    fixed, gangs = [], dict[int, list[Placement]]()
    units: dict[int, list[Placement]] = {}
    for lease_id, placement in zip(state.leases, placements(state), strict=True):
        if lease_id in state.fenced:
            fixed.append(placement)
        elif state.phase(lease_id) is RevokeState.ACTIVE:
            gang = state.fields(lease_id).gang
            unit = gangs.setdefault(gang, []) if gang >= 0 else []
            unit.append(placement)
            units.setdefault(id(unit), unit)
    residues = state.isolation.residues_at(now_ms)
    return who_must_go(policy, units.values(), now_ms=now_ms, residues=residues, fixed=fixed)


def recover_all(state: State, *, now_ms: int) -> Iterator[Event]:
    """Evict whoever may not be where it is under the policy that is in force."""
    return _recover(state, breaches(state, state.isolation.policy, now_ms=now_ms), now_ms=now_ms)


def follow_repair(state: State, events: Iterator[Event], *, now_ms: int) -> Iterator[Event]:
    """These events; and, if they elect the first leader after a repair, who has to go."""
    moved = state.isolation.time_moved
    yield from events
    if moved and not state.isolation.time_moved:
        yield from recover_all(state, now_ms=now_ms)


def enforce(state: State, text: str, *, now_ms: int) -> Iterator[Event]:
    """Evict whoever may not be where it is under another policy, and say by which."""
    found = breaches(state, parse_policy(text), now_ms=now_ms)
    if found:
        yield IsolationEnforced(text, len(found), sum(len(breach.unit) for breach in found))
        yield from _recover(state, found, now_ms=now_ms)


def _recover(state: State, found: Iterable[Breach], *, now_ms: int) -> Iterator[Event]:
    for breach in found:
        told = (breach.rule, breach.domain, breach.kind)
        partners = tuple(int(partner) for partner in breach.partners)
        yield IsolationViolated(int(breach.who.id), *told, partners)
        yield from _evict(state, map(int, breach.unit), rule=breach.rule, now_ms=now_ms)


def follow_proofs(state: State, events: Iterator[Event], *, now_ms: int) -> Iterator[Event]:
    """These events; and, of work on nodes of which they changed what is proven, who has to go."""
    nodes: dict[str, None] = {}
    for event in events:
        yield event
        match event:
            case trust.PolicyChanged():
                nodes |= dict.fromkeys(map(str, state.ledger.entries))
            case (
                trust.AttestationVerdict(node=node)
                | trust.NodeEnrolled(node=node)
                | trust.NodeEnrolmentWithdrawn(node=node)
                | trust.NodeQuarantineLifted(node=node)
            ):
                nodes[node] = None
            case _:
                pass
    rules = tuple(r for r in state.isolation.policy.rules if isinstance(r, OnlyOn))
    for node in nodes if rules else ():
        if node in state.ledger:
            yield from _recover_on(state, node, Policy(rules), now_ms=now_ms)


def _recover_on(state: State, node: str, about_nodes: Policy, *, now_ms: int) -> Iterator[Event]:
    runs = [i for i in state.leases_on(node) if state.phase(i) is RevokeState.ACTIVE]
    for found in violations(about_nodes, [*placements(state, runs)], now_ms=now_ms):
        lease_id = int(found.who[0])
        if state.phase(lease_id) is RevokeState.ACTIVE:  # else with its gang, or by another rule
            yield IsolationViolated(lease_id, found.rule, found.domain)
            yield from _evict(state, (lease_id,), rule=found.rule, now_ms=now_ms)


def _evict(state: State, lease_ids: Iterable[int], *, rule: str, now_ms: int) -> Iterator[Event]:
    why = PreemptionReason.POLICY_VIOLATION_RECOVERY
    by = EvictedBy(ISOLATION, rule)
    return evict_active(state, [*lease_ids], reason=why, now_ms=now_ms, grace_ms=None, by=by)
