"""Who asks, for what, and the way to the kernel: the context of one request, without the web.

Rules:

- Nothing of the state is told and no command is given before ``require`` (or ``require_within``)
  was passed; a use case that forgets it is a broken invariant, not an open door.
- A scope in which the principal has no role at all does not exist for it: the answer is the very
  one for what is not there, for reads and writes alike, because "forbidden" would tell that a
  tenant of that name exists. Where it has some role, it is told which key it lacks.
- A job's token is good for its one lease: an action that does not name that lease (``for_lease``)
  is as far from it as what is not there.
- The token of a shared runtime's operator is good for that runtime and the instance behind it, in
  the same way (``for_runtime``).
- With an idempotency key the kernel gives the first answer again. A dry run decides the same on the
  same state and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias, TypeVar

from bailiwick.iam import FLEET, NODE_PREFIX, Allowed, Permission, PrincipalKind, Scope
from bailiwick.kernel import Command, Envelope
from bailiwick.kernel.answers import Answer, Done
from bailiwick.kernel.codec import command_digest
from bailiwick.kernel.events import Event
from bailiwick.ports import Clock
from bailiwick.runtime.gateway import Gateway
from bailiwick.runtime.replica import View
from bailiwick.services.authority import Principal
from bailiwick.vocab.errors import BailiwickError, ErrorCode, InvariantBroken

T = TypeVar("T")

Deferred: TypeAlias = Callable[[], T]
"""A value that is made once it is known that the caller may; before, nobody is told its faults."""


class Hidden(BailiwickError):
    """What is not there, or is another's: nobody can tell which."""

    code = ErrorCode.NOT_FOUND
    MESSAGE: Final = "no such thing, or it is not yours to see"

    def __init__(self) -> None:
        super().__init__(self.MESSAGE)


@dataclass(frozen=True, slots=True)
class Refusal:
    """What the journal is told of somebody who was turned away."""

    reason: str
    principal: str | None = None
    permission: Permission | None = None
    scope: Scope = FLEET


class AccessDenied(Exception):
    """The principal may not: what the journal is told, and what the caller is.

    Without a ``message`` the caller is told what he would be if nothing were there. Which key he
    lacks, and where, is told if that is all there is to say (``lacks_key``).
    """

    def __init__(
        self, refusal: Refusal, message: str | None = None, *, lacks_key: bool = False
    ) -> None:
        super().__init__(message or Hidden.MESSAGE)
        self.refusal, self.message, self.lacks_key = refusal, message, lacks_key


