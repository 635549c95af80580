"""Running the fleet over HTTP: nodes' own reports, ends of leases, settings, sessions, proofs."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bailiwick.cli.main import app as cli
from bailiwick.iam import Permission, PrincipalKind, Role
from bailiwick.journal.keys import SeedSigner, VerifierKey, parse_vkey
from bailiwick.journal.merkle import ConsistencyProof, ProofHolds, verify_consistency
from bailiwick.journal.note import Checkpoint, TrustedCheckpoint, verify_checkpoint
from bailiwick.kernel import Submit, Tick
from bailiwick.kernel.people import commands as cmd
from bailiwick.reconcile.departures import Departures
from bailiwick.runtime.tree import JournalTree
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.server.http.context import Parts
from bailiwick.services import authority as auth
from bailiwick.services.beats import Beats
from bailiwick.store.journal.proof import Proven, check_proof, parse_proof
from bailiwick.vocab.values import TenantId
from tests.support.http_house import (
    FOREIGN,
    OWN,
    HttpHouse,
    MovedClock,
    http_house,
    make_parts,
)
from tests.support.waiting import until

KEY = VerifierKey.of(SeedSigner("log.example/house", bytes(range(32))))
INVENTORY = {"resources": {"cpu_milli": 8_000, "mem_bytes": 2**33, "block_bytes": 2**30}}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[HttpHouse]:
    with http_house(tmp_path) as made:
        yield made


def as_node(house: HttpHouse, node: str) -> dict[str, str]:
    """The headers of a node's own agent."""
    name = f"node:{node}"
    if name not in house.runner.read(lambda view: dict(view.state.directory.roles)):
        house.do(cmd.SetMember(name, Role.NODE_AGENT))
    return {"Authorization": f"Bearer {house.token(name, kind=PrincipalKind.NODE)}"}


# --- nodes --------------------------------------------------------------------------------------


def test_what_a_node_says_of_caches_and_memory_nodes_is_read_back(house: HttpHouse) -> None:
    agent = as_node(house, "n7")
    topology = {
        "caches": [{"cores_milli": 4_000, "numa": 0}, {"cores_milli": 4_000, "numa": 1}],
        "gpu_numa": [None, 1],
    }
    gpus = [{"generation": "nvidia_hopper", "fabric": f"f{n}"} for n in range(2)]
    told = {**INVENTORY, "gpus": gpus, "topology": topology, "labels": ["rack=r1"]}
    sent = house.client.put("/v1/nodes/n7/inventory", json=told, headers=agent)
    assert sent.status_code == 200
    assert house.ask("fleet_auditor", "GET", "/v1/nodes/n7").json()["topology"] == topology
    topology["gpu_numa"] = [0, 0, 0]  # more than it has devices
    wrong = house.client.put("/v1/nodes/n7/inventory", json=told, headers=agent)
    assert wrong.status_code == 422
    assert "gpu_numa" in wrong.text


def test_leases_of_one_node_are_listed_to_those_who_may_see_them(house: HttpHouse) -> None:
    agent = as_node(house, "n7")
    caches = [{"cores_milli": 4_000, "numa": 0}, {"cores_milli": 4_000, "numa": 1}]
    told = {**INVENTORY, "topology": {"caches": caches}, "labels": ["zone=here"]}
    house.client.put("/v1/nodes/n7/inventory", json=told, headers=agent)
    for tenant in ("lab", FOREIGN):
        ask = PlacementRequest(tenant=TenantId(tenant), cpu_cores=3, labels={"zone": "here"})
        house.do(Submit(ask))
    house.do(Tick())  # others wait, so they begin in their turn
    (own, foreign) = house.ask("fleet_auditor", "GET", "/v1/leases?node=n7").json()["items"]
    assert [lease["tenant"] for lease in (own, foreign)] == ["lab", FOREIGN]
    assert own["cores"] == [{"cache": 0, "cores_milli": 3_000}]
    assert foreign["cores"] == [{"cache": 1, "cores_milli": 3_000}]
    seen = house.ask("tenant_admin@lab", "GET", "/v1/leases?node=n7").json()["items"]
    assert [lease["lease_id"] for lease in seen] == [own["lease_id"]]
    assert house.ask("tenant_admin@lab", "GET", "/v1/leases?node=n8").json()["items"] == []


