"""Cases of kind ``ed25519``: a key, a message and a signature, all in hexadecimal."""

from __future__ import annotations

from collections.abc import Callable

from bailiwick.attestation.cases.reading import CaseFields, CaseOutcome, told
from bailiwick.attestation.ed25519 import check_signature
from bailiwick.attestation.verdict import Trusted, Verdict, judged


def _judge(case: CaseFields) -> CaseOutcome:
    key, message, signature = case.hex("public_key"), case.hex("message"), case.hex("signature")

    @judged
    def verdict() -> Verdict:
        check_signature(key, message, signature=signature)
        return Trusted({}, 0)

    return told(verdict())


KINDS: dict[str, Callable[[CaseFields], CaseOutcome]] = {"ed25519": _judge}
"""How each kind of case is judged."""
