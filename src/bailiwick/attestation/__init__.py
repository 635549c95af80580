"""May this node be trusted: evidence, one verifier per kind, policy and gate.

Pure: bytes, policy and time in, a verdict out. The names below are the package. A verifier is
loaded when it is first asked for, with what it needs: cryptography, and cbor2 for some.

>>> from bailiwick.attestation import Ed25519Verifier
>>> Ed25519Verifier.kind.value
'ed25519'
"""

from importlib import import_module
from typing import TYPE_CHECKING

from bailiwick.attestation.evidence import (
    Evidence,
    EvidenceContext,
    EvidenceVerifier,
    bound_nonce,
    device_nonce,
)
from bailiwick.attestation.gate import AttestationGate
from bailiwick.attestation.policy import PoolRule, Requirement, TrustPolicy
from bailiwick.attestation.verdict import (
    EvidenceError,
    StaleEvidence,
    Trusted,
    Unsupported,
    Untrusted,
    Verdict,
)
from bailiwick.vocab.trust import EvidenceKind, UntrustedReason

if TYPE_CHECKING:
    from bailiwick.attestation.dice.verifier import DiceVerifier
    from bailiwick.attestation.ed25519 import Ed25519Verifier
    from bailiwick.attestation.gpu.verifier import GpuCcVerifier
    from bailiwick.attestation.nitro import NitroVerifier
    from bailiwick.attestation.sev_snp import SevSnpVerifier
    from bailiwick.attestation.tdx import TdxVerifier
    from bailiwick.attestation.tpm.verifier import Tpm2Verifier

__all__ = [
    "AttestationGate",
    "DiceVerifier",
    "Ed25519Verifier",
    "Evidence",
    "EvidenceContext",
    "EvidenceError",
    "EvidenceKind",
    "EvidenceVerifier",
    "GpuCcVerifier",
    "NitroVerifier",
    "PoolRule",
    "Requirement",
    "SevSnpVerifier",
    "StaleEvidence",
    "TdxVerifier",
    "Tpm2Verifier",
    "TrustPolicy",
    "Trusted",
    "Unsupported",
    "Untrusted",
    "UntrustedReason",
    "Verdict",
    "bound_nonce",
    "device_nonce",
]

_VERIFIERS = {
    "DiceVerifier": "dice.verifier",
    "Ed25519Verifier": "ed25519",
    "GpuCcVerifier": "gpu.verifier",
    "NitroVerifier": "nitro",
    "SevSnpVerifier": "sev_snp",
    "TdxVerifier": "tdx",
    "Tpm2Verifier": "tpm.verifier",
}


def __getattr__(name: str) -> object:
    """A verifier, with what it needs, when it is asked for."""
    if name not in _VERIFIERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    return getattr(import_module(f"{__name__}.{_VERIFIERS[name]}"), name)
