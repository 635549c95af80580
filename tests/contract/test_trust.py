"""Trust over HTTP: a node enrols and attests, fails in every way there is, and is let back in."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import pytest

from bailiwick.attestation.ed25519 import enrolment_statement, statement_of
from bailiwick.attestation.evidence import PIECES_MAX
from bailiwick.attestation.policy import POLICY_BYTES_MAX
from bailiwick.capability import TOKEN_TTL_MS_MAX
from bailiwick.journal.words import AttestationWord
from bailiwick.kernel import Tick
from bailiwick.phrases.tokens import MINT_DENIALS
from bailiwick.vocab.trust import MintDenial
from bailiwick.wire import trust as wire
from tests.contract.test_operating import as_node
from tests.support.evidence_ed25519 import FIRMWARE, SMALL_ORDER_KEYS, key_of, public_of
from tests.support.http_house import OWN, HttpHouse, MovedClock, http_house

ADMIN, OPERATOR = "fleet_admin", "fleet_operator"
POLICY = "/v1/attestation/policy"
LABELS = ["zone=t"]


def b64(parts: Mapping[str, bytes]) -> dict[str, str]:
    return {name: base64.b64encode(value).decode() for name, value in parts.items()}


def document(**more: Any) -> str:
    section = {
        "keys": [public_of(label).hex() for label in ("a", "b")],
        "firmware": [FIRMWARE.hex()],
    }
    pool = {"nodes": ["t-*"], "require": "ed25519", "ed25519": section} | more
    return json.dumps({"pools": {"test": pool}})


class Machine:
    """A node's agent, as the contract has it."""

    def __init__(self, house: HttpHouse, node: str = "t-1", label: str = "a") -> None:
        self.house, self.node, self.label = house, node, label
        self.headers = as_node(house, node)

    def post(self, path: str, body: Any = None, **more: Any) -> Any:
        url = f"/v1/nodes/{self.node}/{path}"
        return self.house.client.post(url, json=body, headers=self.headers, **more)

    def offer(self, **changes: bytes) -> Any:
        parts = {"public_key": public_of(self.label)} | changes
        return self.post("enrolment", {"kind": "ed25519", "parts": b64(parts)})

    def prove(self, challenge: Mapping[str, Any], **more: Any) -> Any:
        nonce = base64.b64decode(challenge["parts"]["nonce"])
        signature = key_of(self.label).sign(enrolment_statement(self.node, nonce))
        body = {"enrolment_id": challenge["enrolment_id"], "parts": b64({"signature": signature})}
        return self.post("enrolment/proof", body, **more)

    def enrol(self, **changes: bytes) -> None:
        offered = self.offer(**changes)
        assert offered.status_code == 200, offered.text
        proven = self.prove(offered.json())
        assert proven.status_code == 200, proven.text

    def nonce(self) -> str:
        return str(self.post("nonce").json()["nonce"])

    def evidence(self, nonce: str, **changes: Any) -> dict[str, Any]:
        told = {"node": self.node, "label": self.label, "firmware": FIRMWARE} | changes
        statement = statement_of(told["node"], bytes.fromhex(nonce), firmware=told["firmware"])
        parts = {"statement": statement, "signature": key_of(told["label"]).sign(statement)}
        return {"nonce": nonce, "pieces": [{"kind": "ed25519", "parts": b64(parts)}]}

    def attest(self, **changes: Any) -> Any:
        return self.post("attestation", self.evidence(self.nonce(), **changes))

    @property
    def row(self) -> Any:
        return self.house.ask(ADMIN, "GET", f"/v1/nodes/{self.node}").json()

    @property
    def standing(self) -> Any:
        return self.house.ask(ADMIN, "GET", f"/v1/nodes/{self.node}/attestation").json()


def register(house: HttpHouse, node: str) -> None:
    house.plain(
        "register_node",
        node=node,
        inventory={"resources": {"cpu_milli": 4000, "mem_bytes": 2**30}, "labels": LABELS},
    )


@pytest.fixture
def clock() -> MovedClock:
    return MovedClock()


@pytest.fixture
def house(tmp_path: Path, clock: MovedClock) -> Iterator[HttpHouse]:
    with http_house(tmp_path, clock=clock) as made:
        for node in ("t-1", "t-2"):
            register(made, node)
        assert set_policy(made, document()).status_code == 200
        yield made


@pytest.fixture
def machine(house: HttpHouse) -> Machine:
    found = Machine(house)
    found.enrol()
    return found


