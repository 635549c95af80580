"""Who is let in: a token, shown or in a cookie, becomes a principal, or a refusal with a record.

Rules:

- Default deny: a route of an action runs only for a principal that the journal knows now.
- A caller learns that it was not let in, never which check failed. The journal learns which.
- A source that shows bad tokens too often is not looked at for a while, but for tokens whose
  signature was seen to hold: whoever shares an address with a guesser (all of one machine do)
  keeps his session. Showing none guesses nothing, so it costs nothing.
- Refusals are sealed in the journal, a bounded number a minute for each source, so that nobody can
  flood it. If nothing can be sealed (a follower, a lost store) the refusal stands all the same.
- A login code opens nothing but the login. Who came by the word of a provider that the operator
  has named no more is let in no more.
- A cookie counts only for requests of our own pages (``cookies``), and never for what an app
  answers: a stranger's script must not come from this origin by the power of a cookie.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from contextlib import suppress
from dataclasses import replace

from starlette.requests import Request

from bailiwick.iam import FLEET, Directory, Scope, counted_roles, is_reserved
from bailiwick.journal.fields import PRINCIPAL_SHAPE
from bailiwick.kernel import Envelope
from bailiwick.kernel.people.commands import NoteRefusal
from bailiwick.ports import Clock
from bailiwick.runtime.gateway import Gateway
from bailiwick.runtime.replica import Role, View
from bailiwick.server.http.cookies import csrf_of, may_use_cookie, shown_by
from bailiwick.server.problems import Trouble
from bailiwick.services.authority import (
    TOKEN_CHARS_MAX,
    Allowance,
    Authority,
    Identified,
    Principal,
    RefusalWord,
    RefusedToken,
)
from bailiwick.services.caller import Refusal
from bailiwick.vocab.errors import BailiwickError, Unavailable
from bailiwick.wire.problem import EdgeCode

NOTE_WAIT_S = 2.0
DOORKEEPER = "http-door"
"""Who seals that somebody unknown was refused."""


class Door:
    """Lets principals in, and keeps count of those it does not."""

    def __init__(
        self,
        gateway: Gateway,
        authority: Authority,
        *,
        clock: Clock,
        guesses: Allowance | None = None,
        notes: Allowance | None = None,
        providers: frozenset[str] = frozenset(),
    ) -> None:
        self.authority, self.clock = authority, clock
        self._gateway, self._providers = gateway, providers
        self._guesses = guesses or Allowance()
        self._notes = notes or Allowance(burst=10, per_minute=10)

    async def admit(self, request: Request, *, takes_cookie: bool = True) -> Principal:
        """The principal that asks; anybody else is refused."""
        shown = shown_by(request)
        if not shown.is_cookie:
            return await self.check(request, shown.token, single_use=False)
        who = await self.check(
            request, shown.token if takes_cookie else None, single_use=False, is_cookie=True
        )
        assert who.session is not None
        if not may_use_cookie(request, csrf=csrf_of(self.authority, who.session)):
            await self.note(request, Refusal(RefusalWord.CSRF_REFUSED.value, who.name))
            raise foreign_page()
        return who

    async def check(
        self, request: Request, token: str | None, *, single_use: bool, is_cookie: bool = False
    ) -> Principal:
        """Whose token this is, if it is of the sort that is wanted here."""
        source = source_of(request)
        elapsed_ms = self.clock.elapsed_ms()
        is_tired = not self._guesses.has(source, elapsed_ms=elapsed_ms)
        if is_tired and not self.authority.has_seen(token):
            await self._turn_away(request, RefusedToken(RefusalWord.RATE_LIMITED))
        found = await self.identify(token)
        if isinstance(found, Principal):
            is_server = is_reserved(found.name) and found.runtime_id is None
            is_sort = found.single_use is single_use and not (is_cookie and not found.session)
            is_known = found.provider is None or found.provider in self._providers
            if is_sort and is_known and not is_server:
                return found
            found = RefusedToken(RefusalWord.UNKNOWN_TOKEN, found.name)
        elif found.word is RefusalWord.UNKNOWN_TOKEN and found.claimed and not self._leads:
            # Signed by us, so it was made a moment ago: a follower is that much behind.
            raise Unavailable("this replica", "it does not know this token yet")
        if found.word is not RefusalWord.NO_TOKEN:
            self._guesses.spend(source, elapsed_ms=elapsed_ms)
        await self._turn_away(request, found)
        raise AssertionError("turned away")  # pragma: no cover

    async def hold_off(self, request: Request) -> None:
        """Refuse a source that was refused too often, before anything is done for it."""
        if not self._guesses.has(source_of(request), elapsed_ms=self.clock.elapsed_ms()):
            await self._turn_away(request, RefusedToken(RefusalWord.RATE_LIMITED))

    async def turn_back(
        self, request: Request, word: str, *, is_guess: bool, scope: Scope = FLEET
    ) -> None:
        """Seal that a login was refused; what may be a guess is counted against its source."""
        if is_guess:
            self._guesses.spend(source_of(request), elapsed_ms=self.clock.elapsed_ms())
        await self.note(request, Refusal(word, scope=scope))

    @property
    def _leads(self) -> bool:
        return self._gateway.role is Role.LEADING

    async def identify(self, token: str | None) -> Identified:
        """Who holds this token now; the signature is checked here, not in the replica's thread."""
        token_id = claimed_id(token)
        known = Directory()
        if token_id is not None:
            known = await self._gateway.lookup(lambda view: _part(view, token_id))
        return self.authority.identify(token, known, now_ms=self.clock.now_ms())

    async def note(self, request: Request, refusal: Refusal) -> None:
        """Seal a refusal, if this source has not had its fill of them."""
        source, elapsed_ms = refusal.principal or source_of(request), self.clock.elapsed_ms()
        if not self._notes.has(source, elapsed_ms=elapsed_ms):
            return
        self._notes.spend(source, elapsed_ms=elapsed_ms)
        scope = refusal.scope
        with suppress(BailiwickError):
            command = NoteRefusal(
                refusal.reason,
                refusal.principal,
                refusal.permission,
                scope.tenant,
                scope.project,
            )
            actor = refusal.principal or DOORKEEPER
            envelope = Envelope(command, actor, str(request.state.correlation_id))
            await self._gateway.execute(envelope, wait_s=NOTE_WAIT_S)

    async def _turn_away(self, request: Request, found: RefusedToken) -> None:
        await self.note(request, Refusal(found.word.value, _shown(found.claimed)))
        if found.word is RefusalWord.RATE_LIMITED:
            raise Trouble(EdgeCode.RATE_LIMITED, "too many bad tokens from there; wait a minute")
        if found.word is RefusalWord.NO_TOKEN:
            raise Trouble(EdgeCode.UNAUTHENTICATED, "a bearer token is needed")
        raise Trouble(EdgeCode.UNAUTHENTICATED, "this token lets nobody in")


