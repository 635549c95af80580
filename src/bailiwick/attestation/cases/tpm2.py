"""Cases of a TPM: kinds ``quote``, ``eventlog`` and ``names``.

Rules:

- A case carries its own policy: roots, required registers, reference values.
- A case that names no instant is judged when the last of its certificates begins to be valid.
- A quote whose clock is not safe is trusted, and says so as its reason.
- A case of names expects its own values: it is trusted if they are those that were computed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from bailiwick.attestation.cases.reading import CaseFields, CaseOutcome, told, unhex
from bailiwick.attestation.evidence import Evidence, EvidenceContext
from bailiwick.attestation.formats.certificates import read_certificates
from bailiwick.attestation.tpm.event_log import read_event_log
from bailiwick.attestation.tpm.registers import BANKS, read_pcrs
from bailiwick.attestation.tpm.verifier import Tpm2Verifier, name_of, qualified_name_of
from bailiwick.attestation.verdict import EvidenceError, Trusted, Verdict, judged, refuse
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import EvidenceKind, UntrustedReason

_MAX_AGE_MS = 300_000
_CLOCK_UNSAFE = "clock_unsafe_flag"


@dataclass(frozen=True, slots=True)
class QuoteCase:
    """A case of a quote as the gate would have it: who judges, what was sent, what was asked."""

    verifier: Tpm2Verifier
    evidence: Evidence
    asked: EvidenceContext


def read_quote_case(case: CaseFields) -> QuoteCase:
    """The verifier of the case's own policy, and what it is to judge."""
    roots = {name: _roots(name, case.files(name)) for name in ("ek_roots", "ak_roots")}
    keys = {"ak_public": case.file("ak_public")}
    for name in ("ek_public", "ek_certificate", "ak_certificate"):
        found = case.optional_file(name)
        keys |= {} if found is None else {name: found}
    for name in ("ek_intermediates", "ak_intermediates"):
        keys[name] = b"".join(_der(each) for each in case.files(name))
    policy = _policy(case)
    verifier = Tpm2Verifier(
        max_age_ms=_MAX_AGE_MS,
        ek_roots=roots["ek_roots"],
        ak_roots=roots["ak_roots"],
        selection=_selection(case),
        references=_references(case),
        is_log_required=policy["require_event_log"],
        require_secure_boot=policy["require_secure_boot"],
        accept_resume=policy["accept_resume"],
    )
    parts = {"attest": case.file("attest"), "signature": case.file("signature")}
    parts["pcrs"] = json.dumps(case.get("pcrs") or {}).encode()
    log = case.optional_file("event_log")
    parts |= {} if log is None else {"event_log": log}
    asked = EvidenceContext(
        node="case",
        # The gate never asks with nothing; a quote over nothing answers no question.
        nonce=case.hex("nonce") or b"a nonce that the case does not give",
        at_ms=case.at_ms() if case.get("at") is not None else _last_begin_ms(keys, roots),
        enrolled=keys,
        previous=_previous(case),
    )
    return QuoteCase(verifier, Evidence(EvidenceKind.TPM2, parts), asked)


def _judge_quote(case: CaseFields) -> CaseOutcome:
    found = read_quote_case(case)
    verdict = found.verifier.verify(found.evidence, found.asked)
    if isinstance(verdict, Trusted) and verdict.claims["clock_safe"] == "no":
        return CaseOutcome(told(verdict).verdict, _CLOCK_UNSAFE)
    return told(verdict)


def _judge_log(case: CaseFields) -> CaseOutcome:
    raw, values = case.file("event_log"), json.dumps(case.get("pcrs") or {}).encode()

    @judged
    def verdict() -> Verdict:
        log = read_event_log(raw)
        for bank, registers in read_pcrs(values).items():
            log.check_replay(bank, registers)
            log.check_data(bank, registers)
        return Trusted({}, 0)

    return told(verdict())


def _judge_names(case: CaseFields) -> CaseOutcome:
    ak, ek = case.file("ak_public"), case.file("ek_public")
    given = {name: case.hex(name) for name in ("ak_name", "ek_name", "ak_qualified_name")}

    @judged
    def verdict() -> Verdict:
        found = {"ak_name": name_of(ak), "ek_name": name_of(ek)}
        found["ak_qualified_name"] = qualified_name_of(ak, ek)
        for name, value in found.items():
            if given[name] != value:
                raise refuse(UntrustedReason.IDENTITY_MISMATCH, f"{name} is {value.hex()}")
        return Trusted({}, 0)

    return told(verdict())


def _policy(case: CaseFields) -> dict[str, bool]:
    names = ("require_event_log", "require_secure_boot", "accept_resume")
    found = dict.fromkeys(names, False) | case.policy(*names)
    for name, value in found.items():
        if not isinstance(value, bool):
            raise InvalidValue(f"policy.{name}", value, "true or false")
    return found


def _selection(case: CaseFields) -> dict[int, frozenset[int]]:
    found = _map("required_selection", case.get("required_selection"))
    return {_bank(name): frozenset(registers) for name, registers in found.items()}


def _references(case: CaseFields) -> dict[int, dict[int, frozenset[bytes]]]:
    found: dict[int, dict[int, frozenset[bytes]]] = {}
    for name, registers in _map("reference_pcrs", case.get("reference_pcrs")).items():
        for key, values in _map(name, registers).items():
            listed = [values] if isinstance(values, str) else values
            allowed = frozenset(unhex(f"reference_pcrs.{name}.{key}", each) for each in listed)
            found.setdefault(_bank(name), {})[int(key)] = allowed
    return found


def _previous(case: CaseFields) -> dict[str, str]:
    """The recorded state as claims; ``safe`` is the flag of the clock in it, if it is told."""
    found = _map("previous", case.get("previous"))
    state = {
        name: str(value) for name, value in found.items() if name not in ("safe", "clock_safe")
    }
    safe = found.get("safe", found.get("clock_safe", True))
    return state | ({} if safe in (True, 1, "yes") else {"clock_safe": "no"}) if found else {}


def _map(name: str, value: Any) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidValue(name, value, "a map")
    return value


def _bank(name: str) -> int:
    if name not in BANKS:
        raise InvalidValue("bank", name, f"one of {', '.join(BANKS)}")
    return BANKS[name]


def _roots(name: str, files: Iterable[bytes]) -> tuple[x509.Certificate, ...]:
    try:
        return tuple(each for raw in files for each in read_certificates(raw))
    except EvidenceError as error:
        raise InvalidValue(name, "a file", f"certificates ({error.where})") from None


def _der(raw: bytes) -> bytes:
    """Certificates in DER; what holds none goes to the verifier as it is."""
    found = _certificates(raw)
    return b"".join(each.public_bytes(Encoding.DER) for each in found) or raw


def _certificates(raw: bytes) -> tuple[x509.Certificate, ...]:
    try:
        return read_certificates(raw)
    except EvidenceError:
        return ()


def _last_begin_ms(
    keys: Mapping[str, bytes], roots: Mapping[str, tuple[x509.Certificate, ...]]
) -> int:
    found = [each for known in roots.values() for each in known]
    for name, raw in keys.items():
        found += _certificates(raw) if name.endswith(("certificate", "intermediates")) else ()
    return max((int(each.not_valid_before_utc.timestamp()) * 1000 for each in found), default=0)


KINDS: dict[str, Callable[[CaseFields], CaseOutcome]] = {
    "quote": _judge_quote,
    "eventlog": _judge_log,
    "names": _judge_names,
}
"""How each kind of case is judged."""
