"""Signed statements: who signed what for whom, and which keys prove nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.attestation.ed25519 import (
    Ed25519Verifier,
    check_signature,
    enrolment_statement,
    statement_of,
)
from bailiwick.attestation.evidence import Evidence
from bailiwick.attestation.policy_section import Section
from bailiwick.attestation.verdict import EvidenceError, Trusted, Untrusted, Verdict
from bailiwick.vocab.ed25519_points import PRIME, is_small_order, y_of
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import EvidenceKind, UntrustedReason
from tests.support import evidence_ed25519 as made
from tests.support.attestation_cases import Case, cases_of, check, own, shared

POLICY = {"keys": [made.public_of("a").hex()], "firmware": [made.FIRMWARE.hex()]}
MAX_AGE_MS = 300_000


def verifier(**changes: object) -> Ed25519Verifier:
    return Ed25519Verifier.from_policy(Section("ed25519", POLICY | changes), max_age_ms=MAX_AGE_MS)


def reason_of(verdict: Verdict) -> UntrustedReason | None:
    return verdict.reason if isinstance(verdict, Untrusted) else None


@pytest.mark.parametrize("case", cases_of(own("ed25519")))
def test_our_own_cases_yield_their_verdicts(case: Case) -> None:
    check(own("ed25519"), case)


@pytest.mark.parametrize("case", cases_of(shared("ed25519")))
def test_the_shared_cases_yield_their_verdicts(case: Case) -> None:
    check(shared("ed25519"), case)


def test_the_carried_cases_are_what_the_generator_writes(tmp_path: Path) -> None:
    made.write(tmp_path)
    assert (tmp_path / "cases.json").read_bytes() == (own("ed25519") / "cases.json").read_bytes()


def test_a_good_statement_is_trusted_for_the_policys_time_and_tells_its_firmware() -> None:
    verdict = verifier().verify(made.evidence(), made.asked())
    assert verdict == Trusted(
        {"firmware": made.FIRMWARE.hex()[:32], "key": made.public_of("a").hex()[:32]},
        made.AT_MS + MAX_AGE_MS,
    )


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        (enrolment_statement(made.NODE, made.NONCE), "malformed"),
        (b"hello", "malformed"),
        (b"", "malformed"),
        (statement_of(made.NODE, made.NONCE, firmware=made.FIRMWARE) + b"\0", "malformed"),
        (statement_of(made.NODE, made.NONCE, firmware=made.FIRMWARE)[:-1], "malformed"),
        (statement_of("node-18", made.NONCE, firmware=made.FIRMWARE), "identity_mismatch"),
        (statement_of(made.NODE, bytes(32), firmware=made.FIRMWARE), "nonce_mismatch"),
        (statement_of(made.NODE, b"", firmware=made.FIRMWARE), "nonce_mismatch"),
        (statement_of(made.NODE, made.NONCE, firmware=bytes(32)), "firmware"),
        (b"B" + statement_of(made.NODE, made.NONCE, firmware=made.FIRMWARE)[1:], "malformed"),
    ],
    ids=[
        "enrolment",
        "text",
        "nothing",
        "longer",
        "shorter",
        "other-node",
        "other-nonce",
        "no-nonce",
        "other-firmware",
        "other-purpose",
    ],
)
def test_what_the_right_key_signed_still_has_to_be_the_statement_asked_for(
    statement: bytes, reason: str
) -> None:
    assert reason_of(verifier().verify(made.evidence(statement), made.asked())) == reason


def test_bytes_cannot_move_between_the_fields_of_a_statement() -> None:
    # Without lengths both would read "node-1" "7..." or "node-17" "...".
    one = statement_of("node-1", b"7" + made.NONCE, firmware=made.FIRMWARE)
    other = statement_of("node-17", made.NONCE, firmware=made.FIRMWARE)
    assert one != other


def test_the_enrolled_key_counts_and_not_another_allowed_one() -> None:
    both = verifier(keys=[made.public_of("a").hex(), made.public_of("b").hex()])
    assert reason_of(both.verify(made.evidence(label="b"), made.asked())) == "bad_signature"


def test_a_node_that_did_not_enrol_or_whose_key_left_the_policy_is_not_enrolled() -> None:
    assert reason_of(verifier().verify(made.evidence(), made.asked(enrolled={}))) == "not_enrolled"
    other = verifier(keys=[made.public_of("b").hex()])
    assert reason_of(other.verify(made.evidence(), made.asked())) == "not_enrolled"


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"statement": b"x"}, "missing_field"),
        ({"signature": b"x"}, "missing_field"),
        ({"statement": b"x", "signature": b"x", "public_key": b"x"}, "malformed"),
    ],
)
def test_parts_are_exactly_statement_and_signature(parts: dict[str, bytes], reason: str) -> None:
    verdict = verifier().verify(Evidence(EvidenceKind.ED25519, parts), made.asked())
    assert reason_of(verdict) == reason


@pytest.mark.parametrize("weak", made.SMALL_ORDER_KEYS, ids=bytes.hex)
def test_a_key_of_small_order_is_refused_in_a_policy_at_enrolment_and_at_use(weak: bytes) -> None:
    with pytest.raises(InvalidValue, match=r"ed25519\.keys: .*small order"):
        verifier(keys=[weak.hex()])
    slipped_in = Ed25519Verifier(frozenset({weak}), frozenset({made.FIRMWARE}), MAX_AGE_MS)
    with pytest.raises(EvidenceError, match="weak_key"):
        slipped_in.check_enrolment(weak)
    asked = made.asked(enrolled={"public_key": weak})
    assert reason_of(slipped_in.verify(made.evidence(), asked)) == "weak_key"


def test_the_library_alone_accepts_weak_keys_so_the_check_is_ours() -> None:
    neutral = made.SMALL_ORDER_KEYS[2]
    Ed25519PublicKey.from_public_bytes(neutral).verify(neutral + bytes(32), b"any message")
    with pytest.raises(EvidenceError, match="weak_key"):
        check_signature(neutral, b"any message", signature=neutral + bytes(32))


def test_the_library_itself_refuses_s_beyond_the_group() -> None:
    good = made.key_of("a").sign(b"m")
    with pytest.raises(InvalidSignature):
        made.key_of("a").public_key().verify(made.s_plus_order(good), b"m")


def test_a_key_not_on_the_policys_list_cannot_enrol() -> None:
    verifier().check_enrolment(made.public_of("a"))
    with pytest.raises(EvidenceError, match="not_enrolled"):
        verifier().check_enrolment(made.public_of("b"))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"keys": []}, r"ed25519\.keys: expected at least one"),
        ({"firmware": []}, r"ed25519\.firmware: expected at least one"),
        ({"keys": ["00"]}, r"ed25519\.keys\[0\]: expected 32 bytes"),
        ({"keys": "00"}, r"ed25519\.keys: expected a list"),
        ({"firmware": [5]}, r"ed25519\.firmware\[0\]"),
        ({"frimware": []}, r"ed25519: expected only firmware, keys, got 'frimware'"),
    ],
)
def test_a_fault_in_the_policy_names_the_field(changes: dict[str, object], told: str) -> None:
    with pytest.raises(InvalidValue, match=told):
        verifier(**changes)


@given(st.binary(max_size=200), st.binary(max_size=70), st.binary(max_size=40))
def test_any_bytes_give_a_verdict(statement: bytes, signature: bytes, key: bytes) -> None:
    parts = {"statement": statement, "signature": signature}
    asked = made.asked(enrolled={"public_key": key})
    anyone = Ed25519Verifier(frozenset({key}), frozenset({made.FIRMWARE}), MAX_AGE_MS)
    assert reason_of(anyone.verify(Evidence(EvidenceKind.ED25519, parts), asked)) is not None


@given(st.binary(max_size=200))
def test_any_signed_bytes_but_the_statement_itself_are_refused(statement: bytes) -> None:
    assert reason_of(verifier().verify(made.evidence(statement), made.asked())) is not None


def _eight_times_is_neutral(key: bytes) -> bool:
    """By the curve's own arithmetic: three doublings of the point, where the key is one."""
    p = PRIME
    d = -121665 * pow(121666, -1, p) % p
    y = y_of(key) % p
    xx = (y * y - 1) * pow(d * y * y + 1, -1, p) % p
    x = pow(xx, (p + 3) // 8, p)
    if (x * x - xx) % p:
        x = x * pow(2, (p - 1) // 4, p) % p
    if (x * x - xx) % p:
        return False
    for _ in range(3):
        t = d * x * x * y * y % p
        x, y = 2 * x * y * pow(1 + t, -1, p) % p, (y * y + x * x) * pow(1 - t, -1, p) % p
    return (x, y) == (0, 1)


@given(st.binary(min_size=32, max_size=32) | st.sampled_from(made.SMALL_ORDER_KEYS))
def test_a_key_is_weak_exactly_if_eight_times_its_point_is_neutral(key: bytes) -> None:
    assert is_small_order(key) is _eight_times_is_neutral(key)
