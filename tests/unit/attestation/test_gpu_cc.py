"""Reports of GPUs and switches: genuine, fresh, of certified firmware, and as expected."""

from __future__ import annotations

import filecmp
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.attestation.gpu.spdm import CC_OFF, read_report
from bailiwick.attestation.gpu.verifier import Golden, GoldenKind, GpuCcVerifier
from bailiwick.attestation.policy_section import Section
from bailiwick.attestation.verdict import Trusted, Unsupported, Untrusted, Verdict
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import UntrustedReason
from tests.support import evidence_gpu as made
from tests.support.attestation_cases import Case, cases_of, check, own, shared
from tests.support.certificates import AT_MS, pem

MAX_AGE_MS = 300_000
GOLDEN: dict[str, Any] = {
    "name": "GH100",
    "kind": "driver",
    "version": made.DRIVER,
    "measurements": {"7": [made.BLOCKS[7].hex(), "00" * 48], "9": [made.BLOCKS[9].hex()]},
}
VBIOS = GOLDEN | {
    "kind": "vbios",
    "version": made.VBIOS,
    "measurements": {"0": [made.BLOCKS[0].hex()]},
}
GOOD = made.HOPPER.parts()


def verifier(**policy: Any) -> GpuCcVerifier:
    whole = {"roots": [pem(made.root())]} | policy
    return GpuCcVerifier.from_policy(Section("gpu_cc", whole), max_age_ms=MAX_AGE_MS)


def judge(
    parts: dict[str, bytes], *, asked: dict[str, Any] | None = None, **policy: Any
) -> Verdict:
    return verifier(**policy).verify(made.evidence(parts), made.asked(**(asked or {})))


def reason_of(verdict: Verdict) -> UntrustedReason | None:
    return verdict.reason if isinstance(verdict, Untrusted) else None


def claims_of(verdict: Verdict) -> dict[str, str]:
    assert isinstance(verdict, Trusted), verdict
    return dict(verdict.claims)


@pytest.mark.parametrize("case", cases_of(own("gpu-cc")))
def test_our_own_cases_yield_their_verdicts(case: Case) -> None:
    check(own("gpu-cc"), case)


@pytest.mark.parametrize("case", cases_of(shared("gpu-cc")))
def test_the_shared_cases_yield_their_verdicts(case: Case) -> None:
    check(shared("gpu-cc"), case)


def test_the_carried_cases_are_what_the_generator_writes(tmp_path: Path) -> None:
    made.write(tmp_path)
    names = [each.relative_to(tmp_path) for each in tmp_path.rglob("*") if each.is_file()]
    same, *_ = filecmp.cmpfiles(tmp_path, own("gpu-cc"), names, shallow=False)
    assert len(same) == len(names) > 40


# --- what is claimed ---------------------------------------------------------------------------


def test_a_good_report_tells_device_model_and_versions_for_the_policys_time() -> None:
    verdict = judge(GOOD)
    claims = claims_of(verdict)
    assert len(claims.pop("device_id")) == 32
    assert claims == {
        "device": "gpu",
        "architecture": "hopper",
        "model": "GH100",
        "vbios_version": "96.00.5E.00.01",
        "driver_version": "545.00",
        "golden": "not_compared",
    }
    assert isinstance(verdict, Trusted)
    assert verdict.valid_until_ms == AT_MS + MAX_AGE_MS


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        (
            made.BLACKWELL,
            {"architecture": "blackwell", "vbios_version": "97.00.88.00.0F", "device": "gpu"},
        ),
        (
            made.SWITCH,
            {"architecture": "nvswitch", "vbios_version": "96.10.55.00.01", "device": "nvswitch"},
        ),
    ],
)
def test_other_devices_are_told_apart(device: made.Device, expected: dict[str, str]) -> None:
    assert claims_of(judge(device.parts())).items() >= expected.items()


