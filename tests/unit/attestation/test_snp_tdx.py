"""Guests of SEV-SNP and TDX by signature and chain: genuine, fresh, and allowed by the policy."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.attestation.evidence import Evidence
from bailiwick.attestation.policy_section import Section
from bailiwick.attestation.sev_snp import SevSnpVerifier
from bailiwick.attestation.tdx import TdxVerifier
from bailiwick.attestation.verdict import Trusted, Untrusted, Verdict
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import EvidenceKind, UntrustedReason
from tests.support import evidence_snp_tdx as made
from tests.support.attestation_cases import Case, cases_of, check, own, shared
from tests.support.certificates import AT_MS, DAY_MS, pem

MAX_AGE_MS = 300_000
OTHER = "11" * 48


def snp(evidence: Evidence | None = None, **policy: Any) -> Verdict:
    whole = {"roots": [pem(made.ark())]} | policy
    verifier = SevSnpVerifier.from_policy(Section("sev_snp", whole), max_age_ms=MAX_AGE_MS)
    return verifier.verify(evidence or made.snp_evidence(), made.asked())


def tdx(quote: made.Quote | bytes | None = None, **policy: Any) -> Verdict:
    whole = {"roots": [pem(made.intel_root())]} | policy
    verifier = TdxVerifier.from_policy(Section("tdx", whole), max_age_ms=MAX_AGE_MS)
    raw = quote if isinstance(quote, bytes) else (quote or made.Quote()).raw
    return verifier.verify(Evidence(EvidenceKind.TDX, {"quote": raw}), made.asked())


def reason_of(verdict: Verdict) -> UntrustedReason | None:
    return verdict.reason if isinstance(verdict, Untrusted) else None


def claims_of(verdict: Verdict) -> dict[str, str]:
    assert isinstance(verdict, Trusted), verdict
    return dict(verdict.claims)


@pytest.mark.parametrize("case", cases_of(own("snp-tdx")))
def test_our_own_cases_yield_their_verdicts(case: Case) -> None:
    check(own("snp-tdx"), case)


# AMD numbers its certificates with zero; the library warns that it may refuse that one day.
@pytest.mark.filterwarnings("ignore:Parsed a serial number")
@pytest.mark.parametrize("case", cases_of(shared("snp-tdx")))
def test_the_shared_cases_yield_their_verdicts(case: Case) -> None:
    check(shared("snp-tdx"), case)


# --- SEV-SNP -----------------------------------------------------------------------------------


def test_a_good_snp_report_says_by_what_it_is_believed() -> None:
    verdict = snp()
    claims = claims_of(verdict)
    assert len(claims.pop("chip_id")) == 32
    assert claims == {
        "assurance": "signature_chain",
        "measurement": made.MEASUREMENT.hex()[:32],
        "debug": "no",
        "vmpl": "0",
        "guest_svn": "7",
        "product": "Milan-B0",
    }
    assert isinstance(verdict, Trusted)
    assert verdict.valid_until_ms == AT_MS + MAX_AGE_MS


def test_an_snp_verdict_ends_with_the_chips_certificate() -> None:
    vcek = replace(made.MILAN, ends_ms=AT_MS + 2000).vcek
    verdict = snp(made.snp_evidence(vcek=vcek))
    assert isinstance(verdict, Trusted)
    assert verdict.valid_until_ms == AT_MS + 2999


def test_amds_intermediate_may_come_from_the_policy_instead() -> None:
    parts = dict(made.snp_evidence().parts)
    del parts["certificates"]
    bare = Evidence(EvidenceKind.SEV_SNP, parts)
    assert reason_of(snp(bare)) is UntrustedReason.CHAIN
    assert isinstance(snp(bare, intermediates=[pem(made.ask())]), Trusted)


def test_a_masked_chip_is_believed_by_its_certificate_and_not_named() -> None:
    report = made.snp_report(chip_id=bytes(64))
    assert "chip_id" not in claims_of(snp(made.snp_evidence(report)))


def test_a_providers_key_needs_no_chip_in_its_certificate_but_the_same_firmware() -> None:
    report = made.snp_report(key_info=1 << 2)
    vlek = replace(made.MILAN, hardware_id=b"")
    assert isinstance(snp(made.snp_evidence(report, vcek=vlek.vcek)), Trusted)
    older = replace(vlek, tcb=bytes(8))
    verdict = snp(made.snp_evidence(report, vcek=older.vcek))
    assert reason_of(verdict) is UntrustedReason.CHAIN


def test_a_report_signed_by_no_known_kind_of_key_is_malformed() -> None:
    verdict = snp(made.snp_evidence(made.snp_report(key_info=7 << 2)))
    assert reason_of(verdict) is UntrustedReason.MALFORMED


@pytest.mark.parametrize(
    ("changes", "policy", "reason"),
    [
        ({"policy": made.DEBUG_POLICY}, {}, "debug"),
        ({"policy": made.DEBUG_POLICY}, {"allow_debug": True}, None),
        ({"vmpl": 1}, {}, "mode"),
        ({"vmpl": 1}, {"vmpl_max": 1}, None),
        ({"vmpl": 2**32 - 1}, {"vmpl_max": 3}, "mode"),
        ({}, {"measurements": [OTHER]}, "measurement_mismatch"),
        ({}, {"measurements": [OTHER, made.MEASUREMENT.hex()]}, None),
        ({"report_data": made.NONCE * 2}, {}, "report_data_mismatch"),
        ({"report_data": bytes(64)}, {}, "report_data_mismatch"),
    ],
)
def test_an_snp_guest_is_held_to_nonce_and_policy(
    changes: dict[str, Any], policy: dict[str, Any], reason: str | None
) -> None:
    verdict = snp(made.snp_evidence(made.snp_report(**changes)), **policy)
    assert reason_of(verdict) == reason
    assert isinstance(verdict, Trusted) == (reason is None)


def test_a_bundle_that_brings_its_own_root_is_no_path() -> None:
    bundle = (pem(made.ask("other")) + pem(made.ark("other"))).encode()
    verdict = snp(made.snp_evidence(certificates=bundle))
    assert reason_of(verdict) is UntrustedReason.CHAIN


GOOD_REPORT = made.snp_report()


@given(st.integers(0, 1183), st.integers(1, 255))
def test_no_byte_of_an_snp_report_can_be_changed(at: int, flip: int) -> None:
    raw = bytearray(GOOD_REPORT)
    raw[at] ^= flip
    assert isinstance(snp(made.snp_evidence(bytes(raw))), Untrusted)


@given(st.binary(max_size=40), st.integers(0, 1300), st.integers(0, 40))
def test_any_bytes_as_a_certificate_get_a_verdict(junk: bytes, at: int, drop: int) -> None:
    good = made.good_vcek()
    raw = good[:at] + junk + good[at + drop :]
    verdict = snp(made.snp_evidence(vcek=raw))
    assert isinstance(verdict, Trusted) == (raw == good)
    assert isinstance(snp(made.snp_evidence(certificates=junk)), Untrusted | Trusted)


# --- TDX ---------------------------------------------------------------------------------------


def test_a_good_tdx_quote_says_by_what_it_is_believed() -> None:
    verdict = tdx()
    assert claims_of(verdict) == {
        "assurance": "signature_chain",
        "mrtd": made.MEASUREMENT.hex()[:32],
        "debug": "no",
        "tdx": "1.0",
    }
    assert isinstance(verdict, Trusted)
    assert verdict.valid_until_ms == AT_MS + MAX_AGE_MS
    assert claims_of(tdx(made.Quote(version=5, body_type=3)))["tdx"] == "1.5"


def test_a_tdx_verdict_ends_with_the_platforms_certificate() -> None:
    verdict = tdx(made.Quote(pck_ends_ms=AT_MS + 2000))
    assert isinstance(verdict, Trusted)
    assert verdict.valid_until_ms == AT_MS + 2999


@pytest.mark.parametrize(
    ("quote", "policy", "reason"),
    [
        (made.Quote(attributes=b"\1" + bytes(7)), {}, "debug"),
        (made.Quote(attributes=b"\x80" + bytes(7)), {}, "debug"),
        (made.Quote(attributes=b"\1" + bytes(7)), {"allow_debug": True}, None),
        (made.Quote(module=b"\1" + bytes(55)), {}, "measurement_mismatch"),
        (made.Quote(module=bytes(55) + b"\x80"), {"allow_debug": True}, "measurement_mismatch"),
        (
            made.Quote(version=5, body_type=3, module=bytes(48) + b"\1" + bytes(7)),
            {},
            "measurement_mismatch",
        ),
        (made.Quote(), {"mrtds": [OTHER]}, "measurement_mismatch"),
        (made.Quote(), {"mrtds": [OTHER, made.MEASUREMENT.hex()]}, None),
        (made.Quote(report_data=made.NONCE * 2), {}, "report_data_mismatch"),
        (made.Quote(qe_signer=bytes(32)), {}, "measurement_mismatch"),
        (made.Quote(qe_signer=bytes(32)), {"qe_signers": ["00" * 32]}, None),
        (made.Quote(qe_attributes=0x17), {"allow_debug": True}, "debug"),
        (made.Quote(quote_key="other"), {}, "bad_signature"),
        (made.Quote(quote_key="other", bound_key="other"), {}, None),
        (made.Quote(qe_key="other"), {}, "bad_signature"),
        (made.Quote(root="other"), {}, "chain"),
        (made.Quote(pck_ends_ms=AT_MS - DAY_MS), {}, "chain"),
        (made.Quote(tail=b""), {}, None),
    ],
)
def test_a_tdx_guest_is_held_to_nonce_chain_and_policy(
    quote: made.Quote, policy: dict[str, Any], reason: str | None
) -> None:
    verdict = tdx(quote, **policy)
    assert reason_of(verdict) == reason
    assert isinstance(verdict, Trusted) == (reason is None)


def test_an_attestation_key_that_is_no_point_is_of_the_wrong_shape() -> None:
    # An enclave that vouches for it makes it no key.
    zeros, qe_report = bytes(64), bytearray(made.Quote().qe_report)
    qe_report[320:352] = sha256(zeros + made.AUTH).digest()
    raw = made.Quote().raw.replace(made.point("attestation"), zeros)
    old = made.Quote().qe_report
    raw = raw.replace(old + made.p256_signature("pck", old), bytes(qe_report) + _signed(qe_report))
    assert reason_of(tdx(raw)) is UntrustedReason.KEY_OR_SIGNATURE_SHAPE


def _signed(report: bytearray) -> bytes:
    return made.p256_signature("pck", bytes(report))


QUOTE = made.Quote().raw
CERTIFICATES_AT = QUOTE.index(b"-----BEGIN")


@given(st.integers(0, CERTIFICATES_AT - 1), st.integers(1, 255))
def test_no_byte_of_a_tdx_quote_before_its_certificates_can_be_changed(at: int, flip: int) -> None:
    raw = bytearray(QUOTE)
    raw[at] ^= flip
    assert isinstance(tdx(bytes(raw)), Untrusted)


@given(st.binary(max_size=50), st.integers(0, CERTIFICATES_AT - 51))
def test_any_cut_tdx_quote_is_refused(junk: bytes, at: int) -> None:
    assert isinstance(tdx(QUOTE[:at] + junk), Untrusted)


def test_what_follows_the_quote_in_a_buffer_is_not_read() -> None:
    assert tdx(QUOTE + b"\xff" * 1000) == tdx(QUOTE)
    assert reason_of(tdx(QUOTE + bytes(64 * 1024))) is UntrustedReason.MALFORMED


# --- the policies ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        ({"roots": []}, "roots"),
        ({"measurements": ["00"]}, r"measurements\[0\]"),
        ({"vmpl_max": 4}, "vmpl_max"),
        ({"allow_debug": "no"}, "allow_debug"),
        ({"intermediates": ["x"]}, r"intermediates\[0\]"),
        ({"debug": True}, "sev_snp: expected only"),
    ],
)
def test_a_faulty_snp_policy_names_its_field(policy: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidValue, match=told):
        snp(**policy)


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        ({"roots": ["x"]}, r"roots\[0\]"),
        ({"mrtds": ["00" * 32]}, r"mrtds\[0\]"),
        ({"qe_signers": ["00"]}, r"qe_signers\[0\]"),
        ({"mrtd": []}, "tdx: expected only"),
    ],
)
def test_a_faulty_tdx_policy_names_its_field(policy: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidValue, match=told):
        tdx(**policy)