def set_policy(house: HttpHouse, text: str, **more: Any) -> Any:
    return house.ask(OPERATOR, "PUT", POLICY, json={"document": text}, **more)


def request(house: HttpHouse, **more: Any) -> Any:
    body = {"tenant": OWN, "project": "p", "resources": {"cpu_milli": 500}, "labels": LABELS}
    return house.ask("project_member@lab", "POST", "/v1/leases", json=body | more)


def lease_on(house: HttpHouse, node: str, **more: Any) -> int | None:
    """Ask for a lease, let the line move on, and find it; others wait for room elsewhere."""
    request(house, **more)
    house.do(Tick())
    found = house.ask(ADMIN, "GET", "/v1/leases").json()["items"]
    return next((lease["lease_id"] for lease in found if lease["node"] == node), None)


def lift(house: HttpHouse, query: str = "", node: str = "t-1") -> Any:
    return house.ask(OPERATOR, "DELETE", f"/v1/nodes/{node}/quarantine{query}")


# -- the good way ----------------------------------------------------------------------------


def test_a_node_takes_leases_once_it_has_enrolled_and_attested(
    house: HttpHouse, machine: Machine
) -> None:
    waiting = request(house)
    assert waiting.status_code == 202
    body = {"tenant": OWN, "project": "p", "resources": {"cpu_milli": 500}, "labels": LABELS}
    why = house.ask("project_member@lab", "POST", "/v1/leases/explain", json=body).json()
    assert why["fallen"]["attestation"] == 2
    found = machine.attest()
    assert found.status_code == 200, found.text
    told = found.json()
    (verdict,) = told["verdicts"]
    assert (told["state"], verdict["verdict"], verdict["is_sealed"]) == ("trusted", "trusted", True)
    assert told["refresh_ms"] < verdict["valid_until_ms"]
    assert lease_on(house, "t-1") is not None


def test_what_a_node_has_proven_is_shown_and_can_be_asked_for(
    house: HttpHouse, machine: Machine
) -> None:
    assert (machine.row["attestation"], machine.row["attested_ms"]) == ("unattested", None)
    machine.attest()
    row, firmware = machine.row, FIRMWARE.hex()[:32]
    assert row["attestation"] == "trusted"
    assert row["attested_ms"] is not None
    assert row["claims"]["ed25519.firmware"] == firmware
    assert lease_on(house, "t-1", labels=[f"attested.ed25519.firmware={firmware}"]) is not None
    told = machine.standing
    assert (told["pool"], told["require"]) == ("test", "ed25519")
    assert [held["claims"]["firmware"] for held in told["standing"]] == [firmware]
    assert [each["keys"] for each in told["enrolments"]] == [["public_key"]]


def test_a_heartbeat_brings_a_nonce_when_it_is_time(
    house: HttpHouse, machine: Machine, clock: MovedClock
) -> None:
    nonce = machine.post("heartbeat").json()["attest_nonce"]
    assert machine.post("heartbeat").json()["attest_nonce"] == nonce
    assert "attest_nonce" not in machine.post("heartbeat?dry_run=true").json()
    answer = machine.post("attestation", machine.evidence(nonce)).json()
    assert answer["state"] == "trusted"
    assert "attest_nonce" not in machine.post("heartbeat").json()
    clock.ahead_ms += 226_000
    assert "attest_nonce" in machine.post("heartbeat").json()
    headers = as_node(house, "n1")
    other = house.client.post("/v1/nodes/n1/heartbeat", headers=headers).json()
    assert "attest_nonce" not in other  # no pool names it


# -- evidence that is not believed -----------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"label": "b"}, "bad_signature"),
        ({"node": "t-2"}, "identity_mismatch"),
        ({"firmware": bytes(32)}, "firmware"),
    ],
)
def test_bad_evidence_closes_the_node_and_ends_its_leases(
    house: HttpHouse, machine: Machine, changes: dict[str, Any], reason: str
) -> None:
    machine.attest()
    lease_id = lease_on(house, "t-1")
    (verdict,) = machine.attest(**changes).json()["verdicts"]
    assert (verdict["verdict"], verdict["reason"]) == ("untrusted", reason)
    row = machine.row
    assert (row["attestation"], row["quarantined"]) == ("untrusted", True)
    (sealed,) = [b for b in house.records("attestation_verdict") if b["verdict"] == "untrusted"]
    assert (sealed["reason"], sealed["evidence"]) == (reason, verdict["evidence"])
    (closed,) = house.records("node_quarantined")
    assert (closed["reason"], closed["evidence"]) == (reason, verdict["evidence"])
    revoked = [b for b in house.records("lease_revoked") if b["lease_id"] == lease_id]
    assert revoked[0]["reason"] == "policy_violation_recovery"