def test_the_device_id_is_the_chips_whatever_firmware_it_runs() -> None:
    before, other = claims_of(judge(GOOD)), claims_of(judge(made.SWITCH.parts()))
    after = claims_of(judge(made.OLD_HOPPER.parts()))
    assert before["device_id"] == after["device_id"] != other["device_id"]


def test_a_genuine_device_of_an_unknown_model_is_neither_trusted_nor_a_forgery() -> None:
    assert isinstance(judge(made.Device(model="XY999 A01").parts()), Unsupported)


def test_confidential_computing_off_is_neither_trusted_nor_a_forgery() -> None:
    assert isinstance(judge({"state": CC_OFF}), Unsupported)


@pytest.mark.parametrize(
    "parts", [{"state": b"on"}, {"state": CC_OFF, "report": b""}, GOOD | {"state": CC_OFF}]
)
def test_a_state_that_is_not_off_or_stands_beside_a_report_is_malformed(
    parts: dict[str, bytes],
) -> None:
    assert reason_of(judge(parts)) is UntrustedReason.MALFORMED


@pytest.mark.parametrize("part", ["report", "certificates"])
def test_a_part_that_is_missing_is_told(part: str) -> None:
    parts = {name: value for name, value in GOOD.items() if name != part}
    assert reason_of(judge(parts)) is UntrustedReason.MISSING_FIELD


# --- what is signed ----------------------------------------------------------------------------


@given(st.integers(0, len(GOOD["report"]) - 1), st.integers(1, 255))
def test_no_byte_of_a_report_can_be_changed(at: int, flip: int) -> None:
    report = bytearray(GOOD["report"])
    report[at] ^= flip
    assert isinstance(judge(GOOD | {"report": bytes(report)}), Untrusted)


@given(st.binary(max_size=50), st.integers(0, len(GOOD["report"]) - 51))
def test_any_bytes_get_a_verdict(junk: bytes, at: int) -> None:
    report = GOOD["report"]
    assert isinstance(judge(GOOD | {"report": report[:at] + junk}), Untrusted)
    assert isinstance(judge(GOOD | {"certificates": junk}), Untrusted)


def test_a_report_answers_the_nonce_that_was_asked_and_no_other() -> None:
    nonce = bytes(range(32))
    assert reason_of(judge(GOOD, asked={"nonce": nonce})) is UntrustedReason.NONCE_MISMATCH
    assert isinstance(judge(made.HOPPER.parts(nonce), asked={"nonce": nonce}), Trusted)


# --- golden values -----------------------------------------------------------------------------


def test_a_report_that_matches_golden_values_says_of_which_kind() -> None:
    assert claims_of(judge(GOOD, golden=[GOLDEN]))["golden"] == "driver"
    assert claims_of(judge(GOOD, golden=[GOLDEN, VBIOS]))["golden"] == "driver-vbios"


@pytest.mark.parametrize(
    ("opaque", "index", "is_trusted"),
    [
        ({11: b"\x55"}, 35, True),
        ({11: b"\xaa"}, 35, False),
        ({11: b"\x55\0"}, 35, False),
        ({}, 35, False),
        ({11: b"\x55"}, 34, False),
    ],
)
def test_a_video_decoder_that_is_off_has_no_measurement_to_compare(
    opaque: dict[int, bytes], index: int, is_trusted: bool
) -> None:
    fields = {key: value for key, value in made.HOPPER.opaque.items() if key != 11} | opaque
    parts = replace(made.HOPPER, blocks=made.BLOCKS * 3, opaque=fields).parts()
    golden = GOLDEN | {"measurements": {"7": [made.BLOCKS[7].hex()], str(index): ["00" * 48]}}
    assert isinstance(judge(parts, golden=[golden]), Trusted) == is_trusted


def test_any_listed_set_of_the_same_version_will_do() -> None:
    other = GOLDEN | {"name": "GB100", "measurements": {"7": ["11" * 48]}}
    assert isinstance(judge(GOOD, golden=[other, GOLDEN]), Trusted)
    assert reason_of(judge(GOOD, golden=[other])) is UntrustedReason.MEASUREMENT_MISMATCH


