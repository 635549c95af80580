"""Enrolment of keys that hardware holds: a TPM (in software, but a real one), and a DICE device."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from bailiwick.agent.tpm_prover import TpmProver
from bailiwick.agent.words import CannotAttest
from bailiwick.attestation.dice.keys import challenge_message
from bailiwick.attestation.dice.verifier import framed
from bailiwick.attestation.evidence import Evidence, bound_nonce, device_nonce
from bailiwick.attestation.tpm.verifier import identity_of
from bailiwick.iam import Role
from bailiwick.kernel import SetTrustPolicy
from bailiwick.services.gate.enrolling import SESSIONS_MAX, Challenge, EnrolmentRefused
from bailiwick.services.trust import Enrolled
from bailiwick.vocab.errors import Conflict, InvalidValue
from bailiwick.vocab.trust import EvidenceKind, UntrustedReason
from bailiwick.vocab.words import AttestationState
from tests.support import evidence_dice as dice
from tests.support.evidence_ed25519 import public_of
from tests.support.software_tpm import Maker, SoftwareTpm, running
from tests.support.tools import need
from tests.unit.services.test_attesting import House, policy

K, R = EvidenceKind, UntrustedReason


def offer(house: House, kind: EvidenceKind, parts: Mapping[str, bytes], **more: Any) -> Any:
    return house.offer(kind=kind, parts=parts, **more)


def prove(house: House, found: Challenge, parts: Mapping[str, bytes], node: str = "n1") -> Any:
    return house.answer(found, parts, node=node)


def pools(kind: str, section: dict[str, Any], **more: Any) -> SetTrustPolicy:
    pool = {"nodes": ["n*"], "require": kind, kind: section} | more
    return SetTrustPolicy(json.dumps({"pools": {"all": pool}}))


# -- TPMs ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def maker(tmp_path_factory: pytest.TempPathFactory) -> Maker:
    need("swtpm")
    return Maker(tmp_path_factory.mktemp("maker"))


@pytest.fixture(scope="module")
def tpms(maker: Maker) -> Iterator[list[SoftwareTpm]]:
    made = [maker.make(name) for name in ("one", "two")]
    with running(made[0]), running(made[1]):
        yield made


@pytest.fixture
def house(maker: Maker, tpms: list[SoftwareTpm]) -> House:
    """A gate that trusts this maker of TPMs, and what both of them have booted."""
    found = House(ms=time.time_ns() // 1_000_000)
    allowed = {n: [value] for n, value in tpms[0].registers().items()}
    section = {
        "ek_roots": [maker.intermediate],
        "selection": {"sha256": list(range(10))},
        "pcrs": {"sha256": allowed},
    }
    found.do(pools("tpm2", section))
    return found


@pytest.fixture
def prover(tpms: list[SoftwareTpm], tmp_path: Path) -> TpmProver:
    return TpmProver(tpms[0].tcti, tmp_path / "state")


def enrol(house: House, prover: TpmProver, node: str = "n1") -> Any:
    challenge = offer(house, K.TPM2, prover.offer(), node=node)
    assert isinstance(challenge, Challenge), challenge
    return prove(house, challenge, prover.prove(node, challenge.parts), node)


def test_a_tpm_enrols_by_what_only_it_can_decrypt_and_then_attests(
    house: House, prover: TpmProver
) -> None:
    found = enrol(house, prover)
    assert isinstance(found, Enrolled)
    assert found.identity == identity_of(prover.offer()["ek_public"])
    nonce = house.ask()
    told = house.present(prover.present("n1", nonce), nonce=nonce)
    assert told.state is AttestationState.TRUSTED
    assert told.judged[0].verdict.claims["reset_count"]  # type: ignore[union-attr]


def test_a_tpm_signs_for_its_devices_by_the_name_of_its_key(
    house: House, prover: TpmProver, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bailiwick.attestation.verdict import Trusted
    from tests.unit.services.test_attesting import Said, use

    enrol(house, prover)
    house.do(pools("tpm2", {"x": 1}, require="tpm2 and gpu_cc", gpu_cc={"x": 1}))
    said = {kind: Said(Trusted({}, house.ms + 1000)) for kind in (K.TPM2, K.GPU_CC)}
    use(house, monkeypatch, said)
    nonce, device = house.ask(), Evidence(K.GPU_CC, {"report": b"1"})
    house.present(prover.present("n1", nonce), device, nonce=nonce)
    assert said[K.TPM2].asked[0].nonce == bound_nonce(nonce, [device.digest])
    assert said[K.GPU_CC].asked[0].nonce == device_nonce(nonce, prover.identity)


def test_a_copied_disk_finds_no_tpm_that_answers_for_it(
    house: House, prover: TpmProver, tpms: list[SoftwareTpm], tmp_path: Path
) -> None:
    enrol(house, prover)
    other = TpmProver(tpms[1].tcti, tmp_path / "other")
    challenge = offer(house, K.TPM2, prover.offer(), node="n2")
    with pytest.raises(CannotAttest):  # the secret is for the first machine alone
        other.prove("n2", challenge.parts)
    assert prove(house, challenge, {"secret": bytes(32)}, "n2") == EnrolmentRefused(
        R.IDENTITY_MISMATCH
    )
    with pytest.raises(Conflict, match="another name"):  # nor may the machine itself have two names
        enrol(house, prover, "n2")
    with pytest.raises(Conflict, match="another machine"):
        enrol(house, other)


def test_a_key_of_another_tpm_cannot_ride_on_a_good_certificate(
    house: House, prover: TpmProver, tpms: list[SoftwareTpm], tmp_path: Path
) -> None:
    other = TpmProver(tpms[1].tcti, tmp_path / "other")
    mixed = {**prover.offer(), "ak_public": other.offer()["ak_public"]}
    challenge = offer(house, K.TPM2, mixed)
    with pytest.raises(CannotAttest):  # the key that it names is not in that TPM
        prover.prove("n1", challenge.parts)
    swapped = {**prover.offer(), "ek_public": other.offer()["ek_public"]}
    assert offer(house, K.TPM2, swapped) == EnrolmentRefused(R.EK_CHAIN)


def test_a_tpm_of_another_maker_is_not_taken(
    house: House, prover: TpmProver, tmp_path: Path
) -> None:
    stranger = Maker(tmp_path / "stranger")
    stranger.make("one")
    section = {"ek_roots": [stranger.intermediate], "require_secure_boot": True}
    house.do(pools("tpm2", section))
    assert offer(house, K.TPM2, prover.offer()) == EnrolmentRefused(R.EK_CHAIN)


@pytest.mark.parametrize("part", ["ek_public", "ek_certificate", "ak_public"])
def test_an_offer_with_a_part_missing_or_broken_is_told_as_such(
    house: House, prover: TpmProver, part: str
) -> None:
    whole = dict(prover.offer())
    broken = offer(house, K.TPM2, whole | {part: b"\0" * 9})
    assert isinstance(broken, EnrolmentRefused)
    del whole[part]
    assert offer(house, K.TPM2, whole) == EnrolmentRefused(R.MISSING_FIELD)
    odd = {**prover.offer(), "odd": b"x"}
    assert offer(house, K.TPM2, odd) == EnrolmentRefused(R.MALFORMED)


def test_a_key_for_tokens_is_kept_with_the_others(house: House, prover: TpmProver) -> None:
    parts = {**prover.offer(), "capability_key": public_of("tokens")}
    challenge = offer(house, K.TPM2, parts)
    assert isinstance(prove(house, challenge, prover.prove("n1", challenge.parts)), Enrolled)
    assert house.kernel.state.trust.mints("n1")


# -- DICE ------------------------------------------------------------------------------------


@pytest.fixture
def device() -> dice.Made:
    return dice.good(dice.CBOR)


@pytest.fixture
def dicing() -> House:
    found = House(ms=dice.AT_MS)
    found.do(pools("dice", {"require_measurements": True}))
    return found


def answered(device: dice.Made, nonce: bytes) -> dict[str, bytes]:
    """What the device says to a nonce: its chain, and its last key's signature."""
    key = dice.good_layers(device.form, "ed25519")[-1].key
    parts = {"format": device.form.value.encode(), "chain": framed(device.chain)}
    return parts | {"signature": key.sign(challenge_message(nonce))}


