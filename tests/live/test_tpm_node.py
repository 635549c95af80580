"""Trust on real parts: a server process, agents, and TPMs in software.

A node enrols by credential activation, attests, takes a lease, boots something else, is closed and
loses the lease, boots what it should, attests, is let in again. And what a node cannot do: be
another, answer twice, answer late.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bailiwick.agent.key_file import load_or_make_key
from bailiwick.agent.tpm_prover import AK_NAME, TpmProver
from bailiwick.agent.words import CannotAttest
from bailiwick.attestation.evidence import Evidence
from bailiwick.capability import (
    Accepted,
    BiscuitKey,
    KeyRing,
    Operation,
    Revocations,
    Use,
    verify,
)
from tests.support.attested_fleet import Agent, Answer, Fleet, alive, fleet
from tests.support.software_tpm import Maker, SoftwareTpm, running
from tests.support.tools import need
from tests.support.waiting import WAIT_S, until

AGE_S = 3_600
"""How old evidence may be: no test takes so long."""
SOON_S = 60
"""Under a policy with this age, evidence of an older policy is asked for within a quarter of it, at
the next beat (10 s); what comes then counts for the whole of it."""
FIRMWARE = "ab" * 32


@pytest.fixture(scope="module")
def maker(tmp_path_factory: pytest.TempPathFactory) -> Maker:
    need("swtpm")
    return Maker(tmp_path_factory.mktemp("maker"))


@pytest.fixture(scope="module")
def tpms(maker: Maker) -> Iterator[tuple[SoftwareTpm, SoftwareTpm]]:
    both = maker.make("one"), maker.make("other")
    with running(*both):
        yield both


@pytest.fixture(scope="module")
def house(
    tmp_path_factory: pytest.TempPathFactory,
    maker: Maker,
    tpms: tuple[SoftwareTpm, SoftwareTpm],
) -> Iterator[Fleet]:
    """A server for the tests that need no fleet of their own; nodes are by a TPM, or by a key."""
    folder = tmp_path_factory.mktemp("fleet")
    key = load_or_make_key(folder / "key.pem").public_key().public_bytes_raw()
    section = {"keys": [key.hex()], "firmware": [FIRMWARE]}
    small = {"nodes": ["pi-*"], "require": "ed25519", "max_age_s": AGE_S, "ed25519": section}
    with fleet(folder) as shared:
        shared.set_policy({"gpu": pool(maker, tpms[0]), "small": small})
        yield shared


def pool(maker: Maker, tpm: SoftwareTpm, **more: Any) -> dict[str, Any]:
    """Nodes whose TPM is of this maker and that booted what this one has now."""
    allowed = {number: [value] for number, value in tpm.registers().items()}
    rules = {
        "ek_roots": [maker.intermediate],
        "selection": {"sha256": list(range(8))},
        "pcrs": {"sha256": allowed},
    }
    return {"nodes": ["gpu-*"], "require": "tpm2", "max_age_s": AGE_S, "tpm2": rules} | more


def agent_of(house: Fleet, node: str, tpm: SoftwareTpm, *, state: Path) -> Agent:
    words = ("--attest", "tpm2", "--tpm", tpm.tcti, "--attest-state", str(state))
    return Agent(house, node, house.admit(node), words)


@contextmanager
def trusted(house: Fleet, node: str, tpm: SoftwareTpm, *, state: Path) -> Iterator[Agent]:
    """A node that has just proved itself; afterwards its TPM may be another node's."""
    agent = agent_of(house, node, tpm, state=state)
    done = agent.once()
    try:
        assert done.returncode == 0, done.stderr
        assert f"{node} has proved itself: trusted" in done.stderr
        with house.heard(node):
            yield agent
    finally:
        house.ask("DELETE", f"/v1/nodes/{node}/enrolment?kind=tpm2")


def present(house: Fleet, node: str, nonce: str, *, piece: Evidence, token: str) -> Answer:
    parts = {name: base64.b64encode(value).decode() for name, value in piece.parts.items()}
    body = {"nonce": nonce, "pieces": [{"kind": piece.kind.value, "parts": parts}]}
    return house.ask("POST", f"/v1/nodes/{node}/attestation", body, token=token)


