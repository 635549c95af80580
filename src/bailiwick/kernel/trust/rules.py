"""What follows from evidence, policy and time for a node; and how that changes what is known.

Rules:

- Untrusted evidence of a kind that the node's pool asks for puts it in quarantine, and what runs
  there is revoked, with a grace of its own that is never longer than the usual. Evidence of another
  kind is sealed and has no consequence.
- Evidence that is too old is sealed as stale by the next tick: the node takes no new lease. If the
  pool's grace passes and it has not attested, it is in quarantine. Each tick looks at a bounded
  number of nodes; those due longest come first.
- Trust lifts no quarantine by itself. Somebody does: after evidence that is newer than the
  quarantine and is enough now, or by an override, whose note is sealed.
- A quarantine goes with the name: who departs in it is in it again when it registers.
- Enrolling never takes a name or a machine from another. Other keys make what was proven with the
  old ones stale: the node keeps what it holds for its grace, and no longer.
- A verdict counts only if the policy, the node's keys and its devices are those it was given by.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import assert_never, get_args

from bailiwick.attestation.policy import TrustPolicy
from bailiwick.journal.record import encode_json
from bailiwick.journal.words import AttestationWord
from bailiwick.kernel.events import Event
from bailiwick.kernel.slice import NOTHING, Apply, Cause
from bailiwick.kernel.state import State
from bailiwick.kernel.trust import commands as cmd
from bailiwick.kernel.trust import events as ev
from bailiwick.kernel.trust.book import Enrolment, Held, Quarantined
from bailiwick.kernel.trust.tokens import grant_token
from bailiwick.kernel.work.ending import ATTESTATION, evict_active
from bailiwick.vocab.errors import Conflict, LimitReached, NotFound
from bailiwick.vocab.words import PreemptionReason

STALE = "stale"
"""Why a node is in quarantine that has not attested in time."""

ENROLLED_MAX = 1_000_000
"""Names with enrolled keys."""

_STALE = AttestationWord.STALE


def decide(state: State, command: cmd.TrustCommand, now_ms: int) -> Iterator[Event]:
    """The events that follow from such a command."""
    match command:
        case cmd.SetTrustPolicy():
            return _set_policy(state, command)
        case cmd.EnrolNode():
            return _enrol(state, command)
        case cmd.WithdrawEnrolment():
            return _withdraw(state, command)
        case cmd.RecordVerdict():
            return _record(state, command, now_ms=now_ms)
        case cmd.GrantToken():
            return iter((grant_token(state, command, now_ms=now_ms),))
        case cmd.Quarantine():
            return _quarantine(state, command, now_ms=now_ms)
        case cmd.LiftQuarantine():
            return _lift(state, command, now_ms=now_ms)
        case _:
            assert_never(command)


def _set_policy(state: State, command: cmd.SetTrustPolicy) -> Iterator[Event]:
    before, policy = state.trust.policy, TrustPolicy.read(command.document)
    if before is None or before.digest != policy.digest:
        yield ev.PolicyChanged(policy, None if before is None else before.digest)


def _enrol(state: State, command: cmd.EnrolNode) -> Iterator[Event]:
    book, node, kind = state.trust, command.node, command.kind
    known, holder = book.enrolled(node).get(kind), book.node_of(command.identity)
    if holder is not None and holder != node:
        # Not which: whoever holds a copy of a disk is told nothing about the other.
        raise Conflict("node", node, "is a machine that is enrolled under another name")
    if known is not None and known.identity != command.identity:
        hint = "withdraw the enrolment first, if the machine was replaced"
        raise Conflict("node", node, f"has enrolled another machine by {kind}", hint=hint)
    if known is None and len(book.names_enrolled) >= ENROLLED_MAX:
        raise LimitReached("enrolments", ENROLLED_MAX)
    if known is None or known.keys != command.keys:
        yield ev.NodeEnrolled(node, kind, command.identity, ev.paired(command.keys))


def _withdraw(state: State, command: cmd.WithdrawEnrolment) -> Iterator[Event]:
    if command.kind not in state.trust.enrolled(command.node):
        raise NotFound("enrolment", f"{command.node} by {command.kind}")
    yield ev.NodeEnrolmentWithdrawn(command.node, command.kind)


def _record(state: State, command: cmd.RecordVerdict, *, now_ms: int) -> Iterator[Event]:
    node, until_ms = command.node, command.valid_until_ms
    entry = state.ledger.entry(node)
    if command.basis not in (None, basis_of(state, node)):
        why = "was judged by a policy, keys or devices that are others now"
        raise Conflict("evidence", command.evidence, why, hint="attest again")
    is_trusted = command.verdict is AttestationWord.TRUSTED
    if is_trusted and until_ms is not None and until_ms < now_ms:
        raise Conflict("evidence", command.evidence, f"ran out at {until_ms}", hint="attest again")
    yield ev.AttestationVerdict(
        node,
        command.kind,
        command.verdict,
        command.evidence,
        command.reason,
        until_ms,
        ev.paired(command.claims),
    )
    rule = state.trust.rule_of(node)
    if command.reason is None or rule is None or command.kind not in rule.require.kinds:
        return
    if not entry.quarantined:
        grace_ms = min(state.settings.grace_ms, state.settings.untrusted_grace_ms)
        told = ev.NodeQuarantined(node, command.reason.value, command.evidence)
        yield from _close(state, told, now_ms=now_ms, grace_ms=grace_ms)


def basis_of(state: State, node: str) -> str:
    """A digest of all by which a node's evidence is judged: what is asked, its keys, its GPUs."""
    book, gpus = state.trust, len(state.ledger.entry(node).capacity.gpus)
    keys = [
        [kind.value, each.identity, *map(list, ev.paired(each.keys))]
        for kind, each in sorted(book.enrolled(node).items())
    ]
    told = ["" if book.policy is None else book.policy.digest, gpus, keys]
    return sha256(encode_json(told).encode()).hexdigest()


