"""Nitro documents: what is believed, from whom, for how long, and what is refused by which word."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import cbor2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.attestation.evidence import Evidence, EvidenceContext
from bailiwick.attestation.nitro import SKEW_MS, NitroVerifier
from bailiwick.attestation.policy_section import Section
from bailiwick.attestation.verdict import Trusted, Untrusted, Verdict
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import EvidenceKind
from tests.support import evidence_nitro as made
from tests.support.attestation_cases import Case, cases_of, check, own, shared
from tests.support.certificates import AT_MS, HOUR_MS, der, issue, leaf_wanted, pem, usage

ROOT = made.root()
POLICY = {"roots": [pem(ROOT)], "pcrs": {"0": [made.PCRS[0].hex()]}}
MAX_AGE_MS = 1_800_000


def verifier(*, max_age_ms: int = MAX_AGE_MS, **changes: object) -> NitroVerifier:
    body = {name: value for name, value in (POLICY | changes).items() if value is not None}
    return NitroVerifier.from_policy(Section("nitro", body), max_age_ms=max_age_ms)


def judge(raw: bytes, by: NitroVerifier | None = None, *, at_ms: int = AT_MS) -> Verdict:
    evidence = Evidence(EvidenceKind.NITRO, {"document": raw})
    return (by or verifier()).verify(
        evidence, EvidenceContext(node="n1", nonce=made.NONCE, at_ms=at_ms)
    )


def reason_of(verdict: Verdict) -> str | None:
    return verdict.reason.value if isinstance(verdict, Untrusted) else None


@pytest.mark.parametrize("case", cases_of(own("nitro")))
def test_our_own_cases_yield_their_verdicts(case: Case) -> None:
    check(own("nitro"), case)


@pytest.mark.parametrize("case", cases_of(shared("nitro")))
def test_the_shared_cases_yield_their_verdicts(case: Case) -> None:
    check(shared("nitro"), case)


def test_the_carried_cases_are_what_the_generator_writes(tmp_path: Path) -> None:
    made.write(tmp_path)
    written = {path.name: path.read_bytes() for path in tmp_path.rglob("*.*")}
    carried = {path.name: path.read_bytes() for path in own("nitro").rglob("*.*")}
    assert written == carried


def test_a_good_document_tells_its_registers_and_its_module() -> None:
    verdict = judge(made.document())
    assert isinstance(verdict, Trusted)
    digits = {f"pcr{index}": made.PCRS[index].hex()[:32] for index in (0, 1, 2)}
    assert verdict.claims == digits | {"module": "i-0a1b2c3d-enc0123456789"}


def test_a_module_that_can_be_no_label_is_left_out_of_the_claims() -> None:
    verdict = judge(made.document(made.payload(module_id="not a label!")))
    assert isinstance(verdict, Trusted)
    assert "module" not in verdict.claims


def test_it_is_good_until_the_policys_age_or_the_end_of_the_leaf_whichever_is_first() -> None:
    short, long = judge(made.document()), judge(made.document(), verifier(max_age_ms=2**40))
    assert isinstance(short, Trusted)
    assert isinstance(long, Trusted)
    assert short.valid_until_ms == AT_MS + MAX_AGE_MS
    assert long.valid_until_ms == AT_MS + 3 * HOUR_MS + 999


@pytest.mark.parametrize(
    ("late_ms", "reason"), [(SKEW_MS, None), (SKEW_MS + 1, "chain"), (-SKEW_MS, None)]
)
def test_an_enclaves_clock_may_be_minutes_ahead_and_no_more(
    late_ms: int, reason: str | None
) -> None:
    raw = made.document(made.payload(timestamp=AT_MS + late_ms))
    assert reason_of(judge(raw)) == reason


def test_a_root_can_be_pinned_by_its_digest_alone() -> None:
    pinned = verifier(roots=None, root_sha256=[sha256(der(ROOT)).hexdigest()])
    assert reason_of(judge(made.document(), pinned)) is None
    leaf, bundle = made.chain("other-root")
    forged = made.document(made.bundled(leaf, bundle))
    assert reason_of(judge(forged, pinned)) == "chain"


def test_a_root_that_is_not_first_in_the_bundle_is_still_no_anchor_of_its_own() -> None:
    leaf, bundle = made.chain("other-root")
    assert reason_of(judge(made.document(made.bundled(leaf, bundle[::-1])))) == "chain"


def test_the_first_of_the_bundle_is_passed_over_whatever_it_is() -> None:
    leaf, bundle = made.chain()
    assert reason_of(judge(made.document(made.bundled(leaf, bundle[1:])))) == "chain"


def test_a_pinned_certificate_ends_the_path_only_as_a_ca() -> None:
    leaf, _ = made.chain()
    assert reason_of(judge(made.document(), verifier(roots=[pem(leaf)]))) == "chain"


def test_a_leaf_whose_key_may_not_sign_is_refused() -> None:
    no_signing = leaf_wanted(usage=usage(key_agreement=True))
    raw = made.document(made.bundled(*made.chain(leaf=no_signing)))
    assert reason_of(judge(raw)) == "chain"


def test_bundles_are_bounded() -> None:
    leaf, bundle = made.chain()
    same_name = [issue("i-0a1b2c3d", "zonal", key=f"k{i}") for i in range(28)]
    many = made.document(made.bundled(leaf, [*bundle, *same_name]))
    assert reason_of(judge(many)) is None
    too_many = made.document(made.bundled(leaf, [*bundle, *same_name, bundle[1]]))
    assert reason_of(judge(too_many)) == "malformed"


@pytest.mark.parametrize(
    "changes",
    [
        {"module_id": 5},
        {"module_id": ""},
        {"module_id": "x" * 257},
        {"timestamp": True},
        {"timestamp": 0},
        {"timestamp": -1},
        {"timestamp": 2**63},
        {"pcrs": []},
        {"pcrs": {"0": bytes(48)}},
        {"pcrs": made.PCRS | {-1: bytes(48)}},
        {"pcrs": made.PCRS | {5: "x"}},
        {"certificate": bytes(1025)},
        {"certificate": "x"},
        {"cabundle": b"x"},
        {"cabundle": [b"x", 5]},
        {"cabundle": [bytes(1025)]},
        {"public_key": bytes(1025)},
        {"user_data": bytes(513)},
        {"user_data": "text"},
        {"nonce": bytes(513)},
        {"nonce": 7},
    ],
    ids=str,
)
def test_every_field_has_its_type_and_its_size(changes: dict[str, object]) -> None:
    assert reason_of(judge(made.document(made.payload(**changes)))) == "malformed"


@pytest.mark.parametrize("index", [0, 1, 2])
def test_a_document_without_a_measured_register_lacks_a_field(index: int) -> None:
    pcrs = {each: value for each, value in made.PCRS.items() if each != index}
    assert reason_of(judge(made.document(made.payload(pcrs=pcrs)))) == "missing_field"


def test_a_field_that_amazon_may_add_one_day_does_no_harm() -> None:
    assert reason_of(judge(made.document(made.payload(enclave_colour="blue")))) is None


def test_parts_are_exactly_the_document() -> None:
    asked = EvidenceContext(node="n1", nonce=made.NONCE, at_ms=AT_MS)
    none = Evidence(EvidenceKind.NITRO, {"root": b"x"})
    assert reason_of(verifier().verify(none, asked)) == "malformed"
    more = Evidence(EvidenceKind.NITRO, {"document": made.document(), "root": der(ROOT)})
    assert reason_of(verifier().verify(more, asked)) == "malformed"


def test_debug_is_told_where_it_is_allowed() -> None:
    raw = made.document(made.payload(pcrs=made.DEBUG_PCRS))
    policy = verifier(allow_debug=True, pcrs={"3": [made.PCRS[3].hex()]})
    verdict = judge(raw, policy)
    assert isinstance(verdict, Trusted)
    assert verdict.claims["debug"] == "yes"
    assert reason_of(judge(raw, verifier(pcrs={"3": [made.PCRS[3].hex()]}))) == "debug_mode"


def test_a_register_may_have_several_allowed_values() -> None:
    two = verifier(pcrs={"0": ["11" * 48, made.PCRS[0].hex()], "1": [made.PCRS[1].hex()]})
    assert reason_of(judge(made.document(), two)) is None
    wrong = verifier(pcrs={"0": [made.PCRS[0].hex()], "1": ["11" * 48]})
    assert reason_of(judge(made.document(), wrong)) == "pcr_policy"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"roots": None}, r"nitro\.roots: expected at least one root here or in root_sha256"),
        ({"roots": ["x"]}, r"nitro\.roots\[0\]: expected certificates in PEM"),
        ({"root_sha256": ["00"]}, r"nitro\.root_sha256\[0\]: expected 32 bytes"),
        ({"pcrs": None}, r"nitro\.pcrs: expected at least one register"),
        ({"pcrs": {"32": ["00" * 48]}}, r"nitro\.pcrs: expected registers 0 to 31, got '32'"),
        ({"pcrs": {"01": ["00" * 48]}}, r"nitro\.pcrs: expected registers"),
        ({"pcrs": {"0": []}}, r"nitro\.pcrs\.0: expected at least one value"),
        ({"pcrs": {"0": ["00" * 32]}}, r"nitro\.pcrs\.0\[0\]: expected 48 bytes"),
        ({"allow_debug": "no"}, r"nitro\.allow_debug: expected true or false"),
        ({"pcr": {}}, r"nitro: expected only .*, got 'pcr'"),
    ],
)
def test_a_fault_in_the_policy_names_the_field(changes: dict[str, object], told: str) -> None:
    with pytest.raises(InvalidValue, match=told):
        verifier(**changes)


@given(st.binary(max_size=400))
def test_any_bytes_give_a_verdict(raw: bytes) -> None:
    assert reason_of(judge(raw)) is not None


GOOD = made.document()


@given(st.integers(0, len(GOOD) - 1), st.integers(1, 255))
def test_no_single_byte_of_a_document_can_be_changed(at: int, change: int) -> None:
    changed = GOOD[:at] + bytes([GOOD[at] ^ change]) + GOOD[at + 1 :]
    assert reason_of(judge(changed)) is not None


@given(
    st.dictionaries(
        st.sampled_from(sorted(made.payload())),
        st.none() | st.integers() | st.binary() | st.text() | st.lists(st.binary(), max_size=3),
    )
)
def test_whatever_is_signed_in_place_of_the_fields_gives_a_verdict(
    fields: dict[str, object],
) -> None:
    raw = made.document(made.payload(**fields))
    cbor2.loads(raw)
    assert isinstance(judge(raw), Trusted | Untrusted)
