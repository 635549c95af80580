"""Logging in through a provider: in a browser with a code, and from a terminal by a device's.

Rules:

- Only who began a login ends it: what belongs to it (``state``, ``nonce``, the verifier of the
  code) is sealed in a cookie of his browser, and what a terminal polls with is sealed as well. So
  every replica can go on with it, and none keeps anything.
- The provider's own tokens never leave the server, nor does the client's secret.
- What his groups give is applied before he gets a session, and sealed in the journal. That he came
  is remembered: it is how long those groups count for what is sent to him.
"""

from __future__ import annotations

import asyncio
import base64
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest
from typing import Any, Final
from urllib.parse import urlencode

from bailiwick.kernel import Envelope
from bailiwick.kernel.people.commands import ApplyGroups
from bailiwick.ports import Clock
from bailiwick.runtime.gateway import Gateway
from bailiwick.services.authority import Authority, Minted
from bailiwick.services.logins.exchange import (
    DEVICE_GRANT,
    GrantPending,
    NamedPerson,
    ProviderClient,
)
from bailiwick.services.logins.providers import is_safe_url
from bailiwick.services.logins.sealing import NoteBox
from bailiwick.services.logins.words import LoginRefusal, LoginRefused
from bailiwick.services.sessions import SessionMaker
from bailiwick.vocab.errors import Conflict, NotFound

BROWSER: Final = "login in a browser"
DEVICE: Final = "login of a device"
LOGIN_S_MAX: Final = 600
DEVICE_S_MAX: Final = 1_800
DOORKEEPER: Final = "http-door"


@dataclass(frozen=True, slots=True)
class BegunLogin:
    """Where the browser goes, and what it keeps meanwhile."""

    location: str
    note: str