# -- quarantine ------------------------------------------------------------------------------


def _quarantine(state: State, command: cmd.Quarantine, *, now_ms: int) -> Iterator[Event]:
    """An operator closes a node; to say it again is a record all the same."""
    state.ledger.entry(command.node)
    yield ev.NodeQuarantined(command.node, command.reason)
    reason, grace_ms = PreemptionReason.POLICY_VIOLATION_RECOVERY, command.grace_ms
    holds = state.leases_on(command.node)
    yield from evict_active(state, holds, reason=reason, now_ms=now_ms, grace_ms=grace_ms)


def _close(
    state: State, told: ev.NodeQuarantined, *, now_ms: int, grace_ms: int | None
) -> Iterator[Event]:
    """Evidence, or the want of it, closes a node."""
    yield told
    why, holds = PreemptionReason.POLICY_VIOLATION_RECOVERY, state.leases_on(told.node)
    yield from evict_active(
        state, holds, reason=why, now_ms=now_ms, grace_ms=grace_ms, by=ATTESTATION
    )


def _lift(state: State, command: cmd.LiftQuarantine, *, now_ms: int) -> Iterator[Event]:
    """Open a node again, if evidence or somebody's word allows it."""
    book, node = state.trust, command.node
    held = book.quarantines.get(node)
    if held is None:
        state.ledger.entry(node)
        raise Conflict("node", node, "is not quarantined")
    rule = book.rule_of(node)
    if rule is None:
        yield ev.NodeQuarantineLifted(node, note=command.note)
        return
    fresh = book.trusted_kinds(node, after=held.seq, now_ms=now_ms)
    if rule.require.holds(fresh):
        found = book.standing(node) or {}
        newest = max((found[kind] for kind in fresh), key=lambda each: each.seq)
        yield ev.NodeQuarantineLifted(node, newest.evidence, command.note)
        return
    if not command.override:
        why = f"has not proven {rule.require.text} since it was quarantined"
        hint = "let it attest, or override with a note that is sealed"
        raise Conflict("node", node, why, hint=hint)
    yield ev.NodeQuarantineLifted(node, note=command.note, is_override=True)


def close_again(state: State, node: str) -> Iterator[Event]:
    """A node that has just registered, and had departed in quarantine, is in it still."""
    held = state.trust.quarantines.get(node)
    if held is not None:
        yield ev.NodeQuarantined(node, held.reason, held.evidence, is_kept=True)


# -- time ------------------------------------------------------------------------------------


def lapse(state: State, *, now_ms: int, limit: int) -> Iterator[Event]:
    """Evidence that became too old, and nodes whose grace after that is over."""
    book = state.trust
    for _ in range(limit):
        node = book.first_due(now_ms)
        if node is None:
            return
        lapsed = book.lapsed(node, now_ms)
        for kind, held in lapsed:
            until_ms = book.until_ms(node, held)
            yield ev.AttestationVerdict(
                node, kind, _STALE, held.evidence, valid_until_ms=until_ms, is_lapse=True
            )
        if not lapsed:
            stale = [h for h in (book.standing(node) or {}).values() if h.verdict is _STALE]
            evidence = max(stale, key=lambda each: each.seq).evidence
            # Nothing bad was found: what runs has the usual time to save its work.
            told = ev.NodeQuarantined(node, STALE, evidence)
            yield from _close(state, told, now_ms=now_ms, grace_ms=None)