def test_a_device_enrols_by_its_root_key_when_an_operator_offers_it(
    dicing: House, device: dice.Made
) -> None:
    parts = {"root_public_key": device.root}
    assert offer(dicing, K.DICE, parts) == EnrolmentRefused(R.NOT_ENROLLED)
    challenge = offer(dicing, K.DICE, parts, duty=Role.FLEET_OPERATOR)
    assert isinstance(
        prove(dicing, challenge, answered(device, challenge.parts["nonce"])), Enrolled
    )
    nonce = dicing.ask()
    told = dicing.present(Evidence(K.DICE, answered(device, nonce)), nonce=nonce)
    assert told.state is AttestationState.TRUSTED


def test_a_chain_that_did_not_answer_the_challenge_enrols_nobody(
    dicing: House, device: dice.Made
) -> None:
    parts = {"root_public_key": device.root}
    challenge = offer(dicing, K.DICE, parts, duty=Role.FLEET_OPERATOR)
    old = prove(dicing, challenge, answered(device, bytes(32)))
    assert old == EnrolmentRefused(R.CHALLENGE_SIGNATURE)
    assert not dicing.kernel.state.trust.enrolled("n1")


def test_a_root_key_has_one_spelling(dicing: House, device: dice.Made) -> None:
    for root in (b"", device.root + b"\0", device.root[:-1], b"\x30\x00"):
        found = offer(dicing, K.DICE, {"root_public_key": root}, duty=Role.FLEET_OPERATOR)
        assert isinstance(found, EnrolmentRefused), root


# -- bounds ----------------------------------------------------------------------------------


def test_kinds_without_keys_of_their_own_need_no_enrolment() -> None:
    house = House()
    house.do(SetTrustPolicy(policy("ed25519 and tdx", tdx={"x": 1})))
    with pytest.raises(InvalidValue):
        offer(house, K.TDX, {"quote": b"x"})


def test_there_are_at_most_so_many_challenges(monkeypatch: pytest.MonkeyPatch) -> None:
    from bailiwick.services.gate import enrolling

    assert SESSIONS_MAX == 10_000
    monkeypatch.setattr(enrolling, "SESSIONS_MAX", 1)
    house = House()
    first, second = house.enrol("n1"), house.enrol("n2", "b")
    assert house.prove(first, "n1") == EnrolmentRefused(R.NONCE_SPENT)
    assert isinstance(house.prove(second, "n2", label="b"), Enrolled)
