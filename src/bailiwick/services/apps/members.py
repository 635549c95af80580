"""Members of instances: listed, added, drained, removed, replaced; each has its operation.

Rules:

- Which node a member is on is the platform's to choose; nobody names one here.
- The same action on the same component under the same key happens once, for as long as its
  operation is known.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import NamedTuple

from bailiwick.iam import Scope
from bailiwick.kernel.apps.instance_commands import ChangeMember
from bailiwick.kernel.apps.instances import AppMember
from bailiwick.runtime.replica import View
from bailiwick.services.apps.hosts import require_hosts
from bailiwick.services.apps.instances import (
    Created,
    InstancePlace,
    require_home,
    require_instance,
)
from bailiwick.services.caller import Caller
from bailiwick.services.pages import Rows, cut
from bailiwick.vocab.apps import MemberAction, MemberPhase
from bailiwick.vocab.errors import InvalidValue


class MemberFilter(NamedTuple):
    """Which members are asked for."""

    role: str | None = None
    phases: tuple[MemberPhase, ...] | None = None

    def takes(self, found: AppMember) -> bool:
        """Whether it is one of them."""
        if self.role is not None and found.role != self.role:
            return False
        return self.phases is None or found.phase in self.phases


class MemberWish(NamedTuple):
    """What to do with which member."""

    action: MemberAction
    component_key: str | None
    role: str | None = None
    member_id: int | None = None
    """By its number, who may be called as it likes; else by what it is called."""

    def component(self, view: View, place: InstancePlace, *, key: str) -> str:
        """What the member is called; one that is gone by this very request is found by its key."""
        if self.component_key is not None:
            return self.component_key
        held, number = place.find(view), self.member_id or 0
        if number in held.members:
            return held.members[number].component_key
        done = (each for each in held.operations.values() if each.key == key)
        named = (each.component_key for each in done if each.component_key is not None)
        return next(named, None) or held.member(number).component_key


async def page_members(
    caller: Caller, place: InstancePlace, *, which: MemberFilter, after: int, limit: int
) -> Rows[AppMember]:
    """The members of an instance that a filter names, in the order in which they were made."""
    await require_instance(caller, place, changes=False)

    def read(view: View) -> Rows[AppMember]:
        found = (e for e in place.find(view).members.values() if e.id > after and which.takes(e))
        return cut([*islice(found, limit + 1)], limit, key=lambda each: each.id)

    return await caller.read(read)


async def page_all_members(
    caller: Caller, scope: Scope, *, which: MemberFilter, after: str | None, limit: int
) -> Rows[AppMember]:
    """Those of all instances of a project, instance by instance: what an operator reads first."""
    await require_home(caller, scope, changes=False)
    start = _place_in(after)

    def read(view: View) -> Rows[AppMember]:
        assert scope.tenant is not None
        held = view.state.apps.instances.of(scope.tenant, scope.project)
        found = (
            member
            for each in held
            if each.instance.id >= start[0]
            for member in each.members.values()
            if (each.instance.id, member.id) > start and which.takes(member)
        )
        rows = [*islice(found, limit + 1)]
        kept = rows[:limit]
        is_more = len(rows) > limit
        return kept, f"{kept[-1].instance_id}/{kept[-1].id}" if is_more else None

    return await caller.read(read)


def _place_in(cursor: str | None) -> tuple[int, int]:
    """The instance and member after which a page begins."""
    if cursor is None:
        return 0, 0
    found = re.fullmatch(r"([0-9]{1,15})/([0-9]{1,15})", cursor)
    if found is None:
        raise InvalidValue("cursor", cursor, "next of the page before")
    return int(found[1]), int(found[2])


async def change_member(caller: Caller, place: InstancePlace, *, wish: MemberWish) -> Created:
    """Add, drain, remove or replace a member; the operation that this is."""
    await require_instance(caller, place, changes=True)
    if (wish.component_key is None) == (wish.member_id is None):
        expected = "component_key or member_id: one of the two"
        raise InvalidValue("member_id", wish.member_id, expected)
    key = caller.key or caller.correlation_id
    component_key = await caller.lookup(lambda view: wish.component(view, place, key=key))
    command = ChangeMember(
        tenant=place.tenant,
        project=place.project,
        instance_id=place.instance_id,
        action=wish.action,
        component_key=component_key,
        role=wish.role,
        key=key,
        member_id=wish.member_id,
    )
    await require_hosts(caller, command)
    done = await caller.change(command)
    if caller.dry_run:
        return Created(done, None)

    def look(view: View) -> int | None:
        return place.find(view).keys.get((component_key, key))

    return Created(done, await caller.lookup(look))