@dataclass(frozen=True, slots=True)
class BegunDevice:
    """What a person does elsewhere, and what the terminal polls with."""

    user_code: str
    verification_uri: str
    verification_uri_complete: str | None
    expires_s: int
    interval_s: int
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Logins:
    """The providers of one server."""

    gateway: Gateway
    authority: Authority
    clock: Clock
    ids: Callable[[], str]
    clients: Mapping[str, ProviderClient]
    address: str
    """Where browsers reach this server, as the providers know it."""
    came_in: Callable[[str, int], None]
    """Is told who was let in, and when."""

    @property
    def _box(self) -> NoteBox:
        return NoteBox(self.authority.key_for(b"login notes"))

    def client(self, name: str) -> ProviderClient:
        """The provider of that name."""
        found = self.clients.get(name)
        if found is None:
            raise NotFound("provider", name, hint="GET /v1/login lists those there are")
        return found

    def callback(self, path: str) -> str:
        """Where the provider sends a browser back to."""
        return self.address.rstrip("/") + path

    # -- in a browser ----------------------------------------------------------------------------

    async def begin(self, name: str, *, path: str, to: str) -> BegunLogin:
        """A login that a browser begins; ``path`` is where it comes back, ``to`` where it ends."""
        client = self.client(name)
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        challenge = base64.urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=")
        wish = {
            "response_type": "code",
            "client_id": client.provider.client_id,
            "redirect_uri": self.callback(path),
            "scope": " ".join(client.provider.scopes),
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge.decode(),
            "code_challenge_method": "S256",
        }
        place = await client.endpoint("authorization_endpoint")
        said = {"provider": name, "state": state, "nonce": nonce, "verifier": verifier, "to": to}
        note = self._box.seal(BROWSER, said, until_s=self._now_s + LOGIN_S_MAX)
        return BegunLogin(f"{place}{'&' if '?' in place else '?'}{urlencode(wish)}", note)

    async def end(
        self, name: str, given: Mapping[str, str], *, note: str | None, path: str, trace: str
    ) -> tuple[Minted, str]:
        """The session of whoever comes back from the provider, and where his browser goes."""
        client = self.client(name)
        said = None if note is None else self._box.open(BROWSER, note, now_s=self._now_s)
        state = given.get("state", "")
        if (
            said is None
            or said["provider"] != name
            or not compare_digest(said["state"].encode(), state.encode())
        ):
            raise LoginRefused(LoginRefusal.LOGIN_STATE_MISMATCH, "not begun in this browser")
        if given.get("iss", client.provider.issuer) != client.provider.issuer:
            raise LoginRefused(LoginRefusal.LOGIN_TOKEN_INVALID, "another issuer came back")
        if "code" not in given:
            told = given.get("error", "no code")[:200]
            raise LoginRefused(LoginRefusal.LOGIN_PROVIDER_REFUSED, told)
        grant = {
            "grant_type": "authorization_code",
            "code": given["code"],
            "redirect_uri": self.callback(path),
            "code_verifier": said["verifier"],
        }
        found = await client.redeem(grant)
        if isinstance(found, GrantPending):
            raise LoginRefused(LoginRefusal.LOGIN_PROVIDER_REFUSED, "pending")
        person = await client.person(found, nonce=said["nonce"])
        minted = await self._let_in(client, person, is_browser=True, ttl_s=3600, trace=trace)
        return minted, said["to"]

    # -- from a terminal -------------------------------------------------------------------------

    async def begin_device(self, name: str) -> BegunDevice:
        """A login that a terminal begins, and a person ends elsewhere."""
        found = await self.client(name).begin_device()
        code, user_code, place = (
            found.get(key) for key in ("device_code", "user_code", "verification_uri")
        )
        whole = found.get("verification_uri_complete")
        expires_s = _number(found.get("expires_in"), default=600, most=DEVICE_S_MAX)
        if not (_is_text(code) and _is_text(user_code) and _is_text(place)) or not (
            is_safe_url(str(place))
        ):
            raise LoginRefused(LoginRefusal.LOGIN_PROVIDER_REFUSED, "no code for a device")
        note = self._box.seal(
            DEVICE, {"provider": name, "code": str(code)}, until_s=self._now_s + expires_s
        )
        return BegunDevice(
            str(user_code),
            str(place),
            str(whole) if _is_text(whole) and is_safe_url(str(whole)) else None,
            expires_s,
            _number(found.get("interval"), default=5, most=60),
            note,
        )

    async def poll_device(
        self, name: str, *, note: str, ttl_s: int, trace: str
    ) -> Minted | GrantPending:
        """The session of whoever said yes; or that nobody has yet."""
        client = self.client(name)
        said = self._box.open(DEVICE, note, now_s=self._now_s)
        if said is None or said["provider"] != name:
            raise LoginRefused(LoginRefusal.LOGIN_STATE_MISMATCH, "not begun here, or too old")
        found = await client.redeem({"grant_type": DEVICE_GRANT, "device_code": said["code"]})
        if isinstance(found, GrantPending):
            return found
        person = await client.person(found, nonce=None)
        return await self._let_in(client, person, is_browser=False, ttl_s=ttl_s, trace=trace)

    async def _let_in(
        self,
        client: ProviderClient,
        person: NamedPerson,
        *,
        is_browser: bool,
        ttl_s: int,
        trace: str,
    ) -> Minted:
        """A session for a person, after his groups were applied."""
        provider = client.provider
        groups = ApplyGroups(person.name, provider.name, provider.roles_of(person.groups))
        with suppress(Conflict):  # he has just that already
            await self.gateway.execute(Envelope(groups, DOORKEEPER, trace))
        await asyncio.to_thread(self.came_in, person.name, self.clock.now_ms())
        maker = SessionMaker(self.gateway, self.authority, self.clock)
        return await maker.begin_for(
            person.name,
            provider.name,
            token_id=self.ids(),
            ttl_s=ttl_s,
            correlation_id=trace,
            is_browser=is_browser,
        )

    @property
    def _now_s(self) -> int:
        return self.clock.now_ms() // 1000


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 2_000 and value.isprintable()


def _number(value: Any, *, default: int, most: int) -> int:
    is_number = isinstance(value, int) and not isinstance(value, bool) and value > 0
    return min(value, most) if is_number else default
