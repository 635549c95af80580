"""Tokens let in exactly those whom the journal knows, and only for as long as it says."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, OKPKey

from bailiwick import InvalidValue
from bailiwick.iam import (
    Allowed,
    Directory,
    Forbidden,
    Permission,
    PrincipalKind,
    Role,
    Scope,
    ServiceAccount,
)
from bailiwick.kernel.people.commands import IssueToken
from bailiwick.kernel.people.events import AccessTokenIssued
from bailiwick.kernel.slices import apply
from bailiwick.kernel.state import State
from bailiwick.services.authority import (
    ALGORITHM,
    TTL_S_MAX,
    Allowance,
    Authority,
    Minted,
    Principal,
    RefusalWord,
    RefusedToken,
    Terms,
)

PEM = Authority.new_key()
AUTHORITY = Authority.from_pem(PEM)
LAB = Scope("lab")
NOW = 1_000_000_000


def known(command: IssueToken, **roles: Role) -> Directory:
    """A directory that knows the token, and alice's roles by tenant."""
    state = State()
    directory = state.directory
    directory.roles = {"alice": {Scope(tenant): role for tenant, role in roles.items()}}
    apply(
        state,
        AccessTokenIssued(
            command.token_id,
            command.principal,
            command.kind,
            command.digest,
            command.expires_ms,
            command.single_use,
            command.keys,
        ),
        at_ms=NOW,
    )
    return directory


def mint(kind: PrincipalKind = PrincipalKind.HUMAN, terms: Terms | None = None) -> Minted:
    return AUTHORITY.mint("alice", kind, token_id="t-1", now_ms=NOW, ttl_s=60, terms=terms)


def word(token: str | None, directory: Directory, now_ms: int = NOW) -> RefusalWord:
    found = AUTHORITY.identify(token, directory, now_ms=now_ms)
    assert isinstance(found, RefusedToken), found
    return found.word


def test_a_token_is_its_principal_with_its_roles() -> None:
    minted = mint()
    found = AUTHORITY.identify(
        minted.token, known(minted.command, lab=Role.TENANT_ADMIN), now_ms=NOW
    )
    assert found == Principal("alice", PrincipalKind.HUMAN, "t-1", {})
    assert isinstance(found, Principal)
    assert isinstance(found.may(Permission.QUEUE_SUBMIT, LAB), Allowed)
    assert isinstance(found.may(Permission.QUEUE_SUBMIT, Scope("other")), Forbidden)


def test_a_narrowed_token_carries_its_keys_and_no_others() -> None:
    minted = mint(terms=Terms(keys=(Permission.QUEUE_READ,), single_use=True))
    directory = known(minted.command, lab=Role.TENANT_ADMIN)
    found = AUTHORITY.identify(minted.token, directory, now_ms=NOW)
    assert isinstance(found, Principal)
    assert found.single_use
    assert isinstance(found.may(Permission.QUEUE_READ, LAB), Allowed)
    assert isinstance(found.may(Permission.QUEUE_SUBMIT, LAB), Forbidden)


def test_neither_the_command_nor_the_directory_holds_the_token() -> None:
    minted = mint()
    assert minted.token not in repr(minted.command)
    assert minted.token not in repr(known(minted.command))


@pytest.mark.parametrize("token", [None, ""])
def test_no_token_is_said_so(token: str | None) -> None:
    assert word(token, Directory()) is RefusalWord.NO_TOKEN


def test_a_token_counts_until_it_runs_out_and_not_a_moment_longer() -> None:
    minted = mint()
    directory = known(minted.command)
    last = minted.command.expires_ms - 1
    assert isinstance(AUTHORITY.identify(minted.token, directory, now_ms=last), Principal)
    assert word(minted.token, directory, last + 1) is RefusalWord.EXPIRED_TOKEN


def test_a_signature_alone_lets_nobody_in() -> None:
    minted = mint()
    found = AUTHORITY.identify(minted.token, Directory(), now_ms=NOW)
    assert found == RefusedToken(RefusalWord.UNKNOWN_TOKEN, "alice")


def test_another_token_under_a_known_id_is_unknown() -> None:
    minted, later = (
        mint(),
        AUTHORITY.mint("alice", PrincipalKind.HUMAN, token_id="t-1", now_ms=NOW, ttl_s=90),
    )
    assert word(later.token, known(minted.command)) is RefusalWord.UNKNOWN_TOKEN