@dataclass(slots=True, kw_only=True)
class Caller:
    """One principal that asks for one action."""

    action: str
    """The action's name."""
    asks_for: Permission | None
    """The permission key that it asks for; none where whoever is let in may."""
    principal: Principal
    gateway: Gateway
    clock: Clock
    ids: Callable[[], str]
    """Where new ids come from."""
    correlation_id: str
    on_cleared: Callable[[Scope], None] = lambda scope: None
    """Told where the caller was found to be allowed; for whoever follows requests."""
    key: str | None = None
    """The idempotency key."""
    dry_run: bool = False
    lease_id: int | None = field(default=None, init=False)
    """The lease that the action is about, once that is known."""
    runtime_id: int | None = field(default=None, init=False)
    """The shared runtime that the action is about, once that is known."""
    cleared: bool = field(default=False, init=False)
    age_ms: int = field(default=0, init=False)
    """How old what was looked at may be; on a leader, nothing."""

    @property
    def permission(self) -> Permission:
        """The action's key."""
        if self.asks_for is None:
            raise InvariantBroken(f"{self.action} has no key to ask for")
        return self.asks_for

    def for_lease(self, lease_id: int | None) -> None:
        """Say which lease the action is about, before anything is required."""
        self.lease_id = lease_id

    def for_runtime(self, runtime_id: int | None) -> None:
        """Say which shared runtime the action is about, before anything is required."""
        self.runtime_id = runtime_id

    # -- may he ------------------------------------------------------------------------------

    def may(self, scope: Scope) -> bool:
        """Whether the principal has the action's key there; clears nothing."""
        if not self._is_bound_here:
            return False
        return isinstance(self.principal.may(self.permission, scope), Allowed)

    @property
    def _is_bound_here(self) -> bool:
        who = self.principal
        if who.runtime_id is not None and who.runtime_id != self.runtime_id:
            return False
        return who.lease_id is None or who.lease_id == self.lease_id

    def may_within(self, scope: Scope) -> bool:
        """Whether it has the key there or somewhere inside; clears nothing."""
        inside = (each for each in self.principal.roles if scope.covers(each))
        return self.may(scope) or any(self.may(each) for each in inside)

    def holds(self, permission: Permission, scope: Scope = FLEET) -> bool:
        """Whether the principal has another key than the action's there; clears nothing."""
        found = self.principal.may(permission, scope)
        return self._is_bound_here and isinstance(found, Allowed)

    def visible_projects(self, tenant: str) -> tuple[str, ...] | None:
        """The projects of the tenant in which it has the action's key; ``None`` for all."""
        if self.may(Scope(tenant)):
            return None
        inside = (scope for scope in self.principal.roles if scope.tenant == tenant)
        return tuple(sorted(s.project for s in inside if s.project is not None and self.may(s)))

    def require_login(self) -> None:
        """Go on as whoever was let in; only for actions that ask for no key."""
        if self.asks_for is not None:
            raise InvariantBroken(f"{self.action} is not for everybody")
        self.cleared = True

    def require(self, scope: Scope) -> None:
        """Go on only if the principal has the action's key at this scope."""
        if not self.may(scope):
            raise self._denied(scope)
        self._clear(scope)

    def require_within(self, scope: Scope) -> None:
        """Go on only if it has the key there or somewhere inside; rows are judged one by one."""
        if not self.may_within(scope):
            raise self._denied(scope)
        self._clear(scope)

    def require_node(self, node: str) -> None:
        """Go on only if the caller may report for this node: a node, for itself alone."""
        self.require(FLEET)
        who = self.principal
        if who.kind is PrincipalKind.NODE and who.name != NODE_PREFIX + node:
            raise self.refuse("a node reports for itself alone", reason="foreign_node")

    def _clear(self, scope: Scope) -> None:
        # Only now: a trace of who looked for what is not his must not become the owner's to see.
        self.on_cleared(scope)
        self.cleared = True

    async def locate(self, find: Callable[[View], T | None]) -> T:
        """Where something is, before it is known whether the principal may; nowhere is hidden."""
        found = await self.gateway.lookup(find)
        if found is not None:
            return found
        if FLEET in self.principal.roles:  # who sees the whole fleet is not looking for others
            raise Hidden()
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

        scope, is_repeated = await self.gateway.lookup(seen)
        if scope is not None:
            self.require(scope)
        elif is_repeated and not self.dry_run and self._is_bound_here:
            self.cleared = True
        else:
            self.require(await self.locate(find))

    # -- the kernel --------------------------------------------------------------------------

    async def read(self, read: Callable[[View], T]) -> T:
        """What ``read`` makes of the state: a page, a list, a sum."""
        self._check()
        return await self.gateway.read(self._aged(read))

    async def lookup(self, find: Callable[[View], T]) -> T:
        """What ``find`` makes of the state: one thing by its key, for what hangs on it."""
        self._check()
        return await self.gateway.lookup(self._aged(find))

    async def copied(self, use: Callable[[bytes, int], T]) -> T:
        """What ``use`` makes of a copy of the state and the time; the state stays as it is."""
        self._check()
        return await self.gateway.copied(use)

    def _aged(self, read: Callable[[View], T]) -> Callable[[View], T]:
        def aged(view: View) -> T:
            self.age_ms = max(self.age_ms, view.age_ms)
            return read(view)

        return aged

    def first_answer(self, view: View) -> Answer | None:
        """What was answered to this key before; nothing in a dry run, which repeats nothing."""
        if self.key is None or self.dry_run:
            return None
        known = view.state.answers.get(self.principal.name, self.key)
        return None if known is None else known.answer

    async def execute(self, command: Command) -> Answer:
        """The durable answer to a command of this principal."""
        self._check()
        envelope = Envelope(command, self.principal.name, self.correlation_id, self.key)
        return await self.gateway.execute(envelope)

    async def rehearse(self, command: Command) -> Event | None:
        """The first event that a command would lead to; it does not happen."""
        self._check()
        return await self.gateway.rehearse(command)

    async def change(self, command: Command) -> Done:
        """Have a command take effect, or (dry run) see that it would."""
        if self.dry_run:
            await self.rehearse(command)
            return Done(None)
        answer = await self.execute(command)
        if not isinstance(answer, Done):
            raise InvariantBroken(f"{type(command).__name__} was answered with {answer}")
        return answer

    async def records(self, first: int, limit: int) -> list[bytes]:
        """Up to ``limit`` lines of the journal from number ``first`` on."""
        self._check()
        return await self.gateway.records(first, limit)

    def _check(self) -> None:
        if not self.cleared:
            raise InvariantBroken(f"{self.action} asked for no permission")

    # -- he may not --------------------------------------------------------------------------

    def _denied(self, scope: Scope) -> AccessDenied:
        if not self._is_bound_here:
            if self.principal.runtime_id is not None:
                return self.refuse_hidden("foreign_runtime")
            return self.refuse_hidden("foreign_lease")
        if not sees(self.principal, scope):
            return self.refuse_hidden("foreign_scope")
        refusal = Refusal("forbidden", self.principal.name, self.permission, scope)
        message = f"{self.permission.value} is needed at {scope}"
        return AccessDenied(refusal, message, lacks_key=True)

    def refuse_hidden(self, reason: str) -> AccessDenied:
        """The answer for what is not there or another's; only the journal learns which."""
        # The fleet's record, not the other tenant's: it must not learn who looked either.
        return AccessDenied(Refusal(reason, self.principal.name, self.permission))

    def refuse(self, message: str, *, reason: str) -> AccessDenied:
        """The answer for what the key alone does not allow."""
        return AccessDenied(Refusal(reason, self.principal.name, self.permission), message)


def sees(principal: Principal, scope: Scope) -> bool:
    """Whether the principal has any role at the scope, around it or inside it."""
    if scope == FLEET:
        return True
    return any(each.covers(scope) or scope.covers(each) for each in principal.roles)


def may_everywhere(principal: Principal, permission: Permission, *, scopes: set[Scope]) -> bool:
    """Whether the principal has the key at each of these scopes."""
    return all(isinstance(principal.may(permission, scope), Allowed) for scope in scopes)
