"""One request of one principal: what it may do, and the kernel behind that.

Rules:

- Nothing of the state is told and no command is given before ``require`` (or ``require_within``)
  was passed; a handler that forgets it is a broken invariant, not an open door.
- A scope in which the principal has no role at all does not exist for it: the answer is the very
  one for what is not there (404), for reads and writes alike, because 403 would tell that a tenant
  of that name exists. Where it has some role, it is told which key it lacks (403).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Header, Query, Request

from bailiwick.executors.port import Executor
from bailiwick.iam import FLEET, Allowed, Permission, Scope
from bailiwick.journal.keys import Signer
from bailiwick.kernel import Command, Envelope
from bailiwick.kernel.answers import Answer, Done
from bailiwick.kernel.codec import command_digest, encode_answer
from bailiwick.runtime.gateway import Gateway
from bailiwick.runtime.replica import View
from bailiwick.runtime.tree import JournalTree
from bailiwick.server.http.door import Door, Refusal
from bailiwick.server.http.forward import Peers
from bailiwick.server.http.past import Past
from bailiwick.server.http.watchers import Watchers
from bailiwick.server.problems import Trouble, hidden
from bailiwick.services.attesting import Attesting
from bailiwick.services.authority import Principal
from bailiwick.services.beats import Beats
from bailiwick.services.capabilities import Capabilities
from bailiwick.services.enrolling import Enrolling
from bailiwick.services.jobs import Jobs
from bailiwick.store.counter_rows import CounterBook
from bailiwick.store.finding_rows import FindingBook
from bailiwick.store.invoice_rows import InvoiceBook
from bailiwick.store.meter_rows import MeterBook
from bailiwick.telemetry.bearing import note
from bailiwick.telemetry.telemetry import Telemetry
from bailiwick.vocab.errors import InvariantBroken
from bailiwick.wire import answers as wire
from bailiwick.wire.actions.action import Action, Where
from bailiwick.wire.base import PRINCIPAL_PATTERN
from bailiwick.wire.problem import EdgeCode

T = TypeVar("T")


class AccessDenied(Exception):
    """The principal may not; what it is told, and what the journal is."""

    def __init__(self, trouble: Trouble, refusal: Refusal) -> None:
        super().__init__(trouble.message)
        self.trouble, self.refusal = trouble, refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What an application has beyond the kernel; without one, what needs it is not there."""

    peers: Peers | None = None
    """How a follower passes changes on to its leader."""
    beats: Beats | None = None
    """When each node was last heard of."""
    signer: Signer | None = None
    """Signs checkpoints of the journal."""
    tree: JournalTree = field(default_factory=JournalTree)
    """What proofs are made from; it grows when asked, or by whoever grows it beforehand."""
    watchers: Watchers = field(default_factory=Watchers)
    """How many may watch at a time, and how often they are told that nothing happened."""
    ending: asyncio.Event | None = None
    """Set when the server is about to stop: those who watch are let go."""
    telemetry: Telemetry | None = None
    """Sees what happens: spans, metrics, traces."""
    metrics_open: bool = False
    """Whether ``/metrics`` needs no token, as on loopback."""
    jobs: Jobs | None = None
    """Commands that run under leases."""
    executor: Executor | None = None
    """Runs the jobs of this machine, and keeps what they print."""
    past: Past | None = None
    """The way to what the journal says of the past."""
    counters: CounterBook | None = None
    """What nodes counted, to be compared with the journal."""
    findings: FindingBook | None = None
    """What was found by comparing."""
    meter: MeterBook | None = None
    """What was used, to the last unit."""
    invoices: InvoiceBook | None = None
    """What every issued bill says."""
    attesting: Attesting | None = None
    """Asks nodes to prove themselves, and judges what they answer."""
    enrolling: Enrolling | None = None
    """Takes up the keys by which nodes prove themselves."""
    capabilities: Capabilities | None = None
    """Mints tokens for leases, and tells who checks them what counts no more."""


@dataclass(frozen=True, slots=True)
class House:
    """What all requests share: the way to the kernel, the door, and where new ids come from."""

    gateway: Gateway
    door: Door
    ids: Callable[[], str]
    parts: Parts = field(default_factory=Parts)