def test_a_revoked_token_is_refused() -> None:
    minted = mint()
    directory = known(minted.command)
    directory.tokens["t-1"] = replace(directory.tokens["t-1"], revoked=True)
    assert word(minted.token, directory) is RefusalWord.REVOKED_TOKEN


@pytest.mark.parametrize("account", [None, ServiceAccount("alice", LAB, is_enabled=False)])
def test_an_account_that_is_missing_or_disabled_is_refused(account: ServiceAccount | None) -> None:
    minted = mint(PrincipalKind.SERVICE_ACCOUNT)
    directory = known(minted.command)
    if account is not None:
        directory.accounts["alice"] = account
    assert word(minted.token, directory) is RefusalWord.ACCOUNT_DISABLED


def test_another_servers_key_is_not_ours() -> None:
    minted = mint()
    other = Authority.from_pem(Authority.new_key())
    found = other.identify(minted.token, known(minted.command), now_ms=NOW)
    assert found == RefusedToken(RefusalWord.BAD_SIGNATURE)


def test_no_other_algorithm_is_read() -> None:
    claims = {"sub": "alice", "jti": "t-1", "exp": NOW}
    secret = OctKey.import_key("0123456789abcdef" * 4)
    forged = [
        jwt.encode({"alg": "HS256"}, claims, secret, algorithms=["HS256"]),
        jwt.encode({"alg": "ES256"}, claims, ECKey.generate_key("P-256"), algorithms=["ES256"]),
        "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSIsImp0aSI6InQtMSJ9.",
    ]
    for token in forged:
        refused = word(token, known(mint().command))
        assert refused in (RefusalWord.MALFORMED_TOKEN, RefusalWord.BAD_SIGNATURE)


@pytest.mark.parametrize("claims", [{}, {"sub": "alice"}, {"sub": 5, "jti": "t-1"}, {"jti": []}])
def test_a_token_of_ours_without_a_name_or_an_id_is_malformed(claims: dict[str, object]) -> None:
    key = OKPKey.import_key(PEM)
    token = jwt.encode({"alg": ALGORITHM}, claims, key, algorithms=[ALGORITHM])
    assert word(token, Directory()) is RefusalWord.MALFORMED_TOKEN


@given(st.text(max_size=60) | st.text("abc.-_=", max_size=3_000))
def test_garbage_is_refused_and_never_raises(garbage: str) -> None:
    assert isinstance(AUTHORITY.identify(garbage, Directory(), now_ms=NOW), RefusedToken)


def test_a_changed_character_anywhere_lets_nobody_in() -> None:
    minted = mint()
    directory = known(minted.command)
    for at in range(0, len(minted.token), 7):
        other = "A" if minted.token[at] != "A" else "B"
        changed = minted.token[:at] + other + minted.token[at + 1 :]
        assert isinstance(AUTHORITY.identify(changed, directory, now_ms=NOW), RefusedToken)


@pytest.mark.parametrize("ttl_s", [0, -1, TTL_S_MAX + 1, 1.5, True])
def test_a_life_out_of_bounds_is_refused_by_name(ttl_s: int) -> None:
    with pytest.raises(InvalidValue, match="ttl_s"):
        AUTHORITY.mint("alice", PrincipalKind.HUMAN, token_id="t", now_ms=NOW, ttl_s=ttl_s)


def test_a_key_of_another_kind_is_refused() -> None:
    with pytest.raises(InvalidValue, match="key"):
        Authority(OKPKey.generate_key("X25519"))
    with pytest.raises(InvalidValue, match="key"):
        Authority(OKPKey.import_key(OKPKey.import_key(PEM).as_pem(private=False)))


def test_a_source_that_is_refused_too_often_is_not_looked_at_for_a_while() -> None:
    allowance = Allowance(burst=3, per_minute=6)
    for _ in range(3):
        assert allowance.has("1.2.3.4", elapsed_ms=0)
        allowance.spend("1.2.3.4", elapsed_ms=0)
    assert not allowance.has("1.2.3.4", elapsed_ms=9_999)
    assert allowance.has("1.2.3.4", elapsed_ms=10_000)
    assert allowance.has("5.6.7.8", elapsed_ms=0)


def test_the_memory_of_refusals_is_bounded_and_forgets_the_oldest() -> None:
    allowance = Allowance(burst=1, per_minute=1, sources_max=2)
    for source in ("a", "b", "c"):
        allowance.spend(source, elapsed_ms=0)
    assert allowance.has("a", elapsed_ms=0)
    assert not allowance.has("c", elapsed_ms=0)