def test_a_node_joins_by_its_own_report_and_beats(house: HttpHouse) -> None:
    agent = as_node(house, "n7")
    beat = "/v1/nodes/n7/heartbeat"
    assert house.client.post(beat, headers=agent).status_code == 404
    first = house.client.put("/v1/nodes/n7/inventory", json=INVENTORY, headers=agent)
    assert first.json()["seq"] is not None
    node = house.ask("fleet_auditor", "GET", "/v1/nodes/n7").json()
    assert (node["liveness"], node["last_seen_ms"], node["attestation"]) == (
        *("unheard", None, "unattested"),
    )
    assert house.client.post(beat, headers=agent).json() == {
        "node": "n7",
        "beat_ms": 10_000,
        "timeout_ms": 30_000,
    }
    node = house.ask("fleet_auditor", "GET", "/v1/nodes/n7").json()
    assert node["liveness"] == "alive"
    assert node["last_seen_ms"] > 0
    rows = {
        row["node"]: row for row in house.ask("fleet_auditor", "GET", "/v1/nodes").json()["items"]
    }
    assert rows["n7"] == node
    assert rows["n1"]["liveness"] == "unheard"


def test_the_same_report_again_changes_nothing_and_another_needs_an_operator(
    house: HttpHouse,
) -> None:
    agent, path = as_node(house, "n7"), "/v1/nodes/n7/inventory"
    assert house.client.put(path, json=INVENTORY, headers=agent).status_code == 200
    again = house.client.put(path, json=INVENTORY, headers=agent)
    assert (again.status_code, again.json()["seq"]) == (200, None)
    # Free disk space changes by the hour, and makes no other machine.
    resources = INVENTORY["resources"] | {"block_bytes": 5}
    fuller = house.client.put(path, json={"resources": resources}, headers=agent)
    assert (fuller.status_code, fuller.json()["seq"]) == (200, None)
    other = INVENTORY["resources"] | {"cpu_milli": 4_000}
    refused = house.client.put(path, json={"resources": other}, headers=agent)
    assert refused.status_code == 409
    assert "an operator drains it" in refused.json()["message"]
    assert refused.json()["details"] == {"gpus": []}


def test_a_node_that_lacks_gpus_is_told_which_it_is_known_with_if_it_said_so_itself(
    house: HttpHouse,
) -> None:
    gpus = [{"generation": "nvidia_hopper", "model": f"NVIDIA H{n}00"} for n in (1, 2)]
    told, less = INVENTORY | {"gpus": gpus}, INVENTORY | {"gpus": gpus[:1]}
    path = "/v1/nodes/n7/inventory"
    assert house.client.put(path, json=told, headers=as_node(house, "n7")).status_code == 200
    refused = house.client.put(path, json=less, headers=as_node(house, "n7"))
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
    assert refused.json()["details"] == {"gpus": ["NVIDIA H100", "NVIDIA H200"]}
    by_hand = house.client.put("/v1/nodes/n1/inventory", json=less, headers=as_node(house, "n1"))
    assert (by_hand.status_code, by_hand.json()["details"]) == (409, {})


@pytest.mark.parametrize("what", ["heartbeat", "inventory"])
def test_a_node_speaks_for_itself_alone(house: HttpHouse, what: str) -> None:
    agent = as_node(house, "n7")
    method, body = ("PUT", INVENTORY) if what == "inventory" else ("POST", None)
    refused = house.client.request(method, f"/v1/nodes/n1/{what}", json=body, headers=agent)
    assert refused.status_code == 403
    assert "for itself" in refused.json()["message"]
    assert house.records("access_refused")[-1]["reason"] == "foreign_node"
    other = (
        INVENTORY
        if what == "heartbeat"
        else {"resources": {"cpu_milli": 64_000, "mem_bytes": 2**36}}
    )
    operator = house.ask(
        "fleet_operator", method, f"/v1/nodes/n1/{what}", json=other if body else None
    )
    assert operator.status_code == 200, operator.text