def test_a_replay_is_told_and_changes_nothing(house: HttpHouse, machine: Machine) -> None:
    body = machine.evidence(machine.nonce())
    assert machine.post("attestation", body).json()["state"] == "trusted"
    before = len(house.records("attestation_verdict"))
    again = machine.post("attestation", body)
    (verdict,) = again.json()["verdicts"]
    assert (again.status_code, verdict["reason"]) == (200, "nonce_spent")
    assert not verdict["is_sealed"]
    assert again.json()["state"] == "trusted"
    assert len(house.records("attestation_verdict")) == before
    assert not machine.row["quarantined"]


def test_a_nonce_that_came_too_late_is_a_replay_too(machine: Machine, clock: MovedClock) -> None:
    nonce = machine.nonce()
    clock.ahead_ms += 60_000
    (verdict,) = machine.post("attestation", machine.evidence(nonce)).json()["verdicts"]
    assert verdict["reason"] == "nonce_spent"


def test_a_machine_cannot_stand_in_for_another(house: HttpHouse, machine: Machine) -> None:
    other = Machine(house, "t-2", "b")
    other.enrol()
    other.attest()
    stolen = machine.nonce()
    good = other.evidence(stolen)  # t-2's own good evidence, with the nonce of t-1
    (verdict,) = machine.post("attestation", good).json()["verdicts"]
    assert verdict["reason"] == "bad_signature"
    assert machine.row["quarantined"]
    assert not other.row["quarantined"]


def test_evidence_that_lapses_keeps_new_leases_out_and_then_closes_the_node(
    house: HttpHouse, machine: Machine, clock: MovedClock
) -> None:
    machine.attest()
    clock.ahead_ms += 301_000
    house.do(Tick())
    row = machine.row
    assert (row["attestation"], row["quarantined"], row["takes_leases"]) == ("stale", False, False)
    assert lease_on(house, "t-1") is None
    clock.ahead_ms += 901_000
    house.do(Tick())
    assert machine.row["quarantined"]
    (closed,) = house.records("node_quarantined")
    assert closed["reason"] == "stale"


# -- the way back ----------------------------------------------------------------------------


def test_a_quarantine_is_lifted_only_after_a_fresh_proof(
    house: HttpHouse, machine: Machine
) -> None:
    machine.attest()
    machine.attest(label="b")
    refused = lift(house)
    assert refused.status_code == 409
    assert "override" in refused.json()["message"]
    assert machine.attest().json()["state"] == "trusted"
    assert machine.row["quarantined"]  # a good verdict lifts nothing by itself
    assert lift(house).status_code == 200
    assert machine.row["takes_leases"]


def test_an_override_needs_a_reason_which_is_sealed(house: HttpHouse, machine: Machine) -> None:
    machine.attest(label="b")
    assert lift(house, "?override=true").status_code == 422
    assert lift(house, "?override=true&note=seen%20with%20my%20own%20eyes").status_code == 200
    (lifted,) = house.records("node_quarantine_lifted")
    assert lifted["note"] == "seen with my own eyes"
    assert not machine.row["takes_leases"]  # it still has to attest


def test_a_node_of_no_pool_is_lifted_as_ever(house: HttpHouse) -> None:
    body = {"reason": "looks-wrong"}
    assert house.ask(OPERATOR, "PUT", "/v1/nodes/n1/quarantine", json=body).status_code == 200
    assert lift(house, node="n1").status_code == 200


# -- enrolment -------------------------------------------------------------------------------


def test_a_copied_disk_is_refused_under_another_name(house: HttpHouse, machine: Machine) -> None:
    copy = Machine(house, "t-2", machine.label)
    proven = copy.prove(copy.offer().json())
    assert (proven.status_code, proven.json()["code"]) == (409, "conflict")
    assert machine.node not in proven.text