def test_a_version_that_is_not_listed_is_refused_where_its_kind_is_listed() -> None:
    verdict = judge(GOOD, golden=[GOLDEN | {"version": "546.00"}])
    assert reason_of(verdict) is UntrustedReason.MEASUREMENT_MISMATCH


def test_required_golden_values_must_be_there_for_each_kind_that_the_device_has() -> None:
    mismatch = UntrustedReason.MEASUREMENT_MISMATCH
    assert reason_of(judge(GOOD, golden=[GOLDEN], require_golden=True)) is mismatch
    assert isinstance(judge(GOOD, golden=[GOLDEN, VBIOS], require_golden=True), Trusted)
    switch = VBIOS | {"version": "96.10.55.00.01"}
    assert isinstance(judge(made.SWITCH.parts(), golden=[switch], require_golden=True), Trusted)


def test_golden_values_end_with_their_certificates_and_end_the_verdict_with_them() -> None:
    golden = [GOLDEN | {"valid_until_ms": AT_MS + 5}]
    verdict = judge(GOOD, golden=golden)
    assert isinstance(verdict, Trusted)
    assert verdict.valid_until_ms == AT_MS + 5
    late = judge(GOOD, asked={"at_ms": AT_MS + 6}, golden=golden)
    assert reason_of(late) is UntrustedReason.RIM_CHAIN


_INDEX = st.integers(0, len(made.BLOCKS) + 2)
_VALUES = st.frozensets(st.sampled_from([*made.BLOCKS[:4], bytes(48)]), min_size=1)


@given(st.dictionaries(_INDEX, _VALUES, min_size=1, max_size=4))
def test_golden_values_match_exactly_when_every_index_holds_an_alternative(
    wanted: dict[int, frozenset[bytes]],
) -> None:
    golden = Golden("GH100", GoldenKind.DRIVER, made.DRIVER, wanted)
    report = read_report(GOOD["report"])
    blocks = dict(enumerate(made.BLOCKS))
    naive = [index for index, values in wanted.items() if blocks.get(index) not in values]
    assert golden.difference(report) == min(naive, default=None)
    whole = replace(verifier(), golden=(golden,))
    assert isinstance(whole.verify(made.evidence(GOOD), made.asked()), Trusted) == (not naive)


def test_golden_values_are_written_as_a_policy_reads_them() -> None:
    golden = [GOLDEN | {"valid_until_ms": 5}, VBIOS]
    read = [Golden.from_section(Section("golden", each)) for each in golden]
    again = [Golden.from_section(Section("golden", each.document())) for each in read]
    assert again == read


# --- the policy --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        ({"roots": []}, "gpu_cc.roots"),
        ({"roots": ["no certificate"]}, r"gpu_cc.roots\[0\]"),
        ({"root": []}, "gpu_cc: expected only"),
        ({"require_golden": 1}, "gpu_cc.require_golden"),
        ({"golden": {}}, "gpu_cc.golden"),
        ({"golden": [GOLDEN | {"kind": "bios"}]}, r"gpu_cc.golden\[0\].kind"),
        ({"golden": [GOLDEN | {"measurements": {}}]}, r"gpu_cc.golden\[0\].measurements"),
        ({"golden": [GOLDEN | {"measurements": {"7": []}}]}, r"golden\[0\].measurements"),
        ({"golden": [GOLDEN | {"measurements": {"07": ["00" * 48]}}]}, "an index from 0 to 254"),
        ({"golden": [GOLDEN | {"measurements": {"255": ["00" * 48]}}]}, "an index from 0 to 254"),
        ({"golden": [GOLDEN | {"measurements": {"7": ["00" * 47]}}]}, "48 bytes in hexadecimal"),
        ({"golden": [GOLDEN | {"valid_until": 5}]}, r"gpu_cc.golden\[0\]"),
        ({"golden": [GOLDEN | {"version": "545 00"}]}, "version"),
    ],
)
def test_a_faulty_policy_names_its_field(policy: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidValue, match=told):
        verifier(**policy)