def test_a_node_that_falls_silent_departs_at_its_last_beat(tmp_path: Path) -> None:
    clock = MovedClock()
    beats = Beats(clock)
    with http_house(tmp_path, parts=make_parts(clock, beats=beats), clock=clock) as house:
        house.client.post("/v1/nodes/n1/heartbeat", headers=as_node(house, "n1"))
        seen = house.ask("fleet_auditor", "GET", "/v1/nodes/n1").json()["last_seen_ms"]
        loop = Departures(house.runner, beats)

        def look_again() -> tuple[str, ...]:
            clock.ahead_ms += beats.rule.beat_ms // 2  # so that somebody looked all the time
            return loop.once()

        assert until(look_again, "it has been silent for too long") == ("n1",)
        assert house.records("node_departed")[-1]["last_seen_ms"] == seen
        assert house.ask("fleet_auditor", "GET", "/v1/nodes/n1").status_code == 404
        assert loop.once() == ()


def test_without_ears_a_heartbeat_is_not_taken(tmp_path: Path) -> None:
    with http_house(tmp_path, parts=Parts()) as house:
        answer = house.ask("fleet_operator", "POST", "/v1/nodes/n1/heartbeat")
        assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")


def test_a_token_of_a_node_bears_a_nodes_name(house: HttpHouse) -> None:
    for principal, kind, status in (
        ("node:n7", "node", 201),
        ("node:n7", "human", 422),
        ("n7", "node", 422),
    ):
        body = {"principal": principal, "kind": kind}
        assert house.ask("fleet_admin", "POST", "/v1/tokens", json=body).status_code == status


def test_a_cordon_closes_a_node_and_ends_nothing(house: HttpHouse) -> None:
    body = {"mode": "draining", "evict": False}
    assert house.ask("fleet_operator", "PUT", "/v1/nodes/n1/mode", json=body).status_code == 200
    node = house.ask("fleet_operator", "GET", "/v1/nodes/n1").json()
    assert (node["mode"], node["takes_leases"]) == ("draining", False)
    assert house.ask("fleet_operator", "GET", "/v1/leases/1").json()["state"] == "active"
    back = house.ask("fleet_operator", "PUT", "/v1/nodes/n1/mode", json={"mode": "accepting"})
    assert back.status_code == 200


# --- leases -------------------------------------------------------------------------------------


def test_an_operator_ends_a_lease_for_a_reason(house: HttpHouse) -> None:
    body = {"reason": "policy_violation_recovery", "grace_ms": 0}
    assert house.ask("fleet_operator", "POST", "/v1/leases/1/evict", json=body).status_code == 200
    assert house.records("lease_preempted")[-1]["reason"] == "policy_violation_recovery"
    wrong = {"reason": "priority_preemption"}
    assert house.ask("fleet_operator", "POST", "/v1/leases/2/evict", json=wrong).status_code == 422


def test_a_teardown_is_told_by_the_node_it_is_on_and_a_fence_is_cleared(house: HttpHouse) -> None:
    settings = house.ask("fleet_operator", "GET", "/v1/settings").json()
    body = settings | {"confirm_teardown": True}
    assert house.ask("fleet_admin", "PUT", "/v1/settings", json=body).status_code == 200
    house.ask("fleet_operator", "POST", "/v1/leases/1/evict", json={"grace_ms": 0})
    path, dirty = "/v1/leases/1/teardown", {"clean": False}
    other, own = as_node(house, "n9"), as_node(house, "n1")
    assert house.client.post(path, json=dirty, headers=other).status_code == 403
    assert house.client.post(path, json=dirty, headers=own).status_code == 200
    assert house.records("lease_fenced")
    (held,) = house.ask("fleet_operator", "GET", "/v1/nodes/n1").json()["holders"][:1]
    assert (held["lease_id"], held["tenant"], held["fenced"]) == (1, "lab", True)
    assert 0 < held["fenced_ms"] <= house.runner.read(lambda view: view.now_ms)
    cleared = house.ask("fleet_operator", "POST", "/v1/leases/1/clear-fence")
    assert cleared.status_code == 200, cleared.text
    assert house.ask("fleet_operator", "POST", "/v1/leases/77/clear-fence").status_code == 404


