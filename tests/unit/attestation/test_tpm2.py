"""The judge of quotes: what it asks of each part, in which order, and what it then claims."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.attestation.evidence import Evidence, EvidenceContext
from bailiwick.attestation.policy_section import Section
from bailiwick.attestation.tpm.registers import BANKS
from bailiwick.attestation.tpm.structures import (
    DECRYPT,
    FIXED_PARENT,
    FIXED_TPM,
    RESTRICTED,
    SENSITIVE_DATA_ORIGIN,
    SIGN,
)
from bailiwick.attestation.tpm.verifier import Tpm2Verifier, check_ak, identity_of, name_of
from bailiwick.attestation.verdict import EvidenceError, Trusted, Untrusted, Verdict
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import EvidenceKind, UntrustedReason
from tests.support.certificates import AT_MS, DAY_MS, der, ec_key, pem
from tests.support.paper_tpm import (
    AK_USE,
    BOUND,
    EVENTS,
    FIRST,
    MAX_AGE_MS,
    QUOTE,
    REGISTERS,
    Measured,
    Piece,
    ak_public,
    authority,
    boot_events,
    certify,
    ek_certificate,
    ek_public,
    event_of,
    keys_of,
    log_of,
    registers_of,
    selection,
    tpm_name,
    use,
    variable,
    verifier,
)

SHA256 = BANKS["sha256"]
GOOD = Piece()


def judge(piece: Piece = GOOD, **policy: Any) -> Verdict:
    return verifier(**policy).verify(piece.evidence, piece.asked)


def reason(piece: Piece = GOOD, **policy: Any) -> str:
    verdict = judge(piece, **policy)
    return verdict.reason.value if isinstance(verdict, Untrusted) else type(verdict).__name__


def trusted(piece: Piece = GOOD, **policy: Any) -> Trusted:
    verdict = judge(piece, **policy)
    assert isinstance(verdict, Trusted), verdict
    return verdict


# --- what a trusted quote claims -----------------------------------------------------------------


def test_a_good_quote_claims_its_keys_its_clock_and_secure_boot() -> None:
    claims = trusted().claims
    assert claims == {
        "ak": name_of(ak_public()).hex()[4:36],
        "ek": identity_of(ek_public())[:32],
        "clock": "5000",
        "clock_safe": "yes",
        "reset_count": "2",
        "restart_count": "0",
        "firmware_version": str(0x2019),
        "secure_boot": "on",
    }


def test_it_holds_for_the_policys_age_but_not_past_a_certificate() -> None:
    assert trusted().valid_until_ms == AT_MS + MAX_AGE_MS
    soon = replace(GOOD, enrolled=keys_of(ek_certificate=ek_certificate(ends_ms=AT_MS + 5000)))
    assert trusted(soon).valid_until_ms == AT_MS + 5999
    assert reason(replace(soon, at_ms=AT_MS + 6000)) == "ek_chain"


def test_secure_boot_is_claimed_only_as_far_as_a_log_proves_it() -> None:
    assert "secure_boot" not in trusted(replace(GOOD, log=None)).claims
    off = GOOD.of_boot(boot_events(secure_boot=0))
    assert trusted(off, references={}).claims["secure_boot"] == "off"
    few = {"sha256": {i: REGISTERS["sha256"][i] for i in (0, 4)}}
    narrow = replace(GOOD, quote=replace(QUOTE, registers=few))
    claims = trusted(narrow, selection={SHA256: frozenset({0})}).claims
    assert "secure_boot" not in claims, "register 7 is not in the quote"


def test_evidence_without_keys_or_parts_is_told_so() -> None:
    assert reason(replace(GOOD, enrolled={})) == "not_enrolled"
    for part in ("attest", "signature", "pcrs"):
        parts = {name: raw for name, raw in GOOD.parts.items() if name != part}
        evidence = Evidence(EvidenceKind.TPM2, parts)
        assert verifier().verify(evidence, GOOD.asked) == Untrusted(UntrustedReason.MISSING_FIELD)
    more = Evidence(EvidenceKind.TPM2, GOOD.parts | {"note": b""})
    assert verifier().verify(more, GOOD.asked) == Untrusted(UntrustedReason.MALFORMED)


# --- the keys ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "missing", [FIXED_TPM, FIXED_PARENT, SENSITIVE_DATA_ORIGIN, RESTRICTED, SIGN]
)
def test_a_key_that_lacks_an_attribute_signs_no_quote(missing: int) -> None:
    weak = ak_public(attributes=(BOUND | SIGN) & ~missing)
    assert reason(replace(GOOD, enrolled=keys_of(ak_public=weak))) == "ak_attributes"


def test_a_key_that_also_decrypts_signs_no_quote() -> None:
    both = ak_public(attributes=BOUND | SIGN | DECRYPT)
    assert reason(replace(GOOD, enrolled=keys_of(ak_public=both))) == "ak_attributes"


@pytest.mark.parametrize(
    "changes",
    [
        {"scheme": struct.pack(">HH", 0x18, 0x04)},
        {"scheme": struct.pack(">H", 0x10)},
        {"scheme": struct.pack(">HH", 0x14, 0x0B)},
        {"scheme": struct.pack(">HHH", 0x1A, 0x0B, 1)},
        {"name_alg": 0x04},
        {"name_alg": 0x12},
    ],
)
def test_a_key_of_a_weak_or_another_scheme_signs_no_quote(changes: dict[str, Any]) -> None:
    with pytest.raises(EvidenceError, match="ak_attributes"):
        check_ak(ak_public(**changes))


def test_a_quote_must_be_signed_by_the_enrolled_key() -> None:
    assert reason(replace(GOOD, signer="another")) == "bad_signature"


def test_the_key_must_be_under_the_enrolled_endorsement_key() -> None:
    for other in (b"", bytes(34), QUOTE.packed()[8:42][:-1] + b"\0"):
        assert reason(GOOD.changed(signer=other)) == "identity_mismatch"
    keys = keys_of(ek_public=ek_public("other"), ek_certificate=ek_certificate("other"))
    assert reason(replace(GOOD, enrolled=keys)) == "identity_mismatch"


@pytest.mark.parametrize(
    ("how", "certificate"),
    [
        ("another key", ek_certificate("another")),
        ("another maker", ek_certificate(maker="stranger")),
        ("not yet", ek_certificate(begins_ms=AT_MS + DAY_MS)),
        ("no use", ek_certificate(extra=((tpm_name(), True),))),
        ("another use", ek_certificate(extra=((tpm_name(), True), (use(AK_USE), False)))),
        ("no name", ek_certificate(extra=((use("2.23.133.8.1"), False),))),
        ("a CA", ek_certificate(ca=True)),
        ("not a certificate", b"certificate"),
    ],
)
def test_an_endorsement_certificate_must_vouch_for_this_tpm(how: str, certificate: bytes) -> None:
    piece = replace(GOOD, enrolled=keys_of(ek_certificate=certificate))
    assert reason(piece) == "ek_chain", how


def test_a_name_without_the_tpms_maker_is_no_tpms() -> None:
    model = x509.NameAttribute(x509.ObjectIdentifier("2.23.133.2.2"), "paper")
    odd = x509.SubjectAlternativeName([x509.DirectoryName(x509.Name([model]))])
    certificate = ek_certificate(extra=((odd, True), (use("2.23.133.8.1"), False)))
    assert reason(replace(GOOD, enrolled=keys_of(ek_certificate=certificate))) == "ek_chain"


@pytest.mark.parametrize("critical", [True, False])
def test_a_certificate_without_a_name_must_insist_on_the_tpms(critical: bool) -> None:
    extra = ((tpm_name(), critical), (use("2.23.133.8.1"), False))
    raw = ek_certificate(extra=extra, subject=x509.Name([]))
    expected = "Trusted" if critical else "ek_chain"
    assert reason(replace(GOOD, enrolled=keys_of(ek_certificate=raw))) == expected
    named = ek_certificate(extra=extra)
    assert reason(replace(GOOD, enrolled=keys_of(ek_certificate=named))) == "Trusted"


def test_an_endorsement_key_that_signs_or_has_no_cipher_is_none() -> None:
    for changes in ({"attributes": BOUND | SIGN}, {"symmetric": struct.pack(">H", 0x10)}):
        keys = keys_of(ek_public=ek_public(**changes))
        assert reason(replace(GOOD, enrolled=keys)) == "ek_chain"


def test_what_a_bundle_calls_its_root_is_not_one() -> None:
    root, issuer = authority("stranger")
    keys = keys_of(
        ek_certificate=ek_certificate(maker="stranger"), ek_intermediates=der(root) + der(issuer)
    )
    assert reason(replace(GOOD, enrolled=keys)) == "ek_chain"


def certified(label: str = "ak", **changes: Any) -> dict[str, bytes]:
    how = {"extra": ((tpm_name(), True), (use(AK_USE), False))} | changes
    raw = certify(ec_key(label, ec.SECP256R1).public_key(), **how)
    keys = {"ak_public": ak_public(), "ak_certificate": raw}
    return keys | {"ak_intermediates": der(authority()[1])}


def test_a_maker_may_vouch_for_the_attestation_key_itself() -> None:
    roots = {"ek_roots": (), "ak_roots": (authority()[0],)}
    assert trusted(replace(GOOD, enrolled=certified()), **roots).claims["ak"]
    assert reason(replace(GOOD, enrolled=certified("another")), **roots) == "ak_chain"
    assert reason(replace(GOOD, enrolled=certified(ends_ms=AT_MS - 1)), **roots) == "ak_chain"
    assert reason(replace(GOOD, enrolled=keys_of()), **roots) == "not_enrolled"


def test_with_both_kinds_of_root_either_vouches_and_none_is_too_little() -> None:
    both = {"ak_roots": (authority()[0],)}
    assert trusted(replace(GOOD, enrolled=certified()), **both)
    assert trusted(GOOD, **both)
    alone = {"ak_public": ak_public(), "ek_public": ek_public()}
    assert reason(replace(GOOD, enrolled=alone), **both) == "not_enrolled"
    bad = keys_of() | certified("another")
    assert reason(replace(GOOD, enrolled=bad), **both) == "ak_chain", "what is there must be good"


def test_enrolment_asks_what_every_verdict_asks_of_the_keys() -> None:
    verifier().check_enrolment(keys_of(), at_ms=AT_MS)
    unfit = keys_of(ak_public=ak_public(attributes=BOUND))
    for keys, word in (
        (unfit, "ak_attributes"),
        (keys_of(ek_certificate=ek_certificate("another")), "ek_chain"),
        ({"ak_public": ak_public()}, "not_enrolled"),
        ({"ek_public": ek_public()}, "not_enrolled"),
    ):
        with pytest.raises(EvidenceError, match=word):
            verifier().check_enrolment(keys, at_ms=AT_MS)


# --- the quote -----------------------------------------------------------------------------------


def test_a_structure_that_no_tpm_made_or_that_is_no_quote_is_refused() -> None:
    assert reason(GOOD.changed(magic=0xFE544347)) == "bad_magic"
    for kind in (0x8014, 0x8017, 0x8019, 0x801A):
        assert reason(GOOD.changed(kind=kind)) == "not_a_quote"
    assert reason(GOOD.changed(safe=2)) == "malformed"


def test_the_nonce_must_be_the_one_asked_for_and_never_empty() -> None:
    for nonce in (b"", QUOTE.nonce[:-1], QUOTE.nonce + b"\0", bytes(32)):
        assert reason(GOOD.changed(nonce=nonce)) == "nonce_mismatch"
    with pytest.raises(InvalidValue, match="nonce"):
        EvidenceContext(node="n1", nonce=b"", at_ms=AT_MS)


@given(st.sets(st.integers(0, 23)), st.sets(st.integers(0, 23), min_size=1))
def test_a_quote_covers_what_is_required_or_is_refused(quoted: set[int], wanted: set[int]) -> None:
    values = {"sha256": {i: bytes([i]) * 32 for i in quoted}}
    piece = replace(GOOD, quote=replace(QUOTE, registers=values), reported=values, log=None)
    policy = {"selection": {SHA256: frozenset(wanted)}, "references": {}}
    covers = wanted <= quoted
    assert reason(piece, **policy) == ("Trusted" if covers else "pcr_selection")


def test_a_quote_over_no_register_says_nothing_whatever_is_required() -> None:
    nothing = replace(GOOD, quote=replace(QUOTE, registers={}))
    assert reason(nothing, selection={}) == "pcr_selection"
    blank = GOOD.changed(selection=selection({"sha256": ()}))
    assert reason(blank, selection={}) == "pcr_selection"


def test_a_weak_bank_is_refused_even_where_it_is_asked_for() -> None:
    values = {"sha1": dict.fromkeys(FIRST, bytes(20))}
    weak = replace(GOOD, quote=replace(QUOTE, registers=values), reported=values, log=None)
    assert reason(weak, selection={BANKS["sha1"]: frozenset(FIRST)}) == "weak_bank"
    unknown = struct.pack(">IHB3s", 1, 0x12, 3, b"\xff\xff\xff")
    assert reason(GOOD.changed(selection=unknown)) == "pcr_selection"


@given(st.integers(0, 9), st.binary(min_size=32, max_size=32))
def test_a_reported_value_that_was_not_quoted_is_refused(register: int, value: bytes) -> None:
    reported = {"sha256": REGISTERS["sha256"] | {register: value}}
    same = value == REGISTERS["sha256"][register]
    expected = "Trusted" if same else "pcr_digest_mismatch"
    assert reason(replace(GOOD, reported=reported)) == expected


def test_what_is_reported_beyond_the_quote_is_not_looked_at() -> None:
    more = {"sha256": REGISTERS["sha256"] | {23: bytes(32)}, "sha384": {0: bytes(48)}}
    policy = {"references": {BANKS["sha384"]: {0: frozenset({b"another"})}}}
    assert reason(replace(GOOD, reported=more), **policy) == "Trusted"


@pytest.mark.parametrize(
    "pcrs",
    [
        b"",
        b"[]",
        b"\xff",
        b'{"sha256": []}',
        b'{"sha256": {"0": 7}}',
        b'{"sha256": {"0": "zz"}}',
        b'{"sha256": {"00": "' + b"00" * 32 + b'"}}',
        b'{"sha256": {"32": "' + b"00" * 32 + b'"}}',
        b'{"sha256": {"0": "' + b"AA" * 32 + b'"}}',
        b'{"sha256": {"0": "' + b"00" * 31 + b'"}}',
        b'{"sha256": {}, "sha256": {}}',
        b'{"md5": {}}',
        b"[" * 60_000,
        b'{"sha256": {"0": "' + b"0" * 70_000 + b'"}}',
    ],
)
def test_reported_registers_are_read_strictly(pcrs: bytes) -> None:
    evidence = Evidence(EvidenceKind.TPM2, GOOD.parts | {"pcrs": pcrs})
    assert verifier().verify(evidence, GOOD.asked) == Untrusted(UntrustedReason.MALFORMED)


# --- the log and the policy ----------------------------------------------------------------------


def test_a_log_is_asked_for_only_where_the_policy_says_so() -> None:
    silent = replace(GOOD, log=None)
    assert reason(silent) == "Trusted"
    assert reason(silent, is_log_required=True) == "eventlog_missing"
    assert reason(silent, require_secure_boot=True) == "eventlog_missing"


def test_a_log_must_tell_of_each_required_bank_and_may_leave_out_others() -> None:
    banks = {name: registers_of(EVENTS, name) for name in ("sha256", "sha384")}
    log = log_of(EVENTS, banks=("sha256",))
    piece = replace(GOOD, quote=replace(QUOTE, registers=banks), reported=banks, log=log)
    assert reason(piece) == "Trusted"
    both = {BANKS[name]: frozenset(FIRST) for name in banks}
    assert reason(piece, selection=both) == "eventlog_replay_mismatch"
    elsewhere = replace(GOOD, log=log_of(EVENTS, banks=("sha384",)))
    assert reason(elsewhere, selection={}) == "eventlog_replay_mismatch", "a log of nothing quoted"


def test_a_boot_that_is_not_a_reference_value_is_refused() -> None:
    other = GOOD.of_boot(boot_events(kernel="other"))
    assert reason(other) == "pcr_policy"
    allowed = {9: frozenset({REGISTERS["sha256"][9], registers_of(boot_events(kernel="other"))[9]})}
    assert reason(other, references={SHA256: allowed}) == "Trusted"


def test_secure_boot_must_be_on_where_it_is_required() -> None:
    policy: dict[str, Any] = {"references": {}, "require_secure_boot": True}
    assert reason(GOOD, **policy) == "Trusted"
    assert reason(GOOD.of_boot(boot_events(secure_boot=0)), **policy) == "pcr_policy"
    untold = [each for each in EVENTS if b"S\0e\0c\0u\0r\0e" not in each.data]
    assert reason(GOOD.of_boot(untold), **policy) == "pcr_policy"
    no_separator = [each for each in EVENTS if each.register != 7 or each.kind != 4]
    assert reason(GOOD.of_boot(no_separator), **policy) == "pcr_policy"


def test_what_the_operating_system_extends_is_not_taken_for_the_firmwares_word() -> None:
    policy: dict[str, Any] = {"references": {}, "require_secure_boot": True}
    off = boot_events(secure_boot=0)
    on = Measured(7, EVENTS[2].kind, variable("SecureBoot", b"\1"))
    late = (on, Measured(7, 4, bytes(4)))
    assert reason(GOOD.of_boot((*off, *late)), **policy) == "pcr_policy"
    # The type of an event is not measured: the node writes that the first ones were another's.
    hidden = [Measured(7, 0x800000E0, e.data) if e.register == 7 else e for e in off]
    assert reason(GOOD.of_boot((*hidden, *late)), **policy) == "pcr_policy"
    both = (*off[:3], on, *off[3:])
    assert reason(GOOD.of_boot(both), **policy) == "pcr_policy", "off and on is not on"


def test_a_bank_that_firmware_left_alone_does_not_speak_for_it() -> None:
    # The firmware of this machine measures into one bank only: the other is the node's to fill.
    truth, told = boot_events(secure_boot=0), boot_events()
    banks = {"sha256": registers_of(truth), "sha384": registers_of(told, "sha384")}
    log = log_of((), banks=tuple(banks))
    for name, events in (("sha256", truth), ("sha384", told)):
        for each in events:
            digests = {name: each.digest(name)}
            log += event_of(each.register, each.kind, data=each.data, digests=digests)
    for order in (banks, dict(reversed(banks.items()))):
        piece = replace(GOOD, quote=replace(QUOTE, registers=order), reported=order, log=log)
        assert reason(piece, references={}, require_secure_boot=True) == "pcr_policy"
        assert trusted(piece, references={}).claims["secure_boot"] == "off"


def test_secure_boot_under_a_debugger_of_the_firmware_is_none() -> None:
    debugged = (Measured(7, 0x80000007, b"UEFI Debug Mode"), *EVENTS)
    policy: dict[str, Any] = {"references": {}, "require_secure_boot": True}
    assert reason(GOOD.of_boot(debugged), **policy) == "pcr_policy"
    # The type of an event is not measured, and data of most types is not compared.
    renamed = Measured(7, 0x800000E0, b"a harmless blob", b"UEFI Debug Mode")
    assert reason(GOOD.of_boot((*EVENTS[:3], renamed, *EVENTS[3:])), **policy) == "pcr_policy"


# --- the clock -----------------------------------------------------------------------------------

CLOCK = {"clock": "5000", "reset_count": "2", "restart_count": "0", "firmware_version": "8217"}


@given(
    clock=st.integers(4990, 5010),
    counts=st.tuples(st.integers(1, 3), st.integers(0, 2), st.integers(8216, 8218)),
    safe=st.tuples(st.booleans(), st.booleans()),
    resume=st.booleans(),
)
def test_a_later_quote_of_the_same_start_is_trusted_and_no_other(
    clock: int, counts: tuple[int, int, int], safe: tuple[bool, bool], resume: bool
) -> None:
    reset, restart, firmware = counts
    piece = GOOD.changed(
        clock=clock,
        reset_count=reset,
        restart_count=restart,
        firmware_version=firmware,
        safe=int(safe[0]),
    )
    recorded = CLOCK | {"restart_count": "1", "clock_safe": "yes" if safe[1] else "no"}
    if reset != 2:
        expected = "reset_count_changed"
    elif restart < 1 or (restart > 1 and not resume):
        expected = "restart_count_changed"
    elif all(safe) and clock < 5000:
        expected = "clock_rollback"
    elif firmware != 8217:
        expected = "firmware_version_changed"
    else:
        expected = "Trusted"
    assert reason(replace(piece, previous=recorded), accept_resume=resume) == expected


def test_a_first_quote_has_nothing_to_be_held_against() -> None:
    assert reason(GOOD.changed(reset_count=77, clock=1)) == "Trusted"


def test_the_claims_of_a_verdict_are_what_the_next_is_held_against() -> None:
    claims = dict(trusted(GOOD.changed(safe=0)).claims)
    assert claims["clock_safe"] == "no"
    older = replace(GOOD.changed(clock=1), previous=claims)
    assert reason(older) == "Trusted", "a clock that was not safe orders nothing"
    assert reason(replace(GOOD.changed(clock=1), previous=dict(trusted().claims))) == (
        "clock_rollback"
    )


# --- the policy as an operator writes it ---------------------------------------------------------

ROOT = pem(authority()[0])
VALUE = REGISTERS["sha256"][7].hex()


def from_policy(**body: Any) -> Tpm2Verifier:
    whole = {"ek_roots": [ROOT], "pcrs": {"sha256": {"7": [VALUE]}}} | body
    kept = {name: value for name, value in whole.items() if value is not None}
    return Tpm2Verifier.from_policy(Section("tpm2", kept), max_age_ms=MAX_AGE_MS)


def test_a_policy_becomes_the_verifier_that_it_describes() -> None:
    found = from_policy(
        ak_roots=[ROOT],
        selection={"sha256": [0, 7], "sha384": [7]},
        event_log="required",
        require_secure_boot=True,
        accept_resume=True,
    )
    assert found == verifier(
        ak_roots=(authority()[0],),
        selection={SHA256: frozenset({0, 7}), BANKS["sha384"]: frozenset({7})},
        references={SHA256: {7: frozenset({REGISTERS["sha256"][7]})}},
        is_log_required=True,
        require_secure_boot=True,
        accept_resume=True,
    )
    assert isinstance(from_policy().verify(GOOD.evidence, GOOD.asked), Trusted)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"ek_roots": None}, "tpm2.ek_roots"),
        ({"ek_roots": ["no certificate"]}, r"tpm2.ek_roots\[0\]"),
        ({"pcrs": None}, "tpm2.pcrs.*require_secure_boot"),
        ({"pcrs": {"sha1": {"0": ["00" * 20]}}}, "tpm2.pcrs.*sha1"),
        ({"pcrs": {"sha256": {"7": []}}}, "tpm2.pcrs.sha256.7.*at least one"),
        ({"pcrs": {"sha256": {"7": ["00"]}}}, r"tpm2.pcrs.sha256.7\[0\]"),
        ({"pcrs": {"sha256": {"11": [VALUE]}}}, "tpm2.pcrs.sha256.11.*selection"),
        ({"pcrs": {"sha384": {"7": ["00" * 48]}}}, "tpm2.pcrs.sha384.7.*selection"),
        ({"selection": {}}, "tpm2.selection"),
        ({"selection": {"sha1": [7]}}, "tpm2.selection.*sha1"),
        ({"selection": {"sha256": []}}, "tpm2.selection.sha256"),
        ({"selection": {"sha256": [24]}}, r"tpm2.selection.sha256\[0\]"),
        ({"event_log": "perhaps"}, "tpm2.event_log.*required or if_given"),
        ({"selection": {"sha256": [0]}, "pcrs": None, "require_secure_boot": True}, "register 7"),
        ({"accept_resume": "yes"}, "tpm2.accept_resume"),
        ({"pcr": {}}, "'pcr'"),
    ],
)
def test_a_fault_of_a_policy_names_the_field(body: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidValue, match=told):
        from_policy(**body)
