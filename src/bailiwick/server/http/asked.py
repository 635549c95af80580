"""One request of one principal: what it may do, and the kernel behind that.

Rules:

- Nothing of the state is told and no command is given before ``require`` (or ``require_within``)
  was passed; a handler that forgets it is a broken invariant, not an open door.
- A scope in which the principal has no role at all does not exist for it: the answer is the very
  one for what is not there (404), for reads and writes alike, because 403 would tell that a tenant
  of that name exists. Where it has some role, it is told which key it lacks (403).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, TypeVar

from fastapi import Depends, Header, Query, Request

from bailiwick.iam import FLEET, Allowed, Permission, Scope
from bailiwick.kernel import Command, Envelope
from bailiwick.kernel.answers import Answer, Done
from bailiwick.kernel.codec import encode_answer
from bailiwick.server.http.actions import Action
from bailiwick.server.http.door import Door, Refusal
from bailiwick.server.http.looks import Looks
from bailiwick.server.problems import Trouble, hidden
from bailiwick.services.authority import Principal
from bailiwick.services.replica import View
from bailiwick.vocab.errors import InvariantBroken
from bailiwick.wire import answers as wire
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


@dataclass(frozen=True, slots=True)
class House:
    """What all requests share: the way to the kernel, the door, and where new ids come from."""

    looks: Looks
    door: Door
    ids: Callable[[], str]
    parts: Parts = field(default_factory=Parts)


@dataclass(slots=True)
class Asked:
    """Who asks for which action, and the way to the kernel."""

    action: Action
    principal: Principal
    house: House
    correlation_id: str
    key: str | None = None
    dry_run: bool = False
    cleared: bool = field(default=False, init=False)

    def may(self, scope: Scope) -> bool:
        """Whether the principal has the action's key there; clears nothing."""
        return isinstance(self.principal.may(self.action.permission, scope), Allowed)

    def require(self, scope: Scope) -> None:
        """Go on only if the principal has the action's key at this scope."""
        if not self.may(scope):
            raise self._denied(scope)
        self.cleared = True

    def require_within(self, scope: Scope) -> None:
        """Go on only if it has the key there or somewhere inside; rows are judged one by one."""
        inside = (each for each in self.principal.roles if scope.covers(each))
        if not self.may(scope) and not any(self.may(each) for each in inside):
            raise self._denied(scope)
        self.cleared = True

    async def locate(self, find: Callable[[View], T | None]) -> T:
        """Where something is, before it is known whether the principal may; nowhere is hidden."""
        found = await self.house.looks.look(find)
        if found is not None:
            return found
        if FLEET in self.principal.roles:  # who sees the whole fleet is not looking for others
            raise hidden()
        raise self.refuse_hidden("not_found")

    async def look(self, read: Callable[[View], T]) -> T:
        """What ``read`` makes of the state."""
        self._check()
        return await self.house.looks.look(read)

    async def call(self, command: Command) -> Answer:
        """The durable answer to a command of this principal."""
        self._check()
        envelope = Envelope(command, self.principal.name, self.correlation_id, self.key)
        return await self.house.looks.call(envelope)

    async def do(self, command: Command) -> wire.Done:
        """Have a command take effect, or (dry run) see that it would."""
        self._check()
        if self.dry_run:
            await self.house.looks.rehearse(command)
            return wire.Done(answer="done", seq=None)
        answer = await self.call(command)
        if not isinstance(answer, Done):
            raise InvariantBroken(f"{type(command).__name__} was answered with {answer}")
        return wire.Done.model_validate(encode_answer(answer))

    def _check(self) -> None:
        if not self.cleared:
            raise InvariantBroken(f"{self.action.name} asked for no permission")

    def _denied(self, scope: Scope) -> AccessDenied:
        permission, name = self.action.permission, self.principal.name
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
        refusal = Refusal(reason, self.principal.name, self.action.permission)
        return AccessDenied(hidden(), refusal)


def sees(principal: Principal, scope: Scope) -> bool:
    """Whether the principal has any role at the scope, around it or inside it."""
    if scope == FLEET:
        return True
    return any(each.covers(scope) or scope.covers(each) for each in principal.roles)


def may_everywhere(principal: Principal, permission: Permission, *, scopes: set[Scope]) -> bool:
    """Whether the principal has the key at each of these scopes."""
    return all(isinstance(principal.may(permission, scope), Allowed) for scope in scopes)


def _asked(request: Request) -> Asked:
    found: Asked = request.state.asked
    return found


def _asked_to_change(
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