# --- settings and quotas ------------------------------------------------------------------------


def test_settings_are_replaced_only_as_they_were_seen(house: HttpHouse) -> None:
    first = house.ask("fleet_admin", "GET", "/v1/settings")
    tag = {"If-Match": first.headers["etag"]}
    body = first.json() | {
        "grace_ms": 1_234,
        "strategy": "weighted",
        "weights": [100, 200, 300, 400],
    }
    assert (
        house.ask("fleet_admin", "PUT", "/v1/settings", json=body, headers=tag).status_code == 200
    )
    second = house.ask("fleet_admin", "GET", "/v1/settings")
    assert second.json() == body
    assert second.headers["etag"] != first.headers["etag"]
    stale = house.ask("fleet_admin", "PUT", "/v1/settings", json=body, headers=tag)
    assert (stale.status_code, stale.json()["code"]) == (412, "stale")
    assert stale.json()["details"]["current"] == second.headers["etag"].strip('"')


def test_a_quota_is_replaced_only_as_it_was_seen(house: HttpHouse) -> None:
    path = f"/v1/tenants/{OWN}/quota"
    tag = {"If-Match": house.ask("fleet_admin", "GET", path).headers["etag"]}
    body = {"limits": {"cpu_milli": 10**6}}
    assert house.ask("fleet_admin", "PUT", path, json=body, headers=tag).status_code == 200
    assert house.ask("fleet_admin", "PUT", path, json={}, headers=tag).status_code == 412
    tag = {"If-Match": house.ask("fleet_admin", "GET", path).headers["etag"]}
    assert house.ask("fleet_admin", "PUT", path, json={}, headers=tag).status_code == 200


# --- sessions -----------------------------------------------------------------------------------


def test_everybody_may_ask_who_he_is_and_end_his_session(house: HttpHouse) -> None:
    terms = auth.Terms(keys=(Permission.QUEUE_READ,))
    token = house.token(f"tenant_admin@{OWN}", terms=terms)
    headers = {"Authorization": f"Bearer {token}"}
    me = house.client.get("/v1/whoami", headers=headers).json()
    assert me["principal"] == f"tenant_admin@{OWN}"
    allowed = [key.value for key in Permission if key in Role.TENANT_ADMIN.permissions]
    told = {"tenant": OWN, "project": None, "role": "tenant_admin", "keys": allowed}
    assert me["roles"] == [told]
    assert me["keys"] == ["scheduler.queue.read"]
    assert me["expires_ms"] > 0
    assert house.client.delete("/v1/session?dry_run=true", headers=headers).status_code == 200
    assert house.client.delete("/v1/session", headers=headers).status_code == 200
    assert house.client.get("/v1/whoami", headers=headers).status_code == 401


def test_who_has_no_role_still_learns_who_he_is(house: HttpHouse) -> None:
    assert house.ask("nobody", "GET", "/v1/whoami").json()["roles"] == []


def test_a_login_that_fails_leaves_its_code_as_it_was(house: HttpHouse) -> None:
    code = house.token("fleet_admin", terms=auth.Terms(single_use=True))
    # The id that the session would get is taken: the whole login is refused, the code with it.
    ids = house.app.state.house.ids
    taken = house.runner.read(lambda view: next(iter(view.state.directory.tokens)))
    state = house.app.state
    state.house = _with_ids(state.house, taken)
    assert house.client.post("/v1/login", json={"code": code}).status_code == 401
    state.house = _with_ids(state.house, ids())
    session = house.client.post("/v1/login", json={"code": code})
    assert session.status_code == 200
    assert house.client.post("/v1/login", json={"code": code}).status_code == 401
    headers = {"Authorization": f"Bearer {session.json()['token']}"}
    assert house.client.get("/v1/whoami", headers=headers).status_code == 200


def _with_ids(kept: Any, one: str) -> Any:
    return replace(kept, ids=lambda: one)


# --- break-glass --------------------------------------------------------------------------------

WHY = "the tenant's last admin left and its jobs must be stopped"


