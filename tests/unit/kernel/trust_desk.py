"""A desk with a gate: policies, evidence and tokens in one line each."""

from __future__ import annotations

import json
from typing import Any

from bailiwick.journal.words import AttestationWord
from bailiwick.kernel import (
    EnrolNode,
    GrantToken,
    LiftQuarantine,
    RecordVerdict,
    SetTrustPolicy,
    TokenDenied,
    TokenGranted,
)
from bailiwick.vocab.trust import EvidenceKind, Operation, UntrustedReason
from tests.unit.kernel.desk import Desk, cores

TPM, GPU, NITRO = EvidenceKind.TPM2, EvidenceKind.GPU_CC, EvidenceKind.NITRO
BAD = UntrustedReason.PCR_POLICY
LIFE_MS = 60_000


def evidence(number: int = 1) -> str:
    """The digest of a piece of evidence."""
    return f"{number:064x}"


class Gate(Desk):
    """A desk whose nodes are asked for proof."""

    def __init__(self, nodes: int = 1, require: str = "tpm2", **terms: Any) -> None:
        grace_ms = terms.pop("grace_ms", 0)
        super().__init__(nodes=[cores(4, gpus=1)] * nodes, grace_ms=grace_ms)
        self.ask_for(require, **terms)

    def ask_for(self, require: str, *, of: tuple[str, ...] = ("n*",), **terms: Any) -> None:
        """Ask these nodes for this."""
        pool = {"nodes": list(of), "require": require, "max_age_s": 300, "stale_grace_s": 30}
        self.do(SetTrustPolicy(json.dumps({"pools": {"all": {**pool, **terms}}})))

    def trust(self, node: str = "n1", kind: EvidenceKind = TPM, *, number: int = 1, **claims: str):
        """The node's evidence is good for a minute."""
        until, word = self.now_ms + LIFE_MS, AttestationWord.TRUSTED
        command = RecordVerdict(node, kind, word, evidence(number), None, until, claims)
        return self.do(command)

    def distrust(self, node: str = "n1", kind: EvidenceKind = TPM, *, number: int = 2) -> None:
        """The node's evidence is bad."""
        word = AttestationWord.UNTRUSTED
        self.do(RecordVerdict(node, kind, word, evidence(number), BAD))

    def weak(self, word: AttestationWord, node: str = "n1", *, number: int = 3) -> None:
        """The node's evidence says nothing."""
        self.do(RecordVerdict(node, TPM, word, evidence(number)))

    def enrol(self, node: str = "n1", kind: EvidenceKind = TPM, *, who: int = 1, **keys: str):
        """The node enrols as this machine."""
        return self.do(EnrolNode(node, kind, keys or {"ak_public": "ab"}, evidence(who)))

    def lift(self, node: str = "n1", note: str = "", *, override: bool = False) -> None:
        """An operator opens the node again."""
        self.do(LiftQuarantine(node, override, note))

    def gated(self, node: str = "n1") -> bool:
        """Whether the gate keeps the node closed."""
        return self.state.ledger.entry(node).gated

    def quarantined(self, node: str = "n1") -> bool:
        """Whether the node is in quarantine."""
        return self.state.ledger.entry(node).quarantined

    def stands(self, node: str = "n1") -> str:
        """How the node stands now."""
        return self.state.trust.state_of(node, self.now_ms).value

    def token(self, lease_id: int, tenant: str = "lab", **terms: Any) -> TokenGranted | TokenDenied:
        """What somebody who wants a token is answered."""
        given = {"token_id": "t-1", "operations": (Operation.MEM_READ,), "audience": None}
        given |= {"ttl_ms": 5_000, **terms}
        answer = self.do(GrantToken(lease_id=lease_id, tenant=tenant, **given))
        assert isinstance(answer, TokenGranted | TokenDenied)
        return answer