def test_another_machine_takes_a_name_only_after_the_first_is_withdrawn(
    house: HttpHouse, machine: Machine
) -> None:
    machine.attest()
    other = Machine(house, machine.node, "b")
    assert other.prove(other.offer().json()).status_code == 409
    path = f"/v1/nodes/{machine.node}/enrolment?kind=ed25519"
    assert house.ask(OPERATOR, "DELETE", path).status_code == 200
    assert machine.row["attestation"] == "unattested"
    other.enrol()
    assert other.attest().json()["state"] == "trusted"
    assert house.ask(OPERATOR, "DELETE", path.replace("ed25519", "tpm2")).status_code == 404


def test_keys_that_are_not_taken_are_told_with_the_reason(house: HttpHouse) -> None:
    stranger = Machine(house, "t-1", "stranger").offer()
    assert (stranger.status_code, stranger.json()["code"]) == (409, "refused")
    assert stranger.json()["details"] == {"reason": "not_enrolled"}
    weak = Machine(house).offer(public_key=SMALL_ORDER_KEYS[1])
    assert weak.json()["details"] == {"reason": "weak_key"}
    for parts in ({"public_key": "!"}, {}, {"public_key": "AAA"}):
        body = {"kind": "ed25519", "parts": parts}
        assert Machine(house).post("enrolment", body).status_code == 422


def test_a_node_speaks_for_itself_alone(house: HttpHouse, machine: Machine) -> None:
    foreign = as_node(house, "t-2")
    paths = {
        "enrolment": {"kind": "ed25519", "parts": {"public_key": "AA=="}},
        "enrolment/proof": {"enrolment_id": "0" * 32, "parts": {"signature": "AA=="}},
        "nonce": None,
        "attestation": machine.evidence("0" * 64),
        "lease-tokens": {"lease_id": 1, "operations": ["mem_read"]},
    }
    for path, body in paths.items():
        url = f"/v1/nodes/t-1/{path}"
        answer = house.client.post(url, json=body, headers=foreign)
        assert answer.status_code == 403, path


def test_evidence_beyond_the_bound_is_refused_before_it_is_read(machine: Machine) -> None:
    body = machine.evidence("0" * 64)
    body["pieces"][0]["parts"]["statement"] = "A" * (1 << 20)
    assert machine.post("attestation", body).status_code == 413


# -- policy ----------------------------------------------------------------------------------


def test_the_policy_is_told_as_it_counts(house: HttpHouse) -> None:
    found = house.ask("fleet_auditor", "GET", POLICY)
    assert found.headers["etag"] == f'"{found.json()["digest"]}"'
    assert json.loads(found.json()["document"]) == json.loads(document())
    assert set_policy(house, found.json()["document"]).json()["seq"] is None  # it is the same


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ('{"pools"', "policy"),
        (document(require="ed25519 and tdx"), "pools.test.tdx"),
        (document(nitro={"x": 1}), "pools.test.nitro"),
        (
            document(ed25519={"keys": ["00" * 32], "firmware": ["00" * 32]}),
            "pools.test.ed25519.keys",
        ),
        (document(max_age_s=1), "pools.test.max_age_s"),
    ],
)
def test_a_policy_with_a_mistake_is_refused_with_its_field(
    house: HttpHouse, text: str, field: str
) -> None:
    before = house.ask(OPERATOR, "GET", POLICY).json()
    refused = set_policy(house, text)
    assert (refused.status_code, refused.json()["details"]["field"]) == (422, field)
    assert house.ask(OPERATOR, "GET", POLICY).json() == before


def test_a_policy_can_be_tried_first(house: HttpHouse) -> None:
    before = house.ask(OPERATOR, "GET", POLICY).json()
    tried = set_policy(house, document(max_age_s=60), params={"dry_run": "true"})
    assert tried.status_code == 200
    assert house.ask(OPERATOR, "GET", POLICY).json() == before


def test_where_nothing_judges_evidence_that_is_said(tmp_path: Path) -> None:
    from bailiwick.server.http.context import Parts

    with http_house(tmp_path, parts=Parts()) as house:
        for path in ("POST /v1/nodes/n1/nonce", "GET /v1/capabilities/keys"):
            answer = house.ask(OPERATOR, *path.split())
            assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")


def test_the_contract_spells_what_the_gate_says() -> None:
    assert set(get_args(wire.VerdictWord)) == set(AttestationWord)
    assert wire.POLICY_BYTES_MAX == POLICY_BYTES_MAX
    assert wire.PIECES_MAX == PIECES_MAX
    assert wire.TOKEN_TTL_MS_MAX == TOKEN_TTL_MS_MAX
    assert set(MINT_DENIALS) == set(MintDenial)