def test_broken_glass_is_recorded_before_it_helps(house: HttpHouse) -> None:
    everyday = auth.Terms(keys=(Permission.BREAK_GLASS, Permission.QUEUE_READ))
    narrow = {"Authorization": f"Bearer {house.token('fleet_admin', terms=everyday)}"}
    body = {"reason": WHY, "tenant": OWN, "ttl_s": 60}
    assert house.client.delete("/v1/leases/1", headers=narrow).status_code == 403
    answer = house.client.post("/v1/break-glass", json=body, headers=narrow)
    assert answer.status_code == 201
    told = house.records("break_glass")[-1]
    assert (told["justification"], told["target"]) == (WHY, answer.json()["token_id"])
    assert told["expires_ms"] == answer.json()["expires_ms"]
    wide = {"Authorization": f"Bearer {answer.json()['token']}"}
    assert house.client.delete("/v1/leases/1", headers=wide).status_code == 200
    # Minutes stay minutes: it makes no other token, nor itself anew.
    assert house.client.post("/v1/break-glass", json=body, headers=wide).status_code == 403
    other = {"principal": "fleet_admin"}
    assert house.client.post("/v1/tokens", json=other, headers=wide).status_code == 403


def test_the_tenant_reads_that_glass_was_broken_for_it(house: HttpHouse) -> None:
    body = {"reason": WHY, "tenant": OWN}
    assert house.ask("fleet_admin", "POST", "/v1/break-glass", json=body).status_code == 201
    page = house.ask(f"tenant_admin@{OWN}", "GET", f"/v1/tenants/{OWN}/records?limit=500")
    assert "break_glass" in {row["kind"] for row in page.json()["items"]}


@pytest.mark.parametrize(
    ("who", "change", "status"),
    [
        ("fleet_operator", {}, 403),
        (f"tenant_admin@{OWN}", {}, 403),
        ("fleet_admin", {"reason": "because"}, 422),
        ("fleet_admin", {"reason": "          "}, 422),
        ("fleet_admin", {"ttl_s": 901}, 422),
        ("fleet_admin", {"tenant": "no-such"}, 404),
    ],
)
def test_glass_is_not_broken_lightly(
    house: HttpHouse, who: str, change: dict[str, Any], status: int
) -> None:
    before = len(house.records("break_glass")), len(house.records("access_token_issued"))
    body = {"reason": WHY, "tenant": OWN} | change
    token = house.token(who)
    headers = {"Authorization": f"Bearer {token}"}
    answer = house.client.post("/v1/break-glass", json=body, headers=headers)
    assert answer.status_code == status, answer.text
    after = len(house.records("break_glass")), len(house.records("access_token_issued"))
    assert after == (before[0], before[1] + 1)  # the caller's own


# --- proofs -------------------------------------------------------------------------------------


def test_a_tenant_proves_its_record_with_the_public_key_alone(
    house: HttpHouse, tmp_path: Path
) -> None:
    auditor = f"tenant_auditor@{OWN}"
    rows = house.ask(auditor, "GET", f"/v1/tenants/{OWN}/records?limit=500").json()["items"]
    for row in rows:
        answer = house.ask(auditor, "GET", f"/v1/tenants/{OWN}/records/{row['seq']}/proof")
        assert answer.status_code == 200
        result = check_proof(parse_proof(answer.content), KEY)
        assert isinstance(result, Proven)
        assert (result.record.seq, result.record.kind) == (row["seq"], row["kind"])
    file = tmp_path / "proof.txt"
    file.write_bytes(answer.content)
    shown = CliRunner().invoke(cli, ["journal", "check-proof", str(file), "--vkey", str(KEY)])
    assert shown.exit_code == 0, shown.output
    assert rows[-1]["correlation_id"] in shown.output


def test_a_checkpoint_is_signed_over_the_whole_journal(house: HttpHouse) -> None:
    note = house.ask(f"tenant_auditor@{OWN}", "GET", "/v1/journal/checkpoint").content
    verdict = verify_checkpoint(note, [KEY])
    assert isinstance(verdict, TrustedCheckpoint)
    assert verdict.checkpoint.size <= house.runner.replica.journal.size
    assert verdict.checkpoint.size > 0


