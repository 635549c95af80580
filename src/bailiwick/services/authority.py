"""Tokens: made for a principal, and read back into who asks, or into why not.

Rules:

- A token is a JWT under Ed25519 with the header that we write; no other is read. It names its
  principal, its id and when it runs out, and nothing secret. One that works only once (a login) is
  short instead: an id and a hundred random bits, for it may be typed.
- The signature alone lets nobody in: the token must be one that the journal knows, with the same
  digest, not revoked, not run out, and its account enabled. Digests are compared in constant time.
- It lives for at most ``TTL_S_MAX``. The token itself is given out once and kept nowhere.
- A browser's token says which session it is one of, and until when that may be renewed. No other
  token counts as a cookie.
- A refusal is a value with a closed word. What a caller is told does not say which check failed
  first among those that would help a guesser.
- ``Allowance`` bounds how often one source may be refused: a bucket that refills with time.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from enum import StrEnum
from hashlib import sha256
from hmac import compare_digest
from hmac import digest as hmac_digest
from typing import Any, Final, NamedTuple, TypeAlias

from joserfc import jwt
from joserfc.errors import BadSignatureError, JoseError
from joserfc.jwk import OKPKey

from bailiwick.iam import (
    OPERATOR_KEYS,
    RUNTIME_PREFIX,
    Access,
    AnyRole,
    CustomRole,
    Directory,
    Permission,
    PrincipalKind,
    Scope,
    ScopeLevel,
    Token,
    check_access,
    roles_within,
)
from bailiwick.kernel.people.commands import IssueToken
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_integer

ALGORITHM: Final = "Ed25519"
TTL_S_MAX = 12 * 3600
"""A session of a person; programs ask for less."""

TOKEN_CHARS_MAX = 2_048
SEEN_MAX = 4_096
"""Tokens whose signature is remembered to hold."""

_LETTERS: Final = "0123456789abcdefghjkmnpqrstvwxyz"  # none that looks like another
_PEER: Final = "replica"
_VOUCH_S = 60


class RefusalWord(StrEnum):
    """Why a token lets nobody in, in the order of the checks."""

    NO_TOKEN = "no_token"
    RATE_LIMITED = "rate_limited"
    MALFORMED_TOKEN = "malformed_token"
    BAD_SIGNATURE = "bad_signature"
    UNKNOWN_TOKEN = "unknown_token"
    REVOKED_TOKEN = "revoked_token"
    EXPIRED_TOKEN = "expired_token"
    ACCOUNT_DISABLED = "account_disabled"
    CSRF_REFUSED = "csrf_refused"
    """A browser's session holds, but another page asked, or nobody knows which."""


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """A browser's session, from its login on: one token after the other, until it must end."""

    session_id: str
    until_ms: int


class _Claims(NamedTuple):
    """What a token says whose signature holds."""

    subject: str
    token_id: str
    until_s: int
    session: BrowserSession | None
    provider: str | None


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks: a name, what sort of party it is, and what it may do."""

    name: str
    kind: PrincipalKind
    token_id: str
    roles: dict[Scope, AnyRole] = field(compare=False)
    keys: frozenset[Permission] | None = None
    single_use: bool = False
    within: tuple[str, ...] | None = None
    """The only tenants and projects in which its token counts; ``roles`` is cut down to them."""
    lease_id: int | None = None
    """The only lease for which its token counts, if it is a job's."""
    runtime_id: int | None = None
    """The only shared runtime for which it counts, if it is the token of that one's operator."""
    session: BrowserSession | None = None
    """The browser's session that its token is one of."""
    provider: str | None = None
    """By whose word it came in; nobody's, if with a code or a token that was made here."""

    def may(self, permission: Permission, scope: Scope) -> Access:
        """Whether it may do that there."""
        return check_access(self.roles, permission, scope=scope, keys=self.keys)


@dataclass(frozen=True, slots=True)
class RefusedToken:
    """Nobody is let in by this; ``claimed`` is who it says it is, if the signature holds."""

    word: RefusalWord
    claimed: str | None = None


Identified: TypeAlias = Principal | RefusedToken


@dataclass(frozen=True, slots=True)
class Minted:
    """A token, to be handed out once the command beside it is durable."""

    token: str
    command: IssueToken
    session: BrowserSession | None = None
    """The browser's session that it is one of."""