def test_a_node_is_trusted_closed_and_let_in_again(
    tmp_path: Path, maker: Maker, tpms: tuple[SoftwareTpm, SoftwareTpm]
) -> None:
    tpm = tpms[0]
    with fleet(tmp_path) as house:
        rules = pool(maker, tpm)
        house.set_policy({"gpu": rules})
        agent = agent_of(house, "gpu-1", tpm, state=tmp_path / "state")
        silent = Agent(house, "gpu-1", agent.token_file, ())
        assert silent.once().returncode == 0
        assert house.fallen() == {"attestation": 1}
        assert house.lease().status == 409
        with alive(agent):
            house.wait_for("gpu-1", "trusted")
            lease = house.lease().ok["lease_ids"][0]
            labels = house.trust("gpu-1")["standing"][0]["claims"]
            assert {"ak", "ek", "reset_count"} <= labels.keys()

            tpm.extend(7, b"\1" * 32)
            house.set_policy({"gpu": rules | {"max_age_s": SOON_S}})
            house.wait_for("gpu-1", "untrusted", quarantined=True)
            assert house.fallen() == {"quarantined": 1}
            assert house.lease().status == 409
            until(lambda: "pcr_policy" in agent.said, "the operator is told why")
            assert house.ask("DELETE", "/v1/nodes/gpu-1/quarantine").status == 409

            tpm.reboot()
            house.set_policy({"gpu": rules | {"max_age_s": SOON_S + 1}})
            house.wait_for("gpu-1", "trusted", quarantined=True)
            assert house.lease().status == 409
            assert house.ask("DELETE", "/v1/nodes/gpu-1/quarantine").ok
            again = house.lease().ok["lease_ids"][0]
            assert agent.runs, agent.said
            assert agent.stop() == 0
        records = house.records()
    check_journal(records, lease, again)


def check_journal(records: list[dict[str, Any]], lease: int, again: int) -> None:
    """The whole story is sealed, in its order."""

    def bodies(kind: str) -> list[dict[str, Any]]:
        return [each["body"] for each in records if each["kind"] == kind]

    enrolled = bodies("node_enrolled")
    assert [each["node"] for each in enrolled] == ["gpu-1"]
    verdicts = bodies("attestation_verdict")
    assert verdicts[0]["verdict"] == "trusted"
    bad = [each for each in verdicts if each["verdict"] == "untrusted"]
    assert {each["reason"] for each in bad} == {"pcr_policy"}
    assert all(len(each["evidence"]) == 64 for each in verdicts)
    closed = bodies("node_quarantined")
    assert [(each["node"], each["reason"]) for each in closed] == [("gpu-1", "pcr_policy")]
    assert closed[0]["evidence"] == bad[0]["evidence"]
    kinds = [each["kind"] for each in records]
    lifted = kinds.index("node_quarantine_lifted")
    shown = [
        each["body"]["evidence"]
        for each in records[:lifted]
        if each["kind"] == "attestation_verdict" and each["body"]["verdict"] == "trusted"
    ]
    assert records[lifted]["body"]["evidence"] == shown[-1]
    ended = [
        each["body"]
        for each in records
        if each["body"].get("reason") == "policy_violation_recovery"
    ]
    assert ended, "the lease was revoked for it"
    assert {lease} == {number for each in ended for number in _leases(each)}
    granted = [number for each in bodies("admission_approved") for number in _leases(each)]
    assert granted == [lease, again]


def _leases(body: dict[str, Any]) -> list[int]:
    found = body.get("lease_ids", [body["lease_id"]] if "lease_id" in body else [])
    return [int(each) for each in found]


def test_a_copied_disk_is_not_the_same_node(
    tmp_path: Path, house: Fleet, tpms: tuple[SoftwareTpm, SoftwareTpm]
) -> None:
    tpm, other = tpms
    disk, copy = tmp_path / "disk", tmp_path / "copy"
    with trusted(house, "gpu-disk", tpm, state=disk):
        before = house.trust("gpu-disk")
        shutil.copytree(disk, copy)
        # As it is, the copied key cannot be loaded in another TPM.
        done = agent_of(house, "gpu-disk", other, state=copy).once()
        assert done.returncode != 0
        assert "not of this TPM" in done.stderr
        # With a key of its own the machine is another, and the name is taken.
        (copy / AK_NAME).unlink()
        done = agent_of(house, "gpu-disk", other, state=copy).once()
        assert done.returncode == 0
        assert "has enrolled another machine by tpm2" in done.stderr
        # Nor can the machine be enrolled again under another name.
        done = agent_of(house, "gpu-alias", tpm, state=tmp_path / "alias").once()
        assert "enrolled under another name" in done.stderr
        assert house.trust("gpu-disk")["enrolments"] == before["enrolments"]
        assert house.trust("gpu-disk")["standing"] == before["standing"]
        assert house.node("gpu-alias")["attestation"] == "unattested"