def test_whoever_kept_a_checkpoint_is_shown_that_the_journal_only_grew(house: HttpHouse) -> None:
    auditor = f"tenant_auditor@{OWN}"
    vkey = house.ask(auditor, "GET", "/v1/journal/key").text
    key = parse_vkey(vkey.rstrip("\n"))
    assert key == KEY

    def signed() -> Checkpoint:
        verdict = verify_checkpoint(
            house.ask(auditor, "GET", "/v1/journal/checkpoint").content, [key]
        )
        assert isinstance(verdict, TrustedCheckpoint)
        return verdict.checkpoint

    old = signed()
    assert house.ask("fleet_admin", "PUT", "/v1/settings", json={"grace_ms": 5}).status_code == 200
    new = signed()
    assert new.size > old.size
    sizes = f"old_size={old.size}&new_size={new.size}"
    told = house.ask(auditor, "GET", f"/v1/journal/consistency?{sizes}").json()
    hashes = tuple(b64decode(each) for each in told["hashes"])
    proof = ConsistencyProof(told["old_size"], told["new_size"], hashes)
    assert (proof.old_size, proof.new_size) == (old.size, new.size)
    roots = {"old_root": old.root, "new_root": new.root}
    assert isinstance(verify_consistency(proof, **roots), ProofHolds)
    for wrong in (f"old_size=2&new_size={10**9}", "old_size=3&new_size=2"):
        refused = house.ask(auditor, "GET", f"/v1/journal/consistency?{wrong}")
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_value")
    for path in ("/v1/journal/key", "/v1/journal/consistency?old_size=1&new_size=1"):
        assert house.ask(f"project_member@{OWN}", "GET", path).status_code == 403


@pytest.mark.parametrize("seq", [0, 5, 10**6])
def test_what_is_not_the_tenants_is_not_there_to_be_proven(house: HttpHouse, seq: int) -> None:
    path = f"/v1/tenants/{OWN}/records/{seq}/proof"
    answer = house.ask(f"tenant_auditor@{OWN}", "GET", path)
    assert answer.status_code == 404
    assert FOREIGN not in answer.text


def test_a_record_that_names_another_is_proven_to_the_fleets_auditor_only(
    house: HttpHouse,
) -> None:
    assert house.ask("fleet_admin", "PUT", "/v1/settings", json={"grace_ms": 0}).status_code == 200
    request = {"resources": {"cpu_milli": 63_500}, "priority": "high"}
    body = request | {"tenant": FOREIGN, "project": "p", "ttl_ms": 1000}
    asked = house.ask(f"project_member@{FOREIGN}", "POST", "/v1/leases", json=body)
    assert asked.status_code in (201, 202), asked.text
    rows = house.ask("fleet_auditor", "GET", f"/v1/tenants/{OWN}/records?limit=500").json()["items"]
    naming = [row["seq"] for row in rows if row["body"].get("preemptor") == FOREIGN]
    assert naming
    path = f"/v1/tenants/{OWN}/records/{naming[0]}/proof"
    refused = house.ask(f"tenant_auditor@{OWN}", "GET", path)
    assert refused.status_code == 403
    assert FOREIGN not in refused.text
    assert house.ask("fleet_auditor", "GET", path).status_code == 200


def test_a_long_journal_is_taken_up_while_nobody_waits(tmp_path: Path) -> None:
    parts = make_parts(tree=JournalTree(page=1))
    with http_house(tmp_path, parts=parts) as house:
        headers = {"Authorization": f"Bearer {house.token('fleet_auditor')}"}
        answers = []
        for _ in range(1_000):
            answers.append(house.client.get("/v1/journal/checkpoint", headers=headers))
            if answers[-1].status_code == 200:
                break
        assert answers[0].status_code == 503
        assert answers[0].json()["retryable"]
        assert isinstance(verify_checkpoint(answers[-1].content, [KEY]), TrustedCheckpoint)


def test_without_a_key_nothing_is_signed(tmp_path: Path) -> None:
    with http_house(tmp_path, parts=Parts()) as house:
        assert house.ask("fleet_auditor", "GET", "/v1/journal/checkpoint").status_code == 404
