"""What every kind of token must do: one suite, run with each minter."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bailiwick.capability import (
    Accepted,
    KeyRing,
    Operation,
    Refused,
    Revocations,
    TokenFault,
    Use,
)
from bailiwick.capability.claims import NARROWINGS_MAX
from bailiwick.capability.revocation import KEEP_MS
from bailiwick.vocab.errors import InvalidValue, LimitReached
from tests.support.lease_tokens import CLAIMS, MAKERS, READ, WRITE, Kit, kit


@pytest.fixture(params=sorted(MAKERS))
def each(request: pytest.FixtureRequest) -> Kit:
    return kit(request.param)


# --- accepted ------------------------------------------------------------------------------------


def test_a_good_token_is_accepted_with_the_brokers_claims_and_the_asked_operation(
    each: Kit,
) -> None:
    for use in (READ, WRITE):
        found = each.verify(each.mint(), use)
        assert found == Accepted(replace(CLAIMS, operations=(use.operation,)))


def test_every_operation_can_be_granted_alone_and_then_allows_nothing_else(each: Kit) -> None:
    for granted in Operation:
        token = each.mint(operations=(granted,))
        for asked in Operation:
            found = each.verify(token, Use(asked))
            assert isinstance(found, Accepted) == (asked is granted)


def test_a_use_may_name_tenant_lease_and_resource(each: Kit) -> None:
    use = Use(Operation.MEM_READ, tenant="team-a", lease_id=7, resource="lease-7")
    assert isinstance(each.verify(each.mint(), use), Accepted)


def test_a_token_covers_the_parts_of_its_resource(each: Kit) -> None:
    use = Use(Operation.MEM_READ, resource="lease-7/gpu-0/pages")
    assert isinstance(each.verify(each.mint(), use), Accepted)


def test_names_at_their_longest_are_kept(each: Kit) -> None:
    longest = {"token_id": "t" * 63, "tenant": "a" * 63, "resource": "/".join(["r" * 49] * 4)}
    found = each.verify(each.mint(**longest, lease_id=2**53, generation=2**31))
    assert isinstance(found, Accepted)
    assert found.claims.resource == longest["resource"]
    assert (found.claims.lease_id, found.claims.generation) == (2**53, 2**31)


# --- refused, each with its own word -------------------------------------------------------------


@pytest.mark.parametrize(
    ("use", "here", "fault"),
    [
        (READ, {"now_ms": 300_000}, TokenFault.EXPIRED),
        (READ, {"audience": "node-2"}, TokenFault.WRONG_AUDIENCE),
        (Use(Operation.MEM_READ, tenant="team-b"), {}, TokenFault.WRONG_TENANT),
        (Use(Operation.MEM_READ, lease_id=8), {}, TokenFault.WRONG_LEASE),
        (Use(Operation.MEM_READ, resource="lease-70"), {}, TokenFault.WRONG_RESOURCE),
        (Use(Operation.GPU_SUBMIT), {}, TokenFault.OPERATION_NOT_ALLOWED),
    ],
    ids=lambda value: value.value if isinstance(value, TokenFault) else "",
)
def test_what_the_token_does_not_say_is_refused(
    each: Kit, use: Use, here: dict[str, object], fault: TokenFault
) -> None:
    assert each.verify(each.mint(), use, **here) == Refused(fault)


def test_the_last_millisecond_counts_and_the_next_does_not(each: Kit) -> None:
    token = each.mint(expires_ms=1_000)
    assert isinstance(each.verify(token, now_ms=999), Accepted)
    assert each.verify(token, now_ms=1_000) == Refused(TokenFault.EXPIRED)


def test_an_end_that_no_broker_gives_makes_it_no_token(each: Kit) -> None:
    """Whoever stole a key can sign any end; what is revoked is remembered for KEEP_MS only."""
    token = each.mint(expires_ms=KEEP_MS + 10)
    assert each.verify(token, now_ms=9) == Refused(TokenFault.MALFORMED)
    assert isinstance(each.verify(token, now_ms=10), Accepted)


def test_a_token_of_another_key_is_unknown(each: Kit) -> None:
    assert each.verify(each.other().mint()) == Refused(TokenFault.UNKNOWN_KEY)


def test_a_token_that_names_our_key_and_was_signed_with_another_is_forged(each: Kit) -> None:
    forged = _with_key_id(each.other().mint(), each.mint(), each.name)
    assert each.verify(forged) == Refused(TokenFault.BAD_SIGNATURE)


def test_no_changed_character_is_accepted(each: Kit) -> None:
    token = each.mint()
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    for at in range(len(token)):
        for shift in (1, 17, 32):
            old = alphabet.find(token[at])
            changed = token[:at] + alphabet[(old + shift) % 64] + token[at + 1 :]
            assert isinstance(each.verify(changed), Refused), changed


@pytest.mark.parametrize("spoil", ["", "=", "A", "\n", " ", "é", "."])
def test_another_spelling_of_a_token_is_malformed(each: Kit, spoil: str) -> None:
    token = each.mint()
    texts = [token[:-1], token[:5] + spoil, token.upper(), *([token + spoil] if spoil else [])]
    assert {each.verify(text).fault for text in texts} <= {  # type: ignore[union-attr]
        TokenFault.MALFORMED,
        TokenFault.UNKNOWN_KEY,
        TokenFault.BAD_SIGNATURE,
    }


@pytest.mark.parametrize("text", ["", "bwh1.", "bwb1.", "bwx1.AAAA", "x" * 5_000, "bwh1.AAAA"])
def test_what_is_no_token_is_malformed(text: str) -> None:
    both = KeyRing(tuple(kit(name).minter.key for name in MAKERS))
    assert kit("hmac").verify(text, keys=both) == Refused(TokenFault.MALFORMED)


def test_what_is_not_even_text_is_malformed(each: Kit) -> None:
    malformed = Refused(TokenFault.MALFORMED)
    assert each.verify(b"bwh1.AAAA") == malformed  # type: ignore[arg-type]
    assert each.verify(each.mint() + "A" * 4_000) == malformed


def test_faults_are_told_in_the_order_of_their_words(each: Kit) -> None:
    token = each.narrow(each.mint(), operations=[Operation.MEM_READ], expires_ms=9)
    revoked = Revocations()
    revoked.ended(7, at_ms=0)
    use = Use(Operation.MEM_WRITE, tenant="x", lease_id=1, resource="y")
    assert each.verify(token, use, now_ms=9, revoked=revoked) == Refused(TokenFault.EXPIRED)
    assert each.verify(token, use, revoked=revoked) == Refused(TokenFault.REVOKED)
    assert each.verify(token, use, audience="node-2") == Refused(TokenFault.WRONG_AUDIENCE)
    assert each.verify(token, use) == Refused(TokenFault.WRONG_TENANT)
    use = replace(use, tenant=None)
    assert each.verify(token, use) == Refused(TokenFault.WRONG_LEASE)
    use = replace(use, lease_id=None)
    assert each.verify(token, use) == Refused(TokenFault.WRONG_RESOURCE)
    use = replace(use, resource=None)
    assert each.verify(token, use) == Refused(TokenFault.OPERATION_NOT_ALLOWED)


# --- narrowed ------------------------------------------------------------------------------------


def test_a_token_narrowed_to_reading_does_not_write(each: Kit) -> None:
    token = each.narrow(each.mint(), operations=[Operation.MEM_READ])
    assert isinstance(each.verify(token, READ), Accepted)
    assert each.verify(token, WRITE) == Refused(TokenFault.OPERATION_NOT_ALLOWED)


def test_narrowing_to_what_was_not_granted_grants_nothing(each: Kit) -> None:
    token = each.narrow(each.mint(), operations=[Operation.GPU_SUBMIT])
    for operation in Operation:
        assert each.verify(token, Use(operation)) == Refused(TokenFault.OPERATION_NOT_ALLOWED)


def test_a_narrowed_end_is_the_end_and_a_later_one_is_none(each: Kit) -> None:
    sooner = each.narrow(each.mint(), expires_ms=10)
    assert isinstance(each.verify(sooner, now_ms=9), Accepted)
    assert each.verify(sooner, now_ms=10) == Refused(TokenFault.EXPIRED)
    later = each.narrow(sooner, expires_ms=10**9)
    assert each.verify(later, now_ms=10) == Refused(TokenFault.EXPIRED)
    past_all = each.narrow(each.mint(), expires_ms=10**9)
    assert each.verify(past_all, now_ms=300_000) == Refused(TokenFault.EXPIRED)


def test_a_token_narrowed_to_a_part_wants_that_part_named(each: Kit) -> None:
    token = each.narrow(each.mint(), resource="lease-7/gpu-0")
    for resource in ("lease-7/gpu-0", "lease-7/gpu-0/pages"):
        assert isinstance(each.verify(token, replace(READ, resource=resource)), Accepted)
    for other in (None, "lease-7", "lease-7/gpu-1", "lease-7/gpu-01"):
        use = replace(READ, resource=other)
        assert each.verify(token, use) == Refused(TokenFault.WRONG_RESOURCE)


def test_two_parts_that_share_nothing_leave_nothing(each: Kit) -> None:
    token = each.narrow(each.mint(), resource="lease-7/gpu-0")
    token = each.narrow(token, resource="lease-7/gpu-1")
    for resource in ("lease-7/gpu-0", "lease-7/gpu-1"):
        use = replace(READ, resource=resource)
        assert each.verify(token, use) == Refused(TokenFault.WRONG_RESOURCE)


def test_a_token_can_be_narrowed_so_often_and_no_more(each: Kit) -> None:
    token = each.mint()
    for _ in range(NARROWINGS_MAX):
        token = each.narrow(token, operations=[Operation.MEM_READ])
        assert isinstance(each.verify(token), Accepted)
    with pytest.raises(LimitReached):
        each.narrow(token, operations=[Operation.MEM_READ])


@pytest.mark.parametrize("less", [{}, {"operations": []}, {"resource": "a//b"}, {"expires_ms": -1}])
def test_a_narrowing_that_says_nothing_is_a_mistake(each: Kit, less: dict[str, object]) -> None:
    with pytest.raises(InvalidValue):
        each.narrow(each.mint(), **less)


@pytest.mark.parametrize("text", ["", "bwh1.AAAA", "bwb1.AAAA", "hello", "bwh1." + "A" * 5_000])
def test_only_tokens_can_be_narrowed(each: Kit, text: str) -> None:
    with pytest.raises(InvalidValue):
        each.narrow(text, operations=[Operation.MEM_READ])


# --- revoked -------------------------------------------------------------------------------------


def test_renewing_a_lease_ends_its_older_tokens(each: Kit) -> None:
    revoked = Revocations()
    revoked.renewed(7, generation=4, at_ms=0)
    assert each.verify(each.mint(), revoked=revoked) == Refused(TokenFault.REVOKED)
    assert isinstance(each.verify(each.mint(generation=4), revoked=revoked), Accepted)


def test_ending_a_lease_ends_all_its_tokens_and_no_others(each: Kit) -> None:
    revoked = Revocations()
    revoked.ended(7, at_ms=0)
    for generation in (3, 4, 2**31):
        found = each.verify(each.mint(generation=generation), revoked=revoked)
        assert found == Refused(TokenFault.REVOKED)
    assert isinstance(each.verify(each.mint(lease_id=8), revoked=revoked), Accepted)


def test_a_token_revoked_by_its_id_takes_those_narrowed_from_it_along(each: Kit) -> None:
    revoked = Revocations()
    revoked.revoke("token-1", at_ms=0)
    token = each.mint()
    for child in (token, each.narrow(token, operations=[Operation.MEM_READ])):
        assert each.verify(child, revoked=revoked) == Refused(TokenFault.REVOKED)
    assert isinstance(each.verify(each.mint(token_id="token-2"), revoked=revoked), Accepted)


def test_every_id_that_an_acceptance_names_revokes_the_token(each: Kit) -> None:
    token = each.narrow(each.mint(), operations=[Operation.MEM_READ])
    found = each.verify(token)
    assert isinstance(found, Accepted)
    assert found.ids[0] == "token-1"
    for one in found.ids:
        revoked = Revocations()
        revoked.revoke(one, at_ms=0)
        assert each.verify(token, revoked=revoked) == Refused(TokenFault.REVOKED)


# --- keys ----------------------------------------------------------------------------------------


def test_a_node_with_its_own_key_believes_no_token_under_the_brokers(each: Kit) -> None:
    ring = KeyRing(each.ring.shared, {"node-1": (each.other().minter.key,)})
    assert each.verify(each.mint(), keys=ring) == Refused(TokenFault.UNKNOWN_KEY)
    assert isinstance(each.verify(each.other().mint(), keys=ring), Accepted)


def test_a_nodes_own_key_counts_for_that_node_alone(each: Kit) -> None:
    ring = KeyRing(each.ring.shared, {"node-2": (each.other().minter.key,)})
    stolen = each.other().mint(audience="node-1")
    assert each.verify(stolen, keys=ring) == Refused(TokenFault.UNKNOWN_KEY)


def test_an_old_key_counts_as_long_as_it_is_on_the_ring(each: Kit) -> None:
    ring = KeyRing((each.other().minter.key, *each.ring.shared))
    assert isinstance(each.verify(each.mint(), keys=ring), Accepted)
    assert isinstance(each.verify(each.other().mint(), keys=ring), Accepted)


def test_an_empty_ring_believes_nobody(each: Kit) -> None:
    assert each.verify(each.mint(), keys=KeyRing()) == Refused(TokenFault.UNKNOWN_KEY)
    alone = KeyRing(each.ring.shared, {"node-1": ()})
    assert each.verify(each.mint(), keys=alone) == Refused(TokenFault.UNKNOWN_KEY)


def _with_key_id(forged: str, honest: str, name: str) -> str:
    from bailiwick.capability.biscuit_shape import inspect
    from bailiwick.capability.token_text import decoded, encoded

    prefix = forged[:5]
    mine, theirs = decoded(prefix, forged), decoded(prefix, honest)
    if name == "hmac":
        return encoded(prefix, theirs[:4] + mine[4:])
    ours = kit(name).other().minter.key.id
    assert inspect(mine) == ours
    head = 1 + (ours.bit_length() + 6) // 7
    kept = 1 + (kit(name).minter.key.id.bit_length() + 6) // 7
    return encoded(prefix, theirs[:kept] + mine[head:])
