"""The gate at work, over a real kernel: what is judged, what is sealed, and what has no effect."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import pytest

from bailiwick.attestation.bundle import every_device, joint_digest, worst
from bailiwick.attestation.ed25519 import enrolment_statement, statement_of
from bailiwick.attestation.evidence import (
    PIECES_MAX,
    Evidence,
    EvidenceContext,
    EvidenceVerifier,
    bound_nonce,
    device_nonce,
)
from bailiwick.attestation.policy import TrustPolicy
from bailiwick.attestation.verdict import StaleEvidence, Trusted, Unsupported, Untrusted, Verdict
from bailiwick.attestation.verifiers import verifiers_of
from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.iam import Permission
from bailiwick.iam import Role as Duty
from bailiwick.kernel import (
    ChangeMode,
    Command,
    DepartNode,
    Envelope,
    Kernel,
    RegisterNode,
    SetTrustPolicy,
    Tick,
    WithdrawEnrolment,
)
from bailiwick.kernel.answers import Answer
from bailiwick.runtime.replica import Role, View
from bailiwick.services import trust
from bailiwick.services.caller import Caller
from bailiwick.services.gate import attesting as att
from bailiwick.services.gate.enrolling import Challenge, EnrolmentRefused
from bailiwick.services.trust import Enrolled, Gate, Presented
from bailiwick.vocab.errors import Conflict, InvalidValue, NotFound, NotLeader
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.trust import EvidenceKind, UntrustedReason
from bailiwick.vocab.words import AttestationState
from tests.support.evidence_ed25519 import FIRMWARE, SMALL_ORDER_KEYS, key_of, public_of
from tests.support.kernel_gateway import KernelGateway, caller_of

T = TypeVar("T")
K, R = EvidenceKind, UntrustedReason
H100 = (GpuDevice.named("NVIDIA H100 80GB HBM3"),)


def policy(require: str = "ed25519", **more: Any) -> str:
    keys = [public_of(label).hex() for label in ("a", "b", "c")]
    pool = {"nodes": ["n*"], "require": require, "max_age_s": 300, "nonce_life_s": 60}
    pool["ed25519"] = {"keys": keys, "firmware": [FIRMWARE.hex()]}
    return json.dumps({"pools": {"all": pool | more}})


@dataclass
class House:
    """A kernel, a gate and a clock that moves when told; every call is kept."""

    kernel: Kernel = field(default_factory=lambda: Kernel(simulated=True))
    ms: int = 10**12
    role: Role = Role.LEADING

    def __post_init__(self) -> None:
        self.gate = Gate(self, secrets.token_bytes)
        self.gateway = KernelGateway(self)
        for node in ("n1", "n2"):
            self.do(RegisterNode(node, NodeCapacity(1000, 2**30)))
        self.do(SetTrustPolicy(policy()))

    def now_ms(self) -> int:
        return self.ms

    def elapsed_ms(self) -> int:
        return self.ms

    @property
    def view(self) -> View:
        return self.gateway.view

    @property
    def told(self) -> list[Command]:
        return self.gateway.told

    def caller(self, duty: Duty = Duty.NODE_AGENT, *, dry_run: bool = False) -> Caller:
        key = Permission.NODE_REPORT
        return caller_of(self.gateway, self, permission=key, role=duty, dry_run=dry_run)

    def do(self, command: Command) -> Answer:
        return self.kernel.execute(Envelope(command, "test", "test"), self.ms).answer

    # -- what a node does ----------------------------------------------------------------------

    def enrol(self, node: str = "n1", label: str = "a", **changes: bytes) -> Any:
        return self.offer(node, parts={"public_key": public_of(label)} | changes)

    def offer(
        self,
        node: str = "n1",
        *,
        kind: EvidenceKind = K.ED25519,
        parts: Mapping[str, bytes],
        duty: Duty = Duty.NODE_AGENT,
        dry_run: bool = False,
    ) -> Any:
        caller = self.caller(duty, dry_run=dry_run)
        return asyncio.run(
            trust.offer(caller, self.gate, node=node, kind=kind, parts=lambda: parts)
        )

    def prove(
        self, challenge: Challenge, node: str = "n1", *, label: str = "a", nonce: bytes = b""
    ) -> Any:
        statement = enrolment_statement(node, nonce or challenge.parts["nonce"])
        parts = {"signature": key_of(label).sign(statement)}
        return self.answer(challenge, parts, node=node)

    def answer(
        self,
        challenge: Challenge,
        parts: Mapping[str, bytes],
        *,
        node: str = "n1",
        dry_run: bool = False,
    ) -> Any:
        number = challenge.enrolment_id
        caller, gate = self.caller(dry_run=dry_run), self.gate
        proving = trust.prove(caller, gate, node=node, enrolment_id=number, parts=lambda: parts)
        return asyncio.run(proving)

    def join(self, node: str = "n1", label: str = "a") -> None:
        assert isinstance(self.prove(self.enrol(node, label), node, label=label), Enrolled)
        self.told.clear()

    def ask(self, node: str = "n1") -> bytes:
        return self.gate.attesting.nonce(self.view, node).value

    def present(
        self, *pieces: Evidence, nonce: bytes, node: str = "n1", dry_run: bool = False
    ) -> Presented:
        caller = self.caller(dry_run=dry_run)
        given = trust.attest(caller, self.gate, node=node, nonce=nonce, pieces=lambda: pieces)
        return asyncio.run(given)

    def attest(self, node: str = "n1", label: str = "a", **changes: Any) -> Presented:
        nonce = self.ask(node)
        return self.present(signed(nonce, node, label, **changes), nonce=nonce, node=node)

    def state(self, node: str = "n1") -> AttestationState:
        return self.kernel.state.trust.state_of(node, self.ms)

    def is_closed(self, node: str = "n1") -> bool:
        return self.kernel.state.ledger.entry(node).quarantined


def signed(
    nonce: bytes, node: str = "n1", label: str = "a", *, firmware: bytes = FIRMWARE
) -> Evidence:
    statement = statement_of(node, nonce, firmware=firmware)
    parts = {"statement": statement, "signature": key_of(label).sign(statement)}
    return Evidence(K.ED25519, parts)


def reasons(found: Presented) -> list[UntrustedReason | None]:
    return [getattr(each.verdict, "reason", None) for each in found.judged]


@pytest.fixture
def house() -> House:
    return House()


# -- enrolment -------------------------------------------------------------------------------


def test_a_node_enrols_by_proving_that_it_holds_the_key_it_offers(house: House) -> None:
    challenge = house.enrol()
    assert isinstance(challenge, Challenge)
    found = house.prove(challenge)
    assert isinstance(found, Enrolled)
    known = house.kernel.state.trust.enrolled("n1")[K.ED25519]
    assert known.keys == {"public_key": public_of("a").hex()}
    assert known.identity == found.identity


def test_a_key_that_the_policy_does_not_list_is_not_taken(house: House) -> None:
    assert house.enrol(label="stranger") == EnrolmentRefused(R.NOT_ENROLLED)


@pytest.mark.parametrize("key", SMALL_ORDER_KEYS, ids=range(len(SMALL_ORDER_KEYS)))
def test_a_weak_key_is_not_taken_even_for_tokens(house: House, key: bytes) -> None:
    assert house.enrol(public_key=key) == EnrolmentRefused(R.WEAK_KEY)
    assert house.enrol(capability_key=key) == EnrolmentRefused(R.WEAK_KEY)


def test_a_wrong_answer_ends_the_challenge(house: House) -> None:
    challenge = house.enrol()
    assert house.prove(challenge, label="b") == EnrolmentRefused(R.BAD_SIGNATURE)
    assert house.prove(challenge) == EnrolmentRefused(R.NONCE_SPENT)
    assert not house.kernel.state.trust.enrolled("n1")


def test_a_challenge_is_one_nodes_one_time_and_soon_too_old(house: House) -> None:
    challenge = house.enrol()
    assert house.prove(challenge, "n2") == EnrolmentRefused(R.NONCE_SPENT)
    house.ms += 60_000
    assert house.prove(challenge) == EnrolmentRefused(R.NONCE_SPENT)
    first, second = house.enrol(), house.enrol()
    assert house.prove(first) == EnrolmentRefused(R.NONCE_SPENT)
    assert isinstance(house.prove(second), Enrolled)


def test_a_signature_for_attestation_is_no_proof_of_enrolment(house: House) -> None:
    challenge = house.enrol()
    parts = {"signature": signed(challenge.parts["nonce"]).parts["signature"]}
    assert house.answer(challenge, parts) == EnrolmentRefused(R.BAD_SIGNATURE)


def test_a_copied_disk_cannot_enrol_under_another_name_nor_another_machine_under_this(
    house: House,
) -> None:
    house.join()
    with pytest.raises(Conflict, match="another name"):
        house.prove(house.enrol("n2"), "n2")
    with pytest.raises(Conflict, match="another machine"):
        house.prove(house.enrol(label="b"), label="b")


def test_a_kind_that_the_pool_does_not_ask_for_is_not_enrolled(house: House) -> None:
    with pytest.raises(InvalidValue, match="ed25519"):
        house.offer(kind=K.TPM2, parts={"ak_public": b"x"})


def test_a_dry_run_of_an_enrolment_leaves_nothing_behind(house: House) -> None:
    parts = {"public_key": public_of("a")}
    assert house.offer(parts=parts, dry_run=True) == Challenge("", {}, 60_000)
    challenge = house.enrol()
    signature = key_of("a").sign(enrolment_statement("n1", challenge.parts["nonce"]))
    dry = house.answer(challenge, {"signature": signature}, dry_run=True)
    assert isinstance(dry, Enrolled)
    assert not house.kernel.state.trust.enrolled("n1")
    assert isinstance(house.answer(challenge, {"signature": signature}), Enrolled)


# -- who is asked ----------------------------------------------------------------------------


def test_nothing_is_asked_of_a_node_in_no_pool(house: House) -> None:
    house.do(RegisterNode("other", NodeCapacity(1, 1)))
    assert house.gate.attesting.due(house.view, "other") is None
    with pytest.raises(Conflict, match="no pool"):
        house.gate.attesting.nonce(house.view, "other")
    with pytest.raises(NotFound):
        house.gate.attesting.nonce(house.view, "nobody")


def test_only_the_leader_hands_out_nonces(house: House) -> None:
    house.role = Role.FOLLOWING
    assert house.gate.attesting.due(house.view, "n1") is None
    with pytest.raises(NotLeader):
        house.gate.attesting.nonce(house.view, "n1")


def test_a_node_is_due_until_it_has_attested_and_again_before_that_is_too_old(
    house: House,
) -> None:
    house.join()
    due = house.gate.attesting.due(house.view, "n1")
    assert due is not None
    assert house.gate.attesting.due(house.view, "n1") == due  # not another at every beat
    found = house.present(signed(due.value), nonce=due.value)
    assert found.refresh_ms is not None
    assert house.gate.attesting.due(house.view, "n1") is None
    house.ms = found.refresh_ms - 1
    assert house.gate.attesting.due(house.view, "n1") is None
    house.ms = found.refresh_ms
    assert house.gate.attesting.due(house.view, "n1") is not None
    assert house.state() is AttestationState.TRUSTED


def test_evidence_that_an_older_policy_judged_is_asked_for_again_soon(house: House) -> None:
    house.join()
    house.do(SetTrustPolicy(policy(max_age_s=40_000)))
    house.ms += 1_000
    usual = house.attest().refresh_ms
    assert usual is not None
    assert usual >= house.ms + 20_000_000
    house.ms += 1_000
    house.do(SetTrustPolicy(policy(max_age_s=40_000, stale_grace_s=1)))
    changed_ms = house.ms
    while house.gate.attesting.due(house.view, "n1") is None:
        house.ms += 100_000
    assert house.ms <= changed_ms + 10_000_000
    assert (house.attest().refresh_ms or 0) >= house.ms + 20_000_000


def test_what_has_run_out_is_due_at_once(house: House) -> None:
    house.join()
    house.attest()
    house.ms += 300_001
    house.do(Tick())
    assert house.state() is AttestationState.STALE
    assert house.gate.attesting.due(house.view, "n1") is not None


def test_a_node_that_failed_is_asked_no_more_often_than_one_that_is_good(house: House) -> None:
    house.join()
    found = house.attest(firmware=bytes(32))
    assert reasons(found) == [R.FIRMWARE]
    assert house.gate.attesting.due(house.view, "n1") is None
    house.ms += 225_001
    assert house.gate.attesting.due(house.view, "n1") is not None


# -- what is judged --------------------------------------------------------------------------


def test_good_evidence_is_sealed_and_opens_the_node(house: House) -> None:
    assert not house.kernel.state.ledger.entry("n1").takes_leases
    house.join()
    found = house.attest()
    assert (found.state, reasons(found)) == (AttestationState.TRUSTED, [None])
    assert house.kernel.state.ledger.entry("n1").takes_leases
    (told,) = house.told
    assert told == replace(told, node="n1", evidence=found.judged[0].evidence)  # type: ignore


@pytest.mark.parametrize("label", ["a", "b"])
@pytest.mark.parametrize(
    "meanwhile",
    [
        (SetTrustPolicy(policy(max_age_s=20)),),
        (WithdrawEnrolment("n1", K.ED25519),),
        (DepartNode("n1"), RegisterNode("n1", NodeCapacity(1000, 2**30, gpus=H100))),
    ],
    ids=["policy", "keys", "devices"],
)
def test_a_verdict_by_what_counts_no_more_is_not_taken(
    house: House, meanwhile: tuple[Command, ...], label: str
) -> None:
    house.join()
    nonce, execute = house.ask(), house.gateway.execute

    async def late(envelope: Envelope, *, wait_s: float | None = None) -> Answer:
        for each in meanwhile:
            house.do(each)
        return await execute(envelope, wait_s=wait_s)

    house.gateway.execute = late  # type: ignore[method-assign]
    found = house.present(signed(nonce, label=label), nonce=nonce)
    assert (reasons(found), found.judged[0].is_sealed) == ([R.NONCE_SPENT], False)
    assert (house.state(), house.is_closed()) == (AttestationState.UNATTESTED, False)
    assert not house.kernel.state.ledger.entry("n1").takes_leases


def test_forged_evidence_closes_the_node(house: House) -> None:
    house.join()
    found = house.attest(label="b")
    assert reasons(found) == [R.BAD_SIGNATURE]
    assert found.judged[0].is_sealed
    assert house.is_closed()


def test_evidence_about_another_node_is_told_as_such(house: House) -> None:
    house.join()
    nonce = house.ask()
    found = house.present(signed(nonce, "n2"), nonce=nonce)
    assert reasons(found) == [R.IDENTITY_MISMATCH]
    assert house.is_closed()


def test_a_replay_has_no_effect_but_to_be_told(house: House) -> None:
    house.join()
    nonce = house.ask()
    evidence = signed(nonce)
    house.present(evidence, nonce=nonce)
    house.told.clear()
    found = house.present(evidence, nonce=nonce)
    assert reasons(found) == [R.NONCE_SPENT]
    assert not found.judged[0].is_sealed
    assert (found.state, house.told) == (AttestationState.TRUSTED, [])
    assert not house.is_closed()


def test_old_evidence_under_a_new_nonce_is_bad_evidence(house: House) -> None:
    house.join()
    house.present(signed(old := house.ask()), nonce=old)
    fresh = house.ask()
    assert reasons(house.present(signed(old), nonce=fresh)) == [R.NONCE_MISMATCH]
    assert house.is_closed()


@pytest.mark.parametrize("whose", ["nobody", "another", "late"])
def test_junk_in_a_nodes_name_closes_nothing(house: House, whose: str) -> None:
    house.join()
    house.attest()
    nonce = house.ask("n2" if whose == "another" else "n1")
    if whose == "nobody":
        nonce = bytes(32)
    if whose == "late":
        house.ms += 60_000
    house.told.clear()
    junk = Evidence(K.ED25519, {"statement": b"junk", "signature": b"junk"})
    found = house.present(junk, nonce=nonce)
    assert reasons(found) == [R.NONCE_SPENT]
    assert house.told == []
    assert not house.is_closed()


def test_evidence_under_a_key_that_was_never_enrolled_says_nothing_about_the_node(
    house: House,
) -> None:
    found = house.attest()
    assert reasons(found) == [R.NOT_ENROLLED]
    assert (found.judged[0].is_sealed, house.told) == (False, [])
    assert not house.is_closed()
    assert not house.kernel.state.ledger.entry("n1").takes_leases


def test_a_dry_run_judges_and_changes_nothing(house: House) -> None:
    house.join()
    nonce = house.ask()
    bad = house.present(signed(nonce, label="b"), nonce=nonce, dry_run=True)
    assert reasons(bad) == [R.BAD_SIGNATURE]
    assert (house.told, house.is_closed()) == ([], False)
    assert house.present(signed(nonce), nonce=nonce).state is AttestationState.TRUSTED


def test_a_verifier_that_fails_is_no_reason_to_trust_and_is_said_loudly(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    house.join()
    use(house, monkeypatch, {K.ED25519: Said(ZeroDivisionError("a bug"))})
    with caplog.at_level(logging.ERROR):
        found = house.attest()
    assert reasons(found) == [R.VERIFIER_FAULT]
    assert house.is_closed()
    assert "ZeroDivisionError: a bug" in caplog.text


def test_what_was_proven_before_is_told_to_the_verifier_only_while_it_counts(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.join()
    said = Said(Trusted({"clock": "7"}, house.ms + 300_000))
    use(house, monkeypatch, {K.ED25519: said})
    house.attest()
    house.attest()
    assert [asked.previous for asked in said.asked] == [{}, {"clock": "7"}]
    for mode in (NodeMode.DRAINING, NodeMode.MAINTENANCE):  # empty, so it is drained at once
        house.do(ChangeMode("n1", mode))
    house.attest()  # it was rebooted, as was to be expected
    assert said.asked[-1].previous == {}
    house.do(ChangeMode("n1", NodeMode.RETURNING))
    house.do(ChangeMode("n1", NodeMode.ACCEPTING))
    said.verdict = Untrusted(R.RESET_COUNT_CHANGED)
    house.attest()
    assert said.asked[-1].previous == {"clock": "7"}
    house.attest()  # after a quarantine it begins anew
    assert said.asked[-1].previous == {}


# -- bundles ---------------------------------------------------------------------------------


@dataclass
class Said:
    """A verifier that says what it was told to, and keeps what it was asked."""

    verdict: Verdict | Exception
    asked: list[EvidenceContext] = field(default_factory=list)
    kind: EvidenceKind = K.ED25519

    def verify(self, evidence: Evidence, asked: EvidenceContext) -> Verdict:
        self.asked.append(asked)
        if isinstance(self.verdict, Exception):
            raise self.verdict
        return self.verdict


def use(
    house: House, monkeypatch: pytest.MonkeyPatch, found: Mapping[EvidenceKind, EvidenceVerifier]
) -> None:
    monkeypatch.setattr(att, "verifiers_of", lambda rule: found)
    house.gate.attesting._built = ("", {})


def report(name: bytes) -> Evidence:
    return Evidence(K.GPU_CC, {"report": name})


@pytest.fixture
def gpus(house: House, monkeypatch: pytest.MonkeyPatch) -> dict[EvidenceKind, Said]:
    house.join()
    pool = policy("ed25519 and gpu_cc", gpu_cc={"x": 1})
    house.do(SetTrustPolicy(pool))
    until_ms = house.ms + 300_000
    said = {kind: Said(Trusted({"model": "x"}, until_ms)) for kind in (K.ED25519, K.GPU_CC)}
    use(house, monkeypatch, said)
    return said


def test_a_node_signs_for_its_devices_and_they_are_asked_in_its_name(
    house: House, gpus: dict[EvidenceKind, Said]
) -> None:
    nonce, devices = house.ask(), (report(b"1"), report(b"2"))
    found = house.present(signed(nonce), *devices, nonce=nonce)
    assert found.state is AttestationState.TRUSTED
    digests = [device.digest for device in devices]
    assert [a.nonce for a in gpus[K.ED25519].asked] == [bound_nonce(nonce, digests)]
    mine = device_nonce(nonce, public_of("a"))
    assert [a.nonce for a in gpus[K.GPU_CC].asked] == [mine, mine]
    assert [each.kind for each in found.judged] == [K.ED25519, K.GPU_CC]


def gpu(device_id: str, *, device: str = "gpu") -> Trusted:
    return Trusted({"device": device, "device_id": device_id, "driver_version": "570"}, 9)


def test_every_gpu_of_the_inventory_must_be_among_the_reports() -> None:
    both = every_device([gpu("a"), gpu("b"), gpu("s", device="switch")], gpus=2)
    assert both == Trusted({"driver_version": "570", "gpus": "2"}, 9)
    missing = Untrusted(R.DEVICE_MISSING)
    assert every_device([gpu("a")], gpus=2) == missing
    assert every_device([gpu("a"), gpu("s", device="switch")], gpus=2) == missing


def test_a_node_with_a_gpu_of_which_there_is_no_report_is_not_believed(
    house: House, gpus: dict[EvidenceKind, Said]
) -> None:
    house.do(DepartNode("n1"))
    two = H100 * 2
    house.do(RegisterNode("n1", NodeCapacity(1000, 2**30, gpus=two)))
    gpus[K.GPU_CC].verdict = gpu("a")
    nonce = house.ask()
    found = house.present(signed(nonce), report(b"1"), report(b"2"), nonce=nonce)
    assert found.judged[1].verdict == Untrusted(R.DEVICE_MISSING)
    assert found.state is AttestationState.UNTRUSTED


def test_one_gpu_asked_twice_does_not_vouch_for_another() -> None:
    assert every_device([gpu("a"), gpu("a")], gpus=2) == Untrusted(R.DEVICE_MISSING)


def test_a_bad_device_is_told_before_a_missing_one() -> None:
    bad = Untrusted(R.BAD_SIGNATURE)
    assert every_device([gpu("a"), bad], gpus=3) == bad


def test_devices_are_taken_only_beside_the_node_that_they_are_in(
    house: House, gpus: dict[EvidenceKind, Said]
) -> None:
    nonce = house.ask()
    with pytest.raises(InvalidValue, match="own evidence"):
        house.present(report(b"1"), nonce=nonce)
    assert not gpus[K.GPU_CC].asked
    house.present(signed(nonce), report(b"1"), nonce=nonce)  # the nonce was not spent by that


@pytest.mark.parametrize("own", [Untrusted(R.BAD_SIGNATURE), StaleEvidence(1), Unsupported()])
@pytest.mark.parametrize("device", [Trusted({}, 9 * 10**12), Untrusted(R.NONCE_MISMATCH)])
def test_devices_that_no_good_piece_vouches_for_say_nothing_about_the_node(
    house: House, gpus: dict[EvidenceKind, Said], own: Verdict, device: Verdict
) -> None:
    gpus[K.ED25519].verdict, gpus[K.GPU_CC].verdict = own, device
    nonce = house.ask()
    found = house.present(signed(nonce), report(b"1"), nonce=nonce)
    assert [each.is_sealed for each in found.judged] == [True, False]
    assert not isinstance(found.judged[1].verdict, Trusted)
    assert K.GPU_CC not in (house.kernel.state.trust.standing("n1") or {})


@pytest.mark.parametrize("device", [Trusted({}, 9 * 10**12), Untrusted(R.NONCE_MISMATCH)])
def test_a_key_that_was_never_enrolled_vouches_for_no_device_and_closes_no_node(
    house: House, gpus: dict[EvidenceKind, Said], device: Verdict
) -> None:
    house.do(WithdrawEnrolment("n1", K.ED25519))
    gpus[K.ED25519].verdict = Untrusted(R.NOT_ENROLLED)
    gpus[K.GPU_CC].verdict = device
    nonce = house.ask()
    found = house.present(signed(nonce), report(b"1"), nonce=nonce)
    assert (house.told, house.is_closed()) == ([], False)
    assert [each.is_sealed for each in found.judged] == [False, False]


def test_devices_are_asked_by_the_key_that_is_enrolled_whatever_lies_beside_it(
    house: House, gpus: dict[EvidenceKind, Said]
) -> None:
    house.do(SetTrustPolicy(policy("(ed25519 or tpm2) and gpu_cc", tpm2={}, gpu_cc={})))
    gpus[K.TPM2] = Said(Untrusted(R.NOT_ENROLLED))
    nonce = house.ask()
    junk = Evidence(K.TPM2, {"attest": b"junk"})
    house.present(junk, signed(nonce), report(b"1"), nonce=nonce)
    assert [a.nonce for a in gpus[K.GPU_CC].asked] == [device_nonce(nonce, public_of("a"))]


def test_devices_that_are_enough_by_themselves_are_asked_with_the_nonce_itself(
    house: House, gpus: dict[EvidenceKind, Said]
) -> None:
    house.do(SetTrustPolicy(policy("ed25519 or gpu_cc", gpu_cc={"x": 1})))
    nonce = house.ask()
    house.present(report(b"1"), nonce=nonce)
    assert [asked.nonce for asked in gpus[K.GPU_CC].asked] == [nonce]


@pytest.mark.parametrize(
    ("kinds", "match"),
    [
        ((), f"1 to {PIECES_MAX}"),
        ((K.ED25519,) * 2, "one piece"),
        ((K.TDX,), "one of ed25519"),
        ((K.ED25519, *[K.GPU_CC] * PIECES_MAX), f"1 to {PIECES_MAX}"),
    ],
)
def test_a_bundle_that_cannot_be_judged_is_refused_as_a_whole(
    house: House, gpus: dict[EvidenceKind, Said], kinds: tuple[EvidenceKind, ...], match: str
) -> None:
    del gpus
    nonce = house.ask()
    with pytest.raises(InvalidValue, match=match):
        house.present(*(Evidence(kind, {"x": b""}) for kind in kinds), nonce=nonce)
    assert house.told == []


GOOD, LATER = Trusted({"a": "1", "b": "2"}, 500), Trusted({"a": "1", "b": "3"}, 400)
BAD = Untrusted(R.MODE)


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ([GOOD], GOOD),
        ([GOOD, LATER], Trusted({"a": "1"}, 400)),
        ([GOOD, BAD, Unsupported()], BAD),
        ([GOOD, StaleEvidence(3)], StaleEvidence(3)),
        ([StaleEvidence(3), Unsupported("off"), GOOD], Unsupported("off")),
        ([Untrusted(R.DEBUG), BAD], Untrusted(R.DEBUG)),
    ],
)
def test_several_devices_are_as_good_as_the_worst(
    verdicts: list[Verdict], expected: Verdict
) -> None:
    assert worst(verdicts) == expected


def test_the_digest_of_several_pieces_does_not_depend_on_their_order() -> None:
    digests = [report(name).digest for name in (b"1", b"2", b"3")]
    assert joint_digest(digests[:1]) == digests[0]
    assert joint_digest(digests) == joint_digest(digests[::-1])
    assert joint_digest(digests) != joint_digest(digests[:2])


# -- policies --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("require", "more", "field"),
    [
        ("ed25519", {"nitro": {"roots": []}}, "pools.all.nitro"),
        ("ed25519 and tdx", {}, "pools.all.tdx"),
        ("ed25519", {"ed25519": {"keys": [], "firmware": []}}, "pools.all.ed25519.keys"),
        ("ed25519", {"ed25519": {"keyz": []}}, "pools.all.ed25519"),
    ],
)
def test_a_section_that_makes_no_sense_is_refused_with_its_field(
    require: str, more: dict[str, Any], field: str
) -> None:
    (rule,) = TrustPolicy.read(policy(require, **more)).pools
    with pytest.raises(InvalidValue) as caught:
        verifiers_of(rule)
    assert caught.value.field == field


def test_every_kind_has_a_verifier() -> None:
    from bailiwick.attestation.verifiers import _class_of

    assert [_class_of(kind).kind for kind in K] == list(K)


def test_the_verifiers_of_a_policy_are_built_once(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[str] = []

    def build(rule: Any) -> dict[EvidenceKind, EvidenceVerifier]:
        built.append(rule.name)
        return verifiers_of(rule)

    monkeypatch.setattr(att, "verifiers_of", build)
    house.join()
    house.attest()
    house.attest()
    assert built == ["all"]
    house.do(SetTrustPolicy(policy(max_age_s=60)))
    house.attest()
    assert built == ["all", "all"]
