"""The verifiers of one pool: each kind that its requirement names, built from its policy section.

Rules:

- A kind that the requirement names has a section, and a section belongs to a kind that it names: a
  rule that nobody would ask, or a question that nobody could answer, is the operator's mistake and
  is told when the policy is set.
- Whatever a section says is read here, once, with its trust anchors: later only evidence is read.
- A verifier's module is loaded when a policy asks for its kind, so that a server without
  attestation never loads the cryptography.
"""

from __future__ import annotations

from typing import Protocol, Self, assert_never

from bailiwick.attestation.evidence import EvidenceVerifier
from bailiwick.attestation.policy import PoolRule
from bailiwick.attestation.policy_section import Section
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import EvidenceKind


class _FromPolicy(EvidenceVerifier, Protocol):
    @classmethod
    def from_policy(cls, section: Section, *, max_age_ms: int) -> Self:
        """The verifier that a section describes."""


def verifiers_of(rule: PoolRule) -> dict[EvidenceKind, EvidenceVerifier]:
    """A verifier for each kind that the pool's requirement names."""
    where, wanted = f"pools.{rule.name}", rule.require.kinds
    for kind in rule.sections:
        if kind not in wanted:
            expected = "no such section, or that kind in require, which does not name it"
            raise InvalidValue(f"{where}.{kind.value}", "a section", expected)
    found: dict[EvidenceKind, EvidenceVerifier] = {}
    for kind in sorted(wanted):
        if not rule.sections.get(kind):
            expected = "a section with its rules, because require names it"
            raise InvalidValue(f"{where}.{kind.value}", "nothing", expected)
        section = Section(f"{where}.{kind.value}", rule.sections[kind])
        found[kind] = _class_of(kind).from_policy(section, max_age_ms=rule.max_age_ms)
    return found


def _class_of(kind: EvidenceKind) -> type[_FromPolicy]:
    match kind:
        case EvidenceKind.ED25519:
            from bailiwick.attestation.ed25519 import Ed25519Verifier

            return Ed25519Verifier
        case EvidenceKind.DICE:
            from bailiwick.attestation.dice.verifier import DiceVerifier

            return DiceVerifier
        case EvidenceKind.TPM2:
            from bailiwick.attestation.tpm.verifier import Tpm2Verifier

            return Tpm2Verifier
        case EvidenceKind.NITRO:
            from bailiwick.attestation.nitro import NitroVerifier

            return NitroVerifier
        case EvidenceKind.GPU_CC:
            from bailiwick.attestation.gpu.verifier import GpuCcVerifier

            return GpuCcVerifier
        case EvidenceKind.SEV_SNP:
            from bailiwick.attestation.sev_snp import SevSnpVerifier

            return SevSnpVerifier
        case EvidenceKind.TDX:
            from bailiwick.attestation.tdx import TdxVerifier

            return TdxVerifier
        case _:
            assert_never(kind)
