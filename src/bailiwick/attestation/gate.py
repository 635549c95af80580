"""The gate for a program that schedules in its own process: who has proven itself, and until when.

A server's gate is the kernel's, sealed in the journal (``docs/adr/0011``). This one is for users of
the library, who keep their own ledger and hand in their own nonces and time.

Rules:

- A node answers the nonce that it was asked with last, once, and within its life. Any other answer
  is ``nonce_spent`` and changes nothing: it says nothing about the node.
- A node is admitted while its last verdict is trusted and not too old, and at no other time.
- What follows from a verdict (quarantine, revoking leases) is the caller's to do.

>>> from bailiwick.vocab.trust import EvidenceKind, UntrustedReason
>>> class Believes:
...     kind = EvidenceKind.ED25519
...     def verify(self, evidence, asked):
...         return Trusted({}, asked.at_ms + 1_000)
>>> gate, sent = AttestationGate(Believes()), Evidence(EvidenceKind.ED25519, {"statement": b"s"})
>>> gate.ask("node-1", bytes(32), now_ms=0)
>>> type(gate.verify("node-1", bytes(32), evidence=sent, now_ms=5)).__name__
'Trusted'
>>> gate.verify("node-1", bytes(32), evidence=sent, now_ms=6).reason.value
'nonce_spent'
>>> gate.admits("node-1", now_ms=1_005), gate.admits("node-1", now_ms=1_006), gate.stale(1_006)
(True, False, ('node-1',))
"""

from __future__ import annotations

from collections.abc import Mapping
from hmac import compare_digest

from bailiwick.attestation.evidence import Evidence, EvidenceContext, EvidenceVerifier
from bailiwick.attestation.verdict import StaleEvidence, Trusted, Untrusted, Verdict
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import UntrustedReason
from bailiwick.vocab.values import check_amount, check_integer, check_name

NONCE_LIFE_MS = 60_000
NONCE_LIFE_MS_MAX = 3_600_000


class AttestationGate:
    """One verifier, and what it found of each node. One instance is for one thread."""

    def __init__(self, verifier: EvidenceVerifier, *, nonce_life_ms: int = NONCE_LIFE_MS) -> None:
        self._verifier = verifier
        high = NONCE_LIFE_MS_MAX
        self._life_ms = check_integer("nonce_life_ms", nonce_life_ms, low=1, high=high)
        self._asked: dict[str, tuple[bytes, int]] = {}
        self._verdicts: dict[str, Verdict] = {}

    def ask(self, node: str, nonce: bytes, *, now_ms: int) -> None:
        """The nonce that the node is to answer now, in place of any before."""
        check_amount("now_ms", now_ms)
        if not isinstance(nonce, bytes) or not 16 <= len(nonce) <= 64:
            raise InvalidValue("nonce", nonce, "16 to 64 bytes that nobody can guess")
        self._asked[check_name("node", node)] = nonce, now_ms + self._life_ms

    def verify(
        self,
        node: str,
        nonce: bytes,
        *,
        evidence: Evidence,
        now_ms: int,
        enrolled: Mapping[str, bytes] | None = None,
    ) -> Verdict:
        """The verdict on a node's answer; it is the node's until the next."""
        wanted, until_ms = self._asked.get(node, (b"", -1))
        if not compare_digest(wanted, nonce) or now_ms > until_ms:
            return Untrusted(UntrustedReason.NONCE_SPENT, f"it is not {node}'s nonce now")
        del self._asked[node]
        before = self._verdicts.get(node)
        asked = EvidenceContext(
            node=node,
            nonce=nonce,
            at_ms=now_ms,
            enrolled=enrolled or {},
            previous=before.claims if isinstance(before, Trusted) else {},
        )
        self._verdicts[node] = verdict = self._verifier.verify(evidence, asked)
        return verdict

    def standing(self, node: str, *, now_ms: int) -> Verdict | None:
        """What is known of the node now; nothing if it never answered."""
        verdict = self._verdicts.get(node)
        if isinstance(verdict, Trusted) and verdict.valid_until_ms < now_ms:
            return StaleEvidence(verdict.valid_until_ms)
        return verdict

    def admits(self, node: str, *, now_ms: int) -> bool:
        """Whether the node may take a lease now."""
        return isinstance(self.standing(node, now_ms=now_ms), Trusted)

    def stale(self, now_ms: int) -> tuple[str, ...]:
        """The nodes that were trusted and have to prove themselves again."""
        return tuple(
            node
            for node in self._verdicts
            if isinstance(self.standing(node, now_ms=now_ms), StaleEvidence)
        )

    def forget(self, node: str) -> None:
        """The node is gone; if it comes back, it begins anew."""
        self._asked.pop(node, None)
        self._verdicts.pop(node, None)