def test_a_key_of_one_tpm_cannot_be_enrolled_beside_the_certificate_of_another(
    tmp_path: Path, house: Fleet, tpms: tuple[SoftwareTpm, SoftwareTpm]
) -> None:
    victim, own = (TpmProver(tpm.tcti, tmp_path / str(tpm.port)) for tpm in tpms)
    silent = Agent(house, "gpu-swap", house.admit("gpu-swap"), ())
    assert silent.once().returncode == 0
    token = silent.token_file.read_text()
    swapped = {**victim.offer(), "ak_public": own.offer()["ak_public"]}
    parts = {name: base64.b64encode(value).decode() for name, value in swapped.items()}
    path = "/v1/nodes/gpu-swap/enrolment"
    told = house.ask("POST", path, {"kind": "tpm2", "parts": parts}, token=token).ok
    challenge = {name: base64.b64decode(text) for name, text in told["parts"].items()}
    for prover in (victim, own):  # neither TPM has both keys, so neither decrypts it
        with pytest.raises(CannotAttest):
            prover.prove("gpu-swap", challenge)
    guess = {"secret": base64.b64encode(os.urandom(32)).decode()}
    proof = {"enrolment_id": told["enrolment_id"], "parts": guess}
    refused = house.ask("POST", f"{path}/proof", proof, token=token)
    assert refused.status == 409
    assert refused.body["details"]["reason"] == "identity_mismatch"
    assert house.trust("gpu-swap")["enrolments"] == []


def test_evidence_that_is_replayed_or_forged_fails_each_with_its_own_word(
    tmp_path: Path, house: Fleet, tpms: tuple[SoftwareTpm, SoftwareTpm]
) -> None:
    tpm, other = tpms
    with trusted(house, "gpu-play", tpm, state=tmp_path / "state") as agent:
        token = agent.token_file.read_text()
        prover = TpmProver(tpm.tcti, tmp_path / "state")

        def nonce() -> str:
            return str(house.ask("POST", "/v1/nodes/gpu-play/nonce", token=token).ok["nonce"])

        def verdict(nonce: str, piece: Evidence) -> tuple[str, str | None, bool]:
            told = present(house, "gpu-play", nonce, piece=piece, token=token).ok["verdicts"][0]
            return told["verdict"], told["reason"], told["is_sealed"]

        first = nonce()
        good = prover.present("gpu-play", bytes.fromhex(first))
        assert verdict(first, good) == ("trusted", None, True)
        # The same answer again: a replay, which closes nobody.
        assert verdict(first, good) == ("untrusted", "nonce_spent", False)
        assert house.node("gpu-play")["quarantined"] is False
        # An old answer to a new question is the node's own fault.
        assert verdict(nonce(), good) == ("untrusted", "nonce_mismatch", True)
        assert house.node("gpu-play")["quarantined"] is True
        # Another TPM's quote over the right nonce: the enrolled key did not sign it.
        foreign, now = TpmProver(other.tcti, tmp_path / "foreign"), nonce()
        forged = foreign.present("gpu-play", bytes.fromhex(now))
        assert verdict(now, forged) == ("untrusted", "bad_signature", True)


def test_a_reboot_is_expected_in_maintenance_and_closes_a_node_otherwise(
    tmp_path: Path, house: Fleet, tpms: tuple[SoftwareTpm, SoftwareTpm]
) -> None:
    tpm = tpms[0]

    def move(mode: str, *, reached: str = "") -> None:
        assert house.ask("PUT", "/v1/nodes/gpu-boot/mode", {"mode": mode}).ok
        wanted = reached or mode
        until(lambda: house.node("gpu-boot")["mode"] == wanted, wanted)

    with trusted(house, "gpu-boot", tpm, state=tmp_path / "state") as agent:
        move("draining", reached="drained")
        move("maintenance")
        tpm.reboot()
        assert "gpu-boot has proved itself: trusted" in agent.once().stderr
        move("returning")
        move("accepting")
        tpm.reboot()
        assert "tpm2 is untrusted (reset_count_changed)" in agent.once().stderr
        assert house.node("gpu-boot")["quarantined"] is True