def source_of(request: Request) -> str:
    """Where a request comes from, as far as the connection tells; headers are not believed."""
    return "unknown" if request.client is None else request.client.host


def foreign_page() -> Trouble:
    """What a page is told that is not ours, or cannot show that it is."""
    told = "another page asked this, or X-CSRF-Token is not the session's (GET /v1/session has it)"
    return Trouble(EdgeCode.FORBIDDEN, told, {"reason": RefusalWord.CSRF_REFUSED.value})


def claimed_id(token: str | None) -> str | None:
    """Which token it says it is; nothing is believed, this only tells what to look up."""
    if token is None or len(token) > TOKEN_CHARS_MAX:
        return None
    if token.count(".") == 1:
        return token.partition(".")[0]
    if token.count(".") != 2:
        return None
    payload = token.split(".")[1]
    try:
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return None
    found = claims.get("jti") if isinstance(claims, dict) else None
    return found if isinstance(found, str) else None


def _part(view: View, token_id: str) -> Directory:
    """As much of the directory as decides about one token, as values of its own."""
    directory, part = view.state.directory, Directory()
    token = directory.tokens.get(token_id)
    if token is None:
        return part
    has_ended = token.lease_id is not None and token.lease_id not in view.state.leases
    part.tokens[token_id] = replace(token, revoked=True) if has_ended else token
    roles = counted_roles(directory, token.principal)
    if roles is not None:
        part.roles[token.principal] = dict(roles)
    account = directory.accounts.get(token.principal)
    if account is not None:
        part.accounts[token.principal] = account
    return part


def _shown(claimed: str | None) -> str | None:
    """A claimed name that can be written into a record."""
    return claimed if claimed is not None and re.fullmatch(PRINCIPAL_SHAPE, claimed) else None