@dataclass(slots=True)
class Asked:
    """Who asks for which action, and the way to the kernel."""

    action: Action[Any, Any]
    principal: Principal
    house: House
    correlation_id: str
    key: str | None = None
    dry_run: bool = False
    cleared: bool = field(default=False, init=False)
    age_ms: int = field(default=0, init=False)
    """How old what was looked at may be; on a leader, nothing."""

    @property
    def permission(self) -> Permission:
        """The action's key."""
        if self.action.permission is None:
            raise InvariantBroken(f"{self.action.name} has no key to ask for")
        return self.action.permission

    def may(self, scope: Scope) -> bool:
        """Whether the principal has the action's key there; clears nothing."""
        return isinstance(self.principal.may(self.permission, scope), Allowed)

    def require_self(self) -> None:
        """Go on as whoever was let in, to ask about oneself; only for actions that say so."""
        if self.action.where is not Where.SELF:
            raise InvariantBroken(f"{self.action.name} is not about the caller alone")
        self.cleared = True

    def require_login(self) -> None:
        """Go on as whoever was let in, for what is everybody's; only for actions that say so."""
        if self.action.where is not Where.EVERYBODY:
            raise InvariantBroken(f"{self.action.name} is not for everybody")
        self.cleared = True

    def require(self, scope: Scope) -> None:
        """Go on only if the principal has the action's key at this scope."""
        if not self.may(scope):
            raise self._denied(scope)
        self._clear(scope)

    def require_within(self, scope: Scope) -> None:
        """Go on only if it has the key there or somewhere inside; rows are judged one by one."""
        inside = (each for each in self.principal.roles if scope.covers(each))
        if not self.may(scope) and not any(self.may(each) for each in inside):
            raise self._denied(scope)
        self._clear(scope)

    def _clear(self, scope: Scope) -> None:
        # Only now: a trace of who looked for what is not his must not become the owner's to see.
        note(tenant=scope.tenant, project=scope.project)
        self.cleared = True

    async def locate(self, find: Callable[[View], T | None]) -> T:
        """Where something is, before it is known whether the principal may; nowhere is hidden."""
        found = await self.house.gateway.lookup(find)
        if found is not None:
            return found
        if FLEET in self.principal.roles:  # who sees the whole fleet is not looking for others
            raise hidden()
        raise self.refuse_hidden("not_found")

    async def require_at(
        self, find: Callable[[View], Scope | None], command: Command | None = None
    ) -> None:
        """Go on only if the principal has the action's key where the thing in question is.

        Somebody who repeats this very command with its key is let through to his first answer,
        which the kernel gives: what it was about (a lease that he released) may be gone by now.
        Another command under a known key is not: what is absent must look like what is another's.
        """
        name, key = self.principal.name, self.key

        digest = None if key is None or command is None else command_digest(command)

        def seen(view: View) -> tuple[Scope | None, bool]:
            known = None if key is None else view.state.answers.get(name, key)
            return find(view), known is not None and known.command == digest

        scope, is_repeated = await self.house.gateway.lookup(seen)
        if scope is not None:
            self.require(scope)
        elif is_repeated and not self.dry_run:
            self.cleared = True
        else:
            self.require(await self.locate(find))

    async def read(self, read: Callable[[View], T]) -> T:
        """What ``read`` makes of the state."""
        self._check()

        def aged(view: View) -> T:
            self.age_ms = max(self.age_ms, view.age_ms)
            return read(view)

        return await self.house.gateway.read(aged)

    async def execute(self, command: Command) -> Answer:
        """The durable answer to a command of this principal."""
        self._check()
        envelope = Envelope(command, self.principal.name, self.correlation_id, self.key)
        return await self.house.gateway.execute(envelope)

    async def records(self, first: int, limit: int) -> list[bytes]:
        """Up to ``limit`` lines of the journal from number ``first`` on."""
        self._check()
        return await self.house.gateway.records(first, limit)

    async def do(self, command: Command) -> wire.Done:
        """Have a command take effect, or (dry run) see that it would."""
        self._check()
        if self.dry_run:
            await self.house.gateway.rehearse(command)
            return wire.Done(answer="done", seq=None)
        answer = await self.execute(command)
        if not isinstance(answer, Done):
            raise InvariantBroken(f"{type(command).__name__} was answered with {answer}")
        return wire.Done.model_validate(encode_answer(answer))

    def _check(self) -> None:
        if not self.cleared:
            raise InvariantBroken(f"{self.action.name} asked for no permission")

    def _denied(self, scope: Scope) -> AccessDenied:
        permission, name = self.permission, self.principal.name
        if not sees(self.principal, scope):
            return self.refuse_hidden("foreign_scope")
        told: dict[str, str | int | list[str] | None] = {
            "permission": permission.value,
            "scope": str(scope),
        }
        message = f"{permission.value} is needed at {scope}"
        return AccessDenied(
            Trouble(EdgeCode.FORBIDDEN, message, told),
            Refusal("forbidden", name, permission, scope),
        )

    def refuse_hidden(self, reason: str) -> AccessDenied:
        """The answer for what is not there or another's; only the journal learns which."""
        # The fleet's record, not the other tenant's: it must not learn who looked either.
        refusal = Refusal(reason, self.principal.name, self.permission)
        return AccessDenied(hidden(), refusal)

    def refuse(self, message: str, *, reason: str) -> AccessDenied:
        """The answer for what the key alone does not allow."""
        refusal = Refusal(reason, self.principal.name, self.permission)
        return AccessDenied(Trouble(EdgeCode.FORBIDDEN, message), refusal)


def sees(principal: Principal, scope: Scope) -> bool:
    """Whether the principal has any role at the scope, around it or inside it."""
    if scope == FLEET:
        return True
    return any(each.covers(scope) or scope.covers(each) for each in principal.roles)


def may_everywhere(principal: Principal, permission: Permission, *, scopes: set[Scope]) -> bool:
    """Whether the principal has the key at each of these scopes."""
    return all(isinstance(principal.may(permission, scope), Allowed) for scope in scopes)


async def _asked(request: Request) -> Asked:  # async, or it would cost a thread
    found: Asked = request.state.asked
    return found


async def _asked_to_change(
    request: Request,
    key: Annotated[
        str | None,
        Header(
            alias="Idempotency-Key",
            pattern=PRINCIPAL_PATTERN,
            description="The same key from the same caller gives the first answer again.",
        ),
    ] = None,
    dry_run: Annotated[
        str,
        Query(pattern="^(true|false)$", description="Decide the same, and change nothing."),
    ] = "false",
) -> Asked:
    found: Asked = request.state.asked
    found.key, found.dry_run = key, dry_run == "true"
    return found


Here = Annotated[Asked, Depends(_asked)]
"""For handlers that only look."""

Changing = Annotated[Asked, Depends(_asked_to_change)]
"""For handlers that change something: with ``Idempotency-Key`` and ``?dry_run``."""