class Authority:
    """Makes and reads tokens under one key."""

    def __init__(self, key: OKPKey) -> None:
        if key.curve_name != ALGORITHM or not key.is_private:
            raise InvalidValue("key", key.curve_name, f"a private key on {ALGORITHM}")
        self._key = key
        # What a header may ask for (``crit``, ``b64``, ``zip``) is never even looked at.
        example = jwt.encode({"alg": ALGORITHM}, {}, key, algorithms=[ALGORITHM])
        self._header = example.partition(".")[0]
        self._seen: OrderedDict[str, _Claims] = OrderedDict()

    @classmethod
    def from_pem(cls, pem: bytes) -> Authority:
        """The authority under a key that was kept."""
        try:
            key = OKPKey.import_key(pem)
        except (JoseError, ValueError, TypeError):
            raise InvalidValue("key file", "(not shown)", "a private key in PEM") from None
        return cls(key)

    @staticmethod
    def new_key() -> bytes:
        """A new key, as PEM to be kept where only the server can read it."""
        return OKPKey.generate_key(ALGORITHM).as_pem(private=True)

    def key_for(self, purpose: bytes) -> bytes:
        """32 bytes for something else, from which this key cannot be told."""
        secret = self._key.as_dict(private=True)["d"]
        return hmac_digest(str(secret).encode("ascii"), b"bailiwick key for " + purpose, "sha256")

    def mint(
        self,
        principal: str,
        kind: PrincipalKind,
        *,
        token_id: str,
        now_ms: int,
        ttl_s: int,
        terms: Terms | None = None,
    ) -> Minted:
        """A token for the principal, and the command that makes it count."""
        check_integer("ttl_s", ttl_s, low=1, high=TTL_S_MAX)
        terms = terms or Terms()
        expires_ms = now_ms + 1000 * ttl_s
        if terms.single_use:
            token = f"{token_id}.{_new_secret()}"
        else:
            claims: dict[str, Any] = {"sub": principal, "jti": token_id, "exp": expires_ms // 1000}
            if terms.session is not None:
                claims["sid"] = terms.session.session_id
                claims["sxp"] = terms.session.until_ms // 1000
            if terms.provider is not None:
                claims["idp"] = terms.provider
            token = jwt.encode({"alg": ALGORITHM}, claims, self._key, algorithms=[ALGORITHM])
        command = IssueToken(
            token_id,
            principal,
            kind,
            digest_of(token),
            expires_ms,
            terms.single_use,
            terms.keys,
            within=terms.within,
            lease_id=terms.lease_id,
        )
        return Minted(token, command)

    def identify(self, token: str | None, directory: Directory, *, now_ms: int) -> Identified:
        """Who holds this token now, or why it lets nobody in."""
        if not token:
            return RefusedToken(RefusalWord.NO_TOKEN)
        if len(token) > TOKEN_CHARS_MAX or not token.isascii():
            return RefusedToken(RefusalWord.MALFORMED_TOKEN)
        digest = digest_of(token)
        if token.count(".") == 1:
            token_id = token.partition(".")[0]
            return _known(directory, digest, token_id, subject=None, now_ms=now_ms)
        found = self._verified(token, digest)
        if isinstance(found, RefusedToken):
            return found
        subject, token_id, until_s, session, provider = found
        known = _known(directory, digest, token_id, subject=subject, now_ms=now_ms)
        is_unknown = isinstance(known, RefusedToken) and known.word is RefusalWord.UNKNOWN_TOKEN
        if is_unknown and until_s * 1000 <= now_ms:  # it may have been forgotten since
            return RefusedToken(RefusalWord.EXPIRED_TOKEN, subject)
        if isinstance(known, RefusedToken):
            return known
        return replace(known, session=session, provider=provider)

    def has_seen(self, token: str | None) -> bool:
        """Whether this token's signature was seen to hold; that it still counts is not said."""
        if not token or len(token) > TOKEN_CHARS_MAX or not token.isascii():
            return False
        return digest_of(token) in self._seen

    def _verified(self, token: str, digest: str) -> _Claims | RefusedToken:
        """Whom a token names, its id and when it runs out, if the signature holds.

        That never changes, so it is remembered (by the digest; the token itself is not kept). That
        the token still counts is looked up every time.
        """
        known = self._seen.get(digest)
        if known is not None:
            return known
        if token.partition(".")[0] != self._header:
            return RefusedToken(RefusalWord.MALFORMED_TOKEN)
        try:
            claims = jwt.decode(token, self._key, algorithms=[ALGORITHM]).claims
        except BadSignatureError:
            return RefusedToken(RefusalWord.BAD_SIGNATURE)
        except (JoseError, ValueError):
            return RefusedToken(RefusalWord.MALFORMED_TOKEN)
        subject, token_id, until_s = claims.get("sub"), claims.get("jti"), claims.get("exp")
        if not (
            isinstance(subject, str) and isinstance(token_id, str) and isinstance(until_s, int)
        ):
            return RefusedToken(RefusalWord.MALFORMED_TOKEN)
        session, session_id, last_s = None, claims.get("sid"), claims.get("sxp")
        if isinstance(session_id, str) and isinstance(last_s, int):
            session = BrowserSession(session_id, 1000 * last_s)
        provider = claims.get("idp")
        by = provider if isinstance(provider, str) else None
        self._seen[digest] = said = _Claims(subject, token_id, until_s, session, by)
        if len(self._seen) > SEEN_MAX:
            self._seen.popitem(last=False)
        return said

    def vouch(self, source: str, *, now_ms: int) -> str:
        """A short-lived word from one replica to another: for whom it asks."""
        claims = {"aud": _PEER, "src": source, "exp": now_ms // 1000 + _VOUCH_S}
        return jwt.encode({"alg": ALGORITHM}, claims, self._key, algorithms=[ALGORITHM])

    def vouched(self, text: str, *, now_ms: int) -> str | None:
        """For whom a replica asks; nothing if no replica said so, or too long ago."""
        claims = self._voucher(text)
        if claims is None or now_ms // 1000 > claims["exp"]:
            return None
        return str(claims["src"])

    def told_ms(self, text: str) -> int | None:
        """What time it was for a replica when it asked; nothing if no replica said so."""
        claims = self._voucher(text)
        return None if claims is None else 1000 * (int(claims["exp"]) - _VOUCH_S)

    def _voucher(self, text: str) -> dict[str, Any] | None:
        is_ours = text.isascii() and text.partition(".")[0] == self._header
        if len(text) > TOKEN_CHARS_MAX or not is_ours:
            return None
        try:
            claims = jwt.decode(text, self._key, algorithms=[ALGORITHM]).claims
        except (JoseError, ValueError):
            return None
        source, until = claims.get("src"), claims.get("exp")
        known = claims.get("aud") == _PEER and isinstance(source, str) and len(source) <= 64
        return dict(claims) if known and isinstance(until, int) else None


@dataclass(frozen=True, slots=True)
class Terms:
    """What narrows a token: all the keys it carries, where it counts, if it works only once."""

    keys: tuple[Permission, ...] | None = None
    single_use: bool = False
    within: tuple[str, ...] | None = None
    lease_id: int | None = None
    """The only lease that it is good for."""
    session: BrowserSession | None = None
    """The browser's session that it is one of."""
    provider: str | None = None
    """By whose word its principal came in."""


def _new_secret() -> str:
    """A hundred random bits that a person can type."""
    return "".join(secrets.choice(_LETTERS) for _ in range(20))


def digest_of(token: str) -> str:
    """What the journal knows a token by."""
    return sha256(token.encode()).hexdigest()


def _known(
    directory: Directory, digest: str, token_id: str, *, subject: str | None, now_ms: int
) -> Identified:
    found = directory.tokens.get(token_id)
    if found is None or not compare_digest(found.digest, digest):
        return RefusedToken(RefusalWord.UNKNOWN_TOKEN, subject)
    if found.revoked:
        return RefusedToken(RefusalWord.REVOKED_TOKEN, subject)
    if found.expires_ms <= now_ms:
        return RefusedToken(RefusalWord.EXPIRED_TOKEN, subject)
    account = directory.accounts.get(found.principal)
    is_account = found.kind is PrincipalKind.SERVICE_ACCOUNT
    if is_account and (account is None or not account.is_enabled):
        return RefusedToken(RefusalWord.ACCOUNT_DISABLED, subject)
    if found.kind is PrincipalKind.RUNTIME_OPERATOR:
        return _operator(found)
    return Principal(
        found.principal,
        found.kind,
        token_id,
        roles_within(directory.roles.get(found.principal, {}), found.within),
        None if found.keys is None else frozenset(found.keys),
        found.single_use,
        found.within,
        found.lease_id,
    )


def _operator(token: Token) -> Principal:
    """The operator of a shared runtime: it has no role but the one that its token says."""
    within = token.within or ()
    roles: dict[Scope, AnyRole] = {
        scope: CustomRole(token.kind.value, Scope(scope.tenant), ScopeLevel.PROJECT, OPERATOR_KEYS)
        for scope in map(Scope.parse, within)
    }
    return Principal(
        token.principal,
        token.kind,
        token.token_id,
        roles,
        within=within,
        runtime_id=int(token.principal.removeprefix(RUNTIME_PREFIX)),
    )


class Allowance:
    """How often each source may be refused before it is not even looked at."""

    def __init__(self, *, burst: int = 20, per_minute: int = 20, sources_max: int = 10_000) -> None:
        self.burst = check_integer("burst", burst, low=1, high=10**6)
        self.per_minute = check_integer("per_minute", per_minute, low=1, high=10**6)
        self._sources_max = check_integer("sources_max", sources_max, low=1, high=10**6)
        # By source: what is left, in refusals times 60,000, and as of when.
        self._left: OrderedDict[str, tuple[int, int]] = OrderedDict()

    def has(self, source: str, *, elapsed_ms: int) -> bool:
        """Whether the source is still looked at."""
        return self._now(source, elapsed_ms) >= 60_000

    def spend(self, source: str, *, elapsed_ms: int) -> None:
        """The source was refused once more."""
        left = max(0, self._now(source, elapsed_ms) - 60_000)
        self._left[source] = (left, elapsed_ms)
        self._left.move_to_end(source)
        if len(self._left) > self._sources_max:
            self._left.popitem(last=False)

    def _now(self, source: str, elapsed_ms: int) -> int:
        full = self.burst * 60_000
        left, since_ms = self._left.get(source, (full, elapsed_ms))
        return min(full, left + self.per_minute * max(0, elapsed_ms - since_ms))