# -- applying --------------------------------------------------------------------------------


def _policy(state: State, event: ev.PolicyChanged, at_ms: int) -> None:
    state.trust.set_policy(event.policy, since_ms=at_ms)
    for name in state.ledger.entries:
        gate(state, name)


def _enrolled(state: State, event: ev.NodeEnrolled, at_ms: int) -> None:
    enrolment = Enrolment(event.evidence_kind, dict(event.keys), event.identity)
    state.trust.enrol(event.node, enrolment, at_ms=at_ms, seq=state.size)
    gate(state, event.node)


def _withdrawn(state: State, event: ev.NodeEnrolmentWithdrawn, at_ms: int) -> None:
    del at_ms
    state.trust.withdraw(event.node, event.evidence_kind)
    gate(state, event.node)


def _sealed(state: State, event: ev.AttestationVerdict, at_ms: int) -> None:
    until_ms, claims = event.valid_until_ms, dict(event.claims)
    told = (until_ms, claims, event.evidence, at_ms, state.size)
    held = Held(event.verdict, event.reason, *told)
    state.trust.put(event.node, event.evidence_kind, held=held, is_lapse=event.is_lapse)
    gate(state, event.node)


def _quarantined(state: State, event: ev.NodeQuarantined, at_ms: int) -> None:
    why = Quarantined(event.reason, event.evidence, at_ms, state.size)
    state.trust.quarantine(event.node, why)
    state.ledger.set_quarantine(event.node, True)
    state.note_open(event.node)


def _lifted(state: State, event: ev.NodeQuarantineLifted, at_ms: int) -> None:
    """The node is open, unless it is gated."""
    del at_ms
    state.trust.lift(event.node)
    if event.is_override:
        state.trust.forget(event.node)
    if event.node in state.ledger:
        state.ledger.set_quarantine(event.node, False)
        gate(state, event.node)
        state.note_open(event.node)


def gate(state: State, node: str) -> None:
    """Let the ledger know what the node has proven, and whether that is enough."""
    if node not in state.ledger:
        return
    entry, gated, labels = state.ledger.entry(node), *_seen(state, node)
    if entry.attested != labels:
        state.ledger.set_attested(node, labels)
    if entry.gated is not gated:
        state.ledger.set_gate(node, gated)
        state.note_open(node)


def _seen(state: State, node: str) -> tuple[bool, dict[str, str]]:
    return state.trust.is_gated(node), state.trust.labels(node)


TOLD_ONLY = get_args(ev.TokenEvent)
APPLY: Mapping[type, Apply] = {
    ev.PolicyChanged: _policy,
    ev.NodeEnrolled: _enrolled,
    ev.NodeEnrolmentWithdrawn: _withdrawn,
    ev.AttestationVerdict: _sealed,
    ev.NodeQuarantined: _quarantined,
    ev.NodeQuarantineLifted: _lifted,
    **dict.fromkeys(TOLD_ONLY, NOTHING),
}


# -- causes ----------------------------------------------------------------------------------


def _enrolment(event: ev.NodeEnrolled) -> cmd.EnrolNode:
    return cmd.EnrolNode(event.node, event.evidence_kind, dict(event.keys), event.identity)


def _verdict(event: ev.AttestationVerdict) -> cmd.RecordVerdict | None:
    """Nobody's, if time alone brought it about."""
    if event.is_lapse:
        return None
    return cmd.RecordVerdict(
        event.node,
        event.evidence_kind,
        event.verdict,
        event.evidence,
        event.reason,
        event.valid_until_ms,
        dict(event.claims),
    )


def _lifting(event: ev.NodeQuarantineLifted) -> cmd.LiftQuarantine:
    return cmd.LiftQuarantine(event.node, event.is_override, event.note)


CAUSES: Mapping[type, Cause] = {
    ev.PolicyChanged: lambda event: cmd.SetTrustPolicy(event.policy.text),
    ev.NodeEnrolled: _enrolment,
    ev.NodeEnrolmentWithdrawn: lambda event: cmd.WithdrawEnrolment(event.node, event.evidence_kind),
    ev.AttestationVerdict: _verdict,
    ev.NodeQuarantineLifted: _lifting,
}
