"""Tokens of leases over HTTP: who gets one, who checks it without asking, and when it is over."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bailiwick.capability import (
    Accepted,
    BiscuitMinter,
    KeyRing,
    Refused,
    Revocations,
    TokenClaims,
    Use,
    verify,
)
from bailiwick.runtime.runner import SystemClock
from bailiwick.server.folds import follow_revocations
from bailiwick.services.capabilities import Capabilities
from bailiwick.services.revoking import RevocationBook
from bailiwick.vocab.trust import Operation, TokenFault
from tests.contract.test_operating import as_node
from tests.contract.test_trust import Machine, document, lease_on, register, set_policy
from tests.support.evidence_ed25519 import key_of, public_of
from tests.support.http_house import FOREIGN, OWN, HttpHouse, MovedClock, http_house

MEMBER = "project_member@lab"
READ = ["mem_read"]
TOKENS = "/v1/leases/1/tokens"


@pytest.fixture
def clock() -> MovedClock:
    return MovedClock()


@pytest.fixture
def house(tmp_path: Path, clock: MovedClock) -> Iterator[HttpHouse]:
    with http_house(tmp_path, clock=clock) as made:
        yield made


def ask_token(house: HttpHouse, who: str = MEMBER, path: str = TOKENS, **body: Any) -> Any:
    more = {"headers": body.pop("headers", {}), "params": body.pop("params", None)}
    return house.ask(who, "POST", path, json={"operations": READ} | body, **more)


def use(house: HttpHouse, token: str, operation: Operation = Operation.MEM_READ) -> Any:
    """What a data service on the node says, by what everybody may read."""
    keys = house.ask("project_viewer@rival", "GET", "/v1/capabilities/keys").json()
    told = house.ask("node_agent", "GET", "/v1/capabilities/revocations").json()
    return verify(
        token,
        Use(operation),
        audience="n1",
        keys=KeyRing.read(keys),
        revoked=Revocations.read(told["revoked"]),
        now_ms=SystemClock().now_ms(),
    )


def test_whoever_holds_a_lease_gets_a_token_that_others_can_check(house: HttpHouse) -> None:
    answer = ask_token(house, ttl_ms=60_000)
    assert answer.status_code == 201, answer.text
    assert answer.headers["cache-control"] == "no-store"
    told = answer.json()
    claims = told["claims"]
    assert (claims["tenant"], claims["lease_id"], claims["audience"]) == (OWN, 1, "n1")
    assert (claims["resource"], claims["operations"]) == ("lease-1", READ)
    found = use(house, told["token"])
    assert isinstance(found, Accepted)
    assert found.claims.token_id == claims["token_id"]
    assert use(house, told["token"], Operation.MEM_WRITE) == Refused(
        TokenFault.OPERATION_NOT_ALLOWED
    )


def test_a_renewal_ends_older_tokens_and_a_release_ends_all(house: HttpHouse) -> None:
    first = ask_token(house).json()["token"]
    assert isinstance(use(house, first), Accepted)
    renewed = house.ask(MEMBER, "POST", "/v1/leases/1/renew", json={"ttl_ms": 10**6})
    assert renewed.status_code == 200
    assert use(house, first) == Refused(TokenFault.REVOKED)
    second = ask_token(house).json()["token"]
    assert isinstance(use(house, second), Accepted)
    assert house.ask(MEMBER, "DELETE", "/v1/leases/1").status_code == 200
    assert use(house, second) == Refused(TokenFault.REVOKED)
    told = house.ask(MEMBER, "GET", "/v1/capabilities/revocations").json()
    assert [row[:2] for row in told["revoked"]["leases"]] == [[1, None]]
    later = told["revoked"]["leases"][0][2] + 1
    rest = house.ask(MEMBER, "GET", f"/v1/capabilities/revocations?since={later}").json()
    assert rest["revoked"]["leases"] == []


def test_an_evicted_lease_has_no_tokens_from_the_first_warning_on(house: HttpHouse) -> None:
    token = ask_token(house).json()["token"]
    body = {"reason": "operator_drain", "grace_ms": 10**6}
    assert house.ask("fleet_operator", "POST", "/v1/leases/1/evict", json=body).status_code == 200
    assert use(house, token) == Refused(TokenFault.REVOKED)
    assert denial(ask_token(house)) == "lease_ending"


def denial(answer: Any) -> str:
    """The one word of a refusal."""
    told = answer.json()
    assert (answer.status_code, told["code"]) == (409, "refused"), answer.text
    assert told["decision"]["answer"] == "token_denied"
    return str(told["decision"]["reason"])


@pytest.mark.parametrize(
    ("wish", "reason"),
    [
        ({"ttl_ms": 300_001}, "ttl_too_long"),
        ({"generation": 7}, "stale_generation"),
        ({"audience": "n2"}, "wrong_audience"),
        ({"operations": []}, "no_operation"),
    ],
)
def test_a_refusal_is_a_decision_and_is_sealed(
    house: HttpHouse, wish: dict[str, Any], reason: str
) -> None:
    assert denial(ask_token(house, **wish)) == reason
    assert denial(ask_token(house, params={"dry_run": "true"}, **wish)) == reason
    assert [body["reason"] for body in house.records("token_refused")] == [reason]


def test_a_quarantined_nodes_leases_have_no_tokens(house: HttpHouse) -> None:
    body = {"reason": "looks-wrong", "grace_ms": 10**6}
    house.ask("fleet_operator", "PUT", "/v1/nodes/n1/quarantine", json=body)
    assert denial(ask_token(house)) in ("node_quarantined", "lease_ending")


def test_words_that_are_none_are_refused_by_the_contract(house: HttpHouse) -> None:
    for wish in ({"operations": ["fly"]}, {"ttl_ms": 0}, {"minter": "x"}, {"audience": "a b"}):
        assert ask_token(house, **wish).status_code == 422


def test_the_token_itself_is_kept_nowhere(house: HttpHouse, tmp_path: Path) -> None:
    told = ask_token(house).json()
    (sealed,) = house.records("token_issued")
    assert sealed["token_id"] == told["claims"]["token_id"]
    house.telemetry.find("none")  # what is under way is written
    secret = told["token"].partition(".")[2][:60].encode()
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert kept
    assert not [path for path in kept if secret in path.read_bytes()]


def test_the_same_key_gives_the_same_claims_and_one_record(house: HttpHouse) -> None:
    headers = {"Idempotency-Key": "once"}
    first, again = (ask_token(house, headers=headers).json() for _ in range(2))
    assert first["claims"] == again["claims"]
    assert isinstance(use(house, again["token"]), Accepted)
    assert len(house.records("token_issued")) == 1
    other = ask_token(house, headers=headers, operations=["mem_write"])
    assert (other.status_code, other.json()["code"]) == (409, "conflict")


def test_a_dry_run_makes_no_token(house: HttpHouse) -> None:
    told = ask_token(house, params={"dry_run": "true"})
    assert (told.status_code, told.json()["token"]) == (201, "")
    assert told.json()["claims"]["lease_id"] == 1
    assert house.records("token_issued") == []


def test_a_lease_of_another_is_not_there(house: HttpHouse) -> None:
    foreign = ask_token(house, f"project_admin@{FOREIGN}")
    absent = ask_token(house, f"project_admin@{FOREIGN}", "/v1/leases/99/tokens")
    assert foreign.status_code == absent.status_code == 404
    assert foreign.json()["message"] == absent.json()["message"]
    assert house.records("token_issued") == []


# -- nodes that mint for themselves ----------------------------------------------------------


@pytest.fixture
def minting(house: HttpHouse) -> tuple[Machine, int]:
    """A node that enrolled a key of its own for tokens, and a lease on it."""
    register(house, "t-1")
    set_policy(house, document())
    machine = Machine(house)
    machine.enrol(capability_key=public_of("tokens"))
    machine.attest()
    lease_id = lease_on(house, "t-1")
    assert lease_id is not None
    return machine, lease_id


def test_for_a_node_that_mints_itself_nobody_else_does(
    house: HttpHouse, minting: tuple[Machine, int]
) -> None:
    machine, lease_id = minting
    assert denial(ask_token(house, path=f"/v1/leases/{lease_id}/tokens")) == "node_mints"
    told = machine.post("lease-tokens", {"lease_id": lease_id, "operations": READ})
    assert told.status_code == 200, told.text
    assert told.json()["token"] == ""
    claims = told.json()["claims"] | {"operations": (Operation.MEM_READ,)}
    seed = key_of("tokens").private_bytes_raw()
    token = BiscuitMinter(seed).mint(TokenClaims(**claims))
    stolen = BiscuitMinter(bytes(range(32))).mint(TokenClaims(**claims))
    keys = KeyRing.read(house.ask(MEMBER, "GET", "/v1/capabilities/keys").json())
    assert list(keys.nodes) == ["t-1"]
    given: dict[str, Any] = {"audience": "t-1", "keys": keys, "revoked": Revocations()}
    given["now_ms"] = SystemClock().now_ms()
    assert isinstance(verify(token, Use(Operation.MEM_READ), **given), Accepted)
    # The server's own key, had somebody stolen it, forges nothing for that node.
    assert verify(stolen, Use(Operation.MEM_READ), **given) == Refused(TokenFault.UNKNOWN_KEY)


def test_a_node_asks_for_leases_on_itself_alone(
    house: HttpHouse, minting: tuple[Machine, int]
) -> None:
    machine, lease_id = minting
    body = {"lease_id": 1, "operations": READ}
    foreign = machine.post("lease-tokens", body)
    absent = machine.post("lease-tokens", body | {"lease_id": 99})
    assert foreign.status_code == absent.status_code == 404
    assert foreign.json()["message"] == absent.json()["message"]
    other = house.client.post(
        "/v1/nodes/t-1/lease-tokens",
        json=body | {"lease_id": lease_id},
        headers=as_node(house, "n1"),
    )
    assert other.status_code == 403


# -- what is told of the past ----------------------------------------------------------------


def test_after_a_restart_the_book_is_whole(house: HttpHouse, clock: MovedClock) -> None:
    house.ask(MEMBER, "DELETE", "/v1/leases/1")
    clock.ahead_ms += 200_000
    house.ask("project_member@rival", "POST", "/v1/leases/2/renew", json={"ttl_ms": 10**6})
    fresh = Capabilities(bytes(32), RevocationBook())
    following = follow_revocations(fresh, house.runner)
    try:
        fresh.check_complete()
        rows = [(row.lease_id, row.generation) for row in fresh.book.since(0)]
        assert rows == [(1, None), (2, 2)]
        assert clock.now_ms() - fresh.book.complete_from_ms >= 360_000
    finally:
        following.close()
    clock.ahead_ms += 200_000  # now the first is longer ago than any token lives
    late = Capabilities(bytes(32), RevocationBook())
    following = follow_revocations(late, house.runner)
    try:
        late.check_complete()
        assert [row.lease_id for row in late.book.since(0)] == [2]
    finally:
        following.close()


def test_while_the_newest_records_are_not_read_nothing_is_promised(house: HttpHouse) -> None:
    found = house.app.state.house.parts.capabilities
    found.catch_up = lambda wait_s: False
    answer = house.ask(MEMBER, "GET", "/v1/capabilities/revocations")
    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