def test_a_node_mints_tokens_for_its_own_leases_with_its_own_key(
    tmp_path: Path, house: Fleet, tpms: tuple[SoftwareTpm, SoftwareTpm]
) -> None:
    state = tmp_path / "state"
    agent = agent_of(house, "gpu-mint", tpms[1], state=state)
    agent = replace(agent, arguments=(*agent.arguments, "--mint"))
    with alive(agent):
        house.wait_for("gpu-mint", "trusted")
        claims = house.trust("gpu-mint")["standing"][0]["claims"]
        lease = house.lease(f"attested.tpm2.ak={claims['ak']}").ok["lease_ids"][0]
        told = mint(state, lease, {"operations": ["mem_read"], "ttl_ms": 60_000})
        assert told["claims"]["audience"] == "gpu-mint"
        own = load_or_make_key(state / "capability.pem").public_key().public_bytes_raw()
        assert own.hex() in json.dumps(house.ask("GET", "/v1/capabilities/keys").ok)
        accepted = verify(
            told["token"],
            Use(Operation.MEM_READ, "lab", lease),
            audience="gpu-mint",
            keys=KeyRing(nodes={"gpu-mint": (BiscuitKey(own),)}),
            revoked=Revocations(),
            now_ms=told["claims"]["expires_ms"] - 1,
        )
        assert isinstance(accepted, Accepted), accepted
        # The server's own key makes none for such a node, and nobody gets another's.
        wish = {"operations": ["mem_read"]}
        refused = house.ask("POST", f"/v1/leases/{lease}/tokens", wish)
        assert refused.body["decision"]["reason"] == "node_mints"
        assert mint(state, lease + 1, wish)["denied"] == "no_such_lease"
        assert mint(state, lease, wish | {"lease_id": lease + 1})["denied"] == "not_owner"
        assert mint(state, lease, wish | {"ttl_ms": 300_001})["denied"] == "ttl_too_long"
        assert agent.stop() == 0
    records = house.records()
    issued = [each["body"]["token_id"] for each in records if each["kind"] == "token_issued"]
    assert issued == [told["claims"]["token_id"]]
    assert told["token"] not in json.dumps(records)


ASK = """
import socket, sys
caller = socket.socket(socket.AF_UNIX)
caller.connect(sys.argv[1])
caller.sendall(sys.argv[2].encode() + b"\\n")
print(caller.makefile().read())
"""


def mint(state: Path, lease: int, wish: dict[str, Any]) -> dict[str, Any]:
    """What a process that was started under a lease is answered."""
    done = subprocess.run(
        [sys.executable, "-c", ASK, str(state / "mint.sock"), json.dumps(wish)],
        env=os.environ | {"BAILIWICK_LEASE_ID": str(lease)},
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_node_that_falls_silent_takes_no_new_lease_and_is_closed_after_its_grace(
    tmp_path: Path, maker: Maker, tpms: tuple[SoftwareTpm, SoftwareTpm]
) -> None:
    tpm = tpms[0]
    with fleet(tmp_path) as house:
        house.set_policy({"gpu": pool(maker, tpm, max_age_s=20, stale_grace_s=6)})
        assert agent_of(house, "gpu-1", tpm, state=tmp_path / "state").once().returncode == 0
        house.wait_for("gpu-1", "trusted")
        assert house.lease().ok
        # Where it is slow, it may be closed before anybody looks.
        told = ({"attestation": 1}, {"quarantined": 1})
        until(lambda: house.fallen() in told, "it is stale")
        assert house.node("gpu-1")["attestation"] == "stale"
        assert house.lease().status == 409
        house.wait_for("gpu-1", "stale", quarantined=True)
        assert house.fallen() == {"quarantined": 1}
        sealed = [each["body"] for each in house.records() if each["kind"] == "node_quarantined"]
        assert [each["reason"] for each in sealed] == ["stale"]


def test_a_node_with_a_key_file_enrols_attests_and_is_closed_for_its_firmware(
    tmp_path: Path, house: Fleet
) -> None:
    key_file = house.folder / "key.pem"

    def agent(node: str, firmware: str, *words: str) -> Agent:
        state = str(tmp_path / node)
        own = ("--attest", "ed25519", "--attest-state", state, "--firmware", firmware)
        return Agent(house, node, house.admit(node), (*own, *words))

    done = agent("pi-2", FIRMWARE).once()
    assert "not_enrolled, the policy does not list this key" in done.stderr
    made = tmp_path / "pi-2" / "ed25519.pem"
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    good = agent("pi-1", FIRMWARE, "--key-file", str(key_file))
    with alive(good):
        house.wait_for("pi-1", "trusted")
        granted = house.lease(f"attested.ed25519.firmware={FIRMWARE[:32]}").ok
        assert granted["nodes"] == ["pi-1"]
        assert good.stop() == 0
    done = agent("pi-1", "cd" * 32, "--key-file", str(key_file)).once()
    assert "ed25519 is untrusted (firmware)" in done.stderr
    house.wait_for("pi-1", "untrusted", quarantined=True)
    key_file.chmod(0o644)
    done = agent("pi-1", FIRMWARE, "--key-file", str(key_file)).once()
    assert done.returncode == 2
    assert "chmod 600" in done.stderr
