"""A data service that follows a real server lets in whoever holds a lease, while they do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bailiwick.capability import Accepted, BiscuitKey, Refused, TokenFault, Use, narrow
from bailiwick.client import Client, Refusal
from bailiwick.guard import Follower, Guard
from bailiwick.vocab.trust import Operation
from bailiwick.wire import trust as wire
from bailiwick.wire.actions.leases import LEASE_RENEW, LEASE_TOKEN
from bailiwick.wire.work import Renewal
from tests.support.http_server import Served, served_house
from tests.support.waiting import until

READ = Use(Operation.MEM_READ)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with served_house(tmp_path) as made:
        yield made


def test_a_service_accepts_a_leases_token_until_the_lease_moves_on(served: Served) -> None:
    with Client(served.url, served.token("project_member@lab")) as member:
        wish = wire.TokenWish(operations=[Operation.MEM_READ, Operation.MEM_WRITE])
        issued = member.send(LEASE_TOKEN, path={"lease_id": 1}, body=wish)
        follower = Follower(
            Client(served.url, served.token("project_viewer@rival")), refresh_s=0.01
        )
        try:
            guard = Guard("n1", follower.known)
            assert isinstance(guard.check(issued.token, READ), Accepted)
            elsewhere = Guard("n2", follower.known)
            assert elsewhere.check(issued.token, READ) == Refused(TokenFault.WRONG_AUDIENCE)
            [key] = follower.known().keys.keys_of("n1")
            assert isinstance(key, BiscuitKey)
            reading = narrow(issued.token, operations=[Operation.MEM_READ], key=key)
            assert guard.check(reading, Use(Operation.MEM_WRITE)) == Refused(
                TokenFault.OPERATION_NOT_ALLOWED
            )
            member.send(LEASE_RENEW, path={"lease_id": 1}, body=Renewal(ttl_ms=10**6))
            revoked = Refused(TokenFault.REVOKED)
            until(lambda: guard.check(reading, READ) == revoked, "it counts no more")
        finally:
            follower.close()


def test_a_service_that_is_not_let_in_does_not_start(served: Served) -> None:
    with pytest.raises(Refusal):
        Follower(Client(served.url, "no-such-login"))
