"""The gate of a program that schedules in its own process."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from bailiwick.attestation import (
    AttestationGate,
    Evidence,
    EvidenceContext,
    EvidenceKind,
    StaleEvidence,
    Trusted,
    Untrusted,
    UntrustedReason,
    Verdict,
)
from bailiwick.vocab.errors import InvalidValue

NONCE, OTHER = bytes(range(32)), bytes(32)
SENT = Evidence(EvidenceKind.ED25519, {"statement": b"s", "signature": b"x"})
GOOD = Trusted({"reset_count": "3"}, 10_000)
BAD = Untrusted(UntrustedReason.BAD_SIGNATURE)


@dataclass
class Says:
    """A verifier that says what it is told to, and keeps what it was asked."""

    verdicts: list[Verdict]
    asked: list[EvidenceContext] = field(default_factory=list)
    kind: EvidenceKind = EvidenceKind.ED25519

    def verify(self, evidence: Evidence, asked: EvidenceContext) -> Verdict:
        """The next verdict."""
        self.asked.append(asked)
        return self.verdicts.pop(0)


def test_a_node_that_never_answered_is_not_admitted() -> None:
    gate = AttestationGate(Says([]))
    gate.ask("n", NONCE, now_ms=0)
    assert not gate.admits("n", now_ms=0)
    assert gate.standing("n", now_ms=0) is None


def test_a_trusted_node_is_admitted_until_its_verdict_ends_and_is_stale_then() -> None:
    gate = AttestationGate(Says([GOOD]))
    gate.ask("n", NONCE, now_ms=0)
    assert gate.verify("n", NONCE, evidence=SENT, now_ms=1) == GOOD
    assert gate.admits("n", now_ms=10_000)
    assert not gate.admits("n", now_ms=10_001)
    assert gate.standing("n", now_ms=10_001) == StaleEvidence(10_000)
    assert gate.stale(10_000) == ()
    assert gate.stale(10_001) == ("n",)


@pytest.mark.parametrize(
    ("node", "nonce", "now_ms"),
    [("n", OTHER, 1), ("other", NONCE, 1), ("n", NONCE, 60_001), ("n", b"", 1)],
    ids=["another nonce", "another node", "too late", "no nonce"],
)
def test_what_is_no_answer_to_the_nodes_own_nonce_changes_nothing(
    node: str, nonce: bytes, now_ms: int
) -> None:
    says = Says([GOOD, BAD])
    gate = AttestationGate(says)
    gate.ask("n", NONCE, now_ms=0)
    gate.verify("n", NONCE, evidence=SENT, now_ms=1)
    gate.ask("n", NONCE, now_ms=0)
    verdict = gate.verify(node, nonce, evidence=SENT, now_ms=now_ms)
    assert verdict == Untrusted(UntrustedReason.NONCE_SPENT)
    assert gate.standing("n", now_ms=1) == GOOD
    assert len(says.asked) == 1


def test_a_nonce_is_spent_by_its_answer_even_by_a_bad_one() -> None:
    gate = AttestationGate(Says([BAD]))
    gate.ask("n", NONCE, now_ms=0)
    assert gate.verify("n", NONCE, evidence=SENT, now_ms=1) == BAD
    again = gate.verify("n", NONCE, evidence=SENT, now_ms=2)
    assert again == Untrusted(UntrustedReason.NONCE_SPENT)


def test_a_new_nonce_takes_the_place_of_the_old() -> None:
    gate = AttestationGate(Says([GOOD]))
    gate.ask("n", NONCE, now_ms=0)
    gate.ask("n", OTHER, now_ms=0)
    first = gate.verify("n", NONCE, evidence=SENT, now_ms=1)
    assert first == Untrusted(UntrustedReason.NONCE_SPENT)
    assert gate.verify("n", OTHER, evidence=SENT, now_ms=1) == GOOD


def test_the_verifier_learns_what_was_claimed_before_unless_that_was_not_believed() -> None:
    says = Says([GOOD, BAD, GOOD])
    gate = AttestationGate(says)
    for _ in range(3):
        gate.ask("n", NONCE, now_ms=0)
        gate.verify("n", NONCE, evidence=SENT, now_ms=1, enrolled={"public_key": b"k"})
    assert [dict(each.previous) for each in says.asked] == [{}, {"reset_count": "3"}, {}]
    assert says.asked[0].enrolled == {"public_key": b"k"}


def test_a_node_that_left_begins_anew() -> None:
    gate = AttestationGate(Says([GOOD]))
    gate.ask("n", NONCE, now_ms=0)
    gate.verify("n", NONCE, evidence=SENT, now_ms=1)
    gate.forget("n")
    assert not gate.admits("n", now_ms=2)


def test_a_nonce_that_can_be_guessed_is_refused() -> None:
    with pytest.raises(InvalidValue, match="nonce"):
        AttestationGate(Says([])).ask("n", b"short", now_ms=0)
